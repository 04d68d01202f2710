/* Calls of a Java method: its bytecode tells us when it begins and ends (bytecode.h). A sample a
 * call, weight: ns between the two. What was changed is the class's code and nothing else: on stop
 * the VM takes the class's own file again. A class of ours stays, java.lang.JtopProfCalls, whose
 * two methods then return at once. */
#include "core/agent/agent.h"
#include "core/agent/boot_class.h"
#include "core/agent/boot_natives.h"
#include "core/agent/bytecode.h"
#include "core/agent/method_calls.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BATCH 64 /* classes of one name, by different loaders, that are changed in one go */
#define LATE_TRIES 20
#define CALLS_CLASS "java/lang/JtopProfCalls"

/* In java.lang, which every class loader and every module finds and may use. */
static const uint8_t calls_class[] =
    "\xca\xfe\xba\xbe\0\0\0\x32"
    "\0\x08\x01\0\x17" CALLS_CLASS "\x07\0\x01\x01\0\x10java/lang/Object\x07\0\x03\x01\0\x05"
    "enter\x01\0\x04"
    "exit\x01\0\x03()V"
    "\x10\x31\0\x02\0\x04\0\0\0\0\0\x02"
    "\x01\x09\0\x05\0\x07\0\0"
    "\x01\x09\0\x06\0\x07\0\0"
    "\0\0";

static struct {
    char class_name[256]; /* internal form */
    char method[256];
    char signature[256];      /* or empty: any */
    _Atomic uint32_t hooks;   /* ClassFileLoadHook callbacks at work */
    _Atomic bool changing;    /* they change the class's file */
    _Atomic uint32_t methods; /* changed so far */
    _Atomic uint32_t loaded;  /* of the classes, changed when they were loaded */
    _Atomic uint32_t bodiless, oversized, unreadable;
    uint32_t before; /* classes of that name at the start */
    bool bound;      /* the class's methods are ours */
} method;

/* "pkg.Outer$Inner.name(I)V" → parts. False: not of this form. */
static bool take_apart(const char *text) {
    const char *end = strchr(text, '(');
    const char *dot = end ? end : text + strlen(text);
    snprintf(method.signature, sizeof method.signature, "%s", end ? end : "");
    while (dot > text && *dot != '.')
        dot--;
    size_t class_bytes = (size_t)(dot - text);
    size_t name_bytes = (end ? (size_t)(end - dot) : strlen(dot)) - 1;
    if (dot == text || class_bytes >= sizeof method.class_name ||
        name_bytes >= sizeof method.method || !name_bytes)
        return false;
    memcpy(method.class_name, text, class_bytes);
    method.class_name[class_bytes] = '\0';
    for (char *c = method.class_name; *c; c++)
        if (*c == '.')
            *c = '/';
    memcpy(method.method, dot + 1, name_bytes);
    method.method[name_bytes] = '\0';
    return true;
}

/* True: the class has another file now. */
static bool change(jvmtiEnv *jvmti, const unsigned char *file, jint length, jint *new_length,
                   unsigned char **new_file) {
    const struct bytecode_request q = {method.method, method.signature, CALLS_CLASS};
    struct bytecode_result r;
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
    if (method.changing && name && strcmp(name, method.class_name) == 0 &&
        change(jvmti, file, length, new_length, new_file) && !redefined)
        method.loaded++;
    method.hooks--;
}

static bool is_the_class(jvmtiEnv *jvmti, jclass c) {
    char *s = NULL;
    size_t bytes = strlen(method.class_name);
    if ((*jvmti)->GetClassSignature(jvmti, c, &s, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool is = s[0] == 'L' && strncmp(s + 1, method.class_name, bytes) == 0 &&
              strcmp(s + 1 + bytes, ";") == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)s);
    return is;
}

/* All together; where the VM refuses that, each by itself: one may be of those that cannot be
 * changed. The last error there was. */
static jvmtiError retransform(jvmtiEnv *jvmti, const jclass *c, jint n) {
    jvmtiError r = n ? (*jvmti)->RetransformClasses(jvmti, n, c) : JVMTI_ERROR_NONE;
    if (r == JVMTI_ERROR_NONE || n == 1)
        return r;
    r = JVMTI_ERROR_NONE;
    for (jint i = 0; i < n; i++) {
        jvmtiError own = (*jvmti)->RetransformClasses(jvmti, 1, &c[i]);
        r = own == JVMTI_ERROR_NONE ? r : own;
    }
    return r;
}

