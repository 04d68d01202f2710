#include "core/decode/decoder_parts.h"

#include "core/base/clean_text.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Adds a name to the profile as long as there is room for its text. */
static uint32_t decoder_intern(struct decoder *d, enum source source, enum method_kind kind,
                               const char *class_name, const char *name, const char *signature,
                               const char *module) {
    struct method_table *t = profile_methods(d->profile);
    uint32_t before = method_table_count(t);
    uint32_t id = METHOD_NONE;
    if (d->text_bytes < DECODER_TEXT_BYTES_MAX)
        id = method_table_intern(t, kind, class_name, name, signature, module);
    if (id == METHOD_NONE) {
        d->counts.refused++;
        return d->unknown[source];
    }
    if (method_table_count(t) > before)
        d->text_bytes +=
            64 + strlen(class_name) + strlen(name) + strlen(signature) + strlen(module);
    return id;
}

/* Binds an id to a method. Takes ownership of `lines`. */
static void bind_name(struct decoder *d, uint64_t key, uint32_t method, struct line_table *lines) {
    int rc = name_table_put(&d->names, key, method, lines);
    if (rc != 0)
        d->counts.refused++;
    if (rc >= 0)
        decoder_release(d, key);
}

struct cursor {
    const uint8_t *bytes;
    size_t left;
};

/* Cleans the next `length` bytes into `out`. False: the record is shorter. */
static bool text(struct cursor *c, size_t length, char out[WIRE_STRING_MAX + 1]) {
    if (length > c->left)
        return false;
    clean_text(out, WIRE_STRING_MAX + 1, c->bytes, length);
    c->bytes += length;
    c->left -= length;
    return true;
}

bool decoder_decode_method(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_method *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char class_name[WIRE_STRING_MAX + 1];
    char name[WIRE_STRING_MAX + 1];
    char signature[WIRE_STRING_MAX + 1];
    if (!text(&c, w->class_bytes, class_name) || !text(&c, w->name_bytes, name) ||
        !text(&c, w->signature_bytes, signature))
        return false;
    uint32_t odd = (uint32_t)(w->class_bytes + w->name_bytes + w->signature_bytes) & 1;
    if (w->line_bytes > 0 && (c.left < odd || w->line_bytes > c.left - odd))
        return false;
    struct line_table *lines =
        w->line_bytes > 0 ? line_table_new(c.bytes + odd, w->line_bytes) : NULL;
    bind_name(d, decoder_key(SOURCE_METHOD, w->method_id),
              decoder_intern(d, SOURCE_METHOD, METHOD_JAVA, class_name, name, signature, ""),
              lines);
    return true;
}

bool decoder_decode_class(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_class *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    bind_name(d, decoder_key(SOURCE_CLASS, w->class_id),
              decoder_intern(d, SOURCE_CLASS, METHOD_CLASS, "", name, "", ""), NULL);
    return true;
}

bool decoder_decode_stub(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_stub *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    bind_name(d, decoder_key(SOURCE_STUB, w->begin),
              decoder_intern(d, SOURCE_STUB, METHOD_STUB, "", name, "", ""), NULL);
    return true;
}

bool decoder_decode_symbol(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_symbol *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    char module[WIRE_STRING_MAX + 1];
    if (!d->replay || !text(&c, w->name_bytes, name) || !text(&c, w->module_bytes, module) ||
        (w->kind != METHOD_NATIVE && w->kind != METHOD_CPP && w->kind != METHOD_KERNEL))
        return false;
    address_names_put(&d->addresses, w->address,
                      decoder_intern(d, SOURCE_NATIVE, w->kind, "", name, "", module));
    return true;
}

/* Values in decoder.threads. A name is stored as its hash with bit 1 set. */
enum { THREAD_NAMELESS = 0, THREAD_ENDED = 1, THREAD_NAMED = 2 };

static uint64_t thread_key(uint32_t tid) {
    return UINT64_C(1) << 32 | tid;
}

void decoder_see_thread(struct decoder *d, uint32_t tid) {
    uint32_t known;
    if (id_map_get(&d->threads, thread_key(tid), &known) && known != THREAD_ENDED)
        return;
    if (id_map_put(&d->threads, thread_key(tid), THREAD_NAMELESS) == 0)
        d->nameless_threads = true;
}

static uint32_t hash_name(const char *s) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h | THREAD_NAMED;
}

