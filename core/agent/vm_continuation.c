#include "core/agent/vm_continuation.h"

#include "core/agent/guarded.h"
#include "core/agent/vm_flags.h"
#include "core/agent/vm_tables.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
#define ENTRY_CONT WORD /* ContinuationEntry::_cont, behind _parent */
#define ENTRY_WORDS_MAX 10
#define CHUNKS_MAX 16 /* empty ones in a row */
#define CHUNK_WORDS_MAX (16u << 20)
#define CHUNK_CLASS "jdk/internal/vm/StackChunk"

/* An instance field's offset out of its jfieldID (source: jfieldIDWorkaround.hpp): bits from 2 on;
 * bit 1 says instance field; with bit 0 only seven are the offset, the rest check the class. */
static bool field_offset(JNIEnv *jni, jclass c, const char *name, const char *type, uint32_t *out) {
    uintptr_t id = c ? (uintptr_t)(*jni)->GetFieldID(jni, c, name, type) : 0;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (!(id & 2))
        return false;
    *out = (uint32_t)(id & 1 ? id >> 2 & 127 : id >> 2);
    return true;
}

static bool read_oops(struct continuation_layout *c, struct vm_tables *t) {
    uintptr_t base = vm_static(t, "CompressedOops", "_base");
    uintptr_t shift = vm_static(t, "CompressedOops", "_shift");
    if (!base)
        base = vm_static(t, "CompressedOops", "_narrow_oop._base");
    if (!shift)
        shift = vm_static(t, "CompressedOops", "_narrow_oop._shift");
    if (!base || !shift || !vm_flag_get("UseCompressedOops", &c->narrow))
        return false;
    c->narrow_base = guarded_load64(base);
    c->narrow_shift = guarded_load32(shift);
    return c->narrow_shift <= 8;
}

/* A chunk's stack begins where an instance of its class would end. The class is found through its
 * java.lang.Class; a collector may move that between two loads, so the name is checked. */
static bool read_chunk_data(struct continuation_layout *c, struct vm_tables *t, jclass chunk) {
    uintptr_t klass_at = vm_static(t, "java_lang_Class", "_klass_offset");
    int32_t helper = vm_offset_required(t, "Klass", "_layout_helper");
    int32_t name = vm_offset_required(t, "Klass", "_name");
    int32_t body = vm_offset_required(t, "Symbol", "_body");
    if (!klass_at || t->missing)
        return false;
    for (int tries = 0; tries < 3; tries++) {
        char text[sizeof CHUNK_CLASS - 1];
        uintptr_t mirror = guarded_load64((uintptr_t)chunk & ~(uintptr_t)3);
        uintptr_t klass = guarded_load64(mirror + guarded_load32(klass_at));
        uintptr_t symbol = guarded_load64(klass + (uintptr_t)name);
        if (guarded_copy(text, symbol + (uintptr_t)body, sizeof text) == 0 &&
            memcmp(text, CHUNK_CLASS, sizeof text) == 0) {
            c->chunk_data = guarded_load32(klass + (uintptr_t)helper) & ~7u;
            return c->chunk_data > 0 && c->chunk_data < 256;
        }
    }
    return false;
}

static bool read_fields(struct continuation_layout *c, JNIEnv *jni, jclass continuation,
                        jclass chunk) {
    static const char chunk_type[] = "L" CHUNK_CLASS ";";
    return field_offset(jni, continuation, "tail", chunk_type, &c->tail) &&
           field_offset(jni, chunk, "parent", chunk_type, &c->chunk_parent) &&
           field_offset(jni, chunk, "size", "I", &c->chunk_size) &&
           field_offset(jni, chunk, "sp", "I", &c->chunk_sp);
}

void continuation_learn(struct continuation_layout *c, JNIEnv *jni) {
    struct vm_tables t;
    jclass continuation = (*jni)->FindClass(jni, "jdk/internal/vm/Continuation");
    jclass chunk = continuation ? (*jni)->FindClass(jni, CHUNK_CLASS) : NULL;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    c->known = chunk && vm_tables_open(&t) == 0 && read_fields(c, jni, continuation, chunk) &&
               read_oops(c, &t) && read_chunk_data(c, &t, chunk);
    (*jni)->DeleteLocalRef(jni, chunk);
    (*jni)->DeleteLocalRef(jni, continuation);
}

static uintptr_t load_oop(const struct continuation_layout *c, uintptr_t at) {
    if (!c->narrow)
        return guarded_load64(at);
    uint32_t v = guarded_load32(at);
    return v ? c->narrow_base + ((uintptr_t)v << c->narrow_shift) : 0;
}

/* The chunk, or the first of its parents that has frames: the tail is left in place when the last
 * frame in it was thawed. */
static bool open_chunk(const struct continuation_layout *c, uintptr_t chunk,
                       struct frozen_stack *out) {
    for (uint32_t i = 0; i < CHUNKS_MAX && chunk && chunk % WORD == 0; i++) {
        uint32_t size = guarded_load32(chunk + c->chunk_size);
        uint32_t sp = guarded_load32(chunk + c->chunk_sp);
        if (!size || size > CHUNK_WORDS_MAX || sp > size)
            return false;
        out->chunk = chunk;
        out->begin = chunk + c->chunk_data;
        out->end = out->begin + (uintptr_t)size * WORD;
        out->sp = out->begin + (uintptr_t)sp * WORD;
        if (sp < size)
            return true;
        chunk = load_oop(c, chunk + c->chunk_parent);
    }
    return false;
}

bool continuation_frozen(const struct continuation_layout *c, uintptr_t sp,
                         struct frozen_stack *out) {
    /* Stack arguments and alignment may lie between the last thawed frame and the entry. */
    for (uint32_t i = 0; c->known && i < ENTRY_WORDS_MAX; i++) {
        uintptr_t cont = guarded_load64(sp + i * WORD + ENTRY_CONT);
        if (cont && cont % WORD == 0 && open_chunk(c, load_oop(c, cont + c->tail), out))
            return true;
    }
    return false;
}

bool continuation_next(const struct continuation_layout *c, struct frozen_stack *f) {
    return open_chunk(c, load_oop(c, f->chunk + c->chunk_parent), f);
}
