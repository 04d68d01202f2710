#include "core/agent/walk/method_ids.h"

#include "core/base/hash.h"

#include <string.h>

#define MET_BUSY UINT64_C(1)
#define MET_FULL UINT64_C(2)

#define LINES_MAX 2048 /* entries of a line table */

/* False: as many are waiting as can. */
static bool note(struct method_ids *m, uint64_t method, uint32_t id) {
    uint32_t at = atomic_fetch_add_explicit(&m->next, 1, memory_order_relaxed) % METHOD_IDS_MET_MAX;
    struct method_met *met = &m->met[at];
    uint64_t is_free = 0;
    if (!atomic_compare_exchange_strong_explicit(&met->state, &is_free, MET_BUSY,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    met->id = id;
    atomic_store_explicit(&met->state, method << 2 | MET_FULL, memory_order_release);
    return true;
}

uint32_t method_ids_find(struct method_ids *m, uint64_t method) {
    bool is_new;
    uint64_t h = hash_word(method);
    uint32_t id = id_table_find(&m->names->methods, h ^ h >> 32, &is_new);
    if (is_new && note(m, method, id))
        id_table_announced(&m->names->methods, id);
    return id;
}

/* What JVMTI reports about a method. */
struct answer {
    jclass holder; /* keeps the class alive while more is asked */
    char *class_name, *name, *signature;
    jvmtiLineNumberEntry *line;
    jint lines, flags;
};

static void ask(jvmtiEnv *jvmti, jmethodID method, struct answer *a) {
    *a = (struct answer){0};
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &a->holder) != JVMTI_ERROR_NONE) {
        a->holder = NULL;
        return;
    }
    if ((*jvmti)->GetClassSignature(jvmti, a->holder, &a->class_name, NULL) != JVMTI_ERROR_NONE)
        a->class_name = NULL;
    if ((*jvmti)->GetMethodName(jvmti, method, &a->name, &a->signature, NULL) != JVMTI_ERROR_NONE)
        a->name = a->signature = NULL;
    if ((*jvmti)->GetMethodModifiers(jvmti, method, &a->flags) != JVMTI_ERROR_NONE)
        a->flags = 0;
    if ((*jvmti)->GetLineNumberTable(jvmti, method, &a->lines, &a->line) != JVMTI_ERROR_NONE) {
        a->lines = 0;
        a->line = NULL;
    }
}

static void forget(jvmtiEnv *jvmti, JNIEnv *jni, struct answer *a) {
    void *const memory[] = {a->class_name, a->name, a->signature, a->line};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i])
            (*jvmti)->Deallocate(jvmti, memory[i]);
    (*jni)->DeleteLocalRef(jni, a->holder);
}

/* "Lshop/Cart;" as the VM itself has it, "shop/Cart". A hidden class's suffix follows a '.' there,
 * a '+' in the VM. In place; returns the length. */
static size_t internal_form(char **name) {
    char *s = *name;
    size_t n = strlen(s);
    if (s[0] != 'L' || n < 2)
        return n;
    char *suffix = strrchr(s, '.');
    if (suffix)
        *suffix = '+';
    *name = s + 1;
    return n - 2;
}

static uint32_t cut(size_t length) {
    return length < WIRE_STRING_MAX ? (uint32_t)length : WIRE_STRING_MAX;
}

static bool put(struct names *n, uint32_t id, const struct answer *a) {
    char *class_name = a->class_name;
    const char *name = a->name ? a->name : METHOD_IDS_UNLOADED;
    const char *signature = a->signature ? a->signature : "";
    uint32_t class_bytes = class_name ? cut(internal_form(&class_name)) : 0;
    uint32_t name_bytes = cut(strlen(name));
    uint32_t signature_bytes = cut(strlen(signature));
    uint32_t lines = a->lines < LINES_MAX ? (uint32_t)a->lines : LINES_MAX;
    uint32_t strings = class_bytes + name_bytes + signature_bytes;
    uint32_t padded = strings + (strings & 1);
    struct wire_method *r = ring_reserve(n->ring, WIRE_METHOD,
                                         (uint32_t)sizeof(struct wire_method) + padded + 4 * lines);
    if (!r)
        return false;
    r->method_id = id;
    r->class_bytes = (uint16_t)class_bytes;
    r->name_bytes = (uint16_t)name_bytes;
    r->signature_bytes = (uint16_t)signature_bytes;
    r->flags = (uint16_t)a->flags;
    r->line_bytes = 4 * lines;
    memcpy(r->bytes, class_name ? class_name : "", class_bytes);
    memcpy(r->bytes + class_bytes, name, name_bytes);
    memcpy(r->bytes + class_bytes + name_bytes, signature, signature_bytes);
    uint8_t *to = r->bytes + padded;
    for (uint32_t i = 0; i < lines; i++, to += 4) {
        uint16_t pair[2] = {(uint16_t)a->line[i].start_location, (uint16_t)a->line[i].line_number};
        memcpy(to, pair, sizeof pair);
    }
    ring_commit(r, WIRE_METHOD);
    return true;
}

void method_ids_forget(struct method_ids *m) {
    for (uint32_t i = 0; i < METHOD_IDS_MET_MAX; i++)
        atomic_store(&m->met[i].state, 0);
}

bool method_ids_announce(struct method_ids *m, jvmtiEnv *jvmti, JNIEnv *jni) {
    for (uint32_t i = 0; i < METHOD_IDS_MET_MAX; i++) {
        struct method_met *met = &m->met[i];
        uint64_t state = atomic_load_explicit(&met->state, memory_order_acquire);
        if (!(state & MET_FULL))
            continue;
        struct answer a;
        ask(jvmti, (jmethodID)(uintptr_t)(state >> 2), &a);
        bool done = put(m->names, met->id, &a);
        forget(jvmti, jni, &a);
        if (!done)
            return false;
        atomic_store_explicit(&met->state, 0, memory_order_release);
    }
    return true;
}

void method_ids_create(jvmtiEnv *jvmti, jclass c) {
    jint n = 0;
    jmethodID *ids = NULL;
    /* It fails where the class is not prepared yet: ClassPrepare will come. */
    if ((*jvmti)->GetClassMethods(jvmti, c, &n, &ids) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
}

void method_ids_create_all(jvmtiEnv *jvmti, JNIEnv *jni) {
    jint n = 0;
    jclass *all = NULL;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return;
    (*jni)->EnsureLocalCapacity(jni, n);
    for (jint i = 0; i < n; i++) {
        method_ids_create(jvmti, all[i]);
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}
