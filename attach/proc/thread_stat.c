#include "attach/proc/thread_stat.h"

#include "attach/proc/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_tid(const void *a, const void *b) {
    uint32_t x = ((const struct thread_stat *)a)->tid, y = ((const struct thread_stat *)b)->tid;
    return (x > y) - (x < y);
}

/* `task`: the directory of all threads. False if the thread has ended meanwhile. */
static bool read_thread(int task, int tid, struct thread_stat *t) {
    char file[32], text[1024];
    struct proc_stat st;
    snprintf(file, sizeof file, "%d/stat", tid);
    int fd = openat(task, file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1); /* the kernel writes it as a whole */
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (proc_stat_parse(text, &st) < 0)
        return false;
    *t = (struct thread_stat){
        .tid = (uint32_t)tid,
        .outer = (uint32_t)tid,
        .state = st.state,
        .cpu_ns = proc_ticks_to_ns(st.cpu_ticks),
        .start_ticks = st.start_ticks,
    };
    memcpy(t->comm, st.comm, sizeof t->comm);
    return true;
}

int thread_stat_list(pid_t pid, struct thread_stat **out) {
    char path[64];
    struct thread_stat *list = NULL;
    size_t n = 0, cap = 0;
    *out = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    if (!d)
        return errno == ENOENT ? -ESRCH : -errno;
    const struct dirent *entry;
    while ((entry = readdir(d))) {
        int tid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (tid <= 0)
            continue;
        if (n == cap) {
            struct thread_stat *more = realloc(list, (cap = cap ? cap * 2 : 64) * sizeof *list);
            if (!more) {
                free(list);
                closedir(d);
                return -ENOMEM;
            }
            list = more;
        }
        if (read_thread(dirfd(d), tid, &list[n]))
            n++;
    }
    closedir(d);
    if (n == 0) {
        free(list);
        return -ESRCH;
    }
    qsort(list, n, sizeof *list, by_tid);
    *out = list;
    return (int)n;
}

/* The thread's number in its innermost pid namespace, the last one in its status; 0: not
 * readable. */
static uint32_t read_inner(pid_t pid, uint32_t tid) {
    char file[32], text[32768]; /* a user in thousands of groups makes it long */
    snprintf(file, sizeof file, "task/%u/status", tid);
    if (proc_read(pid, file, text, sizeof text) < 0)
        return 0;
    char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
    if (!line) /* Linux before 4.1 */
        return tid;
    if (end)
        *end = '\0';
    const char *last = strrchr(line, '\t');
    unsigned long inner = last ? strtoul(last, NULL, 10) : 0;
    return inner <= INT_MAX ? (uint32_t)inner : 0;
}

static int by_outer(const void *a, const void *b) {
    uint32_t x = ((const struct thread_number *)a)->outer;
    uint32_t y = ((const struct thread_number *)b)->outer;
    return (x > y) - (x < y);
}

static uint32_t inner_of(pid_t pid, const struct thread_numbers *known,
                         const struct thread_stat *t) {
    const struct thread_number wanted = {.outer = t->outer};
    const struct thread_number *n =
        known->count
            ? bsearch(&wanted, known->number, (size_t)known->count, sizeof wanted, by_outer)
            : NULL;
    return n && n->start_ticks == t->start_ticks ? n->inner : read_inner(pid, t->outer);
}

int thread_stat_list_inside(pid_t pid, struct thread_numbers *known, struct thread_stat **out) {
    int n = thread_stat_list(pid, out), seen = 0;
    struct thread_stat *list = *out;
    if (n <= 0 || !list)
        return n;
    struct thread_number *number = malloc((size_t)n * sizeof *number);
    if (!number) {
        free(list);
        *out = NULL;
        return -ENOMEM;
    }
    for (int i = 0; i < n; i++) {
        uint32_t inner = inner_of(pid, known, &list[i]);
        if (!inner)
            continue;
        number[seen] = (struct thread_number){list[i].outer, inner, list[i].start_ticks};
        list[seen] = list[i];
        list[seen++].tid = inner;
    }
    thread_numbers_free(known);
    *known = (struct thread_numbers){number, seen};
    qsort(list, (size_t)seen, sizeof *list, by_tid);
    return seen;
}

void thread_numbers_free(struct thread_numbers *n) {
    free(n->number);
    *n = (struct thread_numbers){0};
}
