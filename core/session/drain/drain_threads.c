/* What the kernel knows of the JVM's threads: names that the agent has not told, and policies. */
#include "core/session/session_state.h"

#include "attach/proc/thread_stat.h"
#include "core/base/clean_text.h"
#include "core/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define OUTER_NS UINT64_C(200000000) /* between two looks at all threads' numbers */

/* By the numbers that the JVM knows them by. `known` is the caller's. */
static int list_threads(const struct jvm *j, struct thread_numbers *known,
                        struct thread_stat **out) {
    return j->inner_pid == j->pid ? thread_stat_list(j->pid, out)
                                  : thread_stat_list_inside(j->pid, known, out);
}

int session_threads(struct session *s, struct thread_stat **out) {
    struct jvm j;
    *out = NULL;
    session_lock(s);
    j = s->jvm;
    bool gone = s->status.phase == SESSION_JVM_GONE;
    session_unlock(s);
    return gone ? 0 : list_threads(&j, &s->caller_threads, out);
}

/* Through the decoder like any other record, so that a recording has it too. */
static void name_thread(struct session *s, uint32_t tid, const char *name) {
    union {
        struct wire_thread thread;
        uint64_t words[8];
    } r = {.thread = {.tid = tid}};
    char clean[24];
    size_t n = clean_text(clean, sizeof clean, name, strlen(name));
    r.thread.name_bytes = (uint16_t)n;
    r.thread.header = wire_header_word(WIRE_THREAD, (sizeof r.thread + (uint32_t)n + 7) & ~7u);
    memcpy(r.thread.bytes, clean, n);
    decoder_prepare(s->drain.decoder, &r);
    session_lock(s);
    decoder_decode(s->drain.decoder, &r);
    session_unlock(s);
}

/* With a pattern the agent samples nobody whose name is not known to fit, and it knows no names but
 * Java's: the collector's threads are found by the kernel's. */
void drain_name_threads(struct session *s) {
    struct decoder *d = s->drain.decoder;
    bool guess = s->filter.has_pattern && s->drain.linked;
    if (!d->nameless_threads && !guess)
        return;
    d->nameless_threads = false;
    struct thread_stat *list = NULL;
    int n = list_threads(&s->jvm, &s->drain.threads, &list);
    for (int i = 0; i < n; i++) {
        uint32_t tid = list[i].tid;
        if (decoder_lacks_name(d, tid))
            name_thread(s, tid, list[i].comm);
        else if (guess)
            thread_filter_guess(&s->filter, tid, list[i].comm);
    }
    free(list);
    drain_tell_filters(s);
}

void drain_tell_filters(struct session *s) {
    if (!s->filter.changed || !s->drain.linked)
        return;
    s->filter.changed = false;
    control_tell_filters(&s->drain.control);
}

static void look_up_numbers(struct session *s) {
    struct drain *d = &s->drain;
    struct thread_stat *list = NULL;
    uint64_t now = clock_now_ns();
    if (d->outer_ns && now - d->outer_ns < OUTER_NS)
        return;
    d->outer_ns = now;
    int n = list_threads(&s->jvm, &d->threads, &list);
    id_map_clear(&d->outer);
    for (int i = 0; i < n; i++)
        id_map_put(&d->outer, UINT64_C(1) << 32 | list[i].tid, list[i].outer);
    free(list);
}

int drain_policy(void *session, uint32_t tid) {
    struct session *s = session;
    uint64_t key = UINT64_C(1) << 32 | tid;
    if (s->jvm.inner_pid != s->jvm.pid) {
        if (!id_map_get(&s->drain.outer, key, &tid))
            look_up_numbers(s);
        if (!id_map_get(&s->drain.outer, key, &tid))
            return -ESRCH;
    }
    int policy = tid > 0 && tid <= WIRE_TID_MAX ? sched_getscheduler((pid_t)tid) : -1;
    return policy < 0 ? -ESRCH : policy & ~SCHED_RESET_ON_FORK;
}
