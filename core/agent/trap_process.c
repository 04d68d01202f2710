#include "core/agent/trap_process.h"

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
#define BLOCKED_LOOKS 5 /* while a thread is made, all its signals are blocked */
#define RUNNERS_MAX 256u
#define PASSED_WAITS 500  /* of a millisecond */
#define PASSED_NS 200000u /* on a processor: from the breakpoint to the handler it is far less */

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
    char line[128];
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

static bool blocks(uint32_t tid) {
    char path[64], text[TEXT_BYTES];
    snprintf(path, sizeof path, "/proc/self/task/%u/status", tid);
    const char *at = read_text(path, text, sizeof text) ? strstr(text, "\nSigBlk:\t") : NULL;
    return at && strtoull(at + 9, NULL, 16) >> (SIGTRAP - 1) & 1;
}

static uint32_t next_thread(DIR *d) {
    const struct dirent *e;
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            return (uint32_t)strtoul(e->d_name, NULL, 10);
    return 0;
}

uint32_t trap_process_blocked(void) {
    uint32_t found = 0;
    DIR *d = opendir("/proc/self/task");
    for (uint32_t tid; d && !found && (tid = next_thread(d)) != 0;) {
        int looks = 0;
        while (looks < BLOCKED_LOOKS && blocks(tid)) {
            looks++;
            wait_ms();
        }
        if (looks == BLOCKED_LOOKS)
            found = tid;
    }
    if (d)
        closedir(d);
    return found;
}

/* Asleep, or no thread any more. A stopped one may have the signal before it. */
static bool sleeps(uint32_t tid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
    const char *at = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    return !at || !at[1] || strchr("SDXZI", at[2]);
}

/* UINT64_MAX: the kernel does not say. */
static uint64_t ran_ns(uint32_t tid) {
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", tid);
    return read_text(path, text, sizeof text) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

struct runner {
    uint32_t tid;
    uint64_t ran_ns; /* when it was first looked at */
};

static bool has_passed(const struct runner *r) {
    if (sleeps(r->tid))
        return true;
    uint64_t now = ran_ns(r->tid);
    return now != UINT64_MAX && now - r->ran_ns >= PASSED_NS;
}

/* Those that are awake; more than `max` where there are more. */
static uint32_t find_runners(struct runner *out, uint32_t max) {
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/task");
    if (!d)
        return max + 1;
    for (uint32_t tid; n <= max && (tid = next_thread(d)) != 0;) {
        if (tid == own || sleeps(tid))
            continue;
        if (n < max)
            out[n] = (struct runner){tid, ran_ns(tid)};
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
