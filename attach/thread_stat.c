#include "attach/thread_stat.h"

#include "attach/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_tid(const void *a, const void *b) {
    uint32_t x = ((const struct thread_stat *)a)->tid, y = ((const struct thread_stat *)b)->tid;
    return (x > y) - (x < y);
}

/* False when the thread has ended meanwhile. */
static bool read_thread(pid_t pid, int tid, struct thread_stat *t) {
    char file[32], text[1024];
    struct proc_stat st;
    snprintf(file, sizeof file, "task/%d/stat", tid);
    if (proc_read(pid, file, text, sizeof text) < 0 || proc_stat_parse(text, &st) < 0)
        return false;
    *t = (struct thread_stat){
        .tid = (uint32_t)tid,
        .state = st.state,
        .cpu_ns = proc_ticks_to_ns(st.cpu_ticks),
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
        if (read_thread(pid, tid, &list[n]))
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
