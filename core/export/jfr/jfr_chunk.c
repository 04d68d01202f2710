#include "core/export/jfr/jfr_chunk.h"

#include "core/base/hash.h"
#include "core/export/frame_class.h"
#include "core/export/jfr/jfr_kind.h"
#include "core/export/jfr/jfr_paths.h"
#include "core/profile/snapshot/history_read.h"
#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum jfr_pool {
    JFR_THREADS,
    JFR_METHODS,
    JFR_CLASSES,
    JFR_PACKAGES,
    JFR_SYMBOLS,
    JFR_STACKS,
    JFR_POOLS
};

struct jfr_stack {
    const struct query *question;
    uint32_t node;
    struct jfr_leaf leaf;
};

struct jfr_chunk {
    struct text *events;
    struct text event; /* the event being built */
    const char *type;  /* the type of the last event, and its number */
    uint32_t type_number;
    struct jfr_rate *rate; /* belongs to the file; NULL: no limit */
    bool failed;
    bool told; /* the constants that never change are in a checkpoint */
    struct {
        struct text body;
        uint32_t count;
    } pool[JFR_POOLS]; /* constants that are in no checkpoint yet */
    struct jfr_names symbols, packages, classes, threads;
    uint32_t base[JFR_POOLS]; /* numbers start after this one; not used for methods */
    uint8_t *method_known;    /* by id: 1 + its kind; 0: it is not yet a constant */
    uint32_t methods;
    struct jfr_stack *stack;
    uint32_t stacks, stack_cap;
    struct index stack_index;
    uint64_t stack_bytes;
    bool later;        /* stacks are written after the checkpoint's other constants */
    size_t late_bytes; /* their size */
    uint8_t frame_type[1 + METHOD_KINDS][TIERS]; /* enum frame_type, by 1 + kind */
    struct profile_frame frame[PROFILE_STACK_MAX];
    char frame_bytes[PROFILE_STACK_MAX *
                     JFR_FRAME_BYTES]; /* the same frames, as the file has them */
    struct jfr_paths paths;
};

/* The constants that events refer to by number, and the checkpoints that contain them. */

#define STACK_BYTES_MAX (1u << 29) /* above this size, only the leaf of a stack is written */

static const char *const pool_type[JFR_POOLS] = {
    [JFR_THREADS] = "java.lang.Thread", [JFR_METHODS] = "jdk.types.Method",
    [JFR_CLASSES] = "java.lang.Class",  [JFR_PACKAGES] = "jdk.types.Package",
    [JFR_SYMBOLS] = "jdk.types.Symbol", [JFR_STACKS] = "jdk.types.StackTrace",
};

/* async-profiler's numbers: its converter reads the number, not the name. Its error frames are
 * native frames, too. */
enum frame_type {
    FRAME_TYPE_INTERPRETED,
    FRAME_TYPE_JIT,
    FRAME_TYPE_INLINED,
    FRAME_TYPE_NATIVE,
    FRAME_TYPE_CPP,
    FRAME_TYPE_KERNEL,
    FRAME_TYPE_C1
};
static const enum frame_type frame_types[FRAME_CLASSES] = {
    [CLASS_INTERPRETED] = FRAME_TYPE_INTERPRETED,
    [CLASS_JAVA] = FRAME_TYPE_JIT,
    [CLASS_C1] = FRAME_TYPE_C1,
    [CLASS_INLINED] = FRAME_TYPE_INLINED,
    [CLASS_NATIVE] = FRAME_TYPE_NATIVE,
    [CLASS_CPP] = FRAME_TYPE_CPP,
    [CLASS_KERNEL] = FRAME_TYPE_KERNEL,
    [CLASS_THREAD] = FRAME_TYPE_NATIVE,
    [CLASS_ERROR] = FRAME_TYPE_NATIVE,
};

/* Starts a new constant of a pool. The caller appends its fields. */
static struct text *constant(struct jfr_chunk *c, enum jfr_pool pool, uint64_t number) {
    c->pool[pool].count++;
    jfr_number(&c->pool[pool].body, number);
    return &c->pool[pool].body;
}

