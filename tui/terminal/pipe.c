#include "tui/terminal/pipe.h"

#include "core/base/clock.h"
#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define WAIT_MS 100 /* between checks: a pidfd does not report that a command stops */
#define TERM_NS UINT64_C(2000000000) /* time for a command to end after SIGTERM */
#define KILL_NS UINT64_C(1000000000) /* time after SIGKILL; then the command is left alone */

/* Signals that are ignored meanwhile. The first two are for the command while it has the terminal.
 * SIGTTOU is sent when this process takes the terminal back. */
static const int ignored_signals[] = {SIGINT, SIGQUIT, SIGTTOU};
#define IGNORED (sizeof ignored_signals / sizeof ignored_signals[0])

/* Makes a file in memory, positioned at its beginning. Returns it, or -errno. */
static int make_input(const char *data, size_t length) {
    int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (size_t at = 0; at < length;) {
        ssize_t n = write(fd, data + at, length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int error = n < 0 ? errno : EIO;
            close(fd);
            return -error;
        }
        at += (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Starts the command. Returns 0 or a positive errno. */
static int start(const char *command, int input, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual, none;
    char shell[] = "sh", option[] = "-c";
    char *copy = strdup(command);
    char *const argv[] = {shell, option, copy, NULL};
    if (!copy)
        return ENOMEM;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigaddset(&usual, SIGTSTP);
    for (size_t i = 0; i < IGNORED; i++)
        sigaddset(&usual, ignored_signals[i]);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int rc = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0); /* its own group: all of it can be signalled */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETPGROUP);
    if (rc == 0)
        rc = posix_spawn(child, "/bin/sh", &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(copy);
    return rc;
}

/* A running command; it is a process group. */
struct command {
    pid_t group;  /* also the shell's pid */
    int tty;      /* our terminal, or -1 */
    int pidfd;    /* the shell's, or -1 */
    bool reaped;  /* the shell has ended; *status is set */
    bool given;   /* the command has the terminal */
    bool quit;    /* we are asked to end, and end the command */
    bool killed;  /* SIGKILL was sent */
    uint64_t end; /* with quit: time of the next step */
};

/* Gives the terminal to the command if we have it. A background process does not have it. */
static void give_terminal(struct command *c) {
    if (c->tty >= 0 && !c->given && tcgetpgrp(c->tty) == getpgrp())
        c->given = tcsetpgrp(c->tty, c->group) == 0;
}

static void take_terminal(struct command *c) {
    if (c->given)
        tcsetpgrp(c->tty, getpgrp());
    c->given = false;
}

/* Handles a stopped command, as after Ctrl-Z: the shell that started us must get its prompt, so we
 * stop too. A command that stopped because it used the terminal too early is only continued. */
static void stop_with(struct command *c, int number) {
    struct sigaction before, usual = {.sa_handler = SIG_DFL};
    bool early =
        (number == SIGTTIN || number == SIGTTOU) && c->tty >= 0 && tcgetpgrp(c->tty) == c->group;
    if (!early) {
        take_terminal(c);
        sigemptyset(&usual.sa_mask);
        sigaction(SIGTSTP, &usual, &before);
        kill(0, SIGTSTP);
        sigaction(SIGTSTP, &before, NULL);
        give_terminal(c);
    }
    kill(-c->group, SIGCONT);
}

/* True if the command has ended. If it was asked to end: true if nothing of its group is left, or
 * nothing more can be done. */
static bool has_ended(struct command *c, int *status) {
    int now = 0;
    pid_t changed = c->reaped ? 0 : waitpid(c->group, &now, WNOHANG | WUNTRACED);
    if (changed == c->group && WIFSTOPPED(now)) {
        if (!c->quit)
            stop_with(c, WSTOPSIG(now));
    } else if (changed == c->group || (changed < 0 && errno != EINTR)) {
        *status = changed > 0 ? now : 0;
        c->reaped = true;
    }
    if (!c->quit)
        return c->reaped;
    if (c->reaped && kill(-c->group, 0) && errno == ESRCH)
        return true;
    if (clock_now_ns() < c->end)
        return false;
    if (c->killed)
        return true;
    kill(-c->group, SIGKILL);
    c->killed = true;
    c->end = clock_now_ns() + KILL_NS;
    return false;
}

static void end_command(struct command *c) {
    if (c->quit)
        return;
    c->quit = true;
    c->end = clock_now_ns() + TERM_NS;
    kill(-c->group, SIGTERM);
    kill(-c->group, SIGCONT); /* so that a stopped process handles SIGTERM too */
}

/* Waits until the command ends. True if we are asked to end. */
static bool await(pid_t child, int *status) {
    struct command c = {.group = child};
    c.tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    c.pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    give_terminal(&c);
    while (!has_ended(&c, status)) {
        struct pollfd p[] = {{.fd = signals_fd(), .events = POLLIN},
                             {.fd = c.reaped ? -1 : c.pidfd, .events = POLLIN}};
        poll(p, 2, WAIT_MS);
        unsigned signals = p[0].revents & POLLIN ? signals_take() : 0;
        if (signals & SIGNAL_QUIT)
            end_command(&c);
        else if (signals & SIGNAL_SUSPEND) /* Ctrl-Z before the command had the terminal */
            kill(-c.group, SIGTSTP);
    }
    take_terminal(&c);
    if (c.tty >= 0)
        close(c.tty);
    if (c.pidfd >= 0)
        close(c.pidfd);
    return c.quit;
}

int pipe_run(const char *command, const char *data, size_t length, int *status, struct err *e) {
    struct sigaction before[IGNORED];
    pid_t child = -1;
    *status = 0;
    int input = make_input(data, length);
    if (input < 0)
        return err_set(e, -input, "the table for the command: %s", strerror(-input));
    for (size_t i = 0; i < IGNORED; i++) {
        struct sigaction a = {.sa_handler = SIG_IGN};
        sigemptyset(&a.sa_mask);
        sigaction(ignored_signals[i], &a, &before[i]);
    }
    int rc = start(command, input, &child);
    close(input);
    bool quit = rc == 0 && await(child, status);
    for (size_t i = 0; i < IGNORED; i++)
        sigaction(ignored_signals[i], &before[i], NULL);
    raise(SIGWINCH); /* a resize meanwhile was not handled */
    if (quit)
        raise(SIGTERM);
    return rc ? err_set(e, rc, "cannot run /bin/sh: %s", strerror(rc)) : 0;
}

void pipe_wait_key(void) {
    struct termios cooked, raw;
    char c[64];
    if (tcgetattr(STDIN_FILENO, &cooked))
        return;
    raw = cooked;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    struct pollfd p[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                         {.fd = signals_fd(), .events = POLLIN}};
    unsigned signals = 0;
    while (!p[0].revents && !(signals & SIGNAL_QUIT)) {
        poll(p, 2, -1);
        if (p[1].revents)
            signals |= signals_take();
    }
    if (p[0].revents & POLLIN) {
        ssize_t ignored = read(STDIN_FILENO, c, sizeof c);
        (void)ignored;
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
    raise(SIGWINCH);
    if (signals & SIGNAL_QUIT)
        raise(SIGTERM);
}
