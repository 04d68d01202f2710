#include "core/agent/precise/precise.h"

#include "core/agent/agent.h"
#include "core/agent/precise/precise_deoptimize.h"
#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/wire/record.h"

#include <stdio.h>
#include <string.h>

#define PROBES 8u
#define SECOND UINT64_C(1000000000)
#define GRACE_NS SECOND           /* compilations that were under way end by then */
#define DECIDE_NS (SECOND / 2)    /* between two batches */
#define FADE_NS (10 * SECOND)     /* half of what was counted is forgotten */
#define BATCH PRECISE_METHODS_MAX /* methods at a time */
#define RECOMPILE_MAX 500u        /* methods in one run */
#define HOT_SAMPLES 3u            /* fewer are chance */
#define HOT_SHARE 500u            /* and less than this part of all samples is not worth it */
#define LOOK_PAUSE 50u            /* the search through all classes: one in so much of its time */
#define BLOCKS_MAX (1u << 22)
#define ID_MAX (1u << 30) /* more is not a compilation's number */
#define UNKNOWN UINT32_MAX
#define IN_USE 0 /* a compiled method's state (source: nmethod.hpp, JDK 8-28) */
#define RANGES 8u

/* Compilations of earlier runs, made with full debug information: attaching again must not make
 * them all over. The agent's thread writes it; the last ones are kept. */
static struct {
    struct {
        uint32_t above, to;
    } range[RANGES];
    uint32_t n;
} made;

static bool made_by_us(uint32_t id) {
    for (uint32_t i = 0; i < RANGES; i++)
        if (id > made.range[i].above && id <= made.range[i].to)
            return true;
    return false;
}

static uint32_t compile_id(const struct vm *vm, uintptr_t blob) {
    return guarded_load32(blob + (uintptr_t)vm->at.nmethod_compile_id);
}

/* The largest compilation id in a code heap. Blocks lie back to back, each begins with its length
 * in segments; nothing follows the last one (source: heap.hpp, HeapBlock). */
static uint32_t largest_id(const struct vm *vm, const struct vm_code_heap *h) {
    uint32_t largest = 0;
    uintptr_t at = h->low;
    for (uint32_t i = 0; i < BLOCKS_MAX && at < h->high; i++) {
        uint64_t segments = vm->at.heap_used >= 8 ? guarded_load64(at) : guarded_load32(at);
        if (!segments || segments > (h->high - at) >> h->log2_segment)
            break;
        struct code c = code_find(vm, at + (uintptr_t)vm->at.heap_header_bytes);
        if (c.kind == CODE_COMPILED) {
            uint32_t id = compile_id(vm, c.blob);
            if (id > largest && id < ID_MAX)
                largest = id;
        }
        at += segments << h->log2_segment;
    }
    return largest;
}

static uint32_t largest_id_of_all(const struct vm *vm) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < vm->heaps; i++) {
        uint32_t id = largest_id(vm, &vm->heap[i]);
        largest = id > largest ? id : largest;
    }
    return largest;
}

static void log_line(struct precise *p, uint32_t level, const char *text) {
    size_t n = strlen(text);
    struct wire_log *r = ring_reserve(p->ring, WIRE_LOG, (uint32_t)(sizeof *r + n));
    if (!r)
        return;
    r->level = level;
    r->text_bytes = (uint32_t)n;
    memcpy(r->bytes, text, n);
    ring_commit(r, WIRE_LOG);
}

void precise_start(struct precise *p, const struct vm *vm, struct ring_writer *ring,
                   struct wire_status *status) {
    memset(p, 0, sizeof *p);
    p->vm = vm;
    p->ring = ring;
    p->status = status;
    struct vm_tables t;
    bool described = vm_tables_open(&t) == 0 && vm->at.nmethod_compile_id >= 0;
    p->entry_bci = described ? vm_offset(&t, "nmethod", "_entry_bci") : -1;
    p->state = described ? vm_offset(&t, "nmethod", "_state") : -1;
    if (p->entry_bci < 0 || p->state < 0) {
        log_line(p, 1, "--precise has no effect: this VM does not show which code is older");
        return;
    }
    if (agent.flag_before) {
        log_line(p, 2, "all code is precise: this JVM runs with DebugNonSafepoints");
        return;
    }
    p->begin_ns = clock_now_ns();
    p->fade_ns = p->begin_ns + FADE_NS;
    p->old_id = UNKNOWN;
    atomic_store(&p->on, 1);
}

void precise_stop(struct precise *p) {
    if (!atomic_exchange(&p->on, 0) || p->old_id == UNKNOWN || agent.java_exits)
        return;
    uint32_t i = made.n++ % RANGES;
    made.range[i].above = p->old_id;
    made.range[i].to = largest_id_of_all(p->vm);
}

static uint64_t key_of(uintptr_t blob, uint32_t id) {
    return (uint64_t)blob << 16 | (id & 0xffff);
}

void precise_note(struct precise *p, const struct vm *vm, const struct code *c) {
    if (!atomic_load_explicit(&p->on, memory_order_acquire) || c->kind != CODE_COMPILED)
        return;
    uint32_t id = compile_id(vm, c->blob);
    atomic_fetch_add_explicit(&p->samples, 1, memory_order_relaxed);
    if (id > atomic_load_explicit(&p->old_id, memory_order_relaxed) || made_by_us(id))
        return;
    uint64_t key = key_of(c->blob, id);
    uint32_t first = (uint32_t)(hash_word(key) >> 40);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct precise_slot *s = &p->slot[(first + i) % PRECISE_SLOTS];
        uint64_t there = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (!there && atomic_compare_exchange_strong(&s->key, &there, key))
            there = key;
        if (there == key) {
            atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
            return;
        }
    }
}

