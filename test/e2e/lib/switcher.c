/*
 * Switches events in one JVM without a new attach: for every pair of those named, both together,
 * one, the other, each with another interval, none; ROUNDS times. For switching.py.
 *
 * switcher PID AGENT ROUNDS EVENT...
 *
 * A line for each pair ("pair cpu wall 320 ms"), then one for each event ("event cpu 512 samples"),
 * or "wrong …" and exit code 1 at the first thing that is not as asked for.
 */
#include "attach/find/jvm.h"
#include "core/event/event.h"
#include "core/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct switcher {
    struct session *session;
    struct wire_engine_request event[WIRE_EVENTS]; /* with the default interval in force */
    uint64_t other[WIRE_EVENTS];                   /* another one */
    uint32_t events;
    bool wrong;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What runs must be what was asked for, with the interval that was asked for. */
static void check(struct switcher *s, const struct wire_engine_request *engine, uint32_t engines) {
    struct session_status st;
    session_status(s->session, &st);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        const struct session_engine *is = &st.engine[event];
        const struct wire_engine_request *want = NULL;
        for (uint32_t i = 0; i < engines; i++)
            if (engine[i].event == event)
                want = &engine[i];
        bool same_interval = !want || !want->interval || is->interval == want->interval;
        if (is->runs == (want != NULL) && same_interval)
            continue;
        printf("wrong %s: asked %d, runs %d, interval %llu: %s\n", event_kind_name[event],
               want != NULL, is->runs, (unsigned long long)is->interval, is->reason);
        s->wrong = true;
    }
    if (st.phase != SESSION_RUNNING) {
        printf("wrong: phase %d, %s\n", (int)st.phase, st.message);
        s->wrong = true;
    }
}

static void set(struct switcher *s, const struct wire_engine_request *engine, uint32_t engines) {
    struct err e = {0};
    if (s->wrong)
        return;
    if (session_set_engines(s->session, engine, engines, &e) < 0) {
        printf("wrong: %s\n", e.message);
        s->wrong = true;
        return;
    }
    check(s, engine, engines);
}

static void switch_pair(struct switcher *s, uint32_t a, uint32_t b) {
    struct wire_engine_request both[2] = {s->event[a], s->event[b]};
    set(s, both, 2);
    set(s, &both[0], 1);
    set(s, &both[1], 1);
    set(s, both, 2);
    both[0].interval = s->other[a];
    set(s, both, 2);
    both[1].interval = s->other[b];
    set(s, both, 2);
    set(s, NULL, 0);
}

/* What each does alone, until it has samples: the interval in force. */
static void learn(struct switcher *s) {
    for (uint32_t i = 0; i < s->events && !s->wrong; i++) {
        struct session_status st;
        const struct session_engine *is = &st.engine[s->event[i].event];
        set(s, &s->event[i], 1);
        session_status(s->session, &st);
        uint64_t before = is->samples;
        s->event[i].interval = is->interval ? is->interval : 1;
        s->other[i] = 2 * s->event[i].interval;
        for (double end = now() + 2; is->samples == before && now() < end;) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            session_status(s->session, &st);
        }
    }
    set(s, NULL, 0);
}

static void switch_all(struct switcher *s, int rounds) {
    for (uint32_t a = 0; a < s->events; a++) {
        for (uint32_t b = a + 1; b < s->events && !s->wrong; b++) {
            double begin = now();
            for (int i = 0; i < rounds && !s->wrong; i++)
                switch_pair(s, a, b);
            printf("pair %s %s %.0f ms\n", s->event[a].name, s->event[b].name,
                   (now() - begin) * 1000);
            fflush(stdout);
        }
    }
}

static void tell(struct switcher *s) {
    struct session_status st;
    session_status(s->session, &st);
    for (uint32_t i = 0; i < s->events; i++)
        printf("event %s %llu samples\n", s->event[i].name,
               (unsigned long long)st.engine[s->event[i].event].samples);
}

int main(int argc, char **argv) {
    static struct switcher s;
    static struct jvm j;
    struct err e = {0};
    if (argc < 5 || argc - 4 > WIRE_EVENTS) {
        fprintf(stderr, "usage: switcher PID AGENT ROUNDS EVENT...\n");
        return 1;
    }
    for (int i = 4; i < argc && e.code == 0; i++)
        event_parse(argv[i], &s.event[s.events++], &e);
    struct session_options o = {.library = argv[2], .all_or_none = true, .engines = 1};
    o.engine[0] = s.event[0];
    if (e.code || jvm_find(argv[1], &j, &e) < 0 || session_attach(&j, &o, &s.session, &e) < 0) {
        printf("wrong: %s\n", e.message);
        return 1;
    }
    learn(&s);
    switch_all(&s, atoi(argv[3]));
    tell(&s);
    session_close(s.session);
    return s.wrong;
}
