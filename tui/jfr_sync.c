#include "tui/jfr_sync.h"

#include "attach/attach.h"
#include "attach/tmp_dir.h"
#include "core/base/text.h"
#include "core/export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS 60000 /* the recorder may have to be made first, and to write all it has */
#define SETTINGS "jtop-prof.jfc"
#define RECORDED "jvm.jfr"

struct jfr_sync {
    struct jvm jvm;
    char name[64];   /* of the directory, and of the recording */
    int tmp, dir;    /* -1: not there */
    bool runs, made; /* the recorder; its file */
};

/* ---- settings ---- */

/* The JDK's events that say what one of ours does. */
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

/* Those of "+jdk.A+jdk.B", and none of those that we have ourselves. */
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

static int write_settings(const struct jfr_sync *y, const struct text *t, struct err *e) {
    int fd = openat(y->dir, SETTINGS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    ssize_t n = fd < 0 ? -1 : write(fd, t->data, t->len);
    int error = n < 0 ? errno : ENOSPC;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)t->len && !t->failed
               ? 0
               : err_exit_as(e, ERR_EXIT_PROFILER, error, "/tmp/%s of JVM %d: %s", y->name,
                             (int)y->jvm.pid, strerror(error));
}

static int make_dir(struct jfr_sync *y, struct err *e) {
    y->tmp = tmp_dir_open(y->jvm.pid);
    int r = y->tmp < 0 ? y->tmp : mkdirat(y->tmp, y->name, 0700) == 0 ? 0 : -errno;
    if (r == 0) {
        y->dir = openat(y->tmp, y->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        r = y->dir < 0 ? -errno : 0;
    }
    if (r == 0 && geteuid() != y->jvm.uid && fchown(y->dir, y->jvm.uid, y->jvm.gid) != 0)
        r = -errno;
    return r == 0 ? 0
                  : err_exit_as(e, ERR_EXIT_PROFILER, -r,
                                "--jfrsync needs a directory in the /tmp of JVM %d: %s",
                                (int)y->jvm.pid, strerror(-r));
}

/* ---- the recorder ---- */

static int command(const struct jfr_sync *y, const char *text, const char *good, struct err *e) {
    const char *const arg[3] = {text};
    struct err why = {0};
    char *reply = NULL;
    int r = attach_command(&y->jvm, "jcmd", arg, ANSWER_MS, &reply, &why);
    if (r == 0 && (!reply || !strstr(reply, good)))
        r = -EPROTO;
    const char *said = why.message[0] ? why.message : reply ? reply : "";
    if (r < 0)
        err_exit_as(e, ERR_EXIT_ARGUMENT, -r,
                    "--jfrsync: the flight recorder of JVM %d (%s) did not obey: %.*s",
                    (int)y->jvm.pid, y->jvm.version, (int)strcspn(said, "\n"), said);
    free(reply);
    return r;
}

static int start(struct jfr_sync *y, const char *config, struct err *e) {
    struct text line = {0};
    text_addf(&line, "JFR.start name=%s settings=", y->name);
    if (config[0] != '+')
        text_addf(&line, "%s settings=", config);
    text_addf(&line, "/tmp/%s/" SETTINGS, y->name);
    int r = line.failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory")
                        : command(y, line.data, "Started recording", e);
    y->runs = r == 0;
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
                   const struct jvm *j, struct err *e) {
    static unsigned serial;
    struct text settings = {0};
    int r = check_config(config, e);
    if (r < 0)
        return r;
    struct jfr_sync *y = calloc(1, sizeof *y);
    if (!y)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    y->jvm = *j;
    y->tmp = y->dir = -1;
    snprintf(y->name, sizeof y->name, "jtop-prof-%d-%u", (int)getpid(), serial++);
    make_settings(&settings, config, so);
    r = make_dir(y, e);
    if (r == 0)
        r = write_settings(y, &settings, e);
    if (r == 0)
        r = start(y, config, e);
    text_free(&settings);
    if (r < 0)
        jfr_sync_free(y);
    else
        *out = y;
    return r;
}

int jfr_sync_stop(struct jfr_sync *y, struct err *e) {
    char line[256];
    if (!y->runs)
        return 0;
    y->runs = false;
    snprintf(line, sizeof line, "JFR.stop name=%s filename=/tmp/%s/" RECORDED, y->name, y->name);
    int r = command(y, line, "Stopped recording", e);
    y->made = r == 0;
    if (r < 0)
        e->exit_code = ERR_EXIT_PROFILER;
    return r;
}

/* ---- the files ---- */

static int copy(struct output_file *f, int from, const char *what, struct err *e) {
    char *piece = malloc(1 << 16);
    ssize_t n = piece ? 1 : -1;
    int r = 0;
    while (r == 0 && n > 0) {
        n = read(from, piece, 1 << 16);
        if (n > 0)
            r = output_file_write(f, piece, (size_t)n, e);
    }
    free(piece);
    return r < 0 || n == 0 ? r
                           : err_exit_as(e, ERR_EXIT_PROFILER, errno, "cannot read %s: %s", what,
                                         strerror(errno));
}

/* The JVM made it, and may be hostile: a plain file that begins as recordings do. */
static int open_recorded(const struct jfr_sync *y, struct err *e) {
    struct stat st;
    char magic[4];
    int fd = openat(y->dir, RECORDED, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && !memcmp(magic, "FLR", 4))
        return fd;
    int error = fd < 0 ? errno : EPROTO;
    if (fd >= 0)
        close(fd);
    return err_exit_as(e, ERR_EXIT_PROFILER, error,
                       "--jfrsync: JVM %d left no recording: the file has ours only",
                       (int)y->jvm.pid);
}

int jfr_sync_append(const struct jfr_sync *y, const char *path, struct err *e) {
    struct output_file f;
    if (!y->made)
        return 0;
    int theirs = open_recorded(y, e);
    if (theirs < 0)
        return theirs;
    int ours = open(path, O_RDONLY | O_CLOEXEC);
    int r = ours < 0 ? err_exit_as(e, ERR_EXIT_PROFILER, errno, "%s: %s", path, strerror(errno))
                     : output_file_open(&f, path, ERR_EXIT_PROFILER, e);
    if (r == 0) {
        r = copy(&f, ours, path, e);
        if (r == 0)
            r = copy(&f, theirs, "the JVM's recording", e);
        if (r == 0)
            r = output_file_commit(&f, e);
        else
            output_file_abort(&f);
    }
    if (ours >= 0)
        close(ours);
    close(theirs);
    return r;
}

void jfr_sync_free(struct jfr_sync *y) {
    struct err ignored = {0};
    if (!y)
        return;
    jfr_sync_stop(y, &ignored);
    if (y->dir >= 0) {
        unlinkat(y->dir, SETTINGS, 0);
        unlinkat(y->dir, RECORDED, 0);
        close(y->dir);
    }
    if (y->tmp >= 0) {
        unlinkat(y->tmp, y->name, AT_REMOVEDIR);
        close(y->tmp);
    }
    free(y);
}
