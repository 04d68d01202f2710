#include "core/session/agent_link.h"

#include "attach/load/attach.h"
#include "attach/place/place.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/text.h"
#include "core/session/share/holder.h"
#include "core/session/share/share.h"
#include "core/wire/handshake.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MS 1500
#define OTHER_COPY_MS 12000 /* the longest lease of another copy whose reader never started */
/* For a large heap that the JVM touches at the start (-XX:+AlwaysPreTouch) */
#define STARTING_MS 20000
#define BUSY_STEP_MS 150
#define PLACE_MS 5000 /* a file system that needs longer is considered unresponsive */
#define ACCEPT_MS 100
#define ACCEPT_TRIES 4

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

/* Whether the file is our library, whatever its name. */
static bool is_ours(const char *path) {
    static const char mark[] = WIRE_LIBRARY_MARK;
    const size_t overlap = sizeof mark - 2;
    char part[1 << 16];
    size_t kept = 0, n;
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f && !found && (n = fread(part + kept, 1, sizeof part - kept, f)) > 0) {
        n += kept;
        found = memmem(part, n, mark, sizeof mark - 1) != NULL;
        kept = n < overlap ? n : overlap;
        memmove(part, part + n - kept, kept);
    }
    if (f)
        fclose(f);
    return found;
}

int agent_library_find(const char *given, char *out, size_t size, struct err *e) {
    char found[PATH_MAX];
    if (given && *given == '/')
        return take_path(given, out, size, e);
    if (given) {
        if (!realpath(given, found))
            return err_set(e, errno, "cannot use the agent library %s: %s", given, strerror(errno));
        return take_path(found, out, size, e);
    }
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return err_set(e, errno, "cannot find out where this program is: %s", strerror(errno));
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    static const char *const place[] = {"", "/../lib/jtop-prof", "/../lib"};
    struct text looked = {0};
    char path[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        snprintf(path, sizeof path, "%s%s/%s", self, place[i], AGENT_LIBRARY_NAME);
        if (realpath(path, found)) {
            text_free(&looked);
            return take_path(found, out, size, e);
        }
        text_addf(&looked, "%s%s%s", i ? ", " : "", self, place[i]);
    }
    /* For installations that replace async-profiler by this program: bin/asprof,
     * lib/libasyncProfiler.so. */
    snprintf(path, sizeof path, "%s/../lib/libasyncProfiler.so", self);
    if (realpath(path, found) && is_ours(found)) {
        text_free(&looked);
        return take_path(found, out, size, e);
    }
    int result = err_set(e, ENOENT,
                         "cannot find " AGENT_LIBRARY_NAME " (looked in %s); install it there or "
                         "name it with --libpath",
                         looked.data ? looked.data : self);
    text_free(&looked);
    return result;
}

static int busy(const struct jvm *j, struct err *e) {
    pid_t holder = holder_find(j->pid);
    char who[32] = "", more[160] = "";
    if (holder)
        snprintf(who, sizeof who, " (pid %d)", (int)holder);
    if (share_find(j->pid))
        snprintf(more, sizeof more,
                 ", or join as viewer: jtop-prof %d, or get its samples: jtop-prof dump %d",
                 (int)j->pid, (int)j->pid);
    else if (holder)
        snprintf(more, sizeof more,
                 "; it is not reachable from here: it is another user's, or in another network "
                 "namespace");
    else if (holder_hidden(j->pid))
        snprintf(more, sizeof more,
                 "; it is not visible from here: it is on the host, or in another container");
    return err_set(e, EBUSY, "another running jtop-prof profiles JVM %d%s; quit that one first%s",
                   (int)j->pid, who, more);
}

