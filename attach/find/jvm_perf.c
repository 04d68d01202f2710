#include "attach/find/jvm_perf.h"

#include "attach/find/perf_file.h"
#include "attach/proc/proc.h"
#include "core/base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Allowed difference between the boot clock, which gives a process's start, and the wall clock. */
#define CLOCK_SLACK_MS 2000
#define THREADS_MAX 512 /* threads checked: the VM's own come early, after the collector's */

static int read_from(const struct jvm *j, bool search, bool own_tmp, struct perf_values *v) {
    void *data = NULL;
    ssize_t n = perf_file_read(j->pid, j->inner_pid, j->uid, j->user, search, own_tmp, &data);
    if (n < 0)
        return (int)n;
    int rc = perf_values_read(v, data, (size_t)n);
    free(data);
    return rc;
}

/* The VM was created before the process: the file belongs to an earlier process with that pid. */
static bool is_stale(const struct jvm *j, const struct perf_values *v) {
    int64_t now_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
    int64_t started_ms = now_ms - (int64_t)proc_age_ms(j->start_ticks);
    return v->created_ms < started_ms - CLOCK_SLACK_MS;
}

static bool is_named(pid_t pid, const char *thread, const char *name) {
    char file[300], comm[32];
    snprintf(file, sizeof file, "task/%s/comm", thread);
    if (proc_read(pid, file, comm, sizeof comm) <= 0)
        return false;
    comm[strcspn(comm, "\n")] = '\0';
    return strcmp(comm, name) == 0;
}

/* Whether the process has a JVM's threads, whose names every user may read. Before JDK 8u40 the
 * threads had no names of their own, only the launcher's. */
static bool has_vm_thread(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    if (!d)
        return false;
    bool found = false;
    const struct dirent *entry;
    for (int i = 0; !found && i < THREADS_MAX && (entry = readdir(d)); i++)
        found = isdigit((unsigned char)entry->d_name[0]) &&
                (is_named(pid, entry->d_name, "VM Thread") || is_named(pid, entry->d_name, "java"));
    closedir(d);
    return found;
}

int jvm_perf_read(const struct jvm *j, bool search, struct perf_values *v) {
    int rc = read_from(j, search, false, v);
    if (rc != -EACCES || j->inner_pid != j->pid)
        return rc;
    /* In a container, root often may not enter /proc/PID/root of another user's process, but may
     * read the file in the /tmp they share. That file may belong to a JVM of another container that
     * is younger than this process and has the same inner pid. */
    if (read_from(j, search, true, v) < 0 || is_stale(j, v) || !has_vm_thread(j->pid))
        return -EACCES;
    return 0;
}
