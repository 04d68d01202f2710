#include "tui/cli/output/jfr_sync.h"

#include "attach/load/attach.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "tui/cli/output/jfr_join.h"
#include "tui/cli/output/jfr_place.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The JVM may first have to make the recorder, and it must write all its data */
#define ANSWER_MS 60000
#define LET_GO_MS 10000 /* when we are leaving anyway */
/* If nothing stops the recorder, it keeps no more than this, and ends at most this long after the
 * planned end. */
#define KEEPS "256m"
#define LIMIT_SLACK_S 300
#define WRITES_MS 5000 /* for the recorder at the JVM's end; a JVM that started us waits for us */
#define WRITES_STEP_MS 20

struct jfr_sync {
    struct jvm jvm;
    struct jfr_place place; /* its name is also the recording's */
    bool runs;              /* the recorder runs, or may run */
    bool made;              /* the recorder's file exists */
};

/* ---- settings ---- */

/* The JDK's events that show the same as one of ours. */
static const struct {
    uint32_t event;
    const char *name;
} same[] = {
    {WIRE_EVENT_CPU, "jdk.ExecutionSample"},
    {WIRE_EVENT_CPU, "jdk.NativeMethodSample"},
    {WIRE_EVENT_CPU, "jdk.CPUTimeSample"},
    {WIRE_EVENT_ALLOC, "jdk.ObjectAllocationInNewTLAB"},
    {WIRE_EVENT_ALLOC, "jdk.ObjectAllocationOutsideTLAB"},
    {WIRE_EVENT_ALLOC, "jdk.ObjectAllocationSample"},
    {WIRE_EVENT_LOCK, "jdk.JavaMonitorEnter"},
    {WIRE_EVENT_LOCK, "jdk.ThreadPark"},
};

static bool is_sampled(const struct session_options *so, uint32_t event) {
    for (uint32_t i = 0; i < so->engines; i++)
        if (so->engine[i].event == event)
            return true;
    return so->engines == 0 && event == WIRE_EVENT_CPU;
}

static void add_setting(struct text *out, const char *event, size_t len, bool on) {
    text_addf(out,
              "<event name=\"%.*s\"><setting name=\"enabled\">%s</setting>"
              "<setting name=\"stackTrace\">true</setting></event>\n",
              (int)len, event, on ? "true" : "false");
}

/* Enables the events of "+jdk.A+jdk.B", and disables those that we sample ourselves. */
static void make_settings(struct text *out, const char *config, const struct session_options *so) {
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<configuration version=\"2.0\" label=\"jtop-prof\" description=\"jtop-prof\" "
                  "provider=\"jtop-prof\">\n");
    for (const char *at = config; *at == '+';) {
        size_t len = strcspn(++at, "+");
        if (len)
            add_setting(out, at, len, true);
        at += len;
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (is_sampled(so, same[i].event))
            add_setting(out, same[i].name, strlen(same[i].name), false);
    text_add(out, "</configuration>\n");
}

static int make_place(struct jfr_sync *y, const struct text *settings, struct err *e) {
    int r = settings->failed ? -ENOMEM
                             : jfr_place_make(&y->jvm, settings->data, settings->len, &y->place);
    return r == 0 ? 0
                  : err_exit_as(e, ERR_EXIT_PROFILER, -r,
                                "--jfrsync needs a directory in the /tmp of JVM %d: %s",
                                (int)y->jvm.pid,
                                r == -EEXIST ? "its name is taken by other files" : strerror(-r));
}

/* ---- the recorder ---- */

static int command(const struct jfr_sync *y, const char *text, const char *good, int timeout_ms,
                   struct err *e) {
    const char *const arg[3] = {text};
    struct err why = {0};
    char *reply = NULL;
    int r = attach_command(&y->jvm, "jcmd", arg, timeout_ms, &reply, &why);
    if (r == 0 && (!reply || !strstr(reply, good)))
        r = -EPROTO;
    if (reply) { /* the first line, cleaned for a terminal */
        reply[strcspn(reply, "\n")] = '\0';
        utf8_clean(reply);
    }
    if (r < 0)
        err_exit_as(e, ERR_EXIT_ARGUMENT, -r,
                    "--jfrsync: the flight recorder of JVM %d (%s) did not execute the command: %s",
                    (int)y->jvm.pid, y->jvm.version,
                    why.message[0] ? why.message
                    : reply        ? reply
                                   : "");
    free(reply);
    return r;
}

/* True if the command did not reach the JVM. */
static bool never_reached(int r) {
    return r == -ESRCH || r == -EPERM || r == -EOPNOTSUPP || r == -E2BIG;
}

static int start(struct jfr_sync *y, const char *config, uint64_t limit_ms, struct err *e) {
    struct text line = {0};
    text_addf(&line, "JFR.start name=%s settings=", y->place.name);
    if (config[0] != '+')
        text_addf(&line, "%s settings=", config);
    text_addf(&line,
              "/tmp/%s/" JFR_PLACE_SETTINGS " maxsize=" KEEPS
              " dumponexit=true filename=/tmp/%s/" JFR_PLACE_RECORDED,
              y->place.name, y->place.name);
    if (limit_ms)
        text_addf(&line, " duration=%" PRIu64 "s", limit_ms / 1000 + LIMIT_SLACK_S);
    int r = line.failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory")
                        : command(y, line.data, "Started recording", ANSWER_MS, e);
    /* If the answer is late or lost, the recorder may run, or may start later. */
    y->runs = !line.failed && !never_reached(r);
    text_free(&line);
    return r;
}

