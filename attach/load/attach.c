#include "attach/load/attach.h"

#include "attach/find/jvm_perf.h"
#include "attach/load/connect.h"
#include "attach/load/jvm_flag.h"
#include "attach/load/load_trouble.h"
#include "attach/load/standstill.h"
#include "attach/proc/proc.h"
#include "core/base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ARGUMENTS = 3,
    STATUS_BAD_VERSION = 101,
    NAME_MAX_BYTES = 16,       /* AttachOperation::name_length_max */
    ARGUMENT_MAX_BYTES = 1024, /* AttachOperation::arg_length_max, protocol version 1 */
    REPLY_MAX = 16 << 20,
    SHOWN_MAX = 300, /* bytes of the JVM's words in a message */
    PATIENCE_NS = 1000000000,
};

struct reply {
    char *data; /* owned, NUL-terminated */
    size_t len, cap;
    int (*each)(void *context, const char *data, size_t len); /* NULL: everything is kept in data */
    void *context;
    bool passing; /* the status was 0: the text goes to `each` */
};

/* If the mechanism is disabled, SIGQUIT makes the JVM print a thread dump to the application's
 * output. So this must be known before. The JVM reports it in its performance data,
 * sun.rt.jvmCapabilities. */
bool attach_is_disabled(const struct jvm *j) {
    struct perf_values v;
    if (jvm_perf_read(j, true, &v) == 0 && v.capabilities[0])
        return v.capabilities[0] == '0';
    return jvm_flag(j, "DisableAttachMechanism") > 0;
}

/* Waits until the socket is ready; -ETIMEDOUT at the deadline. */
static int await(int fd, short events, uint64_t deadline_ns) {
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        uint64_t now = proc_now_ns();
        uint64_t ms = now < deadline_ns ? (deadline_ns - now) / 1000000U + 1 : 0;
        int n = poll(&p, 1, ms < INT_MAX ? (int)ms : INT_MAX);
        if (n > 0)
            return 0;
        if (n == 0)
            return -ETIMEDOUT;
        if (errno != EINTR)
            return -errno;
    }
}

