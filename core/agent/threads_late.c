/* Threads that cannot be armed on the spot: the agent's thread does it, and waits for what that
 * takes without the threads' lock. */
#include "core/agent/threads.h"

#include "core/base/clock.h"

#include <errno.h>
#include <unistd.h>

void threads_note_arming(struct threads *t, struct engine_run *run, uint32_t i, int r) {
    struct thread_note *note = &t->note[i];
    const struct engine *e = t->engine[run->request.event];
    uint16_t bit = (uint16_t)(1u << e->event);
    note->late &= (uint16_t)~bit;
    if (r == -EAGAIN && e->fetch) {
        note->late |= bit;
        t->late = true;
    } else if (r == 0) {
        note->armed |= bit;
        engine_count(&run->status->threads, 1);
    } else if (r != -ESRCH && !(note->refused & bit)) {
        note->refused |= bit;
        t->refused[e->event]++;
        t->refused_error[e->event] = -r;
    }
}

/* The next one from *i on; false: there is none. */
static bool next_late(struct threads *t, struct engine_run *run, uint32_t *i, uint32_t *tid) {
    uint32_t event = run->request.event;
    bool found = false;
    pthread_mutex_lock(&t->lock);
    for (; t->run[event] == run && *i < t->count && !found; ++*i) {
        found = t->tid[*i] && t->note[*i].late >> event & 1;
        *tid = t->tid[*i];
    }
    pthread_mutex_unlock(&t->lock);
    --*i;
    return found;
}

/* It may have ended while its descriptor was fetched, and even have its place taken. */
static int arm_with(struct threads *t, struct engine_run *run, uint32_t i, uint32_t tid, int fd) {
    uint32_t event = run->request.event;
    int r = -ESRCH;
    pthread_mutex_lock(&t->lock);
    if (t->run[event] == run && t->tid[i] == tid && t->note[i].late >> event & 1) {
        r = fd < 0 ? fd : t->engine[event]->adopt(run, &run->thread[i], i, fd);
        threads_note_arming(t, run, i, r);
    } else if (fd >= 0) {
        close(fd);
    }
    pthread_mutex_unlock(&t->lock);
    return r;
}

int threads_arm_late(struct threads *t, struct engine_run *run, uint64_t deadline_ms) {
    const struct engine *e = t->engine[run->request.event];
    int first_error = 0;
    uint32_t tid = 0;
    for (uint32_t i = 0; next_late(t, run, &i, &tid); i++) {
        uint64_t now = clock_now_ms();
        int fd = now < deadline_ms ? e->fetch(run, tid, (uint32_t)(deadline_ms - now)) : -ETIMEDOUT;
        if (fd == -ETIMEDOUT) {
            t->late = true;
            return fd;
        }
        int r = arm_with(t, run, i, tid, fd);
        if (r < 0 && r != -ESRCH && !first_error)
            first_error = r;
    }
    return first_error;
}
