#include "core/agent/vm/vm_continuation.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/vm_tables.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
#define ENTRY_CONT WORD /* ContinuationEntry::_cont, behind _parent */
#define ENTRY_WORDS_MAX 10
#define CHUNKS_MAX 16 /* empty ones in a row */
#define CHUNK_WORDS_MAX (16u << 20)
#define CHUNK_CLASS "jdk/internal/vm/StackChunk"

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
        uintptr_t mirror = oop_on_stack(c->oops, guarded_load64((uintptr_t)chunk & ~(uintptr_t)3));
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
    return oop_field_offset(c->oops, jni, continuation, "tail", chunk_type, &c->tail) &&
           oop_field_offset(c->oops, jni, chunk, "parent", chunk_type, &c->chunk_parent) &&
           oop_field_offset(c->oops, jni, chunk, "size", "I", &c->chunk_size) &&
           oop_field_offset(c->oops, jni, chunk, "sp", "I", &c->chunk_sp);
}

void continuation_learn(struct continuation_layout *c, const struct oop_layout *oops, JNIEnv *jni) {
    struct vm_tables t;
    c->oops = oops;
    jclass continuation = boot_class(jni, "jdk/internal/vm/Continuation");
    jclass chunk = continuation ? boot_class(jni, CHUNK_CLASS) : NULL;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    c->known = chunk && oops->form != OOP_UNKNOWN && vm_tables_open(&t) == 0 &&
               read_fields(c, jni, continuation, chunk) && read_chunk_data(c, &t, chunk);
    (*jni)->DeleteLocalRef(jni, chunk);
    (*jni)->DeleteLocalRef(jni, continuation);
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
        chunk = oop_in_field(c->oops, chunk + c->chunk_parent);
    }
    return false;
}

bool continuation_frozen(const struct continuation_layout *c, uintptr_t sp,
                         struct frozen_stack *out) {
    /* Stack arguments and alignment may lie between the last thawed frame and the entry. */
    for (uint32_t i = 0; c->known && i < ENTRY_WORDS_MAX; i++) {
        uintptr_t cont = oop_on_stack(c->oops, guarded_load64(sp + i * WORD + ENTRY_CONT));
        if (cont && open_chunk(c, oop_in_field(c->oops, cont + c->tail), out))
            return true;
    }
    return false;
}

bool continuation_next(const struct continuation_layout *c, struct frozen_stack *f) {
    return open_chunk(c, oop_in_field(c->oops, f->chunk + c->chunk_parent), f);
}
