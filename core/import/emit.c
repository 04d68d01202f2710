#include "core/import/emit.h"

#include "core/base/hash.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* First byte of a key: the kind of name, so that equal names of different kinds are distinct. */
enum {
    NAME_METHOD = 1,
    NAME_LINE,
    NAME_CLASS,
    NAME_NATIVE,
    NAME_KERNEL,
    NAME_THREAD,
    THREAD_ID,
    VIRTUAL_ID
};

#define HELD_BYTES_MAX ((size_t)256 << 20) /* of everything that was written */
/* Of names that were written again only because of another line */
#define LINES_BYTES_MAX ((size_t)128 << 20)

#define WEIGHT_MAX (UINT64_C(1) << 48) /* maximum weight of one record (core/decode/decoder.h) */
/* Maximum number of extra records, in all, for weights that do not fit into one */
#define MORE_RECORDS_MAX (1u << 14)

#define KEY_BYTES_MAX (16 + 3 * WIRE_STRING_MAX)

/* Something that was already written; its key contains everything that its name consists of. */
struct told {
    uint64_t value; /* id, address or tid; for a thread its Java id */
    uint64_t name;  /* for a thread: hash of its name */
    bool lost;      /* uthash had no memory to add it */
    struct told *older;
    UT_hash_handle hh;
    size_t bytes;
    uint8_t key[];
};

struct emit {
    import_record *each;
    void *arg;
    int failure;
    uint64_t seed;              /* random, so that no file can contain names with equal hashes */
    struct told *told, *newest; /* hash table by key; linked list of all entries */
    size_t held, lines_bytes;
    struct told **method; /* by number, starting with number 1 */
    uint32_t named, room;
    uint32_t more;                               /* records used up of MORE_RECORDS_MAX */
    uint32_t methods, classes, natives, threads; /* numbers of ids given out so far */
    uint64_t record[WIRE_RECORD_BYTES_MAX / 8];
};

struct emit *emit_open(import_record *each, void *arg) {
    struct emit *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->each = each;
    m->arg = arg;
    m->seed = hash_seed();
    return m;
}

void emit_close(struct emit *m) {
    if (!m)
        return;
    HASH_CLEAR(hh, m->told);
    for (struct told *t = m->newest, *older; t; t = older) {
        older = t->older;
        free(t);
    }
    free(m->method);
    free(m);
}

int emit_failure(const struct emit *m) {
    return m->failure;
}

/* ---- names, each once ---- */

struct key {
    size_t len;
    uint8_t bytes[KEY_BYTES_MAX];
};

static void add_number(struct key *k, uint32_t n) {
    memcpy(k->bytes + k->len, &n, sizeof n);
    k->len += sizeof n;
}

static void add_text(struct key *k, struct wire_text t) {
    memcpy(k->bytes + k->len, t.data, t.bytes);
    k->len += t.bytes;
}

static uint64_t hash(const struct emit *m, const void *data, size_t bytes) {
    return hash_bytes(m->seed, data, bytes);
}

/* Finds the entry of this key, or adds one that is all zeroes and sets *fresh. NULL: no memory, or
 * too many entries. */
static struct told *find(struct emit *m, const struct key *k, bool *fresh) {
    unsigned hashed = (unsigned)hash(m, k->bytes, k->len);
    struct told *t;
    HASH_FIND_BYHASHVALUE(hh, m->told, k->bytes, k->len, hashed, t);
    *fresh = !t;
    if (t)
        return t;
    if (m->held >= HELD_BYTES_MAX)
        return NULL;
    m->held += sizeof *t + k->len;
    t = calloc(1, sizeof *t + k->len);
    if (t) {
        t->bytes = k->len;
        memcpy(t->key, k->bytes, k->len);
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, m->told, t->key, t->bytes, hashed, t);
    }
    if (t && t->lost) {
        free(t);
        t = NULL;
    } else if (t) {
        t->older = m->newest;
        m->newest = t;
    }
    if (!t && !m->failure)
        m->failure = -ENOMEM;
    return t;
}

