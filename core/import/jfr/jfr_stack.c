#include "core/import/jfr/jfr_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file does not contain which thread carried a virtual thread. */
#define CARRIER "virtual threads"

static struct jfr_type *type_of(const struct jfr_type *t, int field) {
    return t && field >= 0 ? t->field[field].type : NULL;
}

static void find_fields(struct jfr_names *n) {
    n->of_stack.truncated = jfr_field_of(n->stack, "truncated");
    n->of_stack.frames = jfr_field_of(n->stack, "frames");
    n->frame = type_of(n->stack, n->of_stack.frames);
    n->of_frame.method = jfr_field_of(n->frame, "method");
    n->of_frame.line = jfr_field_of(n->frame, "lineNumber");
    n->of_frame.type = jfr_field_of(n->frame, "type");
    n->method = type_of(n->frame, n->of_frame.method);
    n->frame_type = type_of(n->frame, n->of_frame.type);
    n->of_method.class = jfr_field_of(n->method, "type");
    n->of_method.name = jfr_field_of(n->method, "name");
    n->of_method.signature = jfr_field_of(n->method, "descriptor");
    n->of_class = jfr_field_of(n->class, "name");
    n->of_thread.os_name = jfr_field_of(n->thread, "osName");
    n->of_thread.tid = jfr_field_of(n->thread, "osThreadId");
    n->of_thread.name = jfr_field_of(n->thread, "javaName");
    n->of_thread.id = jfr_field_of(n->thread, "javaThreadId");
    n->of_thread.virtual = jfr_field_of(n->thread, "virtual");
}

void jfr_names_open(struct jfr_names *n, struct jfr_chunk *k, struct emit *m, import_record *each,
                    void *arg) {
    *n = (struct jfr_names){.chunk = k, .emit = m, .each = each, .arg = arg};
    id_map_init(&n->known, ID_MAP_MAX);
    id_map_init(&n->methods, ID_MAP_MAX);
    n->stack = jfr_type_by_name(&k->types, "jdk.types.StackTrace");
    n->thread = jfr_type_by_name(&k->types, "java.lang.Thread");
    n->class = jfr_type_by_name(&k->types, "java.lang.Class");
    find_fields(n);
    /* Each constant has one `known` value, so a constant used as a kind of frame must not also be a
     * stack, thread or class. */
    if (n->frame_type &&
        (n->frame_type == n->stack || n->frame_type == n->thread || n->frame_type == n->class))
        n->stack = NULL;
}

void jfr_names_close(struct jfr_names *n) {
    id_map_free(&n->known);
    id_map_free(&n->methods);
    free(n->classes);
    free(n->threads);
    free(n->frames);
    n->classes = NULL;
    n->threads = NULL;
    n->frames = NULL;
}

/* ---- reading constants ---- */

/* Reads the fields of a constant; false: there is no such constant. */
static bool read_constant(const struct jfr_names *n, const struct jfr_type *t, uint64_t number,
                          struct jfr_constant **c, struct jfr_value v[JFR_FIELDS]) {
    *c = t && t->form == JFR_STRUCT ? jfr_constant_get(t, number) : NULL;
    if (!*c)
        return false;
    struct jfr_cursor at = jfr_chunk_cursor(n->chunk, (*c)->at);
    return jfr_value_read(&at, t, v);
}

static struct wire_text text(const struct jfr_names *n, const struct jfr_type *t, int field,
                             const struct jfr_value *v, char *scratch) {
    struct wire_text none = {0};
    return field < 0 ? none : jfr_text(n->chunk, &t->field[field], &v[field], scratch);
}

static uint64_t number(int field, const struct jfr_value *v) {
    return field < 0 ? 0 : v[field].number;
}

/* Returns where the suffix of a hidden class begins: "+0x00007f…", in some JDKs followed by a
 * number, or "/123456" before JDK 15. The end if there is none. */
