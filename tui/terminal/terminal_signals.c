#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const struct {
    int number;
    unsigned flag; /* 0: fatal */
} watched[] = {
    {SIGINT, SIGNAL_QUIT},
    {SIGTERM, SIGNAL_QUIT},
    {SIGHUP, SIGNAL_QUIT},
    {SIGTSTP, SIGNAL_SUSPEND},
    {SIGCONT, SIGNAL_CONTINUE},
    {SIGWINCH, SIGNAL_RESIZE},
    {SIGSEGV, 0},
    {SIGBUS, 0},
    {SIGILL, 0},
    {SIGFPE, 0},
    {SIGABRT, 0},
    {SIGQUIT, 0},
    {SIGSYS, 0},
    {SIGTRAP, 0},
};
#define WATCHED (sizeof watched / sizeof watched[0])

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDS (sizeof ends / sizeof ends[0])

/* The frontend's only mutable global: a signal handler cannot reach its data in any other way. */
static struct {
    atomic_uint flags;
    int wake; /* eventfd */
    struct sigaction before[WATCHED];
    struct sigaction pipe_before;
    bool open;
    bool exit_hook;
    /* how to restore the terminal */
    atomic_bool guarded;
    int tty;
    struct termios modes;
    char bytes[SIGNALS_GUARD_BYTES];
    size_t length;
    /* for signals_impatient */
    volatile sig_atomic_t asked; /* the signal that came; 0: none */
    unsigned patience_s;
    struct sigaction ends_before[ENDS], alarm_before;
    sigset_t mask_before;
    uint8_t stack[64 << 10] __attribute__((aligned(16))); /* a handler's, if ours overflowed */
} state = {.wake = -1};

static void on_event(int number) {
    int saved = errno;
    for (size_t i = 0; i < WATCHED; i++)
        if (watched[i].number == number)
            atomic_fetch_or(&state.flags, watched[i].flag);
    uint64_t one = 1;
    ssize_t ignored = write(state.wake, &one, sizeof one);
    (void)ignored;
    errno = saved;
}

/* Restores the terminal; safe in a signal handler. If the terminal does not accept the bytes within
 * a second, they are not sent: dying must not hang. */
static void put_terminal_back(void) {
    if (!atomic_exchange(&state.guarded, false))
        return;
    struct pollfd p = {.fd = state.tty, .events = POLLOUT};
    if (poll(&p, 1, 1000) == 1 && (p.revents & POLLOUT)) {
        ssize_t ignored = write(state.tty, state.bytes, state.length);
        (void)ignored;
    }
    tcsetattr(state.tty, TCSANOW, &state.modes);
    tcflush(state.tty, TCIFLUSH); /* an answer of the terminal would become the shell's input */
}

/* SA_RESETHAND has restored the default action. The raised signal is delivered on return. */
static void on_fatal(int number) {
    put_terminal_back();
    raise(number);
}

int signals_open(struct err *e) {
    if (state.open)
        return err_set(e, EBUSY, "signals are in use already");
    state.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (state.wake < 0)
        return err_set(e, errno, "eventfd: %s", strerror(errno));
    atomic_store(&state.flags, 0);
    stack_t stack = {.ss_sp = state.stack, .ss_size = sizeof state.stack};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction a = {.sa_handler = watched[i].flag ? on_event : on_fatal};
        sigemptyset(&a.sa_mask);
        a.sa_flags = watched[i].flag ? 0 : (int)(SA_RESETHAND | SA_ONSTACK);
        sigaction(watched[i].number, NULL, &state.before[i]);
        /* A signal that was ignored before (nohup, a background job) stays ignored. */
        if (watched[i].flag == SIGNAL_QUIT && state.before[i].sa_handler == SIG_IGN)
            continue;
        sigaction(watched[i].number, &a, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &state.pipe_before);
    state.open = true;
    return 0;
}

void signals_close(void) {
    if (!state.open)
        return;
    signals_unguard();
    for (size_t i = 0; i < WATCHED; i++)
        sigaction(watched[i].number, &state.before[i], NULL);
    sigaction(SIGPIPE, &state.pipe_before, NULL);
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    close(state.wake);
    state.wake = -1;
    state.open = false;
}

int signals_fd(void) {
    return state.wake;
}

unsigned signals_take(void) {
    uint64_t count;
    ssize_t ignored = read(state.wake, &count, sizeof count);
    (void)ignored;
    return atomic_exchange(&state.flags, 0);
}

void signals_stop_self(void) {
    struct sigaction before, stop = {.sa_handler = SIG_DFL};
    sigaction(SIGTSTP, &stop, &before);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
}

void signals_guard(int tty, const struct termios *modes, const void *bytes, size_t length) {
    atomic_store(&state.guarded, false);
    state.tty = tty;
    state.modes = *modes;
    state.length = length < sizeof state.bytes ? length : sizeof state.bytes;
    memcpy(state.bytes, bytes, state.length);
    atomic_store(&state.guarded, true);
    if (!state.exit_hook)
        state.exit_hook = atexit(put_terminal_back) == 0;
}

void signals_unguard(void) {
    atomic_store(&state.guarded, false);
}

/* ---- ending at once: signals_impatient ---- */

/* Dies by the signal's default action. If the signal is being handled now, that happens on
 * return. */
static void die_of(int number) {
    put_terminal_back();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_impatience(int number) {
    int saved = errno;
    if (number == SIGALRM)
        die_of(state.asked ? state.asked : SIGTERM);
    else if (state.asked)
        die_of(number);
    else if ((state.asked = number) && state.patience_s)
        alarm(state.patience_s);
    errno = saved;
}

void signals_impatient(unsigned patience_s) {
    struct sigaction a = {.sa_handler = on_impatience, .sa_flags = SA_RESTART};
    sigset_t open;
    sigemptyset(&a.sa_mask);
    sigemptyset(&open);
    sigaddset(&open, SIGALRM);
    state.asked = 0;
    state.patience_s = patience_s;
    sigaction(SIGALRM, &a, &state.alarm_before);
    for (size_t i = 0; i < ENDS; i++) {
        sigaction(ends[i], NULL, &state.ends_before[i]);
        if (state.ends_before[i].sa_handler == SIG_IGN)
            continue;
        sigaction(ends[i], &a, NULL);
        sigaddset(&open, ends[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &open, &state.mask_before);
}

void signals_patient(void) {
    alarm(0);
    pthread_sigmask(SIG_SETMASK, &state.mask_before, NULL);
    for (size_t i = 0; i < ENDS; i++)
        sigaction(ends[i], &state.ends_before[i], NULL);
    sigaction(SIGALRM, &state.alarm_before, NULL);
    if (state.asked)
        raise(state.asked);
}
