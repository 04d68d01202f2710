#include "core/session/agent_link.h"

#include "attach/attach.h"
#include "core/base/text.h"
#include "core/session/holder.h"
#include "core/session/share.h"
#include "core/wire/handshake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MS 1500
#define BUSY_STEP_MS 150

static int too_long(struct err *e) {
    return err_set(e, ENAMETOOLONG, "the path of the agent library is too long");
}

static int take_path(const char *path, char *out, size_t size, struct err *e) {
    size_t length = strlen(path);
    if (length >= size)
        return too_long(e);
    memcpy(out, path, length + 1);
    return 0;
}

int agent_library_find(const char *given, char *out, size_t size, struct err *e) {
    char found[PATH_MAX];
    if (given) {
        if (!realpath(given, found))
            return err_set(e, errno, "cannot use the agent library %s: %s", given, strerror(errno));
        return take_path(found, out, size, e);
    }
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return err_set(e, errno, "cannot tell where this program is: %s", strerror(errno));
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    static const char *const place[] = {"", "/../lib/jtop-prof", "/../lib"};
    struct text looked = {0};
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s%s/%s", self, place[i], AGENT_LIBRARY_NAME);
        if (realpath(path, found)) {
            text_free(&looked);
            return take_path(found, out, size, e);
        }
        text_addf(&looked, "%s%s%s", i ? ", " : "", self, place[i]);
    }
    int result = err_set(e, ENOENT,
                         "cannot find " AGENT_LIBRARY_NAME " (looked in %s); install it there or "
                         "name it with --libpath",
                         looked.data ? looked.data : self);
    text_free(&looked);
    return result;
}

/* A container sees other files than we do: say so before the JVM says "cannot open". */
static int check_visible(const struct jvm *j, const char *library, struct err *e) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)j->pid, library);
    if (!j->container || access(path, F_OK) == 0 || errno != ENOENT)
        return 0;
    return err_set(e, ENOENT,
                   "JVM %d lives in a container that has no %s; copy the agent library into it "
                   "and give its path there with --libpath",
                   (int)j->pid, library);
}

static int busy(const struct jvm *j, struct err *e) {
    pid_t holder = holder_find(j->pid);
    char who[32] = "", more[160] = "";
    if (holder)
        snprintf(who, sizeof who, " (pid %d)", (int)holder);
    if (share_find(j->pid))
        snprintf(more, sizeof more,
                 ", or look on: jtop-prof %d, or take what it has: jtop-prof dump %d", (int)j->pid,
                 (int)j->pid);
    else if (holder)
        snprintf(more, sizeof more,
                 "; it cannot be asked from here: it is another user's, or in "
                 "another network namespace");
    return err_set(e, EBUSY, "another jtop-prof holds JVM %d and is alive%s; quit that one first%s",
                   (int)j->pid, who, more);
}

static int refused(const struct jvm *j, int result, struct err *e) {
    int pid = (int)j->pid;
    switch (result) {
    case HANDSHAKE_NO_MEMORY:
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                           "the agent could not get memory in JVM %d (memfd_create or mmap "
                           "failed); check its memory limits and seccomp filter, or use a smaller "
                           "ring (-b)",
                           pid);
    case HANDSHAKE_BUSY:
        return busy(j, e);
    case HANDSHAKE_UNSUPPORTED:
        return err_set(e, EOPNOTSUPP,
                       "JVM %d (%s) cannot be profiled: its libjvm.so has neither "
                       "gHotSpotVMStructs, by which HotSpot describes itself, nor an "
                       "AsyncGetCallTrace that works, so its Java frames cannot be read; run the "
                       "application on an OpenJDK server VM",
                       pid, j->vm_name[0] ? j->vm_name : "unknown VM");
    case HANDSHAKE_OPTIONS:
        return err_exit_as(e, ERR_EXIT_PROFILER, EINVAL,
                           "the agent in JVM %d did not understand its options; is " //
                           AGENT_LIBRARY_NAME " of the same version as this program?",
                           pid);
    case HANDSHAKE_NO_THREAD:
        return err_exit_as(e, ERR_EXIT_PROFILER, EAGAIN,
                           "the agent could not start its thread in JVM %d; check its limit of "
                           "threads (ulimit -u, pids cgroup)",
                           pid);
    case HANDSHAKE_SIGNAL:
        return err_exit_as(
            e, ERR_EXIT_PROFILER, EBUSY,
            "a library loaded into JVM %d after the last profile put its own SIGSEGV "
            "handler in front of the agent's: restart the JVM to profile it again",
            pid);
    default:
        return err_exit_as(e, ERR_EXIT_PROFILER, EPROTO, "the agent in JVM %d failed with code %d",
                           pid, result);
    }
}

static uint64_t random_session(void) {
    uint64_t n = 0;
    if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n)
        n = (uint64_t)getpid();
    return n ? n : 1;
}

int agent_link_open(const struct jvm *j, const char *library, bool as_given, bool offer_broker,
                    uint64_t ring_bytes, int timeout_ms, struct agent_link *link, struct err *e) {
    struct mapping *out = &link->mapping;
    (void)as_given, (void)offer_broker;
    *link = (struct agent_link){.broker = -1};
    int result = check_visible(j, library, e);
    if (result != 0)
        return result;
    uint64_t session = random_session();
    char options[160];
    int n = snprintf(options, sizeof options, "session=%llu,ring=%llu", (unsigned long long)session,
                     (unsigned long long)ring_bytes);
    /* Who may not look at the JVM's descriptors lets the JVM look at ours. */
    int fd = -1;
    if (mapping_may_look(j->pid) != 0) {
        fd = mapping_make_fd(ring_bytes, e);
        if (fd < 0)
            return fd;
        snprintf(options + n, sizeof options - (size_t)n, ",map=/proc/%d/fd/%d", (int)getpid(), fd);
    }
    int code = 0;
    result = attach_load(j, library, options, timeout_ms, &code, e);
    /* The last reader may have died a moment ago: after some missed heartbeats it gives way. */
    for (int waited = 0; result == 0 && code == HANDSHAKE_BUSY && waited < BUSY_MS;
         waited += BUSY_STEP_MS) {
        nanosleep(&(struct timespec){.tv_nsec = BUSY_STEP_MS * 1000000L}, NULL);
        result = attach_load(j, library, options, timeout_ms, &code, e);
    }
    if (result == 0 && code != HANDSHAKE_OK)
        result = refused(j, code, e);
    else if (result == 0)
        result =
            fd >= 0 ? mapping_of_fd(fd, session, out, e) : mapping_find(j->pid, session, out, e);
    if (fd >= 0)
        close(fd);
    /* What was asked for is what is paid for: memory is touched up to the size in the header. */
    if (result == 0 && out->ring_bytes != ring_bytes) {
        mapping_close(out);
        result = err_exit_as(e, ERR_EXIT_PROFILER, EPROTO,
                             "the agent made a ring of another size than asked for");
    }
    return result;
}