static int send_all(int fd, const char *data, size_t len, uint64_t deadline_ns) {
    while (len > 0) {
        int rc = await(fd, POLLOUT, deadline_ns);
        if (rc < 0)
            return rc;
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Splits "STATUS\nTEXT"; false if there is no status. */
static bool split_status(struct reply *r, long *status, char **text) {
    char *end;
    errno = 0;
    *status = strtol(r->data, &end, 10);
    if (end == r->data || errno || (*end != '\n' && *end != '\0'))
        return false;
    *text = *end ? end + 1 : end;
    return true;
}

/* Passes the text received so far to `each`, once the status is known to be 0. */
static int pass_on(struct reply *r) {
    char *text = r->data;
    long status;
    r->data[r->len] = '\0';
    if (!r->each || (!r->passing && (!memchr(r->data, '\n', r->len) ||
                                     !split_status(r, &status, &text) || status != 0)))
        return 0;
    size_t n = r->len - (size_t)(text - r->data);
    r->passing = true;
    r->len = 0;
    return n ? r->each(r->context, text, n) : 0;
}

/* Waits for the answer. With `each`, an answer may take any time while the JVM runs, until `each`
 * ends the wait. */
static int await_answer(const struct jvm *j, int fd, const struct reply *r, uint64_t deadline_ns) {
    struct proc_stat st;
    int rc;
    if (!r->each)
        return await(fd, POLLIN, deadline_ns);
    while ((rc = await(fd, POLLIN, proc_now_ns() + PATIENCE_NS)) == -ETIMEDOUT) {
        if (proc_stat(j->pid, &st) != 0 || standstill_of(j->pid, NULL) != STANDSTILL_NONE)
            break;
        int ended = r->each(r->context, "", 0);
        if (ended < 0)
            return ended;
    }
    return rc;
}

static int make_room(struct reply *r) {
    if (r->cap - r->len >= 2)
        return 0;
    size_t cap = r->cap ? r->cap * 2 : 4096;
    char *data = cap > REPLY_MAX ? NULL : realloc(r->data, cap);
    if (!data)
        return cap > REPLY_MAX ? -EMSGSIZE : -ENOMEM;
    r->data = data;
    r->cap = cap;
    return 0;
}

/* Reads until the JVM closes the connection. */
static int receive_all(const struct jvm *j, int fd, struct reply *r, uint64_t deadline_ns) {
    for (;;) {
        int rc = make_room(r);
        if (rc == 0)
            rc = await_answer(j, fd, r, deadline_ns);
        if (rc < 0)
            return rc;
        ssize_t n = recv(fd, r->data + r->len, r->cap - r->len - 1, 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            break;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n > 0) {
            r->len += (size_t)n;
            rc = pass_on(r);
        }
        if (rc < 0)
            return rc;
    }
    r->data[r->len] = '\0';
    return 0;
}

/* The JVM's words as one printable line. */
static const char *shown(const char *text, char out[SHOWN_MAX]) {
    size_t n = strnlen(text, SHOWN_MAX - 1);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++)
        out[i] = isspace((unsigned char)text[i]) ? ' ' : text[i];
    out[n] = '\0';
    utf8_clean(out);
    return out;
}

static const char *const why_silent[] = {
    [STANDSTILL_NONE] =
        ("it is busy with another attach (jcmd, jstack, a monitoring agent), or at a "
         "long safepoint; try again"),
    [STANDSTILL_STOPPED] = "it is stopped by a signal, continue it with kill -CONT",
    [STANDSTILL_TRACED] = "it is held by a debugger, continue it there",
    [STANDSTILL_FROZEN] = "it is frozen with its control group, thaw it (docker unpause)",
};

static int no_answer(const struct jvm *j, const char *command, int rc, struct err *e) {
    struct proc_stat st;
    bool there = proc_stat(j->pid, &st) == 0 && st.state != 'Z' && st.state != 'X';
    if (!there)
        return err_set(e, ESRCH, "JVM %d (%s) ended before it answered '%s'", (int)j->pid, j->name,
                       command);
    if (rc == -ETIMEDOUT)
        return err_set(e, ETIMEDOUT,
                       "JVM %d (%s) accepted the connection but did not answer '%s' in time: %s",
                       (int)j->pid, j->name, command, why_silent[standstill_of(j->pid, NULL)]);
    if (rc == -EMSGSIZE)
        return err_set(e, EMSGSIZE, "the answer of JVM %d to '%s' is larger than %d MiB",
                       (int)j->pid, command, REPLY_MAX >> 20);
    if (rc < 0)
        return err_set(e, -rc, "cannot talk to JVM %d ('%s'): %s", (int)j->pid, command,
                       strerror(-rc));
    return err_set(e, EPROTO,
                   "JVM %d closed the connection without an answer to '%s': it accepts only its "
                   "own uid %u and gid %u, this is uid %u, gid %u",
                   (int)j->pid, command, (unsigned)j->uid, (unsigned)j->gid, (unsigned)geteuid(),
                   (unsigned)getegid());
}

/* Writes the version, the command and its arguments, each ended by a NUL. -E2BIG: HotSpot would
 * close the connection without an answer. */
static int build_request(const char *command, const char *const arg[3], char *out, size_t cap,
                         size_t *len, struct err *e) {
    if (strlen(command) > NAME_MAX_BYTES)
        return err_set(e, EINVAL, "'%.40s' is too long for an attach command", command);
    size_t n = (size_t)snprintf(out, cap, "1%c%s", '\0', command) + 1;
    for (int i = 0; i < ARGUMENTS; i++) {
        const char *a = arg && arg[i] ? arg[i] : "";
        size_t size = strlen(a) + 1;
        if (size > ARGUMENT_MAX_BYTES + 1)
            return err_set(
                e, E2BIG,
                "an argument of '%s' has %zu bytes, the attach protocol allows %d: %.60s...",
                command, size - 1, ARGUMENT_MAX_BYTES, a);
        memcpy(out + n, a, size);
        n += size;
    }
    *len = n;
    return 0;
}

/* Sends the request and receives the whole answer, at least one byte, into `r`. */
static int exchange(const struct jvm *j, const char *command, const char *const arg[3],
                    int timeout_ms, struct reply *r, struct err *e) {
    char request[8 + NAME_MAX_BYTES + ARGUMENTS * (ARGUMENT_MAX_BYTES + 1)];
    size_t len = 0;
    int rc = build_request(command, arg, request, sizeof request, &len, e);
    if (rc < 0)
        return rc;
    uint64_t deadline = proc_now_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000U;
    int fd = connect_jvm(j, attach_is_disabled(j), deadline, e);
    if (fd < 0)
        return fd;
    rc = send_all(fd, request, len, deadline);
    if (rc == 0 || rc == -EPIPE)
        rc = receive_all(j, fd, r, deadline);
    close(fd);
    return rc < 0 || (r->len == 0 && !r->passing) ? no_answer(j, command, rc, e) : 0;
}

static int read_status(const struct jvm *j, const char *command, struct reply *r, long *status,
                       char **text, struct err *e) {
    char words[SHOWN_MAX];
    if (!r->data || !split_status(r, status, text))
        return err_set(e, EPROTO, "JVM %d sent an invalid answer to '%s': %s", (int)j->pid, command,
                       shown(r->data ? r->data : "", words));
    if (*status == STATUS_BAD_VERSION)
        return err_set(e, EPROTO, "JVM %d does not speak version 1 of the attach protocol",
                       (int)j->pid);
    return 0;
}

static int refused(const struct jvm *j, const char *command, long status, const char *text,
                   char words[SHOWN_MAX], struct err *e) {
    return err_set(e, EPROTO, "JVM %d refused '%s' (%ld): %s", (int)j->pid, command, status,
                   *text ? shown(text, words) : "it gave no reason");
}

/* Sends a command; returns the JVM's status, and *text, which points into r->data. */
static int ask(const struct jvm *j, const char *command, const char *const arg[3], int timeout_ms,
               struct reply *r, long *status, char **text, struct err *e) {
    int rc = exchange(j, command, arg, timeout_ms, r, e);
    return rc < 0 ? rc : read_status(j, command, r, status, text, e);
}

int attach_command(const struct jvm *j, const char *command, const char *const arg[3],
                   int timeout_ms, char **reply, struct err *e) {
    struct reply r = {0};
    char words[SHOWN_MAX], *text = NULL;
    long status;
    if (reply)
        *reply = NULL;
    int rc = ask(j, command, arg, timeout_ms, &r, &status, &text, e);
    if (rc == 0 && text && status != 0)
        rc = refused(j, command, status, text, words, e);
    if (rc == 0 && text && reply) {
        size_t skipped = (size_t)(text - r.data);
        memmove(r.data, text, r.len - skipped + 1);
        *reply = r.data;
        return 0;
    }
    free(r.data);
    return rc;
}

int attach_stream(const struct jvm *j, const char *command, const char *const arg[3],
                  int timeout_ms, int (*each)(void *context, const char *data, size_t len),
                  void *context, struct err *e) {
    struct reply r = {.each = each, .context = context};
    char words[SHOWN_MAX], *text = NULL;
    long status = 0;
    int rc = exchange(j, command, arg, timeout_ms, &r, e);
    if (rc == 0 && !r.passing) {
        rc = read_status(j, command, &r, &status, &text, e);
        if (rc == 0 && text && status != 0)
            rc = refused(j, command, status, text, words, e);
    }
    free(r.data);
    return rc;
}

/* "return code: N" (JDK 9 and later) or "N" (JDK 8); false for anything else. */
static bool load_result(const char *text, int *result) {
    static const char prefix[] = "return code: ";
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || errno || n < INT_MIN || n > INT_MAX || strspn(end, " \r\n") != strlen(end))
        return false;
    *result = (int)n;
    return true;
}

int attach_load(const struct jvm *j, const char *library, const char *options, int timeout_ms,
                int *result, struct err *e) {
    const char *const arg[ARGUMENTS] = {library, library[0] == '/' ? "true" : "false", options};
    struct reply r = {0};
    char words[SHOWN_MAX], *text = NULL;
    long status = -1;
    int rc = load_check(j, library, e);
    if (rc < 0)
        return rc;
    rc = ask(j, "load", arg, timeout_ms, &r, &status, &text, e);
    if (rc == 0 && (status != 0 || !text || !load_result(text, result)))
        rc = load_trouble(j, library, shown(text ? text : "", words), e);
    free(r.data);
    return rc;
}
