#include "attach/find/process_list.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define SHARE_LEAST 0.05
#define LOOK_MOST_NS UINT64_C(900000000)
#define NS UINT64_C(1000000000)

static int open_proc(const char *path) {
    struct statfs fs;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return fd;
    close(fd); /* not a proc file system: not trustworthy, and reading may block */
    return -ENOENT;
}

int process_list_open(struct process_list *l, pid_t jvm) {
    char path[48];
    *l = (struct process_list){.proc = -1};
    snprintf(path, sizeof path, "/proc/%d/root/proc", (int)jvm);
    l->proc = open_proc(path);
    if (l->proc < 0)
        l->proc = open_proc("/proc");
    return l->proc < 0 ? l->proc : 0;
}

void process_list_close(struct process_list *l) {
    if (l->proc >= 0)
        close(l->proc);
    free(l->known);
    *l = (struct process_list){.proc = -1};
}

/* Reads a file as text and adds a NUL. Returns its length, or -errno. */
static ssize_t read_file(const struct process_list *l, pid_t pid, const char *name, char *out,
                         size_t size) {
    char path[48];
    snprintf(path, sizeof path, "%d/%s", (int)pid, name);
    return file_read_at(l->proc, path, 0, out, size);
}

struct stat_line {
    struct process_sample *s;
    uint64_t start_ticks, user_ticks, system_ticks;
};

/* source: proc(5), /proc/PID/stat. The name may hold anything, brackets too. */
static bool read_stat(const struct process_list *l, struct stat_line *t) {
    char text[1024];
    struct process_sample *s = t->s;
    uint64_t size, pages;
    int parent;
    if (read_file(l, s->pid, "stat", text, sizeof text) < 0)
        return false;
    const char *open = strchr(text, '('), *end = strrchr(text, ')');
    if (!open || !end || end < open)
        return false;
    size_t n = (size_t)(end - open) - 1;
    snprintf(s->name, sizeof s->name, "%.*s", (int)(n < sizeof s->name ? n : sizeof s->name),
             open + 1);
    utf8_clean(s->name);
    int fields =
        sscanf(end + 1,
               " %c %d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64
               " %*d %*d %*d %*d %" SCNu32 " %*d %" SCNu64 " %" SCNu64 " %" SCNu64,
               &s->state, &parent, &s->minor_faults, &s->major_faults, &t->user_ticks,
               &t->system_ticks, &s->threads, &t->start_ticks, &size, &pages);
    s->parent = parent;
    s->size = size;
    s->resident = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return fields == 10;
}

static uint64_t number_behind(const char *text, const char *label) {
    const char *at = strstr(text, label);
    return at ? strtoull(at + strlen(label), NULL, 10) : 0;
}

static void read_details(const struct process_list *l, struct process_sample *s) {
    char text[4096] = "";
    if (read_file(l, s->pid, "status", text, sizeof text) > 0) {
        const char *uid = strstr(text, "\nUid:");
        unsigned effective = 0;
        if (uid && sscanf(uid + 5, "%*u %u", &effective) == 1)
            s->uid = effective;
        s->anonymous = number_behind(text, "\nRssAnon:") << 10;
        s->files = number_behind(text, "\nRssFile:") << 10;
        s->shared = number_behind(text, "\nRssShmem:") << 10;
    }
    if (read_file(l, s->pid, "io", text, sizeof text) > 0) {
        s->read = number_behind(text, "\nread_bytes:");
        s->written = number_behind(text, "\nwrite_bytes:");
    }
    ssize_t n = read_file(l, s->pid, "cmdline", s->command, sizeof s->command);
    while (n > 0 && !s->command[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (!s->command[i])
            s->command[i] = ' ';
    s->command[n > 0 ? n : 0] = '\0';
    utf8_clean(s->command);
}

static int by_pid(const void *a, const void *b) {
    pid_t x = ((const struct process_known *)a)->pid, y = ((const struct process_known *)b)->pid;
    return (x > y) - (x < y);
}

static uint64_t boot_ms(void) {
    return (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)) / 1000000;
}

static uint64_t memory_bytes(void) {
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whether the process was in the previous poll, and uses enough to be reported. */
static bool is_large(const struct process_list *l, const struct process_known *now, uint64_t now_ns,
                     struct process_sample *s) {
    const struct process_known *then =
        l->known ? bsearch(now, l->known, (size_t)l->count, sizeof *now, by_pid) : NULL;
    if (!then || then->start_ticks != now->start_ticks || now_ns <= l->looked_ns)
        return false;
    uint64_t used = now->cpu_ticks > then->cpu_ticks ? now->cpu_ticks - then->cpu_ticks : 0;
    s->share = (double)proc_ticks_to_ns(used) / (double)(now_ns - l->looked_ns);
    return s->share >= SHARE_LEAST || (double)s->resident >= SHARE_LEAST * (double)memory_bytes();
}

/* Reads one process, and reports it if it is large; false: it has ended. */
static bool look_at(const struct process_list *l, struct process_known *now, uint64_t now_ns,
                    void (*tell)(void *, const struct process_sample *), void *arg) {
    struct process_sample s = {.pid = now->pid};
    struct stat_line t = {.s = &s};
    if (!read_stat(l, &t))
        return false;
    now->start_ticks = t.start_ticks;
    now->cpu_ticks = t.user_ticks + t.system_ticks;
    if (!is_large(l, now, now_ns, &s))
        return true;
    s.start_ms = boot_ms() + proc_ticks_to_ns(t.start_ticks) / 1000000;
    s.user_s = (double)proc_ticks_to_ns(t.user_ticks) / (double)NS;
    s.system_s = (double)proc_ticks_to_ns(t.system_ticks) / (double)NS;
    read_details(l, &s);
    tell(arg, &s);
    return true;
}

int process_list_look(struct process_list *l,
                      void (*tell)(void *arg, const struct process_sample *s), void *arg) {
    struct process_known *now = malloc(PROCESS_LIST_MAX * sizeof *now);
    int fd = dup(l->proc), count = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!now || !d) {
        int r = now ? -errno : -ENOMEM;
        if (d)
            closedir(d);
        else if (fd >= 0)
            close(fd);
        free(now);
        return r;
    }
    rewinddir(d);
    uint64_t begin = proc_now_ns();
    for (const struct dirent *e; count < PROCESS_LIST_MAX && (e = readdir(d));) {
        now[count] = (struct process_known){
            .pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0};
        if (now[count].pid > 0 && look_at(l, &now[count], begin, tell, arg))
            count++;
        if (proc_now_ns() - begin > LOOK_MOST_NS)
            break;
    }
    closedir(d);
    qsort(now, (size_t)count, sizeof *now, by_pid);
    free(l->known);
    l->known = now;
    l->count = count;
    l->looked_ns = begin;
    return 0;
}
