#include "attach/load/java_options.h"

#include "attach/find/java_args.h"
#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_MAX = 1 << 20, /* bytes of a command line or an environment */
    FILE_MAX = 1 << 16,
    FILES_MAX = 16, /* a file cannot name further ones */
    PATIENCE_MS = 500,
};

static const char on_command_line[] = "its command line",
                  in_file[] = "a file its command line names";

static const struct {
    const char *flag, *word; /* the flag of -XX:+FLAG; a word that means the same */
} known[JAVA_OPTIONS_COUNT] = {
    [JAVA_DISABLE_ATTACH] = {"DisableAttachMechanism", NULL},
    [JAVA_DYNAMIC_AGENTS] = {"EnableDynamicAgentLoading", NULL},
    [JAVA_FEW_SIGNALS] = {"ReduceSignalUsage", "-Xrs"},
    [JAVA_START_LISTENER] = {"StartAttachListener", NULL},
    [JAVA_DEBUG_INFO] = {"DebugNonSafepoints", NULL},
    [JAVA_PERF_DATA] = {"UsePerfData", NULL},
    [JAVA_PERF_PRIVATE] = {"PerfDisableSharedMem", NULL},
    [JAVA_STACK_DEPTH] = {"MaxJavaStackTraceDepth", NULL},
};

static bool separates(char c) {
    return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '"' || c == '\'';
}

/* Finds the next word, which is not NUL-terminated; false at the end. */
static bool next_word(const char **at, const char *end, const char **word, size_t *len) {
    const char *p = *at;
    while (p < end && separates(*p))
        p++;
    *word = p;
    while (p < end && !separates(*p))
        p++;
    *len = (size_t)(p - *word);
    *at = p;
    return *len > 0;
}

/* 1: -XX:+FLAG, the word, or -XX:FLAG=N with N above 0; -1: -XX:-FLAG, or -XX:FLAG=N with N at most
 * 0; 0: another option. */
static int says(const char *word, size_t len, size_t option) {
    static const char prefix[] = "-XX:";
    size_t n = sizeof prefix - 1, flag = strlen(known[option].flag);
    if (known[option].word && len == strlen(known[option].word) &&
        !memcmp(word, known[option].word, len))
        return 1;
    if (len <= n || memcmp(word, prefix, n) != 0)
        return 0;
    bool sign = word[n] == '+' || word[n] == '-';
    const char *name = word + n + sign;
    size_t left = len - n - sign;
    if (left < flag || memcmp(name, known[option].flag, flag) != 0)
        return 0;
    if (sign)
        return left != flag ? 0 : word[n] == '+' ? 1 : -1;
    if (left < flag + 2 || name[flag] != '=')
        return 0;
    char first = name[flag + 1];
    return first == '-' || (first == '0' && left == flag + 2) ? -1 : 1;
}

void java_options_scan(struct java_options *o, const char *source, const char *text, size_t len) {
    const char *at = text, *word;
    size_t n;
    while (next_word(&at, text + len, &word, &n))
        for (size_t i = 0; *word == '-' && i < JAVA_OPTIONS_COUNT; i++) {
            int said = says(word, n, i);
            if (said) {
                o->option[i].said = said;
                o->option[i].source = source;
            }
        }
}

/* ---- files that the command line names ---- */

struct file_errand {
    const struct jvm *jvm;
    const char *path; /* as the JVM sees it; a relative path starts at `cwd` */
    char cwd[PATH_MAX];
    char buffer[FILE_MAX];
};

struct file_answer {
    int said[JAVA_OPTIONS_COUNT];
    int error;
};

static int open_file(struct file_errand *t) {
    char whole[2 * PATH_MAX];
    int root = inside_enter(t->jvm->pid, "root");
    int r = credentials_take(t->jvm->pid, t->jvm->uid, t->jvm->gid);
    if (root < 0)
        root = inside_enter(t->jvm->pid, "root"); /* that user may enter it */
    if (root < 0 || r < 0)
        return r < 0 ? r : root;
    snprintf(whole, sizeof whole, "%s/%s", t->path[0] == '/' ? "" : t->cwd, t->path);
    return inside_read(inside_open(root, whole, 0));
}