/* Returns a name's number. *first: the name was added by this call. */
static uint32_t number_of(struct jfr_names *names, uint32_t base, const char *s, size_t len,
                          bool *first) {
    uint32_t before = names->count, id = jfr_name(names, s, len);
    *first = names->count > before;
    return id ? base + id : 0;
}

static uint32_t symbol_of(struct jfr_chunk *c, const char *s, size_t len) {
    bool first;
    uint32_t id = number_of(&c->symbols, c->base[JFR_SYMBOLS], s, len, &first);
    if (first)
        jfr_symbol(constant(c, JFR_SYMBOLS, id),
                   jfr_name_text(&c->symbols, id - c->base[JFR_SYMBOLS]));
    return id;
}

static uint32_t package_of(struct jfr_chunk *c, const char *s, size_t len) {
    bool first;
    uint32_t id = number_of(&c->packages, c->base[JFR_PACKAGES], s, len, &first);
    if (first) {
        uint32_t symbol = symbol_of(c, s, len);
        jfr_number(constant(c, JFR_PACKAGES, id), symbol);
    }
    return id;
}

/* A class's symbol is its full name; its package is the part before the last '/'. */
static uint32_t class_of(struct jfr_chunk *c, const char *name) {
    bool first;
    uint32_t id = number_of(&c->classes, c->base[JFR_CLASSES], name, strlen(name), &first);
    if (!first)
        return id;
    const char *slash = strrchr(name, '/');
    uint32_t symbol = symbol_of(c, name, strlen(name));
    uint32_t package = slash && name[0] != '[' ? package_of(c, name, (size_t)(slash - name)) : 0;
    struct text *out = constant(c, JFR_CLASSES, id);
    jfr_number(out, 0); /* loader */
    jfr_number(out, symbol);
    jfr_number(out, package);
    jfr_number(out, 0); /* modifiers */
    return id;
}

/* `jfr print` parses this string, so it must have the form of a descriptor. */
static const char *descriptor_of(const struct method *m) {
    const char *s = m->signature;
    return m->kind == METHOD_JAVA && s[0] == '(' && strchr(s, ')') ? s : "()L;";
}

static bool grow_methods(struct jfr_chunk *c, const struct method_table *t, uint32_t id) {
    uint32_t methods = method_table_count(t);
    methods = methods > id ? methods + methods / 4 + 64 : id + 1;
    uint8_t *known = realloc(c->method_known, methods);
    if (!known)
        return false;
    memset(known + c->methods, 0, methods - c->methods);
    c->method_known = known;
    c->methods = methods;
    return true;
}

static void add_method(struct jfr_chunk *c, uint32_t id, const struct method *m) {
    const char *descriptor = descriptor_of(m);
    char name[1024];
    bool java = m->kind == METHOD_JAVA;
    frame_name(m, 0, name, sizeof name);
    const char *shown = java ? m->name : name;
    size_t length = strlen(shown);
    if (m->kind == METHOD_THREAD && length > 2) { /* "[CPU-1]"; other tools call it CPU-1 */
        shown++;
        length -= 2;
    }
    uint32_t class = class_of(c, java ? m->class_name : "");
    uint32_t symbol = symbol_of(c, shown, length);
    uint32_t signature = symbol_of(c, descriptor, strlen(descriptor));
    struct text *out = constant(c, JFR_METHODS, (uint64_t)id + 1);
    jfr_number(out, class);
    jfr_number(out, symbol);
    jfr_number(out, signature);
    jfr_number(out, 0); /* modifiers */
    jfr_number(out, 0); /* hidden */
}

uint32_t jfr_chunk_thread(struct jfr_chunk *c, uint32_t tid, uint64_t java_id, bool is_virtual,
                          const char *name) {
    char key[512];
    bool first;
    int len =
        snprintf(key, sizeof key, "%" PRIu32 " %" PRIu64 " %d %s", tid, java_id, is_virtual, name);
    size_t bytes = (size_t)len < sizeof key ? (size_t)len : sizeof key - 1;
    uint32_t id = number_of(&c->threads, c->base[JFR_THREADS], key, bytes, &first);
    if (!first)
        return id;
    struct text *out = constant(c, JFR_THREADS, id);
    jfr_string(out, name);
    jfr_number(out, tid);
    jfr_string(out, java_id ? name : NULL);
    jfr_number(out, java_id);
    jfr_number(out, 0); /* group */
    jfr_number(out, is_virtual);
    return id;
}