static size_t hidden_suffix(struct wire_text t) {
    const char *plus = memmem(t.data, t.bytes, "+0x", 3);
    size_t at = t.bytes;
    if (plus)
        return (size_t)(plus - t.data);
    while (at > 0 && t.data[at - 1] >= '0' && t.data[at - 1] <= '9')
        at--;
    return at > 0 && at < t.bytes && t.data[at - 1] == '/' ? at - 1 : t.bytes;
}

/* Converts a class name to internal form: in hidden classes the JDK writes dots, and after the
 * address a number that no other tool knows. */
static struct wire_text plain_class(struct wire_text t, char *scratch) {
    size_t suffix;
    if (!t.bytes || !memchr(t.data, '.', t.bytes) || t.bytes > WIRE_STRING_MAX)
        return t;
    memmove(scratch, t.data, t.bytes);
    t.data = scratch;
    suffix = hidden_suffix(t);
    for (size_t i = 0; i < suffix; i++)
        if (scratch[i] == '.')
            scratch[i] = '/';
    const char *number = suffix < t.bytes && scratch[suffix] == '+'
                             ? memchr(scratch + suffix, '/', t.bytes - suffix)
                             : NULL;
    if (number)
        t.bytes = (size_t)(number - scratch);
    return t;
}

/* Returns where the name of the class is; NULL: nowhere. */
static const struct jfr_value *class_value(struct jfr_names *n, uint64_t class) {
    struct jfr_value v[JFR_FIELDS];
    const uint8_t *nowhere = n->chunk->begin;
    struct jfr_constant *c =
        n->class && n->of_class >= 0 ? jfr_constant_get(n->class, class) : NULL;
    if (!c)
        return NULL;
    if (!n->classes)
        n->classes = calloc(n->class->constants, sizeof *n->classes);
    if (!n->classes) {
        n->failure = -ENOMEM;
        return NULL;
    }
    struct jfr_value *known = &n->classes[c - n->class->constant];
    if (!known->at)
        *known = read_constant(n, n->class, class, &c, v) ? v[n->of_class]
                                                          : (struct jfr_value){.at = nowhere};
    return known->at == nowhere ? NULL : known;
}

/* NULL: the class is not in the chunk. Empty: there is no class. */
static struct wire_text class_name(struct jfr_names *n, uint64_t class, char *scratch) {
    struct wire_text none = {0}, empty = {scratch, 0};
    const struct jfr_value *v = class ? class_value(n, class) : NULL;
    if (class == 0)
        return empty;
    return v ? plain_class(jfr_text(n->chunk, &n->class->field[n->of_class], v, scratch), scratch)
             : none;
}

uint64_t jfr_names_class(struct jfr_names *n, uint64_t class) {
    char scratch[WIRE_STRING_MAX];
    struct jfr_constant *c = n->class ? jfr_constant_get(n->class, class) : NULL;
    if (c && !c->known)
        c->known = emit_class(n->emit, class_name(n, class, scratch));
    return c ? c->known : 0;
}

/* ---- frames ---- */

enum kind { KIND_UNKNOWN = 1, KIND_NATIVE, KIND_KERNEL, KIND_ERROR, KIND_TIER };

static const struct {
    const char *name;
    enum kind kind;
    enum wire_frame_type tier;
} frame_kinds[] = {
    {"Interpreted", KIND_TIER, WIRE_FRAME_INTERPRETED},
    {"JIT compiled", KIND_TIER, WIRE_FRAME_C2},
    {"C1 compiled", KIND_TIER, WIRE_FRAME_C1},
    {"Inlined", KIND_TIER, WIRE_FRAME_INLINED},
    {"Native", KIND_NATIVE, WIRE_FRAME_NATIVE_METHOD},
    {"C++", KIND_NATIVE, WIRE_FRAME_NATIVE_METHOD},
    {"Kernel", KIND_KERNEL, WIRE_FRAME_KERNEL},
    {"Error", KIND_ERROR, WIRE_FRAME_ERROR},
    {"", KIND_UNKNOWN, WIRE_FRAME_NATIVE_METHOD},
};
#define FRAME_KINDS (sizeof frame_kinds / sizeof frame_kinds[0])

