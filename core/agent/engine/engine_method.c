/* Calls of Java methods: their bytecode tells us when they begin and end (bytecode.h). A sample a
 * call, weight: ns between the two. What was changed is the code of classes and nothing else: on
 * stop the VM takes their own files again. A class of ours stays, java.lang.JtopProfMethods, whose
 * methods then return at once. */
#include "core/agent/agent.h"
#include "core/agent/engine/method_calls.h"
#include "core/agent/patch/bytecode.h"
#include "core/agent/patch/method_targets.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/boot_natives.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BATCH 512 /* classes that are changed in one go */
#define LATE_TRIES 20
#define LATE_TRIES_OF_PATTERNS 3 /* there classes come and go all the time */
#define CALLS_CLASS "java/lang/JtopProfMethods"

static struct {
    struct method_targets targets;
    _Atomic uint32_t hooks;   /* ClassFileLoadHook callbacks that run */
    _Atomic bool changing;    /* they change the class's file */
    _Atomic uint32_t methods; /* changed so far */
    _Atomic uint32_t loaded;  /* of the classes, changed when they were loaded */
    _Atomic uint32_t bodiless, oversized, unreadable;
    _Atomic uint16_t ids;
    uint32_t before; /* classes of those names at the start */
    bool bound;      /* the class's methods are ours */
} method;

/* In java.lang, which every class loader and every module finds and may use: static native methods
 * enter, exit0, exit1 … */
static bool make_calls_class(struct bytes_out *o) {
    enum { THIS = 2, OBJECT = 4, TYPE = 5, NAMES = 6, FINAL = 0x1031, NATIVE = 0x0109 };
    static const char begin[] = "\xca\xfe\xba\xbe\0\0\0\x32";
    static const char classes[] = "\x01\0\x19" CALLS_CLASS "\x07\0\x01"
                                  "\x01\0\x10java/lang/Object\x07\0\x03\x01\0\x04(I)V";
    const struct method_calls_natives natives = method_calls_natives();
    bytes_put(o, begin, sizeof begin - 1);
    bytes_put2(o, NAMES + natives.count);
    bytes_put(o, classes, sizeof classes - 1);
    for (uint32_t i = 0; i < natives.count; i++) {
        bytes_put1(o, 1);
        bytes_put2(o, (uint32_t)strlen(natives.at[i].name));
        bytes_put(o, natives.at[i].name, strlen(natives.at[i].name));
    }
    bytes_put2(o, FINAL);
    bytes_put2(o, THIS);
    bytes_put2(o, OBJECT);
    bytes_put4(o, 0); /* no interfaces, no fields */
    bytes_put2(o, natives.count);
    for (uint32_t i = 0; i < natives.count; i++) {
        bytes_put2(o, NATIVE);
        bytes_put2(o, NAMES + i);
        bytes_put2(o, TYPE);
        bytes_put2(o, 0);
    }
    bytes_put2(o, 0);
    return !o->failed;
}

/* True: the class has another file now. */
static bool change(jvmtiEnv *jvmti, const char *name, const unsigned char *file, jint length,
                   jint *new_length, unsigned char **new_file) {
    struct bytecode_target in[WIRE_METHODS];
    struct bytecode_request q = {CALLS_CLASS, &method.ids, in, 0};
    struct bytecode_result r;
    q.targets = method_targets_in(&method.targets, name, strlen(name), in);
    if (!q.targets || strcmp(name, CALLS_CLASS) == 0)
        return false;
    if (length < 0 || bytecode_add_calls(file, (uint32_t)length, &q, &r) < 0) {
        method.unreadable++;
        return false;
    }
    method.bodiless += r.bodiless;
    method.oversized += r.oversized;
    unsigned char *copy = NULL;
    if (r.file.n && (*jvmti)->Allocate(jvmti, (jlong)r.file.n, &copy) == JVMTI_ERROR_NONE) {
        memcpy(copy, r.file.at, r.file.n);
        *new_file = copy;
        *new_length = (jint)r.file.n;
        method.methods += r.methods;
    }
    bytes_end(&r.file);
    return copy != NULL;
}