static enum method_kind learn_method(struct jfr_chunk *c, const struct method_table *t,
                                     uint32_t id) {
    const struct method *m = method_table_get(t, id);
    enum method_kind kind = m->kind;
    if (id >= c->methods && !grow_methods(c, t, id)) {
        c->failed = true;
        return kind;
    }
    c->method_known[id] = (uint8_t)(kind + 1);
    add_method(c, id, m);
    return kind;
}

/* Makes the method a constant at its first call. Returns its kind. */
static inline enum method_kind know_method(struct jfr_chunk *c, const struct method_table *t,
                                           uint32_t id) {
    if (id < c->methods && c->method_known[id])
        return (enum method_kind)(c->method_known[id] - 1);
    return learn_method(c, t, id);
}

static char frame_type_of(const struct jfr_chunk *c, enum method_kind kind, uint8_t tier) {
    return (char)c->frame_type[1 + kind][tier < TIERS ? tier : TIER_NONE];
}

/* Writes frames to c->frame_bytes; returns their size in bytes. */
static size_t put_frames(struct jfr_chunk *c, const struct method_table *t, uint32_t from,
                         uint32_t frames) {
    char *to = c->frame_bytes;
    for (uint32_t i = from; i < frames; i++) {
        const struct profile_frame *f = &c->frame[i];
        enum method_kind kind = know_method(c, t, f->method);
        to += jfr_put_frame(to, f->method, f->line, frame_type_of(c, kind, f->tier));
    }
    return (size_t)(to - c->frame_bytes);
}

static bool is_park(const struct method *m) {
    size_t n = strlen(m->class_name);
    return m->kind == METHOD_JAVA && !strcmp(m->name, "park") && n >= 6 &&
           !strcmp(m->class_name + n - 6, "Unsafe");
}

/* What is in front of a stack's frames, and where those are. */
struct stack_head {
    char bytes[3 * JFR_NUMBER_BYTES];
    size_t len, number;    /* in bytes; of the number alone */
    bool is_path;          /* the frames are the whole path from `node` on; otherwise: */
    uint32_t from, frames; /* in c->frame */
    uint32_t node;
    struct jfr_path path;
};

/* The chunk, for paths of this profile. */
struct learner {
    struct jfr_chunk *c;
    const struct method_table *methods;
};

static int learn_for_path(void *arg, uint32_t method) {
    const struct learner *l = arg;
    know_method(l->c, l->methods, method);
    return l->c->failed ? -ENOMEM : 0;
}

/* The frames are the path from the node; if the leaf is a class, from its caller. */
static uint32_t find_path(struct jfr_chunk *c, const struct profile *p, uint32_t node,
                          struct stack_head *head) {
    const struct call_tree *t = history_tree(p);
    const struct method_table *methods = profile_methods_const(p);
    bool class =
        node < t->nodes && method_table_get(methods, t->node[node].method)->kind == METHOD_CLASS;
    head->node = class ? t->node[node].parent : node;
    struct learner l = {c, methods};
    head->path = (struct jfr_path){0, 0};
    c->failed |= jfr_path_measure(&c->paths, t, head->node, learn_for_path, &l, &head->path) != 0;
    return head->path.frames;
}

/* Makes c->frame. Returns the number of frames that are written. *cut: only the leaf is; it becomes
 * false if there is no other frame. */
static uint32_t find_frames(struct jfr_chunk *c, const struct profile *p, const struct jfr_stack *k,
                            bool *cut, struct stack_head *head) {
    const struct method_table *methods = profile_methods_const(p);
    head->frames = history_stack(p, k->question, k->node, c->frame);
    head->from = 0;
    if (head->frames && method_table_get(methods, c->frame[0].method)->kind == METHOD_CLASS)
        head->from = 1;
    *cut = *cut && head->frames > head->from + 1;
    if (*cut)
        head->frames = head->from + 1;
    return head->frames - head->from;
}