/* ---- records ---- */

static uint8_t *append(uint8_t *at, struct wire_text t) {
    memcpy(at, t.data, t.bytes);
    return at + t.bytes;
}

/* Completes the record in m->record, which ends at `end`, and sends it. */
static void send(struct emit *m, enum wire_type type, uint8_t *end) {
    size_t bytes = (size_t)(end - (uint8_t *)m->record), whole = (bytes + 7) & ~(size_t)7;
    memset(end, 0, whole - bytes);
    m->record[0] = wire_header_word(type, (uint32_t)whole);
    if (!m->failure)
        m->failure = m->each(m->arg, m->record);
}

static void send_whole(struct emit *m) {
    if (!m->failure)
        m->failure = m->each(m->arg, m->record);
}

static void send_method(struct emit *m, uint32_t id, struct wire_text class_name,
                        struct wire_text method, struct wire_text signature, uint16_t line) {
    const uint16_t pair[2] = {line, line}; /* bci, line */
    record_build_method(m->record, id, class_name, method, signature, pair, line ? sizeof pair : 0);
    send_whole(m);
}

static void send_symbol(struct emit *m, uint64_t address, uint32_t kind, struct wire_text function,
                        struct wire_text module) {
    record_build_symbol(m->record, address, kind, function, module);
    send_whole(m);
}

static void send_thread(struct emit *m, uint32_t tid, uint64_t java_id, uint16_t flags,
                        struct wire_text name) {
    record_build_thread(m->record, tid, java_id, flags, name);
    send_whole(m);
}

static void send_thread_end(struct emit *m, uint32_t tid) {
    struct wire_thread_end *w = (struct wire_thread_end *)(void *)m->record;
    *w = (struct wire_thread_end){.tid = tid};
    send(m, WIRE_THREAD_END, (uint8_t *)(w + 1));
}

/* ---- frames ---- */

static bool add_method(struct emit *m, struct told *t) {
    if (m->named == m->room) {
        uint32_t room = m->room ? m->room * 2 : 1024;
        struct told **method = realloc(m->method, room * sizeof(struct told *));
        if (!method) {
            m->failure = m->failure ? m->failure : -ENOMEM;
            return false;
        }
        m->method = method;
        m->room = room;
    }
    m->method[m->named++] = t;
    t->value = m->named;
    return true;
}

uint32_t emit_java_method(struct emit *m, struct wire_text class_name, struct wire_text method,
                          struct wire_text signature) {
    struct key k = {.bytes = {NAME_METHOD}, .len = 1};
    bool fresh;
    class_name = wire_text_fit(class_name);
    method = wire_text_fit(method);
    signature = wire_text_fit(signature);
    add_number(&k, (uint32_t)class_name.bytes << 16 | (uint32_t)method.bytes);
    add_text(&k, class_name);
    add_text(&k, method);
    add_text(&k, signature);
    struct told *t = find(m, &k, &fresh);
    if (!t || (!t->value && !add_method(m, t)))
        return 0;
    return (uint32_t)t->value;
}

/* Writes a method's record; its names are in its key. Returns the length of the key. */
static size_t tell_method(struct emit *m, uint32_t id, const struct told *t, uint16_t line) {
    uint32_t bytes;
    memcpy(&bytes, t->key + 1, sizeof bytes);
    const char *at = (const char *)t->key + 1 + sizeof bytes;
    struct wire_text class_name = {at, bytes >> 16}, method = {at + (bytes >> 16), bytes & 0xffff};
    struct wire_text signature = {method.data + method.bytes, 0};
    signature.bytes = (size_t)((const char *)t->key + t->bytes - signature.data);
    send_method(m, id, class_name, method, signature, line);
    return t->bytes;
}

/* A method has one id per line: the record of an id is never written again, even if other lines
 * appear later. A reader of the records sees one method, because the names are equal. */
