#include "core/agent/walk/walk_asgct.h"

#include "core/agent/process/guarded.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#define ENV_OFFSET_MAX 16384u /* JavaThread is smaller */
#define STACK_BYTES_MAX (64u << 20)
#define BCI_NATIVE (-3)
#define SCOPES_MAX 64

/* What the VM fills: per frame two words, the bci in the lower half of the first one (-3: a native
 * method), and the jmethodID. */
struct asgct_trace {
    JNIEnv *env;
    jint n; /* frames, or why there are none */
    uint64_t *words;
};

/* Its reasons to give none (source: forte.cpp). */
enum {
    NO_JAVA_FRAME = 0,
    GC_ACTIVE = -2,
    UNKNOWN_NOT_JAVA = -3,
    NOT_WALKABLE_NOT_JAVA = -4,
    UNKNOWN_JAVA = -5,
    NOT_WALKABLE_JAVA = -6,
};

static void *find_function(void) {
    void *found = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    if (found)
        return found;
    /* A launcher may load the VM with local symbols: then ask the library itself. */
    void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!jvm)
        return NULL;
    found = dlsym(jvm, "AsyncGetCallTrace");
    dlclose(jvm);
    return found;
}

bool asgct_exists(void) {
    return find_function() != NULL;
}

static void set_events(jvmtiEnv *jvmti, jvmtiEventMode mode) {
    /* Without ClassLoad the VM's function refuses to work; ClassPrepare is for us. */
    (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_LOAD, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_PREPARE, NULL);
}

int asgct_open(struct asgct *a, const struct walker *w, jvmtiEnv *jvmti, JNIEnv *jni, char *why,
               size_t why_bytes) {
    if (a->open)
        return 0;
    void *found = find_function();
    if (!found) {
        snprintf(why, why_bytes, "this VM does not export AsyncGetCallTrace");
        return -ENOTSUP;
    }
    uintptr_t self = vm_current_java_thread(w->vm);
    a->env_offset = (uintptr_t)jni - self;
    if (!self || a->env_offset >= ENV_OFFSET_MAX || (*jni)->GetJavaVM(jni, &a->java_vm) != JNI_OK) {
        snprintf(why, why_bytes, "the VM's threads do not fit AsyncGetCallTrace");
        return -ENOTSUP;
    }
    *(void **)&a->get = found;
    a->methods.names = w->names;
    jvmtiCapabilities lines = {.can_get_line_numbers = 1};
    (*jvmti)->AddCapabilities(jvmti, &lines); /* without it there are none */
    set_events(jvmti, JVMTI_ENABLE);
    method_ids_create_all(jvmti, jni);
    a->open = true;
    return 0;
}