/* Makes the head of a stack's constant. `written`: the size of all stacks before it. */
static void put_head(struct jfr_chunk *c, const struct profile *p, const struct jfr_stack *k,
                     uint32_t number, uint64_t written, struct stack_head *head) {
    bool cut = written > STACK_BYTES_MAX;
    head->is_path = c->later && !cut && !(k->question->from_method && k->question->with_method);
    uint32_t frames =
        head->is_path ? find_path(c, p, k->node, head) : find_frames(c, p, k, &cut, head);
    head->number = head->len = jfr_put(head->bytes, (uint64_t)c->base[JFR_STACKS] + number);
    head->len += jfr_put(head->bytes + head->len, cut);
    head->len += jfr_put(head->bytes + head->len, frames);
}

/* Finds out what the leaf of a stack is. */
static struct jfr_leaf leaf_of(struct jfr_chunk *c, const struct profile *p, uint32_t node) {
    const struct method_table *methods = profile_methods_const(p);
    const struct call_tree *t = history_tree(p);
    struct jfr_leaf l = {0};
    if (node >= t->nodes)
        return l;
    const struct method *leaf = method_table_get(methods, t->node[node].method);
    if (leaf->kind != METHOD_CLASS) {
        l.method = t->node[node].method + 1;
        return l;
    }
    l.class = class_of(c, leaf->name[0] ? leaf->name : leaf->class_name);
    l.other = *leaf->module;
    node = t->node[node].parent;
    for (uint32_t i = 1; node < t->nodes && i < 4; i++, node = t->node[node].parent)
        l.other |= is_park(method_table_get(methods, t->node[node].method));
    return l;
}

static void add_stack(struct jfr_chunk *c, const struct profile *p, struct jfr_stack *k) {
    const struct method_table *methods = profile_methods_const(p);
    struct stack_head head;
    put_head(c, p, k, c->stacks + 1, c->stack_bytes, &head);
    size_t bytes = head.is_path ? head.path.bytes : put_frames(c, methods, head.from, head.frames);
    k->leaf = leaf_of(c, p, k->node);
    c->stack_bytes += head.len - head.number + bytes;
    c->pool[JFR_STACKS].count++;
    if (c->later) {
        c->late_bytes += head.len + bytes;
        return;
    }
    text_add_n(&c->pool[JFR_STACKS].body, head.bytes, head.len);
    text_add_n(&c->pool[JFR_STACKS].body, c->frame_bytes, bytes);
}

void jfr_chunk_stacks_later(struct jfr_chunk *c) {
    c->later = true;
}

size_t jfr_chunk_late_bytes(const struct jfr_chunk *c) {
    return c->late_bytes;
}

void jfr_chunk_write_stacks(struct jfr_chunk *c, const struct profile *p, struct text *out) {
    uint64_t written = 0;
    for (uint32_t i = 0; i < c->stacks && !out->failed && !c->failed; i++) {
        struct stack_head head = {.len = 0};
        put_head(c, p, &c->stack[i], i + 1, written, &head);
        const char *frames = c->frame_bytes;
        size_t bytes = head.path.bytes;
        if (c->failed)
            break;
        if (head.is_path)
            frames =
                jfr_path_put(&c->paths, history_tree(p), head.node, c->method_known, c->frame_type);
        else
            bytes = put_frames(c, profile_methods_const(p), head.from, head.frames);
        written += head.len - head.number + bytes;
        text_add_n(out, head.bytes, head.len);
        text_add_n(out, frames, bytes);
    }
}

uint32_t jfr_chunk_stack(struct jfr_chunk *c, const struct profile *p, const struct query *q,
                         uint32_t node) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&c->stack_index), node, 0), pos = hash, id;
    while (c->stack && (id = index_next(&c->stack_index, hash, &pos)) != INDEX_NONE)
        if (c->stack[id].node == node)
            return c->base[JFR_STACKS] + id + 1;
    if (c->stacks == c->stack_cap) {
        uint32_t cap = c->stack_cap ? c->stack_cap * 2 : 1024;
        struct jfr_stack *stack = realloc(c->stack, cap * sizeof *stack);
        c->failed |= !stack;
        if (!stack)
            return 0;
        c->stack = stack;
        c->stack_cap = cap;
    }
    if (index_reserve(&c->stack_index) != 0) {
        c->failed = true;
        return 0;
    }
    index_put(&c->stack_index, hash, c->stacks);
    struct jfr_stack k = {.question = q, .node = node};
    add_stack(c, p, &k);
    c->stack[c->stacks++] = k;
    return c->base[JFR_STACKS] + c->stacks;
}