/* The profile itself limits virtual threads, and frees their names with them. */
static bool decode_virtual_thread(struct decoder *d, uint64_t java_id, uint32_t carrier,
                                  const char *name) {
    if (java_id == 0)
        return false;
    if (d->filter) {
        thread_filter_virtual_name(d->filter, java_id, carrier, name);
        decoder_release(d, decoder_thread_key(carrier, java_id));
    }
    if (profile_virtual_name(d->profile, java_id, name) != 0)
        d->counts.refused++;
    return true;
}

bool decoder_decode_thread(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_thread *w = record;
    struct cursor c = {w->bytes, length - sizeof *w};
    char name[WIRE_STRING_MAX + 1];
    if (!text(&c, w->name_bytes, name))
        return false;
    if (w->flags & WIRE_THREAD_VIRTUAL)
        return decode_virtual_thread(d, w->java_id, w->tid, name);
    if (d->filter) {
        thread_filter_name(d->filter, w->tid, name);
        decoder_release(d, decoder_thread_key(w->tid, 0));
    }
    uint32_t before = THREAD_NAMELESS;
    uint32_t now = hash_name(name);
    id_map_get(&d->threads, thread_key(w->tid), &before);
    if (before != now) {
        /* The profile keeps every name that it gets. So there is a limit, in case a thread is
         * renamed again and again. */
        if (d->text_bytes >= DECODER_TEXT_BYTES_MAX ||
            id_map_put(&d->threads, thread_key(w->tid), now) != 0) {
            d->counts.refused++;
            return true;
        }
        d->text_bytes += 64 + strlen(name);
    }
    if (profile_thread_name(d->profile, w->tid, w->java_id, name) != 0)
        d->counts.refused++;
    return true;
}

bool decoder_decode_thread_end(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_thread_end *w = record;
    uint32_t known;
    decoder_forget_thread(d, w->tid);
    id_map_remove(&d->policies, thread_key(w->tid));
    if (d->filter)
        thread_filter_end(d->filter, w->tid);
    if (id_map_get(&d->threads, thread_key(w->tid), &known)) {
        id_map_put(&d->threads, thread_key(w->tid), THREAD_ENDED);
        profile_thread_end(d->profile, w->tid);
    }
    return true;
}

bool decoder_decode_java_state(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_java_state *w = record;
    if (w->state >= WIRE_JAVA_STATES)
        return false;
    profile_java_state(d->profile, w->tid, w->state);
    return true;
}

bool decoder_lacks_name(const struct decoder *d, uint32_t tid) {
    uint32_t known;
    return id_map_get(&d->threads, thread_key(tid), &known) && known == THREAD_NAMELESS;
}

#ifndef SCHED_DEADLINE /* glibc leaves it to linux/sched.h, which conflicts with its own */
#define SCHED_DEADLINE 6
#endif

#define CPU_MAX 8192u /* NR_CPUS of the largest kernels */

static const struct {
    uint8_t source;
    uint8_t tier;
} frame_type[WIRE_FRAME_TYPES] = {
    [WIRE_FRAME_INTERPRETED] = {SOURCE_METHOD, TIER_INTERPRETED},
    [WIRE_FRAME_C1] = {SOURCE_METHOD, TIER_C1},
    [WIRE_FRAME_C2] = {SOURCE_METHOD, TIER_C2},
    [WIRE_FRAME_INLINED] = {SOURCE_METHOD, TIER_INLINED},
    [WIRE_FRAME_NATIVE_METHOD] = {SOURCE_METHOD, TIER_NONE},
    [WIRE_FRAME_NATIVE] = {SOURCE_NATIVE, TIER_NONE},
    [WIRE_FRAME_KERNEL] = {SOURCE_KERNEL, TIER_NONE},
    [WIRE_FRAME_STUB] = {SOURCE_STUB, TIER_NONE},
    [WIRE_FRAME_CLASS] = {SOURCE_CLASS, TIER_NONE},
    [WIRE_FRAME_ERROR] = {SOURCE_ERROR, TIER_NONE},
    [WIRE_FRAME_COMPILING] = {SOURCE_COMPILING, TIER_NONE},
    [WIRE_FRAME_PC] = {SOURCE_PC, TIER_NONE},
    [WIRE_FRAME_CLASS_OUTSIDE] = {SOURCE_OUTSIDE, TIER_NONE},
};

static bool stack_of(const uint64_t *frame, uint32_t frames, size_t bytes, struct stack *out) {
    *out = (struct stack){frame, frames};
    return frames <= WIRE_FRAMES_MAX && frames <= bytes / sizeof *frame;
}