static void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint length,
                                  const unsigned char *file, jint *new_length,
                                  unsigned char **new_file) {
    (void)jni, (void)loader, (void)domain;
    method.hooks++;
    if (method.changing && name && change(jvmti, name, file, length, new_length, new_file) &&
        !redefined)
        method.loaded++;
    method.hooks--;
}

/* A class that cannot be changed is reported only if the user named it exactly. */
static bool is_wanted(jvmtiEnv *jvmti, jclass c) {
    struct bytecode_target in[WIRE_METHODS];
    jboolean modifiable = JNI_TRUE;
    char *s = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, c, &s, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t n = strlen(s);
    bool is = n > 2 && s[0] == 'L' && strcmp(s, "L" CALLS_CLASS ";") != 0 &&
              method_targets_in(&method.targets, s + 1, n - 2, in) > 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)s);
    if (is && !method.targets.exact)
        (*jvmti)->IsModifiableClass(jvmti, c, &modifiable);
    return is && modifiable;
}

/* All together; where the VM refuses that, in halves: some may be of those that cannot be changed.
 * The last error there was. */
static jvmtiError retransform(jvmtiEnv *jvmti, const jclass *c, jint n) {
    jvmtiError r = n ? (*jvmti)->RetransformClasses(jvmti, n, c) : JVMTI_ERROR_NONE;
    if (r == JVMTI_ERROR_NONE || n == 1)
        return r;
    jvmtiError one = retransform(jvmti, c, n / 2);
    jvmtiError other = retransform(jvmti, c + n / 2, n - n / 2);
    return other == JVMTI_ERROR_NONE ? one : other;
}

/* Makes the VM ask for the files of all classes of those names again; `classes`: how many. */
static jvmtiError retransform_all(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t *classes) {
    jint n = 0, found = 0;
    jclass *all = NULL;
    jvmtiError r = (*jvmti)->GetLoadedClasses(jvmti, &n, &all);
    (*jni)->EnsureLocalCapacity(jni, n); /* for -Xcheck:jni */
    for (jint i = 0; i < n; i++) {
        if (is_wanted(jvmti, all[i])) {
            jclass other = all[found];
            all[found++] = all[i];
            all[i] = other;
        }
    }
    for (jint i = 0; i < found && !agent.java_exits; i += BATCH) {
        jvmtiError own = retransform(jvmti, all + i, found - i < BATCH ? found - i : BATCH);
        r = own == JVMTI_ERROR_NONE ? r : own;
    }
    *classes = (uint32_t)found;
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, all[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
    return r;
}

/* The class as it is or as it is defined now; NULL: the VM does not take it. */
static jclass calls_class(JNIEnv *jni) {
    jclass c = boot_class(jni, CALLS_CLASS);
    struct bytes_out file = {0};
    if (!c && make_calls_class(&file))
        c = (*jni)->DefineClass(jni, CALLS_CLASS, NULL, (const jbyte *)file.at, (jsize)file.n);
    bytes_end(&file);
    return c;
}

static bool find_hooks(struct engine_run *run, JNIEnv *jni) {
    const struct method_calls_natives natives = method_calls_natives();
    jclass c = calls_class(jni);
    if (c && !method.bound)
        method.bound =
            boot_natives_bind(run->jvmti, run->callbacks, jni, c, natives.at, (jint)natives.count);
    bool ok = c && method.bound;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, c);
    return ok;
}