uint64_t emit_java_at(struct emit *m, enum wire_frame_type tier, uint32_t method, uint32_t line) {
    struct key k = {.bytes = {NAME_LINE}, .len = 1};
    bool fresh, known = line > 0 && line < WIRE_BCI_NONE && m->lines_bytes < LINES_BYTES_MAX;
    add_number(&k, method);
    add_number(&k, known ? line : 0);
    struct told *t = method > 0 && method <= m->named ? find(m, &k, &fresh) : NULL;
    if (!t)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    if (fresh) {
        t->value = ++m->methods;
        size_t bytes =
            tell_method(m, m->methods, m->method[method - 1], known ? (uint16_t)line : 0);
        m->lines_bytes += known ? bytes : 0;
    }
    return wire_frame_java(tier, (uint32_t)t->value, known ? line : WIRE_BCI_NONE);
}

uint64_t emit_java(struct emit *m, enum wire_frame_type tier, struct wire_text class_name,
                   struct wire_text method, struct wire_text signature, uint32_t line) {
    return emit_java_at(m, tier, emit_java_method(m, class_name, method, signature), line);
}

/* Values of enum method_kind (core/profile/table/method_table.h) for the record of a symbol. */
enum { KIND_NATIVE = 1, KIND_CPP = 2, KIND_KERNEL = 3 };

/* The decoder looks up a frame at its own address if the thread was executing there, and one byte
 * before if it is a return address. Both addresses belong to the function. */
#define FUNCTION_BYTES 16u
#define NATIVE_BASE UINT64_C(0x100000)
#define KERNEL_BASE UINT64_C(0xffffffff80000000)

uint64_t emit_native(struct emit *m, enum wire_frame_type type, struct wire_text function,
                     struct wire_text module) {
    bool kernel = type == WIRE_FRAME_KERNEL, fresh;
    struct key k = {.bytes = {kernel ? NAME_KERNEL : NAME_NATIVE}, .len = 1};
    function = wire_text_fit(function);
    module = wire_text_fit(module);
    add_number(&k, (uint32_t)function.bytes);
    add_text(&k, function);
    add_text(&k, module);
    struct told *t = find(m, &k, &fresh);
    if (!t)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    if (fresh) {
        bool cpp = memmem(function.data, function.bytes, "::", 2) != NULL;
        uint32_t kind = kernel ? KIND_KERNEL : cpp ? KIND_CPP : KIND_NATIVE;
        t->value = (kernel ? KERNEL_BASE : NATIVE_BASE) + (uint64_t)++m->natives * FUNCTION_BYTES;
        send_symbol(m, t->value, kind, function, module);
        send_symbol(m, t->value - 1, kind, function, module);
    }
    return wire_frame_address(kernel ? WIRE_FRAME_KERNEL : WIRE_FRAME_NATIVE, t->value);
}

uint64_t emit_class(struct emit *m, struct wire_text name) {
    struct key k = {.bytes = {NAME_CLASS}, .len = 1};
    bool fresh;
    name = wire_text_fit(name);
    add_text(&k, name);
    struct told *t = find(m, &k, &fresh);
    if (!t)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    if (fresh) {
        t->value = ++m->classes;
        record_build_class(m->record, m->classes, name);
        send_whole(m);
    }
    return wire_frame_java(WIRE_FRAME_CLASS, (uint32_t)t->value, WIRE_BCI_NONE);
}

/* ---- threads ---- */

/* Returns an invented tid that no Linux thread can have. */
static uint32_t made_up(struct emit *m, struct wire_text name) {
    struct key k = {.bytes = {NAME_THREAD}, .len = 1};
    bool fresh;
    add_text(&k, name);
    struct told *t = find(m, &k, &fresh);
    if (!t)
        return 0;
    if (fresh)
        t->value = WIRE_TID_MAX + ++m->threads;
    return (uint32_t)t->value;
}