bool decoder_stack(const void *record, uint32_t length, struct stack *out) {
    uint32_t type = wire_header_type(*(const uint64_t *)record);
    if (type == WIRE_SAMPLE && length >= sizeof(struct wire_sample)) {
        const struct wire_sample *w = record;
        return stack_of(w->frame, w->frames, length - sizeof *w, out);
    }
    if (type == WIRE_LOCK && length >= sizeof(struct wire_lock)) {
        const struct wire_lock *w = record;
        return stack_of(w->owner_frame, w->owner_frames, length - sizeof *w, out);
    }
    return false;
}

uint64_t decoder_looked_up(const struct stack *s, uint32_t i) {
    uint64_t pc = wire_frame_pc(s->frame[i]);
    uint32_t before = i ? wire_frame_type(s->frame[i - 1]) : WIRE_FRAME_PC;
    bool exact = before == WIRE_FRAME_PC ||
                 (wire_frame_type(s->frame[i]) == WIRE_FRAME_NATIVE && before == WIRE_FRAME_KERNEL);
    return exact || pc == 0 ? pc : pc - 1;
}

/* The entry of the method table with the same name but another meaning: a method that is being
 * compiled, or a class that is allocated outside a TLAB. */
static uint32_t variant_of(struct decoder *d, struct known_name *n, enum source source) {
    if (n->variant == METHOD_NONE) {
        const struct method m = *method_table_get(profile_methods(d->profile), n->method);
        n->variant =
            m.kind == METHOD_JAVA
                ? decoder_intern(d, source, METHOD_COMPILING, m.class_name, m.name, m.signature, "")
            : m.kind == METHOD_CLASS ? decoder_intern(d, source, METHOD_CLASS, m.class_name, m.name,
                                                      "", METHOD_OUTSIDE_TLAB)
                                     : d->unknown[source];
    }
    return n->variant;
}

/* Names a frame by its key. False: the name is not known yet. */
static bool name_frame(struct decoder *d, uint64_t key, struct profile_frame *f) {
    struct known_name *n = name_table_get(&d->names, decoder_name_key(key));
    if (!n)
        return false;
    enum source source = (enum source)(key >> 56);
    if (source == SOURCE_COMPILING || source == SOURCE_OUTSIDE) {
        f->method = variant_of(d, n, source);
        return true;
    }
    f->method = n->method;
    if (n->lines && wire_frame_bci(key) != WIRE_BCI_NONE)
        f->line = line_table_find(n->lines, wire_frame_bci(key));
    return true;
}

uint64_t decoder_fill_in(struct decoder *d, struct profile_frame *frame, uint64_t *key,
                         uint32_t frames) {
    uint64_t missing = 0;
    for (uint32_t i = 0; i < frames; i++) {
        if (!key[i])
            continue;
        if (name_frame(d, key[i], &frame[i]))
            key[i] = 0;
        else if (!missing)
            missing = decoder_name_key(key[i]);
    }
    return missing;
}

static uint32_t address_method(struct decoder *d, enum source source, uint64_t address) {
    struct address_name *a = address_names_get(&d->addresses, address);
    if (!a)
        return d->unknown[source];
    if (a->method == METHOD_NONE)
        a->method = decoder_intern(d, source, a->kind, "", a->name, "", a->module);
    return a->method;
}

static uint32_t pc_method(struct decoder *d, uint64_t pc) {
    char name[24];
    snprintf(name, sizeof name, "0x%" PRIx64, pc);
    return decoder_intern(d, SOURCE_PC, METHOD_NATIVE, "", name, "", "");
}

static bool compiles(const struct decoder *d, uint32_t method) {
    static const char function[] = "Compiler::compile_method";
    const char *name = method_table_get(profile_methods(d->profile), method)->name;
    size_t n = strcspn(name, "("), bytes = sizeof function - 1;
    return n >= bytes && memcmp(name + n - bytes, function, bytes) == 0;
}

/* Moves the frame of the compiled method to the place where the compilation begins, which is next
 * to C2Compiler::compile_method on the leaf's side. So stacks begin as in other threads. If that
 * function is not on the stack, or has no name, the frame is removed. */
static void place_compiled(struct decoder *d, struct stack *s, struct profile_frame *frame,
                           uint64_t *key) {
    uint32_t last = --s->frames, at = last;
    struct profile_frame method = frame[last];
    uint64_t its_key = key[last];
    while (at > 0 && !(wire_frame_type(s->frame[at - 1]) == WIRE_FRAME_NATIVE &&
                       compiles(d, frame[at - 1].method)))
        at--;
    if (at == 0)
        return;
    at--;
    memmove(&frame[at + 1], &frame[at], (last - at) * sizeof *frame);
    memmove(&key[at + 1], &key[at], (last - at) * sizeof *key);
    frame[at] = method;
    key[at] = its_key;
    s->frames++;
}