static void listen(struct engine_run *run, bool on) {
    jvmtiEnv *jvmti = run->jvmti;
    jvmtiCapabilities c = {.can_retransform_classes = 1};
    run->callbacks->ClassFileLoadHook = on ? on_class_file : NULL;
    if (on)
        (*jvmti)->SetEventCallbacks(jvmti, run->callbacks, sizeof *run->callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                       JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    if (on)
        return;
    (*jvmti)->SetEventCallbacks(jvmti, run->callbacks, sizeof *run->callbacks);
    (*jvmti)->RelinquishCapabilities(jvmti, &c);
}

/* Every class gets its own file again. One that was given ours a moment ago may not be among the
 * loaded ones yet. */
static void change_back(jvmtiEnv *jvmti, JNIEnv *jni) {
    int tries = method.targets.exact ? LATE_TRIES : LATE_TRIES_OF_PATTERNS;
    uint32_t classes = 0;
    for (int i = 0; i < tries && !agent.java_exits; i++) {
        retransform_all(jvmti, jni, &classes);
        if (classes >= method.before + method.loaded)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static void give_back(struct engine_run *run, JNIEnv *jni) {
    method.changing = false;
    while (method.hooks) /* nothing changes while a callback reads it */
        sched_yield();
    if (method.methods)
        change_back(run->jvmti, jni);
    method_calls_shut();
    listen(run, false);
}

/* Why nothing was changed although there is such a class. */
static int explain(char *why, size_t why_bytes) {
    const struct method_target *t = &method.targets.target[0];
    if (method.targets.count > 1)
        snprintf(why, why_bytes, "no loaded class has such methods with bytecode");
    else if (method.bodiless)
        snprintf(why, why_bytes, "%.100s is native or abstract: it has no code to count calls in",
                 t->method);
    else if (method.oversized)
        snprintf(why, why_bytes, "%.100s is too large for two more instructions", t->method);
    else if (method.unreadable)
        snprintf(why, why_bytes, "%.100s has a class file that cannot be changed", t->class_name);
    else
        snprintf(why, why_bytes, "%.60s has no method %.40s%.30s", t->class_name, t->method,
                 t->signature);
    return -ENOENT;
}

/* What happened to the classes that were loaded already. 0, or -errno with the reason. With
 * patterns some classes may refuse, and others may be loaded later. */
static int judge(jvmtiError error, char *why, size_t why_bytes) {
    const struct method_target *t = &method.targets.target[0];
    if (error != JVMTI_ERROR_NONE && !method.methods) {
        snprintf(why, why_bytes, "the VM rejected the changed %.80s (JVMTI error %d)",
                 t->class_name, (int)error);
        return -ENOTSUP;
    }
    if (method.before && !method.methods && method.targets.exact)
        return explain(why, why_bytes);
    if (!method.methods)
        snprintf(why, why_bytes, "%.100s%s is not loaded yet", t->class_name,
                 method.targets.count > 1 ? " and others" : "");
    return 0;
}

static int prepare(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    if (!find_hooks(run, jni)) {
        snprintf(why, why_bytes, "the VM rejected the class " CALLS_CLASS);
        return -ENOTSUP;
    }
    uint64_t least[WIRE_METHODS];
    for (uint32_t i = 0; i < method.targets.count; i++)
        least[i] = method.targets.target[i].least_ns;
    int r = method_calls_open(run, least, method.targets.count);
    if (r < 0)
        snprintf(why, why_bytes, "no memory (errno %d)", -r);
    return r;
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    jvmtiEnv *jvmti = run->jvmti;
    jvmtiCapabilities c = {.can_retransform_classes = 1};
    method.methods = method.bodiless = method.oversized = 0;
    method.loaded = method.unreadable = method.before = 0;
    if (!method_targets_parse(&method.targets, run->request.text)) {
        snprintf(why, why_bytes, "not of the form package.Class.method: %.80s", run->request.text);
        return -EINVAL;
    }
    jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &c);
    if (error != JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes, "this VM cannot change classes (JVMTI error %d)", (int)error);
        return -ENOTSUP;
    }
    int r = prepare(run, jni, why, why_bytes);
    if (r < 0) {
        listen(run, false);
        return r;
    }
    method.changing = true;
    listen(run, true);
    error = retransform_all(jvmti, jni, &method.before);
    r = judge(error, why, why_bytes);
    if (r < 0)
        give_back(run, jni);
    return r;
}

static void stop(struct engine_run *run, JNIEnv *jni) {
    give_back(run, jni);
}

static void turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)jni, (void)now_ms;
    method_calls_turn();
    if (method.methods)
        run->status->reason[0] = '\0';
}

const struct engine engine_method = {
    .event = WIRE_EVENT_METHOD,
    .mechanism = WIRE_MECHANISM_BYTECODE,
    .start = start,
    .stop = stop,
    .turn = turn,
};