/* ---- the checkpoint ---- */

static const char *const frame_type_names[] = {
    [FRAME_TYPE_INTERPRETED] = "Interpreted",
    [FRAME_TYPE_JIT] = "JIT compiled",
    [FRAME_TYPE_INLINED] = "Inlined",
    [FRAME_TYPE_NATIVE] = "Native",
    [FRAME_TYPE_CPP] = "C++",
    [FRAME_TYPE_KERNEL] = "Kernel",
    [FRAME_TYPE_C1] = "C1 compiled",
};
static const char *const state_names[] = {
    [JFR_STATE_DEFAULT] = "STATE_DEFAULT",
    [JFR_STATE_RUNNABLE] = "STATE_RUNNABLE",
    [JFR_STATE_SLEEPING] = "STATE_SLEEPING",
};
static const char *const whens[] = {"Sampled"};

/* The strings are numbered from 0. */
static void add_strings(struct text *out, const char *type, const char *const *string,
                        unsigned count) {
    jfr_number(out, jfr_type(type));
    jfr_number(out, count);
    for (unsigned i = 0; i < count; i++) {
        jfr_number(out, i);
        jfr_string(out, string[i]);
    }
}

size_t jfr_chunk_pending(const struct jfr_chunk *c) {
    size_t bytes = !c->told;
    for (int i = 0; i < JFR_POOLS; i++)
        bytes += c->pool[i].body.len;
    return bytes;
}

/* A checkpoint must not contain an empty pool, so only pools with constants are written. */
void jfr_chunk_checkpoint(struct jfr_chunk *c, struct text *out, uint64_t time_ns, int64_t before) {
    unsigned pools = c->told ? 0 : 3;
    for (int i = 0; i < JFR_POOLS; i++)
        pools += c->pool[i].count != 0;
    size_t begin = jfr_begin(out);
    jfr_number(out, JFR_EVENT_CHECKPOINT);
    jfr_number(out, time_ns);
    jfr_number(out, 0); /* duration */
    jfr_number(out, (uint64_t)before);
    jfr_number(out, 0); /* kind of the checkpoint */
    jfr_number(out, pools);
    if (!c->told) {
        add_strings(out, "jdk.types.FrameType", frame_type_names,
                    sizeof frame_type_names / sizeof frame_type_names[0]);
        add_strings(out, "jdk.types.ThreadState", state_names,
                    sizeof state_names / sizeof state_names[0]);
        add_strings(out, "jdk.types.GCWhen", whens, 1);
        c->told = true;
    }
    for (int i = 0; i < JFR_POOLS; i++) {
        if (!c->pool[i].count)
            continue;
        jfr_number(out, jfr_type(pool_type[i]));
        jfr_number(out, c->pool[i].count);
        if (c->pool[i].body.len)
            text_add_n(out, c->pool[i].body.data, c->pool[i].body.len);
        c->failed |= c->pool[i].body.failed;
        text_free(&c->pool[i].body);
        c->pool[i].count = 0;
    }
    jfr_end_before(out, begin, c->late_bytes);
}

void jfr_chunk_follow(struct jfr_chunk *c, const struct jfr_chunk *before) {
    const uint32_t count[JFR_POOLS] = {
        [JFR_THREADS] = before->threads.count,   [JFR_CLASSES] = before->classes.count,
        [JFR_PACKAGES] = before->packages.count, [JFR_SYMBOLS] = before->symbols.count,
        [JFR_STACKS] = before->stacks,
    };
    for (int i = 0; i < JFR_POOLS; i++)
        c->base[i] = before->base[i] + count[i];
    c->rate = before->rate;
}

