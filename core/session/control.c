#include "core/session/control.h"

#include "core/base/clean_text.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* No FUTEX_PRIVATE: the other side is another process. */
static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

void control_init(struct control *c, struct wire_mapping *mapping) {
    c->wire = &mapping->control;
    c->generation = atomic_load_explicit(&c->wire->request.generation, memory_order_relaxed);
}

void control_beat(struct control *c) {
    atomic_fetch_add_explicit(&c->wire->request.heartbeat, 1, memory_order_relaxed);
}

void control_request(struct control *c, enum wire_command command,
                     const struct control_start *start) {
    struct wire_request *r = &c->wire->request;
    r->command = command;
    if (command == WIRE_COMMAND_START) {
        r->depth = start->depth;
        r->cut = start->cut;
        r->features = start->features;
        r->signal = start->signal;
        r->wall_signal = start->wall_signal;
        r->lease_ms = WIRE_LEASE_MS;
        r->engines = start->engines;
        r->all_or_none = start->all_or_none;
        memcpy(r->engine, start->engine, sizeof r->engine);
        for (uint32_t i = 0; i < start->engines && i < WIRE_EVENTS && start->sigtrap; i++)
            r->engine[i].flags |= WIRE_ENGINE_SIGTRAP;
        r->walk = start->walk;
        r->precise = start->precise;
        r->filtered = start->filtered;
        r->window_marks = start->window_marks;
        r->window_begin = start->window_begin;
        r->window_end = start->window_end;
    }
    atomic_store_explicit(&r->generation, ++c->generation, memory_order_release);
    wake(&r->generation);
}

static uint32_t answer(const struct control *c) {
    return atomic_load_explicit(&c->wire->status.generation, memory_order_acquire);
}

bool control_answered(const struct control *c) {
    return answer(c) == c->generation;
}

void control_wait(struct control *c, int timeout_ms) {
    uint32_t seen = answer(c);
    if (seen == c->generation)
        return;
    struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    syscall(SYS_futex, &c->wire->status.generation, FUTEX_WAIT, seen, &t, NULL, 0);
}

static enum wire_state control_state(const struct control *c) {
    uint32_t state = atomic_load_explicit(&c->wire->status.state, memory_order_acquire);
    return state < WIRE_STATES ? (enum wire_state)state : WIRE_STATE_FAILED;
}

bool control_runs(const struct control *c) {
    return control_state(c) == WIRE_STATE_RUNNING;
}

static uint64_t counter(const _Atomic uint64_t *c) {
    return atomic_load_explicit(c, memory_order_relaxed);
}

/* Copies shared memory once. The fence prevents the compiler from reading it a second time after a
 * check, when it may have changed. */
static void copy_shared(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    atomic_signal_fence(memory_order_seq_cst);
}

bool control_clean_engine(const struct wire_engine_status *in, struct wire_engine_status *out) {
    if (in->event >= WIRE_EVENTS || in->mechanism >= WIRE_MECHANISMS)
        return false;
    *out = *in;
    memset(out->reason, 0, sizeof out->reason);
    memset(out->name, 0, sizeof out->name);
    clean_field(out->name, sizeof out->name, in->name, sizeof in->name);
    clean_field(out->reason, sizeof out->reason, in->reason, sizeof in->reason);
    return true;
}

/* The event is given by the position in the table, whatever event the entry states. */
static bool report_engines(const struct wire_status *s, struct wire_engine_status *out) {
    bool runs = false;
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        struct wire_engine_status copy;
        copy_shared(&copy, &s->engine[i], sizeof copy);
        copy.event = i;
        if (!control_clean_engine(&copy, &out[i]))
            out[i] = (struct wire_engine_status){.event = i};
        runs |= out[i].mechanism != WIRE_MECHANISM_AUTO;
    }
    return runs;
}

void control_report(const struct control *c, struct agent_report *out) {
    const struct wire_status *s = &c->wire->status;
    char text[256];
    *out = (struct agent_report){
        .answered = control_answered(c),
        .state = control_state(c),
        .error_code = s->error_code,
        .dropped = counter(&s->dropped),
        .discarded = atomic_load_explicit(&s->discarded, memory_order_relaxed),
        .agent_ns = counter(&s->handler_ns) + counter(&s->agent_ns),
        .recompiled = counter(&s->recompiled),
        .recompile_ns = counter(&s->recompile_ns),
        .windows = counter(&s->windows),
    };
    uint64_t threads = counter(&s->threads);
    out->threads = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
    uint32_t java = atomic_load_explicit(&s->java_report, memory_order_relaxed);
    out->java = java < WIRE_JAVA_REPORTS ? (enum wire_java_report)java : WIRE_JAVA_REPORT_OFF;
    for (int i = 0; i < WIRE_FAILURES; i++)
        out->failed[i] = counter(&s->failed[i]);
    copy_shared(text, s->walker, sizeof s->walker);
    clean_field(out->walker, sizeof out->walker, text, sizeof s->walker);
    copy_shared(text, s->message, sizeof s->message);
    clean_field(out->message, sizeof out->message, text, sizeof s->message);
    out->engine_runs = report_engines(s, out->engine);
}

/* The agent's thread waits only on the generation. */
void control_tell_filters(struct control *c) {
    atomic_fetch_add_explicit(&c->wire->request.filters, 1, memory_order_release);
    wake(&c->wire->request.generation);
}

/* The agent's thread takes its turn soon: it need not be woken. */
void control_ask_java_states(struct control *c, uint32_t number) {
    atomic_store_explicit(&c->wire->request.java_states, number, memory_order_relaxed);
}

void control_tell_done(struct wire_control *wire) {
    __atomic_store_n(&wire->request.reader_done, 1, __ATOMIC_RELEASE);
    wake((_Atomic uint32_t *)(void *)&wire->request.reader_done);
}
