#include "core/record/environment.h"

#include "core/base/clean_text.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define COMMAND_BYTES 3000

struct lines {
    char *out;
    size_t size, used;
};

static void add(struct lines *l, const char *key, const char *value) {
    int n = snprintf(l->out + l->used, l->size - l->used, "%s=%s\n", key, value);
    if (n > 0 && (size_t)n < l->size - l->used)
        l->used += (size_t)n;
    l->out[l->used] = '\0';
}

/* Adds the arguments, separated by spaces. Control characters, and first of all the NULs, are
 * replaced. */
static void add_command(struct lines *l, const char *key, pid_t pid) {
    char path[64], text[COMMAND_BYTES];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = text[i] ? '?' : ' ';
    text[n] = '\0';
    add(l, key, text);
}

static void add_variable(struct lines *l, const char *text) {
    static const char *const name[] = {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"};
    char value[COMMAND_BYTES];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t n = strlen(name[i]);
        if (strncmp(text, name[i], n) != 0 || text[n] != '=')
            continue;
        clean_text(value, sizeof value, text + n + 1, strlen(text + n + 1));
        add(l, name[i], value);
    }
}

/* Adds options that a JVM takes from its environment; its command line does not show them. */
static void add_variables(struct lines *l, pid_t pid) {
    char path[64], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    while (getdelim(&text, &room, '\0', f) > 0)
        add_variable(l, text);
    free(text);
    fclose(f);
}

size_t environment_describe(pid_t pid, char *out, size_t size) {
    struct lines l = {out, size, 0};
    struct utsname u;
    struct tm tm;
    char text[160];
    time_t now = time(NULL);
    out[0] = '\0';
    if (uname(&u) == 0) {
        add(&l, "host", u.nodename);
        snprintf(text, sizeof text, "%s %s", u.release, u.machine);
        add(&l, "kernel", text);
    }
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    add(&l, "processors", text);
    if (gmtime_r(&now, &tm) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        add(&l, "time", text);
    add(&l, "profiler", "jtop-prof " JTOP_VERSION);
    add_command(&l, "profiler.command", getpid());
    add_command(&l, "command", pid);
    add_variables(&l, pid);
    return l.used;
}

size_t environment_clean(char *out, size_t size, const void *in, size_t bytes) {
    const uint8_t *from = in, *end = from + bytes, *stop;
    size_t used = 0;
    for (; (stop = memchr(from, '\n', (size_t)(end - from))); from = stop + 1) {
        if (size - used < (size_t)(stop - from) + 2)
            break;
        used += clean_text(out + used, size - used - 1, from, (size_t)(stop - from));
        out[used++] = '\n';
    }
    out[used] = '\0';
    return used;
}
