#include "core/http/serve/attendance.h"

#include "core/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 1000
#define AGAIN_S 30 /* after one could not be attached */

struct attendee {
    pid_t pid;
    uint64_t start_ticks; /* a number may be another JVM's later */
    struct fleet_user *user;
    time_t again; /* user NULL: not before */
    bool seen;
};

struct attendance {
    struct fleet *fleet;
    struct fleet_want want;
    struct attendee attendee[FLEET_MEMBERS_MAX];
    uint32_t count;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end; /* of CLOCK_MONOTONIC */
    bool ending;
};

static time_t now_s(void) {
    return (time_t)(clock_now_ms() / 1000);
}

static bool is_ending(struct attendance *a) {
    pthread_mutex_lock(&a->lock);
    bool ending = a->ending;
    pthread_mutex_unlock(&a->lock);
    return ending;
}

static struct attendee *find(struct attendance *a, const struct jvm *j) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->attendee[i].pid == j->pid && a->attendee[i].start_ticks == j->start_ticks)
            return &a->attendee[i];
    if (a->count == FLEET_MEMBERS_MAX)
        return NULL;
    a->attendee[a->count] = (struct attendee){.pid = j->pid, .start_ticks = j->start_ticks};
    return &a->attendee[a->count++];
}

/* Those of JVMs that are there no more. */
static void leave_ended(struct attendance *a) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->attendee[i].seen)
            a->attendee[kept++] = a->attendee[i];
        else
            fleet_leave(a->attendee[i].user);
    }
    a->count = kept;
}

static void look(struct attendance *a) {
    struct jvm *list = NULL;
    struct err e;
    int n = fleet_jvms(a->fleet, &list, &e);
    for (uint32_t i = 0; n >= 0 && i < a->count; i++)
        a->attendee[i].seen = false;
    for (int i = 0; i < n && !is_ending(a); i++) {
        struct attendee *it = list[i].closed || list[i].pid == getpid() ? NULL : find(a, &list[i]);
        if (!it)
            continue;
        it->seen = true;
        if (it->user || it->again > now_s())
            continue;
        if (fleet_enter(a->fleet, it->pid, &a->want, &it->user, &e) < 0) {
            it->user = NULL;
            it->again = now_s() + AGAIN_S;
        }
    }
    free(list);
    if (n >= 0 && !is_ending(a))
        leave_ended(a);
}

static void *attendance_main(void *arg) {
    struct attendance *a = arg;
    while (!is_ending(a)) {
        look(a);
        struct timespec until = clock_after_ms(CLOCK_MONOTONIC, LOOK_MS);
        pthread_mutex_lock(&a->lock);
        int r = 0;
        while (!a->ending && r == 0)
            r = pthread_cond_timedwait(&a->end, &a->lock, &until);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

int attendance_new(struct fleet *f, const struct fleet_want *want, struct attendance **out,
                   struct err *e) {
    struct attendance *a = calloc(1, sizeof *a);
    *out = NULL;
    if (!a)
        return err_set(e, ENOMEM, "no memory to attend to every JVM");
    a->fleet = f;
    a->want = *want;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&a->end, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&a->lock, NULL);
    int r = pthread_create(&a->thread, NULL, attendance_main, a);
    if (r != 0) {
        free(a);
        return err_set(e, r, "cannot start a thread: %s", strerror(r));
    }
    *out = a;
    return 0;
}

void attendance_free(struct attendance *a) {
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->ending = true;
    pthread_cond_signal(&a->end);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    for (uint32_t i = 0; i < a->count; i++)
        fleet_leave(a->attendee[i].user);
    pthread_cond_destroy(&a->end);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