static int check_config(const char *config, struct err *e) {
    const char *bad = config[0] == '+' ? "\"'<>&,= \t\n/" : "\"',= \t\n";
    return config[0] && !strpbrk(config, bad)
               ? 0
               : err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                             "--jfrsync %s: give \"default\", \"profile\", a .jfc file, or events "
                             "as +jdk.GCPhasePause+jdk.CPULoad",
                             config);
}

int jfr_sync_begin(struct jfr_sync **out, const char *config, const struct session_options *so,
                   const struct jvm *j, uint64_t limit_ms, struct err *e) {
    struct text settings = {0};
    int r = check_config(config, e);
    if (r < 0)
        return r;
    struct jfr_sync *y = calloc(1, sizeof *y);
    if (!y)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    y->jvm = *j;
    y->place.tmp = y->place.dir = -1;
    make_settings(&settings, config, so);
    r = make_place(y, &settings, e);
    if (r == 0)
        r = start(y, config, limit_ms, e);
    text_free(&settings);
    if (r < 0)
        jfr_sync_free(y);
    else
        *out = y;
    return r;
}

/* True if the answer to JFR.stop shows that there is nothing to stop. */
static bool is_gone(const struct jfr_sync *y, int r, const struct err *e) {
    char none[96];
    snprintf(none, sizeof none, "could not find %s", y->place.name);
    return r == -ESRCH || strcasestr(e->message, none) ||
           strcasestr(e->message, "no available recordings");
}

/* Stops the recorder, and loses its data. */
static void let_go(struct jfr_sync *y) {
    struct err e = {0};
    char line[128];
    snprintf(line, sizeof line, "JFR.stop name=%s", y->place.name);
    int r = command(y, line, "Stopped recording", LET_GO_MS, &e);
    if (r == 0 || is_gone(y, r, &e))
        y->runs = false;
}

/* Opens the recording. The JVM wrote it and may be hostile: it must be a plain file that begins
 * like a recording. */
static int open_recorded(const struct jfr_sync *y, struct err *e) {
    struct stat st;
    char magic[4];
    int fd = jfr_place_open(&y->place);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && !memcmp(magic, "FLR", 4))
        return fd;
    int error = fd < 0 ? -fd : EPROTO;
    if (fd >= 0)
        close(fd);
    return err_exit_as(e, ERR_EXIT_PROFILER, error,
                       "--jfrsync: JVM %d left no recording: the file has only jtop-prof's",
                       (int)y->jvm.pid);
}

/* True if the file consists of chunks with the right sizes to the last byte: then it is
 * complete. */
static bool is_whole(int fd) {
    uint8_t head[16];
    struct stat st;
    int64_t at = 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    while (at < st.st_size && pread(fd, head, sizeof head, at) == (ssize_t)sizeof head) {
        uint64_t bytes = 0;
        for (int i = 8; i < 16; i++)
            bytes = bytes << 8 | head[i];
        if (memcmp(head, "FLR", 4) != 0 || bytes < sizeof head ||
            bytes > (uint64_t)(st.st_size - at))
            return false;
        at += (int64_t)bytes;
    }
    return at > 0 && at == st.st_size;
}

/* Waits for the file of a JVM that is ending. It takes no more commands: its recorder writes the
 * file now, or has written it. */
static bool wrote_at_exit(const struct jfr_sync *y, int r, const struct err *e) {
    struct err unused;
    bool ends = is_gone(y, r, e) || strcasestr(e->message, "shutdown in progress") ||
                strcasestr(e->message, "stopped/closed");
    bool whole = false;
    for (int ms = 0; ends && !whole && ms < WRITES_MS; ms += WRITES_STEP_MS) {
        int fd = open_recorded(y, &unused);
        whole = is_whole(fd);
        if (fd >= 0)
            close(fd);
        if (!whole && kill(y->jvm.pid, 0) < 0)
            break;
        if (!whole)
            nanosleep(&(struct timespec){.tv_nsec = WRITES_STEP_MS * 1000000L}, NULL);
    }
    return whole;
}

int jfr_sync_stop(struct jfr_sync *y, struct err *e) {
    char line[256];
    if (!y->runs)
        return 0;
    snprintf(line, sizeof line, "JFR.stop name=%s filename=/tmp/%s/" JFR_PLACE_RECORDED,
             y->place.name, y->place.name);
    int r = command(y, line, "Stopped recording", ANSWER_MS, e);
    if (r < 0 && wrote_at_exit(y, r, e)) {
        y->runs = false;
        r = 0;
    }
    if (r == 0 || is_gone(y, r, e))
        y->runs = false;
    y->made = r == 0;
    if (y->runs)
        let_go(y);
    if (r < 0)
        e->exit_code = ERR_EXIT_PROFILER;
    return r;
}

bool jfr_sync_runs(const struct jfr_sync *y) {
    return y && y->runs;
}

/* ---- the files ---- */

int jfr_sync_append(const struct jfr_sync *y, const char *path, struct err *e) {
    if (!y->made)
        return 0;
    int theirs = open_recorded(y, e);
    if (theirs < 0)
        return theirs;
    int r = jfr_join(path, theirs, e);
    close(theirs);
    return r;
}

void jfr_sync_free(struct jfr_sync *y) {
    if (!y)
        return;
    if (y->runs)
        let_go(y);
    jfr_place_remove(&y->place);
    free(y);
}
