/*
 * A session without a JVM: a child process plays the agent, with a real mapping, the control
 * protocol and the ring. Here is what its parts are made of, and how one waits for the session.
 *
 * Context: tests of cmocka; agent_* in the child.
 */
#ifndef JTOP_TEST_SESSION_FIXTURE_H
#define JTOP_TEST_SESSION_FIXTURE_H

#include "core/profile/snapshot/snapshot.h"
#include "core/session/mapping.h"
#include "core/session/session.h"
#include "core/wire/ring_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RING ((uint64_t)WIRE_RING_BYTES_MIN)

static inline uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The memory of a new agent, whose engines run from the beginning. */
static inline struct wire_mapping *make_mapping(int *fd) {
    struct err e = {0};
    *fd = mapping_make_fd(RING, &e);
    assert_true(*fd >= 0);
    struct wire_mapping *m =
        mmap(NULL, WIRE_RING_OFFSET + RING, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    assert_true(m != MAP_FAILED);
    m->header = (struct wire_header){.magic = WIRE_MAGIC,
                                     .abi_major = WIRE_ABI_MAJOR,
                                     .ring_bytes = RING,
                                     .clock_ns = clock_ns()};
    atomic_store(&m->control.request.generation, 1);
    return m;
}

static inline void *reserve(struct ring_writer *w, enum wire_type type, uint32_t length) {
    void *p;
    while (!(p = ring_reserve(w, type, length)))
        usleep(100);
    return p;
}

static inline void agent_method(struct ring_writer *w, uint32_t id, const char *name) {
    struct wire_method *m = reserve(w, WIRE_METHOD, (uint32_t)(sizeof *m + 8 + strlen(name)));
    m->method_id = id;
    m->class_bytes = 8;
    m->name_bytes = (uint16_t)strlen(name);
    m->signature_bytes = 0;
    memcpy(m->bytes, "app/Main", 8);
    memcpy(m->bytes + 8, name, strlen(name));
    ring_commit(m, WIRE_METHOD);
}

static inline void agent_event(struct ring_writer *w, enum wire_event event, uint32_t method) {
    struct wire_sample *s = reserve(w, WIRE_SAMPLE, (uint32_t)sizeof *s + 2 * 8);
    s->time_ns = clock_ns();
    s->weight = 1000000;
    s->tid = (uint32_t)getpid();
    s->frames = 2;
    s->event = (uint8_t)event;
    s->frame[0] = wire_frame_java(WIRE_FRAME_C2, method, 0);
    s->frame[1] = wire_frame_address(WIRE_FRAME_NATIVE, (uint64_t)(uintptr_t)&agent_event + 5);
    ring_commit(s, WIRE_SAMPLE);
}

static inline void agent_tell(struct ring_writer *w, const char *text) {
    struct wire_log *l = reserve(w, WIRE_LOG, (uint32_t)(sizeof *l + strlen(text)));
    l->level = 2;
    l->text_bytes = (uint32_t)strlen(text);
    memcpy(l->bytes, text, strlen(text));
    ring_commit(l, WIRE_LOG);
}

static inline void agent_answer(struct wire_control *c, uint32_t generation,
                                enum wire_state state) {
    atomic_store(&c->status.state, state);
    atomic_store(&c->status.generation, generation);
    syscall(SYS_futex, &c->status.generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static inline uint64_t samples(struct session *s) {
    struct profile *p = session_lock(s);
    uint64_t n = profile_samples(p, WIRE_EVENT_CPU);
    session_unlock(s);
    return n;
}

static inline void await_samples(struct session *s, uint64_t n) {
    for (int i = 0; i < 30000 && samples(s) < n; i++)
        usleep(1000);
    assert_int_equal(samples(s), n);
}

static inline void await_phase(struct session *s, enum session_phase phase,
                               struct session_status *st) {
    for (int i = 0; i < 1000; i++) {
        session_status(s, st);
        if (st->phase == phase)
            return;
        struct pollfd p = {.fd = session_event_fd(s), .events = POLLIN};
        uint64_t n;
        if (poll(&p, 1, 30) > 0 && read(p.fd, &n, sizeof n) < 0)
            fail();
    }
    fail_msg("phase %d, not %d: %s", (int)st->phase, (int)phase, st->message);
}

#endif
