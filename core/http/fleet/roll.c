#include "core/http/fleet/roll.h"

#include "attach/proc/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_NS UINT64_C(1000000000)

void roll_init(struct roll *r) {
    *r = (struct roll){0};
    pthread_mutex_init(&r->lock, NULL);
}

void roll_free(struct roll *r) {
    free(r->jvm);
    pthread_mutex_destroy(&r->lock);
}

/* A newly read JVM has only its CPU use since its start. Sets the use since the previous list
 * instead. */
static void show_cpu(const struct roll *r, struct jvm *found, int count) {
    for (int i = 0, k = 0; i < count; i++) {
        struct jvm *j = &found[i];
        while (k < r->count && r->jvm[k].pid < j->pid)
            k++;
        const struct jvm *before = k < r->count ? &r->jvm[k] : NULL;
        if (!before || before->pid != j->pid || before->start_ticks != j->start_ticks ||
            j->time_ns_before <= before->time_ns_before ||
            j->cpu_ticks_before < before->cpu_ticks_before)
            continue;
        double used = (double)proc_ticks_to_ns(j->cpu_ticks_before - before->cpu_ticks_before);
        j->cpu_percent = 100.0 * used / (double)(j->time_ns_before - before->time_ns_before);
    }
}

/* Called with the lock, so that another caller waits instead of reading the list as well. */
static int refresh(struct roll *r, struct err *e) {
    struct jvm *found = NULL;
    if (r->read && proc_now_ns() - r->read_ns < FRESH_NS)
        return 0;
    int count = jvm_list(&found, e);
    if (count < 0)
        return count;
    show_cpu(r, found, count);
    free(r->jvm);
    r->jvm = found;
    r->count = count;
    r->read = true;
    r->read_ns = proc_now_ns();
    return 0;
}

int roll_list(struct roll *r, struct jvm **out, struct err *e) {
    *out = NULL;
    pthread_mutex_lock(&r->lock);
    int result = refresh(r, e);
    size_t bytes = (size_t)r->count * sizeof *r->jvm;
    if (result == 0)
        *out = malloc(bytes ? bytes : 1);
    if (result == 0 && !*out)
        result = err_set(e, ENOMEM, "out of memory");
    if (*out) {
        if (r->jvm)
            memcpy(*out, r->jvm, bytes);
        result = r->count;
    }
    pthread_mutex_unlock(&r->lock);
    return result;
}

int roll_find(struct roll *r, pid_t pid, struct jvm *out, struct err *e) {
    bool found = false;
    pthread_mutex_lock(&r->lock);
    int result = refresh(r, e);
    for (int i = 0; result == 0 && i < r->count; i++) {
        if (r->jvm[i].pid != pid)
            continue;
        *out = r->jvm[i];
        found = true;
    }
    pthread_mutex_unlock(&r->lock);
    return found ? 0 : jvm_inspect(pid, out, e);
}