enum jfr_state jfr_state_of(uint8_t state) {
    return state == PROFILE_STATE_UNKNOWN || state == PROFILE_STATE_RUNNING ? JFR_STATE_RUNNABLE
                                                                            : JFR_STATE_SLEEPING;
}

struct jfr_chunk *jfr_chunk_new(void) {
    struct jfr_chunk *c = calloc(1, sizeof(struct jfr_chunk));
    for (int kind = 0; c && kind < METHOD_KINDS; kind++)
        for (int tier = 0; tier < TIERS; tier++)
            c->frame_type[1 + kind][tier] =
                (uint8_t)frame_types[frame_class_of((enum method_kind)kind, (enum frame_tier)tier)];
    return c;
}

void jfr_chunk_free(struct jfr_chunk *c) {
    if (!c)
        return;
    for (int i = 0; i < JFR_POOLS; i++)
        text_free(&c->pool[i].body);
    text_free(&c->event);
    jfr_names_free(&c->symbols);
    jfr_names_free(&c->packages);
    jfr_names_free(&c->classes);
    jfr_names_free(&c->threads);
    free(c->method_known);
    jfr_paths_free(&c->paths);
    free(c->stack);
    index_free(&c->stack_index);
    free(c);
}

bool jfr_chunk_failed(const struct jfr_chunk *c) {
    bool failed = c->failed || (c->events && c->events->failed) || c->symbols.bytes.failed ||
                  c->packages.bytes.failed || c->classes.bytes.failed || c->threads.bytes.failed;
    for (int i = 0; i < JFR_POOLS; i++)
        failed |= c->pool[i].body.failed;
    return failed;
}

void jfr_chunk_to(struct jfr_chunk *c, struct text *events) {
    c->events = events;
}

struct text *jfr_chunk_begin(struct jfr_chunk *c, const char *type, uint64_t time_ns) {
    text_clear(&c->event);
    if (type != c->type)
        c->type_number = jfr_type(type);
    c->type = type;
    jfr_number(&c->event, c->type_number);
    jfr_number(&c->event, time_ns);
    return &c->event;
}

void jfr_chunk_end(struct jfr_chunk *c) {
    jfr_event(c->events, &c->event);
}

static void add_one(struct jfr_chunk *c, const struct jfr_sample *s, uint64_t weight) {
    static const struct jfr_leaf none = {0};
    const struct jfr_kind *k = s->kind;
    if (c->rate && !jfr_rate_takes(c->rate, k->category, s->time_ns))
        return;
    uint32_t stack = s->stack - c->base[JFR_STACKS];
    const struct jfr_leaf *leaf = stack && stack <= c->stacks ? &c->stack[stack - 1].leaf : &none;
    uint64_t lasts = !k->lasts ? 0 : weight < s->time_ns ? weight : s->time_ns;
    const char *type = leaf->other && k->other ? k->other : k->type;
    struct text *event = jfr_chunk_begin(c, type, s->time_ns - lasts);
    if (k->lasts)
        jfr_number(event, lasts);
    jfr_number(event, s->thread);
    jfr_number(event, s->stack);
    k->fields(event, s, leaf, weight);
    jfr_chunk_end(c);
}

void jfr_chunk_add(struct jfr_chunk *c, const struct jfr_sample *s) {
    uint64_t events = s->kind->sum || !s->count ? 1 : s->count;
    for (uint64_t i = 0; i < events; i++)
        add_one(c, s, s->weight / events + (i < s->weight % events));
}

void jfr_chunk_limit(struct jfr_chunk *c, struct jfr_rate *rate) {
    c->rate = rate;
}

void jfr_chunk_add_free(struct jfr_chunk *c, uint64_t time_ns, uint32_t thread, uint64_t address) {
    if (c->rate && !jfr_rate_takes(c->rate, JFR_CATEGORY_NATIVEMEM, time_ns))
        return;
    struct text *event = jfr_chunk_begin(c, "profiler.Free", time_ns);
    jfr_number(event, thread);
    jfr_number(event, 0); /* stack */
    jfr_number(event, address);
    jfr_chunk_end(c);
}
