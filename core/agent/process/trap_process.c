#include "core/agent/process/trap_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 2048
#define BLOCKED_LOOKS 5   /* before each of which it slept or ran */
#define BLOCKED_WAITS 500 /* of a millisecond */
#define RUNNERS_MAX 256u
#define PASSED_LOOKS 3
#define PASSED_WAITS 500

static void wait_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool read_text(const char *path, char *text, size_t bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, bytes - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* A line of /proc/self/maps, cut: "begin-end rwxp offset device inode path". */
static int protection_by(const char *line, uintptr_t address) {
    unsigned long begin, end, inode;
    char mode[5];
    if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &begin, &end, mode, &inode) != 4)
        return 0;
    if (address < begin || address >= end)
        return 0;
    if (!inode || mode[3] != 'p')
        return -1;
    return (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
           (mode[2] == 'x' ? PROT_EXEC : 0);
}

int trap_process_protection(uintptr_t address) {
    char text[TEXT_BYTES];
    char line[128] = "";
    size_t length = 0;
    int found = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t n;
    if (fd < 0)
        return -1;
    while (!found && (n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n && !found; i++) {
            if (text[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = text[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            found = protection_by(line, address);
        }
    }
    close(fd);
    return found > 0 ? found : -1;
}

/* What the kernel reports about a thread. One that has ended counts as asleep. */
struct look {
    bool sleeps;  /* a stopped one does not: it may have the signal before it */
    bool blocks;  /* SIGTRAP */
    bool pending; /* SIGTRAP: it ran into a breakpoint, and the kernel has not called the handler */
    uint64_t ran_ns; /* on a processor; UINT64_MAX: the kernel does not say */
};

static bool is_gone(uint32_t tid) {
    return syscall(SYS_tgkill, getpid(), (int)tid, 0) != 0 && errno == ESRCH;
}

/* A file in pieces: a status has a line of groups, which may be of any length. */
struct status_lines {
    int fd;
    char piece[TEXT_BYTES];
    ssize_t at, end;
};

static int next_byte(struct status_lines *l) {
    if (l->at == l->end) {
        l->end = read(l->fd, l->piece, sizeof l->piece);
        l->at = 0;
    }
    return l->end > 0 ? (unsigned char)l->piece[l->at++] : -1;
}

/* False at the end; what of a line does not fit is left out. */
static bool next_line(struct status_lines *l, char *line, size_t bytes) {
    size_t n = 0;
    int c;
    while ((c = next_byte(l)) >= 0 && c != '\n')
        if (n < bytes - 1)
            line[n++] = (char)c;
    line[n] = '\0';
    return c >= 0;
}

static bool has_trap(const char *mask) {
    return strtoull(mask, NULL, 16) >> (SIGTRAP - 1) & 1;
}

/* Whether all that is looked for was there. */
static bool read_status(int fd, struct look *look) {
    struct status_lines lines = {.fd = fd};
    char line[128] = "";
    while (next_line(&lines, line, sizeof line)) {
        if (strncmp(line, "State:\t", 7) == 0)
            look->sleeps = line[7] && strchr("SDXZI", line[7]);
        else if (strncmp(line, "SigPnd:\t", 8) == 0)
            look->pending = has_trap(line + 8);
        else if (strncmp(line, "SigBlk:\t", 8) == 0) {
            look->blocks = has_trap(line + 8);
            return true;
        }
    }
    return false;
}

/* The worst is assumed of what is not known, for example if there is no free descriptor. */
static struct look look_at(uint32_t tid) {
    const struct look unknown = {.blocks = true, .pending = true, .ran_ns = UINT64_MAX};
    const struct look gone = {.sleeps = true, .ran_ns = UINT64_MAX};
    char path[64], text[128];
    struct look look = unknown;
    snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", tid);
    if (read_text(path, text, sizeof text))
        look.ran_ns = strtoull(text, NULL, 10);
    snprintf(path, sizeof path, "/proc/self/task/%u/status", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && read_status(fd, &look);
    if (fd >= 0)
        close(fd);
    return whole ? look : is_gone(tid) ? gone : unknown;
}

static uint32_t next_thread(DIR *d) {
    const struct dirent *e;
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            return (uint32_t)strtoul(e->d_name, NULL, 10);
    return 0;
}

/* While a thread is made, all its signals are blocked: one that waits for a processor may be that,
 * and says nothing until it has run. */
static bool goes_on_blocking(uint32_t tid) {
    uint64_t ran_ns = UINT64_MAX;
    int ran = 0;
    for (int waits = 0; waits < BLOCKED_WAITS && ran < BLOCKED_LOOKS; waits++) {
        struct look look = look_at(tid);
        if (!look.blocks)
            return false;
        ran += look.sleeps || look.ran_ns != ran_ns;
        ran_ns = look.ran_ns;
        wait_ms();
    }
    return true;
}

uint32_t trap_process_blocked(void) {
    uint32_t found = 0;
    DIR *d = opendir("/proc/self/task");
    for (uint32_t tid; d && !found && (tid = next_thread(d)) != 0;)
        if (goes_on_blocking(tid))
            found = tid;
    if (!d)
        return (uint32_t)getpid(); /* not known */
    closedir(d);
    return found;
}

struct runner {
    uint32_t tid;
    uint64_t ran_ns; /* when last checked */
    int ran;         /* checks before which it had run */
};

/* From the breakpoint to where the signal shows as pending is less than a microsecond, but what a
 * thread ran for counts the time that a hypervisor took from it: so it must have run repeatedly. */
static bool has_passed(struct runner *r) {
    struct look look = look_at(r->tid);
    if (look.pending)
        return false;
    if (look.sleeps)
        return true;
    r->ran += look.ran_ns != r->ran_ns;
    r->ran_ns = look.ran_ns;
    return r->ran >= PASSED_LOOKS;
}

/* Those that are awake; more than `max` where there are more. */
static uint32_t find_runners(struct runner *out, uint32_t max) {
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/task");
    if (!d)
        return max + 1;
    for (uint32_t tid; n <= max && (tid = next_thread(d)) != 0;) {
        struct look look = look_at(tid);
        if (tid == own || (look.sleeps && !look.pending))
            continue;
        if (n < max)
            out[n] = (struct runner){.tid = tid, .ran_ns = look.ran_ns};
        n++;
    }
    closedir(d);
    return n;
}

bool trap_process_passed(void) {
    struct runner runner[RUNNERS_MAX];
    uint32_t left = find_runners(runner, RUNNERS_MAX);
    if (left > RUNNERS_MAX)
        return false;
    for (int waits = 0; left && waits < PASSED_WAITS; waits++) {
        wait_ms();
        for (uint32_t i = 0; i < left;)
            if (has_passed(&runner[i]))
                runner[i] = runner[--left];
            else
                i++;
    }
    return left == 0;
}