static int refused(const struct jvm *j, int result, struct err *e) {
    int pid = (int)j->pid;
    switch (result) {
    case HANDSHAKE_NO_MEMORY:
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                           "the agent could not get memory in JVM %d (memfd_create or mmap "
                           "failed); check its memory limits and seccomp filter, or use a smaller "
                           "sample buffer (-b)",
                           pid);
    case HANDSHAKE_BUSY:
    case HANDSHAKE_OTHER_COPY:
        return busy(j, e);
    case HANDSHAKE_STARTING:
        return err_exit_as(e, ERR_EXIT_PROFILER, EAGAIN,
                           "JVM %d is still starting after %d s; try again when it has started",
                           pid, STARTING_MS / 1000);
    case HANDSHAKE_UNSUPPORTED:
        return err_set(e, EOPNOTSUPP,
                       "JVM %d (%s) cannot be profiled: its libjvm.so has neither "
                       "gHotSpotVMStructs, by which HotSpot describes itself, nor an "
                       "AsyncGetCallTrace that works, so its Java frames cannot be read; run the "
                       "application on an OpenJDK server VM",
                       pid, j->vm_name[0] ? j->vm_name : "unknown VM");
    case HANDSHAKE_OPTIONS:
        return err_exit_as(e, ERR_EXIT_PROFILER, EINVAL,
                           "the agent in JVM %d did not understand its options; check that " //
                           AGENT_LIBRARY_NAME " has the same version as this program",
                           pid);
    case HANDSHAKE_NO_THREAD:
        return err_exit_as(e, ERR_EXIT_PROFILER, EAGAIN,
                           "the agent could not start its thread in JVM %d; check its limit of "
                           "threads (ulimit -u, pids cgroup)",
                           pid);
    case HANDSHAKE_SIGNAL:
        return err_exit_as(
            e, ERR_EXIT_PROFILER, EPROTO,
            "libraries in JVM %d have installed their SIGSEGV handlers over the agent's too "
            "often: find out which libraries reinstall their handlers",
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

/* The load that the JVM is asked to do, and the place of the library. */
struct load {
    const struct jvm *jvm;
    const char *library; /* path as we see it; with as_given, as the JVM sees it */
    bool as_given;
    unsigned wants; /* enum place_want */
    int timeout_ms;
    struct place place;
    struct text options;
    int code; /* the agent's answer: enum handshake_result */
};

static int place(struct load *l, struct err *e) {
    int ms = l->timeout_ms < PLACE_MS ? l->timeout_ms : PLACE_MS;
    uint64_t deadline = proc_now_ns() + (uint64_t)ms * 1000000U;
    if (!l->as_given)
        return place_agent(l->jvm, l->library, l->wants, deadline, &l->place, e);
    int result = take_path(l->library, l->place.path, sizeof l->place.path, e);
    return result < 0 ? result : place_check(l->jvm, l->library, deadline, e);
}

static int load_once(struct load *l, struct err *e) {
    char options[1024];
    const char *broker = l->place.socket_path;
    int n = snprintf(options, sizeof options, "%s%s%s", l->options.data, *broker ? ",broker=" : "",
                     broker);
    if (n < 0 || (size_t)n >= sizeof options)
        return too_long(e);
    return attach_load(l->jvm, l->place.path, options, l->timeout_ms, &l->code, e);
}

static int place_and_load(struct load *l, struct err *e) {
    int result = place(l, e);
    if (result == 0)
        result = load_once(l, e);
    if (result != -EPROTO || !l->place.loaded)
        return result;
    /* The JVM does not find the library under that name. */
    place_release(&l->place);
    l->wants |= PLACE_ANEW;
    result = place(l, e);
    return result == 0 ? load_once(l, e) : result;
}

/* The last reader may have died just now. The agent detaches after some missed heartbeats. If the
 * reader belongs to another copy of the agent, which our copy cannot find out about, it takes until
 * the end of the lease. */
static bool may_become_free(const struct load *l, int waited_ms) {
    if (l->code == HANDSHAKE_STARTING)
        return waited_ms < STARTING_MS;
    if (waited_ms < BUSY_MS)
        return l->code == HANDSHAKE_BUSY || l->code == HANDSHAKE_OTHER_COPY;
    return l->code == HANDSHAKE_OTHER_COPY && waited_ms < OTHER_COPY_MS &&
           !holder_find(l->jvm->pid);
}

static int load(struct load *l, struct err *e) {
    int result = place_and_load(l, e);
    for (int waited = 0; result == 0 && may_become_free(l, waited); waited += BUSY_STEP_MS) {
        nanosleep(&(struct timespec){.tv_nsec = BUSY_STEP_MS * 1000000L}, NULL);
        result = load_once(l, e);
    }
    return result;
}

/* The agent connects while it is being loaded. -1: no process has connected, or only other
 * processes. */
static int accept_agent(const struct load *l) {
    struct pollfd p = {.fd = l->place.listener, .events = POLLIN};
    for (int i = 0; i < ACCEPT_TRIES && p.fd >= 0 && poll(&p, 1, ACCEPT_MS) > 0; i++) {
        struct ucred peer;
        socklen_t length = sizeof peer;
        int fd = accept4(p.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            continue;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == l->jvm->pid)
            return fd;
        close(fd);
    }
    return -1;
}

/* `fd`: the mapping, if we made it. */
static int take_mapping(const struct load *l, int fd, uint64_t session, uint64_t ring_bytes,
                        struct mapping *out, struct err *e) {
    int result =
        fd >= 0 ? mapping_of_fd(fd, session, out, e) : mapping_find(l->jvm, session, out, e);
    /* The ring must have the requested size, because memory is touched up to the size in
     * the header. */
    if (result == 0 && out->ring_bytes != ring_bytes) {
        mapping_close(out);
        result = err_exit_as(e, ERR_EXIT_PROFILER, EPROTO,
                             "the agent made a sample buffer of a different size than requested");
    }
    return result;
}

static int others_proc(const struct jvm *j, struct err *e) {
    return err_set(e, EOPNOTSUPP,
                   "JVM %d has its own pid namespace, but its /proc belongs to another one "
                   "(/proc/%d/root/proc/self is visible here): the agent would not find its "
                   "threads; start it with its own /proc (unshare --mount-proc)",
                   (int)j->pid, (int)j->pid);
}

/* The JVM is not allowed to make a file of the size of the shared memory (ulimit -f). */
static bool is_too_large(const struct jvm *j, uint64_t ring_bytes) {
    struct rlimit file;
    return prlimit(j->pid, RLIMIT_FSIZE, NULL, &file) == 0 && file.rlim_cur != RLIM_INFINITY &&
           file.rlim_cur < wire_mapping_bytes(ring_bytes);
}

int agent_link_open(const struct jvm *j, const char *library, bool as_given, bool offer_broker,
                    uint64_t ring_bytes, int timeout_ms, struct agent_link *link, struct err *e) {
    struct load l = {.jvm = j,
                     .library = library,
                     .as_given = as_given,
                     .wants = offer_broker ? PLACE_SOCKET : 0,
                     .timeout_ms = timeout_ms,
                     .place = {.listener = -1, .keeper.channel = -1}};
    *link = (struct agent_link){.broker = -1};
    if (inside_others_proc(j->pid))
        return others_proc(j, e);
    uint64_t session = random_session();
    text_addf(&l.options, "session=%llu,ring=%llu", (unsigned long long)session,
              (unsigned long long)ring_bytes);
    /* If we may not read the JVM's descriptors, the JVM opens ours instead. */
    int fd = -1, result = 0;
    if (mapping_may_look(j) != 0 || is_too_large(j, ring_bytes)) {
        fd = result = mapping_make_fd(ring_bytes, e);
        text_addf(&l.options, ",map=/proc/%d/fd/%d", (int)getpid(), fd);
    }
    if (result >= 0)
        result = l.options.failed ? err_set(e, ENOMEM, "no memory to attach") : load(&l, e);
    if (result == 0 && l.code != HANDSHAKE_OK)
        result = refused(j, l.code, e);
    if (result == 0)
        result = take_mapping(&l, fd, session, ring_bytes, &link->mapping, e);
    if (result == 0)
        link->broker = accept_agent(&l);
    place_release(&l.place);
    text_free(&l.options);
    if (fd >= 0)
        close(fd);
    return result;
}