#define METHOD_AND_BCI ((UINT64_C(1) << 48) - 1)

/* The key of the name that a frame has; 0: it has none. */
static uint64_t key_of(enum source source, uint64_t word) {
    if (source == SOURCE_METHOD)
        return decoder_key(source, word & METHOD_AND_BCI);
    if (source == SOURCE_CLASS || source == SOURCE_COMPILING || source == SOURCE_OUTSIDE)
        return decoder_key(source, wire_frame_method(word));
    return source == SOURCE_STUB ? decoder_key(source, word) : 0;
}

uint32_t decoder_translate(struct decoder *d, struct stack *s, struct profile_frame *frame,
                           uint64_t *key) {
    uint32_t failure = WIRE_FAILURES;
    for (uint32_t i = 0; i < s->frames; i++) {
        uint64_t word = s->frame[i];
        uint32_t type = wire_frame_type(word);
        enum source source = type < WIRE_FRAME_TYPES ? frame_type[type].source : SOURCE_NONE;
        struct profile_frame *f = &frame[i];
        *f = (struct profile_frame){
            .method = d->unknown[source],
            .tier = type < WIRE_FRAME_TYPES ? frame_type[type].tier : TIER_NONE,
        };
        key[i] = key_of(source, word);
        if (key[i] && name_frame(d, key[i], f)) {
            key[i] = 0;
        } else if (source == SOURCE_NATIVE || source == SOURCE_KERNEL) {
            f->method = address_method(d, source, decoder_looked_up(s, i));
        } else if (source == SOURCE_PC) {
            f->method = pc_method(d, word & WIRE_FRAME_ADDRESS_MASK);
        } else if (source == SOURCE_ERROR) {
            uint64_t why = word & WIRE_FRAME_ADDRESS_MASK;
            uint32_t reason = why < WIRE_FAILURES ? (uint32_t)why : WIRE_FAILURE_NONE;
            f->method = d->failure_method[reason];
            if (failure == WIRE_FAILURES || wire_failure_is_error(reason))
                failure = reason;
        }
    }
    if (s->frames > 1 && wire_frame_type(s->frame[s->frames - 1]) == WIRE_FRAME_COMPILING)
        place_compiled(d, s, frame, key);
    return failure;
}

/* Tags. */

static const char *policy_name(uint32_t policy) {
    switch (policy) {
    case SCHED_OTHER:
        return "[SCHED_OTHER]";
    case SCHED_FIFO:
        return "[SCHED_FIFO]";
    case SCHED_RR:
        return "[SCHED_RR]";
    case SCHED_BATCH:
        return "[SCHED_BATCH]";
    case SCHED_IDLE:
        return "[SCHED_IDLE]";
    case SCHED_DEADLINE:
        return "[SCHED_DEADLINE]";
    default:
        return NULL;
    }
}

/* A map's key is never 0. */
static uint64_t policy_key(uint32_t tid) {
    return UINT64_C(1) << 32 | tid;
}

void decoder_learn_policy(struct decoder *d, uint32_t tid) {
    uint32_t known;
    if (!d->tag_sched || !d->policy || id_map_get(&d->policies, policy_key(tid), &known))
        return;
    int policy = d->policy(d->policy_arg, tid);
    id_map_put(&d->policies, policy_key(tid), policy < 0 ? UINT32_MAX : (uint32_t)policy);
}

static uint32_t add_tag(struct decoder *d, const char *name, uint32_t at) {
    d->frame[at] = (struct profile_frame){
        .method = decoder_intern(d, SOURCE_NONE, METHOD_THREAD, "", name, "", "")};
    d->key[at] = 0;
    return at + 1;
}

uint32_t decoder_add_tags(struct decoder *d, const struct wire_sample *w, uint32_t frames) {
    char cpu[16];
    uint32_t policy;
    if (!d->tag_sched && !d->tag_cpu)
        return frames;
    if (frames > PROFILE_STACK_MAX - DECODER_TAGS) /* otherwise the profile would cut the tags */
        frames = PROFILE_STACK_MAX - DECODER_TAGS;
    if (d->tag_sched && id_map_get(&d->policies, policy_key(w->tid), &policy) &&
        policy_name(policy))
        frames = add_tag(d, policy_name(policy), frames);
    bool counted = w->event == WIRE_EVENT_CPU || w->event == WIRE_EVENT_PERF;
    if (d->tag_cpu && counted && w->cpu < CPU_MAX) {
        snprintf(cpu, sizeof cpu, "[CPU-%u]", w->cpu);
        frames = add_tag(d, cpu, frames);
    }
    return frames;
}