static bool is(struct wire_text t, const char *name) {
    return t.bytes == strlen(name) && (t.bytes == 0 || !memcmp(t.data, name, t.bytes));
}

/* Returns an index into frame_kinds; FRAME_KINDS: the kind is not in the chunk. */
static unsigned kind_of(struct jfr_names *n, uint64_t type) {
    char scratch[WIRE_STRING_MAX];
    struct jfr_constant *c = n->frame_type ? jfr_constant_get(n->frame_type, type) : NULL;
    unsigned i = FRAME_KINDS - 1;
    if (c && c->known)
        return c->known <= FRAME_KINDS ? (unsigned)c->known - 1 : FRAME_KINDS;
    if (!c && type)
        return FRAME_KINDS;
    if (c) {
        struct jfr_field of = {.type = n->frame_type, .pool = true};
        struct wire_text t = jfr_text(n->chunk, &of, &(struct jfr_value){.number = type}, scratch);
        for (i = 0; i < FRAME_KINDS - 1 && !is(t, frame_kinds[i].name); i++)
            ;
        c->known = i + 1;
    }
    return i;
}

/* Names in brackets, as our exports write them. */
static const char *const failures[WIRE_FAILURES] = {
    [WIRE_FAILURE_NONE] = "[unknown]",
    [WIRE_FAILURE_TRUNCATED] = "[truncated]",
    [WIRE_FAILURE_UNKNOWN_PC] = "[unknown_pc]",
    [WIRE_FAILURE_NO_CALLER] = "[no_caller]",
    [WIRE_FAILURE_BAD_FRAME] = "[bad_frame]",
    [WIRE_FAILURE_UNMAPPED] = "[unmapped]",
    [WIRE_FAILURE_NO_STRUCTS] = "[no_structs]",
    [WIRE_FAILURE_NO_SCRATCH] = "[no_scratch]",
    [WIRE_FAILURE_METHODS_FULL] = "[methods_full]",
    [WIRE_FAILURE_SEGV_BLOCKED] = "[segv_blocked]",
    [WIRE_FAILURE_NO_NAME] = "[no_name]",
    [WIRE_FAILURE_SMALL_STACK] = "[small_stack]",
    [WIRE_FAILURE_LOOP] = "[loop]",
    [WIRE_FAILURE_NO_JAVA] = "[no_Java_frame]",
    [WIRE_FAILURE_SWITCHING] = "[switching_virtual_thread]",
    [WIRE_FAILURE_ASGCT_GC] = "[GC_active]",
    [WIRE_FAILURE_ASGCT_UNKNOWN_JAVA] = "[unknown_Java]",
    [WIRE_FAILURE_ASGCT_NOT_WALKABLE] = "[not_walkable_Java]",
    [WIRE_FAILURE_ASGCT_STATE] = "[unknown_state]",
};

static uint64_t failure_frame(struct emit *m, struct wire_text name) {
    for (uint32_t i = 0; i < WIRE_FAILURES; i++)
        if (failures[i] && is(name, failures[i]))
            return wire_frame_address(WIRE_FRAME_ERROR, i);
    return emit_native(m, WIRE_FRAME_NATIVE, name, (struct wire_text){0});
}

static uint64_t missing(struct jfr_names *n) {
    n->missing = true;
    return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
}

/* A value that no frame can have. */
#define NAMELESS UINT64_MAX

/* Returns the frame if it does not depend on the line. 0: it does, and *java is the
 * method's number. */