void asgct_close(struct asgct *a, jvmtiEnv *jvmti) {
    if (!a->open)
        return;
    a->open = false;
    set_events(jvmti, JVMTI_DISABLE);
    JNIEnv *jni;
    if ((*a->java_vm)->GetEnv(a->java_vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
        method_ids_announce(&a->methods, jvmti, jni);
    jvmtiCapabilities lines = {.can_get_line_numbers = 1};
    (*jvmti)->RelinquishCapabilities(jvmti, &lines);
}

void asgct_class_prepared(struct asgct *a, jvmtiEnv *jvmti, jclass c) {
    (void)a;
    method_ids_create(jvmti, c);
}

void asgct_turn(struct asgct *a, struct names *names, jvmtiEnv *jvmti, JNIEnv *jni) {
    (void)names;
    method_ids_announce(&a->methods, jvmti, jni);
}

/* Native frames on top of Java ones, as far as frame pointers lead. */
static void add_native(const struct walker *w, const struct registers *r, uintptr_t thread,
                       struct stack *s) {
    const struct vm_layout *at = &w->vm->at;
    uintptr_t sp = r->sp;
    uintptr_t fp = r->fp;
    uintptr_t limit = sp + STACK_BYTES_MAX;
    if (thread && w->vm->heaps) {
        uintptr_t anchor = thread + (uintptr_t)at->thread_anchor + (uintptr_t)at->anchor_sp;
        uintptr_t java_sp = guarded_load64(anchor);
        if (java_sp > sp && java_sp < limit)
            limit = java_sp;
    }
    walk_native(w, r->pc, &sp, &fp, limit, s);
}

/* How the innermost Java frames run: `*inlined` of them are inlined into the next one, whose tier
 * is returned. */
static enum wire_frame_type leaf_tier(const struct walker *w, const struct code *c, uintptr_t pc,
                                      jint *inlined) {
    struct code_scope scope[SCOPES_MAX];
    *inlined = 0;
    if (c->kind == CODE_INTERPRETER)
        return WIRE_FRAME_INTERPRETED;
    if (c->kind != CODE_COMPILED)
        return WIRE_FRAME_C2;
    uint32_t n = code_scopes(w->vm, c, pc, NULL, scope, SCOPES_MAX);
    *inlined = n ? (jint)n - 1 : 0;
    return c->level >= 1 && c->level <= 3 ? WIRE_FRAME_C1 : WIRE_FRAME_C2;
}

static void fail(struct stack *s, enum wire_failure why) {
    s->failure = why;
    stack_add(s, wire_frame_address(WIRE_FRAME_ERROR, why));
}

static enum wire_failure failure_of(jint reason) {
    switch (reason) {
    case GC_ACTIVE:
        return WIRE_FAILURE_ASGCT_GC;
    case UNKNOWN_NOT_JAVA:
    case UNKNOWN_JAVA:
        return WIRE_FAILURE_ASGCT_UNKNOWN_JAVA;
    case NOT_WALKABLE_NOT_JAVA:
    case NOT_WALKABLE_JAVA:
        return WIRE_FAILURE_ASGCT_NOT_WALKABLE;
    default:
        return WIRE_FAILURE_ASGCT_STATE;
    }
}

/* The VM's frame in `words` as one of ours. */
static uint64_t translate(struct asgct *a, const uint64_t *words, enum wire_frame_type tier,
                          struct stack *s) {
    jint bci = (jint)(uint32_t)words[0];
    enum wire_failure why = WIRE_FAILURE_ASGCT_UNKNOWN_JAVA; /* no jmethodID: an intrinsic */
    if (words[1]) {
        uint32_t id = method_ids_find(&a->methods, words[1]);
        if (id != ID_TABLE_FULL)
            return wire_frame_java(bci == BCI_NATIVE ? WIRE_FRAME_NATIVE_METHOD : tier, id,
                                   bci < 0 ? WIRE_BCI_NONE : (uint32_t)bci);
        why = WIRE_FAILURE_METHODS_FULL;
    }
    s->failure = why;
    return wire_frame_address(WIRE_FRAME_ERROR, why);
}

static bool all_named(const uint64_t *words, jint n) {
    for (jint i = 0; i < n; i++)
        if (!words[2 * (size_t)i + 1])
            return false;
    return true;
}

/* Asks the VM. It fills two words a frame into what is left of `s`; each pair becomes one word.
 * False, and nothing is added: a frame has no jmethodID, and the VM's own description of itself
 * leads further. A method that was replaced while it runs has none. */
static bool add_java(struct asgct *a, const struct walker *w, void *context, uintptr_t thread,
                     const struct code *leaf, uintptr_t pc, struct stack *s) {
    jint room = (jint)((s->max - s->n - 1) / 2); /* and one for an error frame */
    jint wanted = s->java_max + 1 < (uint32_t)room ? (jint)s->java_max + 1 : room;
    uint64_t *words = s->frame + s->n;
    struct asgct_trace t = {.env = (JNIEnv *)(thread + a->env_offset), .words = words};
    a->get(&t, wanted, context);
    if (t.n <= 0) {
        if (t.n != NO_JAVA_FRAME)
            fail(s, failure_of(t.n));
        return true;
    }
    jint n = t.n < wanted ? t.n : wanted - 1;
    if (w->vm->heaps && !all_named(words, n))
        return false;
    jint inlined;
    enum wire_frame_type tier = leaf_tier(w, leaf, pc, &inlined);
    for (jint i = 0; i < n; i++) {
        enum wire_frame_type type = i < inlined    ? WIRE_FRAME_INLINED
                                    : i == inlined ? tier
                                                   : WIRE_FRAME_C2;
        stack_add(s, translate(a, words + 2 * (size_t)i, type, s));
        s->java++;
    }
    if (t.n >= wanted)
        fail(s, WIRE_FAILURE_TRUNCATED);
    return true;
}

static void walk_again(const struct walker *w, const struct registers *r, struct stack *s) {
    struct walker vm = *w;
    vm.walk = WIRE_WALK_VM;
    walk_vm(&vm, r, s);
}

void walk_asgct(struct asgct *a, const struct walker *w, void *context, const struct registers *r,
                struct stack *s) {
    uintptr_t thread = vm_current_java_thread(w->vm);
    uint32_t begin = s->n;
    /* Where the VM does not describe itself, what is in no library is generated code. */
    bool generated =
        w->vm->heaps ? code_contains(w->vm, r->pc) : !libraries_contain(w->libraries, r->pc);
    struct code leaf = code_find(w->vm, r->pc);
    if (leaf.kind == CODE_STUB)
        stack_add(s, names_stub(w->names, &leaf, r->pc));
    if (!generated)
        add_native(w, r, thread, s);
    if (!thread && generated)
        fail(s, WIRE_FAILURE_UNKNOWN_PC);
    if (thread && !add_java(a, w, context, thread, &leaf, r->pc, s)) {
        s->n = begin;
        walk_again(w, r, s);
    }
}
