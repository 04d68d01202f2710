#include "core/session/drain/sigtrap_proof.h"

#include "core/base/clock.h"
#include "core/wire/perf_attr.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAJOR 6
#define MINOR 15
#define PERIOD_NS 20000u
#define TRY_MS 100u /* time of the child's, at most */
#define TRAPS_MAX 100

/* Offset of si_perf_data and si_perf_flags in a siginfo_t (source: asm-generic/siginfo.h): older
 * headers do not name them. */
#define CODE_PERF 6
#define DATA_OFFSET 24
#define FLAGS_OFFSET 36
#define FLAG_ASYNC 1u
#define DATA 0x6a746f7070726f66u

static bool is_new_enough(void) {
    struct utsname u;
    int major, minor;
    if (uname(&u) != 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2)
        return false;
    return major > MAJOR || (major == MAJOR && minor >= MINOR);
}

/* In the child. */

static volatile sig_atomic_t waited, came_at_once, wrong;
static int event; /* the counter */
static int traps; /* how many came */

static void on_trap(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)context;
    uint64_t data;
    uint32_t flags;
    memcpy(&data, (const char *)info + DATA_OFFSET, sizeof data);
    memcpy(&flags, (const char *)info + FLAGS_OFFSET, sizeof flags);
    if (info->si_code != CODE_PERF || data != DATA)
        wrong = 1;
    else if (flags & FLAG_ASYNC)
        waited = 1;
    else
        came_at_once = 1;
    /* Where a trap takes longer than a period, as under a tracer, nothing else would run. */
    if (came_at_once || wrong || ++traps == TRAPS_MAX)
        ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

static int open_event(bool in_kernel) {
    const struct wire_engine_request q = {.event = WIRE_EVENT_CPU,
                                          .interval = PERIOD_NS,
                                          .flags = in_kernel ? 0 : WIRE_ENGINE_ALL_USER};
    struct perf_event_attr a;
    perf_attr_fill(&a, &q);
    if (!perf_attr_trap(&a, DATA))
        return -1;
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGTRAP);
}

static bool goes_well(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    const struct rlimit no_core = {0};
    uint64_t end = clock_now_ms() + TRY_MS;
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    setrlimit(RLIMIT_CORE, &no_core);
    event = open_event(true);
    if (event < 0)
        event = open_event(false);
    if (event < 0 || sigaction(SIGTRAP, &action, NULL) != 0 ||
        sigprocmask(SIG_BLOCK, &trap, NULL) != 0 || ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0)
        return false;
    while (!is_pending() && clock_now_ms() < end)
        continue;
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    while (!came_at_once && clock_now_ms() < end)
        continue;
    ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    return waited && came_at_once && !wrong;
}

/* In this process. */

static pid_t child; /* 0: none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(void) {
    if (!is_new_enough())
        return;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(goes_well() ? 0 : 1);
    }
}

void sigtrap_proof_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

bool sigtrap_proof(void) {
    static bool works;
    int status = 0;
    sigtrap_proof_begin();
    pthread_mutex_lock(&lock);
    pid_t done = 0;
    while (child > 0 && done != child) {
        done = waitpid(child, &status, 0);
        if (done < 0 && errno != EINTR)
            break;
    }
    if (child > 0)
        works = done == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    child = 0;
    bool result = works;
    pthread_mutex_unlock(&lock);
    return result;
}