static uint64_t make_frame(struct jfr_names *n, const struct jfr_constant *of, unsigned kind,
                           uint32_t *java) {
    char scratch[3][WIRE_STRING_MAX];
    struct jfr_value method[JFR_FIELDS];
    struct jfr_constant *c;
    if (!read_constant(n, n->method, of->number, &c, method))
        return NAMELESS;
    struct wire_text name = text(n, n->method, n->of_method.name, method, scratch[0]);
    struct wire_text class = class_name(n, number(n->of_method.class, method), scratch[1]);
    if (!name.data || !class.data) /* NULL, which is not the same as empty */
        return NAMELESS;
    if (frame_kinds[kind].kind == KIND_ERROR)
        return failure_frame(n->emit, name);
    if (frame_kinds[kind].kind == KIND_KERNEL)
        return emit_native(n->emit, WIRE_FRAME_KERNEL, name, (struct wire_text){0});
    if (class.bytes == 0 && frame_kinds[kind].kind != KIND_TIER)
        return failure_frame(n->emit, name); /* or a native function */
    *java = emit_java_method(n->emit, class, name,
                             text(n, n->method, n->of_method.signature, method, scratch[2]));
    return *java ? 0 : wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
}

static void keep(struct jfr_names *n, struct id_map *m, uint64_t key, uint64_t value) {
    if (id_map_put(m, key, value) < 0)
        n->failure = -ENOMEM;
}

#define ANY_LINE UINT64_C(0x80) /* a bit in the key, next to the kind */

/* Finds a frame by the position of its method's constant, by its kind and, if it matters, by
 * its line. */
static uint64_t frame_by_key(struct jfr_names *n, const struct jfr_constant *c, unsigned kind,
                             uint32_t line) {
    uint64_t method = (uint64_t)(c - n->method->constant) + 1;
    uint64_t key = method << 24 | (uint64_t)line << 8 | kind, any = method << 24 | ANY_LINE | kind;
    uint64_t frame = id_map_value(&n->known, key);
    if (!frame)
        frame = id_map_value(&n->known, any);
    if (frame)
        return frame;
    uint32_t java = (uint32_t)id_map_value(&n->methods, any);
    if (!java) {
        frame = make_frame(n, c, kind, &java);
        if (java)
            keep(n, &n->methods, any, java);
        else
            keep(n, &n->known, any, frame);
    }
    if (java) {
        frame = emit_java_at(n->emit, frame_kinds[kind].tier, java, line);
        keep(n, &n->known, key, frame);
    }
    return frame;
}

static uint64_t frame_of(struct jfr_names *n, const struct jfr_value *v) {
    uint64_t line = number(n->of_frame.line, v);
    unsigned kind = kind_of(n, number(n->of_frame.type, v));
    const struct jfr_constant *c =
        n->method ? jfr_constant_get(n->method, number(n->of_frame.method, v)) : NULL;
    if (line > UINT16_MAX)
        line = 0;
    if (!c || kind == FRAME_KINDS)
        return missing(n);
    uint64_t frame = frame_by_key(n, c, kind, (uint32_t)line);
    return frame == NAMELESS ? missing(n) : frame;
}

/* ---- stacks ---- */

static bool room_for(struct jfr_names *n, size_t more) {
    if (more <= n->cap - n->count)
        return true;
    size_t cap = n->cap ? n->cap * 2 : 4096;
    while (cap - n->count < more)
        cap *= 2;
    uint64_t *frames = realloc(n->frames, cap * sizeof *frames);
    if (!frames) {
        n->failure = -ENOMEM;
        return false;
    }
    n->frames = frames;
    n->cap = cap;
    return true;
}

#define MISSING (UINT64_C(1) << 63)

/* Appends the frames of an array. Frames deeper than the maximum of a sample are skipped, because
 * no data follows that must be read. */