/* Samples of long ago count less, and what nobody is in any more makes room. */
static void fade(struct precise *p) {
    for (uint32_t i = 0; i < PRECISE_SLOTS; i++) {
        struct precise_slot *s = &p->slot[i];
        uint32_t n = atomic_load_explicit(&s->count, memory_order_relaxed);
        atomic_fetch_sub_explicit(&s->count, n - n / 2, memory_order_relaxed);
        if (s->key && n <= 1) {
            s->done = 0;
            atomic_store(&s->key, 0);
        }
    }
    uint64_t all = atomic_load_explicit(&p->samples, memory_order_relaxed);
    atomic_fetch_sub_explicit(&p->samples, all - all / 2, memory_order_relaxed);
}

/* The hottest old code that was not tried yet, or NULL. */
static struct precise_slot *hottest(struct precise *p) {
    uint32_t most = (uint32_t)(p->samples / HOT_SHARE);
    struct precise_slot *best = NULL;
    most = most < HOT_SAMPLES ? HOT_SAMPLES : most;
    for (uint32_t i = 0; i < PRECISE_SLOTS; i++) {
        struct precise_slot *s = &p->slot[i];
        if (s->key && !s->done && s->count >= most) {
            best = s;
            most = s->count;
        }
    }
    return best;
}

/* A batch of code to be given up. */
struct batch {
    struct precise *precise;
    struct precise_method method[BATCH];
    struct {
        uint64_t key;
        uint32_t level;
        bool osr; /* entered in the middle of a loop */
    } code[BATCH];
    uint32_t n;
};

static uint8_t state_of(const struct precise *p, uint64_t key) {
    return guarded_load8((uintptr_t)(key >> 16) + (uintptr_t)p->state);
}

/* Adds the code in a slot, if it is still there and its method can be read. */
static void add_candidate(struct batch *b, const struct precise_slot *s) {
    const struct precise *p = b->precise;
    uint64_t key = s->key;
    uintptr_t blob = (uintptr_t)(key >> 16);
    struct code c = code_find(p->vm, blob);
    uint32_t id = compile_id(p->vm, blob);
    if (c.kind != CODE_COMPILED || c.blob != blob || id > p->old_id || key_of(blob, id) != key ||
        !precise_method_read(&b->method[b->n], p->vm, code_method(p->vm, &c)))
        return;
    b->code[b->n].key = key;
    b->code[b->n].level = c.level;
    b->code[b->n].osr = guarded_load32(blob + (uintptr_t)p->entry_bci) != UINT32_MAX; /* -1: no */
    b->n++;
}

static void tell(struct precise *p, const struct precise_method *m, uint32_t level, bool osr,
                 uint64_t took_ns) {
    char text[PRECISE_NAME_BYTES + 256];
    char class_name[PRECISE_NAME_BYTES];
    size_t n = strlen(m->class_signature) - 2; /* "L…;" */
    for (size_t i = 0; i < n; i++)
        class_name[i] = m->class_signature[i + 1] == '/' ? '.' : m->class_signature[i + 1];
    class_name[n] = '\0';
    snprintf(text, sizeof text, "after %.1f s: recompiled %s.%s (%s%s) for precision: %.1f ms",
             (double)(clock_now_ns() - p->begin_ns) / 1e9, class_name, m->name,
             level == 4 ? "C2" : "C1", osr ? ", loop" : "", (double)took_ns / 1e6);
    log_line(p, 2, text);
}

/* Not what the VM gave up meanwhile: the code in its place may be good already. */
static void recompile(void *context, uint32_t i, jclass holder, jmethodID method, JNIEnv *jni) {
    struct batch *b = context;
    struct precise *p = b->precise;
    if (!p->on || state_of(p, b->code[i].key) != IN_USE)
        return;
    uint64_t begin = clock_now_ns();
    int given_up = deoptimize_method(jni, holder, method, b->code[i].osr);
    uint64_t took = clock_now_ns() - begin;
    atomic_fetch_add(&p->status->recompile_ns, took);
    if (given_up <= 0)
        return;
    tell(p, &b->method[i], b->code[i].level, b->code[i].osr, took);
    p->recompiled++;
    atomic_fetch_add(&p->status->recompiled, 1);
}

static bool can_deoptimize(struct precise *p, JNIEnv *jni) {
    if (precise_ids_learn(&p->ids, p->vm, jni) && deoptimize_open(jni))
        return true;
    log_line(p, 1, "--precise has no effect: this VM cannot recompile a method");
    atomic_store(&p->on, 0);
    return false;
}

static void decide(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni) {
    struct batch b = {.precise = p};
    struct precise_slot *s;
    while (b.n < BATCH && p->recompiled + b.n < RECOMPILE_MAX && (s = hottest(p))) {
        s->done = 1;
        add_candidate(&b, s);
    }
    if (!b.n || !can_deoptimize(p, jni))
        return;
    uint64_t begin = clock_now_ns();
    precise_methods_find(b.method, b.n, p->vm, &p->ids, recompile, &b, jvmti, jni);
    p->look_ns = clock_now_ns() + (clock_now_ns() - begin) * LOOK_PAUSE;
}

void precise_turn(struct precise *p, jvmtiEnv *jvmti, JNIEnv *jni) {
    uint64_t now = clock_now_ns();
    if (now < p->begin_ns + GRACE_NS)
        return;
    if (p->old_id == UNKNOWN) {
        p->old_id = largest_id_of_all(p->vm);
    }
    if (now >= p->fade_ns) {
        fade(p);
        p->fade_ns = now + FADE_NS;
    }
    if (now < p->decide_ns || now < p->look_ns || p->recompiled >= RECOMPILE_MAX)
        return;
    p->decide_ns = now + DECIDE_NS;
    decide(p, jvmti, jni);
}