uint32_t emit_thread(struct emit *m, uint32_t tid, uint64_t java_id, struct wire_text name) {
    struct key k = {.bytes = {THREAD_ID}, .len = 1};
    bool fresh;
    name = wire_text_fit(name);
    if (tid == 0 && name.bytes > 0)
        tid = made_up(m, name);
    if (tid == 0 || name.bytes == 0)
        return tid;
    add_number(&k, tid);
    struct told *t = find(m, &k, &fresh);
    uint64_t named = hash(m, name.data, name.bytes);
    if (!t || (!fresh && t->name == named && t->value == java_id))
        return tid;
    /* Another name means another thread, which got the tid of a thread that has ended. With the
     * same Java id, the thread was renamed. */
    if (!fresh && (t->value != java_id || java_id == 0) &&
        (t->name != named || (t->value && java_id)))
        send_thread_end(m, tid);
    t->name = named;
    t->value = java_id;
    send_thread(m, tid, java_id, 0, name);
    return tid;
}

void emit_virtual_thread(struct emit *m, uint64_t java_id, uint32_t tid, struct wire_text name) {
    struct key k = {.bytes = {VIRTUAL_ID}, .len = 1};
    bool fresh;
    name = wire_text_fit(name);
    add_number(&k, (uint32_t)java_id);
    add_number(&k, (uint32_t)(java_id >> 32));
    struct told *t = java_id ? find(m, &k, &fresh) : NULL;
    uint64_t named = hash(m, name.data, name.bytes);
    if (!t || (!fresh && t->name == named))
        return;
    t->name = named;
    send_thread(m, tid, java_id, WIRE_THREAD_VIRTUAL, name);
}

/* ---- the JVM, samples and marks ---- */

void emit_jvm(struct emit *m, uint32_t pid, struct wire_text name, struct wire_text version,
              uint64_t start_ns) {
    struct wire_jvm *w = (struct wire_jvm *)(void *)m->record;
    name = wire_text_fit(name);
    version = wire_text_fit(version);
    *w = (struct wire_jvm){
        .start_ns = start_ns,
        .pid = pid,
        .name_bytes = (uint16_t)name.bytes,
        .version_bytes = (uint16_t)version.bytes,
    };
    send(m, WIRE_JVM, append(append(w->bytes, name), version));
}

void emit_sample(struct emit *m, const struct wire_sample *sample, const uint64_t *frame,
                 uint32_t frames) {
    struct wire_sample *w = (struct wire_sample *)(void *)m->record;
    if (frames > WIRE_FRAMES_MAX)
        frames = WIRE_FRAMES_MAX;
    *w = *sample;
    w->frames = (uint16_t)frames;
    if (frames > 0)
        memcpy(w->frame, frame, frames * sizeof *frame);
    uint64_t left = sample->weight;
    do {
        w->weight = left < WEIGHT_MAX ? left : WEIGHT_MAX;
        send(m, WIRE_SAMPLE, (uint8_t *)(w->frame + frames));
        left -= w->weight;
        w->count = WIRE_COUNT_NONE;
        w->live_id = 0;
    } while (left > 0 && m->more++ < MORE_RECORDS_MAX);
}

/* Writes the mark of an engine that ran; otherwise no time would count as sampled. It is unknown
 * here which mechanism the engine used. */
void emit_mark(struct emit *m, uint64_t time_ns, enum wire_event event, const char *name,
               uint64_t interval, bool counted) {
    struct wire_mark *w = (struct wire_mark *)(void *)m->record;
    *w = (struct wire_mark){
        .time_ns = time_ns,
        .engine = {.event = event,
                   .mechanism = counted ? WIRE_MECHANISM_FILE : WIRE_MECHANISM_WEIGHTS,
                   .interval = interval},
    };
    memcpy(w->engine.name, name, strnlen(name, sizeof w->engine.name - 1));
    memcpy(w->engine.reason, "read from a file", sizeof "read from a file");
    send(m, WIRE_MARK, (uint8_t *)(w + 1));
}