static uint64_t read_frames(struct jfr_names *n, const uint8_t *at, bool cut) {
    struct jfr_cursor c = jfr_chunk_cursor(n->chunk, at);
    uint64_t count = jfr_cursor_number(&c, 4), most = WIRE_FRAMES_MAX - 1;
    struct jfr_value v[JFR_FIELDS];
    cut |= count > most;
    if (count > most)
        count = most;
    if (count > jfr_cursor_left(&c))
        count = jfr_cursor_left(&c);
    if (!room_for(n, (size_t)count + 2))
        return 0;
    size_t first = n->count++;
    n->missing = false;
    for (uint64_t i = 0; i < count && jfr_value_read(&c, n->frame, v); i++)
        n->frames[n->count++] = frame_of(n, v);
    if (cut)
        n->frames[n->count++] = wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_TRUNCATED);
    n->frames[first] = (n->count - first - 1) | (n->missing ? MISSING : 0);
    return first + 1;
}

const uint64_t *jfr_names_stack(struct jfr_names *n, uint64_t stack, uint32_t *frames,
                                bool *whole) {
    struct jfr_constant *c = n->stack ? jfr_constant_get(n->stack, stack) : NULL, *same;
    struct jfr_value v[JFR_FIELDS];
    *frames = 0;
    *whole = false;
    if (!c || !n->frame || n->frame->form != JFR_STRUCT || n->frame->fields == 0 ||
        !n->stack->field[n->of_stack.frames].array || n->stack->field[n->of_stack.frames].pool)
        return NULL;
    if (!c->known)
        c->known =
            read_constant(n, n->stack, stack, &same, v)
                ? read_frames(n, v[n->of_stack.frames].at, number(n->of_stack.truncated, v) != 0)
                : UINT64_MAX;
    if (!c->known || c->known > n->count)
        return NULL;
    *frames = (uint32_t)n->frames[c->known - 1];
    *whole = !(n->frames[c->known - 1] & MISSING);
    return &n->frames[c->known];
}

/* ---- threads ---- */

static void tell_virtual(struct jfr_names *n, struct jfr_thread t, struct wire_text name) {
    uint64_t record[RECORD_BUILD_BYTES / 8];
    record_build_thread(record, t.tid, t.virtual_id, WIRE_THREAD_VIRTUAL, name);
    if (!n->failure)
        n->failure = n->each(n->arg, record);
}

static uint32_t carrier(struct jfr_names *n) {
    if (!n->carrier)
        n->carrier = emit_thread(n->emit, 0, 0, (struct wire_text){CARRIER, sizeof CARRIER - 1});
    return n->carrier;
}

/* Creates a thread and writes its name when the thread first occurs. */
static struct jfr_thread make_thread(struct jfr_names *n, const struct jfr_value *v) {
    char scratch[WIRE_STRING_MAX];
    uint64_t tid = number(n->of_thread.tid, v);
    struct wire_text name = text(n, n->thread, n->of_thread.name, v, scratch);
    struct jfr_thread t = {0};
    if (number(n->of_thread.virtual, v))
        t.virtual_id = number(n->of_thread.id, v);
    if (t.virtual_id) {
        t.tid = carrier(n);
        tell_virtual(n, t, name);
        return t;
    }
    if (name.bytes == 0)
        name = text(n, n->thread, n->of_thread.os_name, v, scratch);
    t.tid = emit_thread(n->emit, tid < WIRE_TID_MAX ? (uint32_t)tid : 0, number(n->of_thread.id, v),
                        name);
    return t;
}

struct jfr_thread jfr_names_thread(struct jfr_names *n, uint64_t thread) {
    struct jfr_value v[JFR_FIELDS];
    struct jfr_constant *c = n->thread ? jfr_constant_get(n->thread, thread) : NULL, *same;
    struct jfr_thread none = {0};
    if (!c)
        return none;
    if (!n->threads)
        n->threads = calloc(n->thread->constants, sizeof *n->threads);
    if (!n->threads) {
        n->failure = -ENOMEM;
        return none;
    }
    struct jfr_thread *t = &n->threads[c - n->thread->constant];
    if (!c->known && read_constant(n, n->thread, thread, &same, v))
        *t = make_thread(n, v);
    c->known = 1;
    return *t;
}
