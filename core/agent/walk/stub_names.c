#include "core/agent/walk/stub_names.h"

#include "core/agent/process/reserve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define STUBS_MAX 32768 /* 2 MB of address space, used as far as they go */
#define NESTED_MAX 4    /* blobs around a routine that are told too */

static struct {
    pthread_mutex_t lock; /* of adding and sorting */
    struct stub_name *stub;
    uint32_t count;
    _Atomic uint32_t sorted;   /* of them, from the beginning, may be read */
    _Atomic uint32_t sequence; /* odd while they are put in order */
} stubs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void JNICALL on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint length) {
    (void)jvmti;
    pthread_mutex_lock(&stubs.lock);
    if (stubs.stub && stubs.count < STUBS_MAX && name && length > 0) {
        struct stub_name *s = &stubs.stub[stubs.count++];
        s->begin = (uintptr_t)address;
        s->bytes = (uint32_t)length;
        snprintf(s->name, sizeof s->name, "%s", name);
    }
    pthread_mutex_unlock(&stubs.lock);
}

/* What lies in something else comes behind it. */
static bool comes_before(const struct stub_name *a, const struct stub_name *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->bytes > b->bytes;
}

static void swap(struct stub_name *a, struct stub_name *b) {
    struct stub_name kept = *a;
    *a = *b;
    *b = kept;
}

static void sift(struct stub_name *s, uint32_t at, uint32_t n) {
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && comes_before(&s[child], &s[child + 1]))
            child++;
        if (!comes_before(&s[at], &s[child]))
            return;
        swap(&s[at], &s[child]);
    }
}

/* In place: libc's qsort may take memory from the application's heap. */
static void sort(struct stub_name *s, uint32_t n) {
    for (uint32_t i = n / 2; i-- > 0;)
        sift(s, i, n);
    for (uint32_t left = n; left-- > 1;) {
        swap(&s[0], &s[left]);
        sift(s, 0, left);
    }
}

void stub_names_turn(void) {
    pthread_mutex_lock(&stubs.lock);
    if (stubs.stub && stubs.sorted != stubs.count) {
        atomic_fetch_add(&stubs.sequence, 1);
        sort(stubs.stub, stubs.count);
        stubs.sorted = stubs.count;
        atomic_fetch_add(&stubs.sequence, 1);
    }
    pthread_mutex_unlock(&stubs.lock);
}

void stub_names_open(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks) {
    if (stubs.stub)
        return;
    void *p = reserve(STUBS_MAX * sizeof *stubs.stub);
    if (!p)
        return;
    pthread_mutex_lock(&stubs.lock);
    stubs.count = 0;
    stubs.sorted = 0;
    stubs.stub = p;
    pthread_mutex_unlock(&stubs.lock);
    callbacks->DynamicCodeGenerated = on_code;
    (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof *callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
                                       NULL);
    (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    stub_names_turn();
}

void stub_names_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks) {
    if (!stubs.stub)
        return;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
                                       NULL);
    callbacks->DynamicCodeGenerated = NULL;
    (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof *callbacks);
    pthread_mutex_lock(&stubs.lock);
    stubs.sorted = 0;
    munmap(stubs.stub, STUBS_MAX * sizeof *stubs.stub);
    stubs.stub = NULL;
    pthread_mutex_unlock(&stubs.lock);
}

/* The last that begins at or before `pc`; -1: none. */
static int32_t last_before(const struct stub_name *stub, uint32_t n, uintptr_t pc) {
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (stub[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low - 1;
}

bool stub_names_find(uintptr_t pc, struct stub_name *out) {
    uint32_t sequence = atomic_load(&stubs.sequence);
    uint32_t n = atomic_load(&stubs.sorted);
    const struct stub_name *stub = stubs.stub;
    if (sequence & 1 || !n || !stub)
        return false;
    int32_t at = last_before(stub, n, pc);
    for (int i = 0; i < NESTED_MAX && at >= 0; i++, at--) {
        *out = stub[at];
        out->name[sizeof out->name - 1] = '\0';
        if (pc - out->begin < out->bytes && pc >= out->begin)
            return atomic_load(&stubs.sequence) == sequence;
    }
    return false;
}