/* A hostile file system can block its reader: a child reads the file, and is killed if it hangs. */
static void read_file(void *context, void *result, int *fd_out) {
    struct file_errand *t = context;
    struct file_answer answer = {.error = 0};
    struct java_options o = {.error = 0};
    *fd_out = -1;
    int fd = open_file(t);
    ssize_t n = fd < 0 ? fd : read(fd, t->buffer, sizeof t->buffer);
    if (n > 0)
        java_options_scan(&o, in_file, t->buffer, (size_t)n);
    answer.error = fd < 0 ? -fd : 0;
    for (size_t i = 0; i < JAVA_OPTIONS_COUNT; i++)
        answer.said[i] = o.option[i].said;
    memcpy(result, &answer, sizeof answer);
}

/* False: reading the file timed out, and further files may do the same. */
static bool take_file(struct java_options *o, const struct jvm *j, const char *path) {
    struct file_errand *t = calloc(1, sizeof *t);
    struct file_answer answer = {.error = ETIMEDOUT};
    char link[64];
    int fd = -1;
    if (!t)
        return true;
    t->jvm = j;
    t->path = path;
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)j->pid);
    if (readlink(link, t->cwd, sizeof t->cwd - 1) < 0)
        t->cwd[0] = '\0';
    int r = errand_run(read_file, t, proc_now_ns() + PATIENCE_MS * UINT64_C(1000000), &answer,
                       sizeof answer, &fd);
    if (fd >= 0)
        close(fd);
    free(t);
    if (r < 0 || answer.error) {
        o->error = r < 0 ? -r : answer.error;
        o->unread = in_file;
        return answer.error != ETIMEDOUT;
    }
    for (size_t i = 0; i < JAVA_OPTIONS_COUNT; i++)
        if (answer.said[i]) {
            o->option[i].said = answer.said[i];
            o->option[i].source = in_file;
        }
    return true;
}

/* The file that a word names, or NULL. */
static const char *file_of(const char *word) {
    static const char vm_options[] = "-XX:VMOptionsFile=";
    if (word[0] == '@' && word[1] && word[1] != '@')
        return word + 1;
    if (strncmp(word, vm_options, sizeof vm_options - 1) == 0)
        return word + sizeof vm_options - 1;
    return NULL;
}

/* ---- all options, in the VM's order ---- */

static void take_command_line(struct java_options *o, const struct jvm *j, bool files, char *text) {
    struct java_args args;
    ssize_t n = proc_read(j->pid, "cmdline", text, TEXT_MAX);
    if (n <= 0) {
        o->error = n < 0 ? (int)-n : ENODATA;
        o->unread = "/proc/PID/cmdline";
        return;
    }
    size_t len = (size_t)n;
    if (text[len - 1] != '\0')
        text[len++] = '\0'; /* the text was cut: there is room, because proc_read keeps one byte */
    if (java_args_parse(text, len, &args) && args.options_len > 0)
        len = args.options_len;
    int left = files ? FILES_MAX : 0;
    for (const char *word = text; word < text + len; word += strlen(word) + 1) {
        const char *file = left > 0 && word > text ? file_of(word) : NULL;
        left -= file != NULL;
        if (file)
            left = take_file(o, j, file) ? left : 0;
        else
            java_options_scan(o, on_command_line, word, strlen(word));
    }
}

/* The value of a variable, or NULL. `environment` ends with a NUL. */
static const char *variable(const char *environment, size_t len, const char *name) {
    size_t n = strlen(name);
    for (size_t at = 0; at < len; at += strlen(environment + at) + 1)
        if (!strncmp(environment + at, name, n) && environment[at + n] == '=')
            return environment + at + n + 1;
    return NULL;
}

static void take_variable(struct java_options *o, const char *environment, size_t len,
                          const char *name) {
    const char *value = variable(environment, len, name);
    if (value)
        java_options_scan(o, name, value, strlen(value));
}

void java_options_read(const struct jvm *j, bool files, struct java_options *out) {
    *out = (struct java_options){.error = 0};
    char *text = malloc(2 * (size_t)TEXT_MAX), *environment = text ? text + TEXT_MAX : NULL;
    if (!text) {
        out->error = ENOMEM;
        out->unread = "/proc/PID/cmdline";
        return;
    }
    ssize_t n = proc_read(j->pid, "environ", environment, TEXT_MAX);
    size_t len = n > 0 ? (size_t)n : 0;
    if (n < 0) {
        out->error = (int)-n;
        out->unread = "/proc/PID/environ";
    }
    take_variable(out, environment, len, "JAVA_TOOL_OPTIONS");
    take_variable(out, environment, len, "JDK_JAVA_OPTIONS");
    take_command_line(out, j, files, text);
    take_variable(out, environment, len, "_JAVA_OPTIONS");
    free(text);
}