/* Makes the VM ask for the files of all classes of that name again; `classes`: how many. */
static jvmtiError retransform_all(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t *classes) {
    jint n = 0, found = 0;
    jclass *all = NULL, batch[BATCH];
    jvmtiError r = (*jvmti)->GetLoadedClasses(jvmti, &n, &all);
    *classes = 0;
    for (jint i = 0; i < n; i++) {
        if (is_the_class(jvmti, all[i]))
            batch[found++] = all[i];
        if (found == BATCH || (i == n - 1 && found)) {
            jvmtiError own = retransform(jvmti, batch, found);
            r = own == JVMTI_ERROR_NONE ? r : own;
            *classes += (uint32_t)found;
            found = 0;
        }
    }
    for (jint i = 0; i < n; i++)
        (*jni)->DeleteLocalRef(jni, all[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
    return r;
}

static bool find_hooks(struct engine_run *run, JNIEnv *jni) {
    const union {
        void(JNICALL *function)(JNIEnv *, jclass);
        void *object;
    } enter = {method_calls_enter}, leave = {method_calls_exit};
    const JNINativeMethod natives[] = {
        {(char *)"enter", (char *)"()V", enter.object},
        {(char *)"exit", (char *)"()V", leave.object},
    };
    jclass c = boot_class(jni, CALLS_CLASS);
    if (!c)
        c = (*jni)->DefineClass(jni, CALLS_CLASS, NULL, (const jbyte *)calls_class,
                                (jsize)sizeof calls_class - 1);
    if (c && !method.bound)
        method.bound = boot_natives_bind(run->jvmti, run->callbacks, jni, c, natives, 2);
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
    uint32_t classes = 0;
    for (int i = 0; i < LATE_TRIES && !agent.java_exits; i++) {
        retransform_all(jvmti, jni, &classes);
        if (classes >= method.before + method.loaded)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static void give_back(struct engine_run *run, JNIEnv *jni) {
    method.changing = false;
    while (method.hooks) /* what a callback is looking at is not changed before */
        sched_yield();
    if (method.methods)
        change_back(run->jvmti, jni);
    method_calls_shut();
    listen(run, false);
}

/* Why nothing was changed although the class is there. */
static int explain(char *why, size_t why_bytes) {
    if (method.bodiless)
        snprintf(why, why_bytes, "%s is native or abstract: it has no code to count calls in",
                 method.method);
    else if (method.oversized)
        snprintf(why, why_bytes, "%s is too large for two more instructions", method.method);
    else if (method.unreadable)
        snprintf(why, why_bytes, "%.100s has a class file that cannot be changed",
                 method.class_name);
    else
        snprintf(why, why_bytes, "%.60s has no method %.40s%.30s", method.class_name, method.method,
                 method.signature);
    return -ENOENT;
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    jvmtiEnv *jvmti = run->jvmti;
    jvmtiCapabilities c = {.can_retransform_classes = 1};
    uint32_t classes = 0;
    method.methods = method.bodiless = method.oversized = 0;
    method.loaded = method.unreadable = method.before = 0;
    if (!take_apart(run->request.text)) {
        snprintf(why, why_bytes, "not of the form package.Class.method: %.80s", run->request.text);
        return -EINVAL;
    }
    jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &c);
    if (error != JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes, "this VM cannot change classes (JVMTI error %d)", (int)error);
        return -ENOTSUP;
    }
    if (!find_hooks(run, jni)) {
        snprintf(why, why_bytes, "the VM did not take the class " CALLS_CLASS);
        listen(run, false);
        return -ENOTSUP;
    }
    int r = method_calls_open(run);
    if (r < 0) {
        snprintf(why, why_bytes, "no memory (errno %d)", -r);
        listen(run, false);
        return r;
    }
    method.changing = true;
    listen(run, true);
    error = retransform_all(jvmti, jni, &classes);
    method.before = classes;
    if (error != JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes, "the VM did not take the changed %.80s (JVMTI error %d)",
                 method.class_name, (int)error);
        r = -ENOTSUP;
    } else if (classes && !method.methods) {
        r = explain(why, why_bytes);
    } else if (!classes) {
        snprintf(why, why_bytes, "%.100s is not loaded yet", method.class_name);
    }
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
