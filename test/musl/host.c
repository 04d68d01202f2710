/*
 * A program that says it is a JVM: it loads the agent and calls every entry point of it, so that the
 * agent is seen at work on a C library for which there is no JVM at hand.  host LIBRARY
 *
 * It has AsyncGetCallTrace and no gHotSpotVMStructs. Of JNI and JVMTI it knows what the agent
 * needs; every other function refuses. One line is printed for each step; exit 1 where one is wrong.
 */
#include "core/wire/handshake.h"
#include "core/wire/layout.h"

#include <dirent.h>
#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 30 /* a step that takes longer has failed */
#define RING_BYTES (8u << 20)

/* As HotSpot's: the environment is a part of the thread, whose first word is its kind. */
struct java_thread {
    const void *vtable;
    const struct JNINativeInterface_ *env;
};

struct call_trace {
    JNIEnv *env;
    jint frames;
    struct {
        jint bci;
        jmethodID method;
    } * frame;
};

static struct JNINativeInterface_ jni_functions;
static struct jvmtiInterface_1_ jvmti_functions;
static struct JNIInvokeInterface_ vm_functions;
static const struct JNIInvokeInterface_ *vm = &vm_functions;
static const struct jvmtiInterface_1_ *jvmti = &jvmti_functions;
static pthread_key_t current;
static jvmtiEventCallbacks callbacks;
static _Atomic unsigned traces, agent_threads;
static bool has_fields = true;
static int thing; /* whatever is referred to */

JNIEXPORT jclass JNICALL JVM_FindClassFromBootLoader(JNIEnv *env, const char *name);
JNIEXPORT jclass JNICALL JVM_FindClassFromBootLoader(JNIEnv *env, const char *name) {
    (void)env, (void)name;
    return (jclass)&thing;
}

JNIEXPORT void JNICALL AsyncGetCallTrace(struct call_trace *t, jint depth, void *context);
JNIEXPORT void JNICALL AsyncGetCallTrace(struct call_trace *t, jint depth, void *context) {
    (void)context;
    t->frames = depth < 2 ? depth : 2;
    for (jint i = 0; i < t->frames; i++) {
        t->frame[i].bci = i;
        t->frame[i].method = (jmethodID)&thing;
    }
    traces++;
}

static struct java_thread *attach_thread(void) {
    struct java_thread *t = calloc(1, sizeof *t);
    *t = (struct java_thread){&thing, &jni_functions};
    pthread_setspecific(current, t);
    return t;
}

static long nothing(void) {
    return 0;
}
static jvmtiError refused(void) {
    return JVMTI_ERROR_NOT_AVAILABLE;
}
static jvmtiError done(void) {
    return JVMTI_ERROR_NONE;
}
static jint JNICALL get_version(JNIEnv *env) {
    (void)env;
    return 0x00110000;
}
static jfieldID JNICALL get_field(JNIEnv *env, jclass c, const char *name, const char *type) {
    (void)env, (void)c, (void)name, (void)type;
    return has_fields ? (jfieldID)&thing : NULL;
}
static jmethodID JNICALL get_method(JNIEnv *env, jclass c, const char *name, const char *type) {
    (void)env, (void)c, (void)name, (void)type;
    return (jmethodID)&thing;
}
static jlong JNICALL get_long(JNIEnv *env, jobject o, jfieldID field) {
    (void)env, (void)o, (void)field;
    return (jlong)(uintptr_t)pthread_getspecific(current);
}
static jstring JNICALL new_string(JNIEnv *env, const char *text) {
    (void)env, (void)text;
    return (jstring)&thing;
}
static jobject JNICALL new_object(JNIEnv *env, jclass c, jmethodID m, ...) {
    (void)env, (void)c, (void)m;
    return (jobject)&thing;
}
static jint JNICALL get_vm(JNIEnv *env, JavaVM **to) {
    (void)env;
    *to = &vm;
    return JNI_OK;
}
static jint JNICALL get_env(JavaVM *v, void **env, jint version) {
    (void)v;
    struct java_thread *t = pthread_getspecific(current);
    *env = version >> 16 == 0x3001 ? (void *)&jvmti : (void *)&t->env;
    return JNI_OK;
}
static jint JNICALL no_env(JavaVM *v, void **env, jint version) {
    (void)v, (void)version;
    *env = NULL;
    return JNI_EVERSION;
}

static jvmtiError JNICALL get_property(jvmtiEnv *e, const char *name, char **value) {
    (void)e;
    if (strcmp(name, "java.vm.name") != 0)
        return JVMTI_ERROR_NOT_AVAILABLE;
    *value = strdup("OpenJDK 64-Bit Server VM");
    return JVMTI_ERROR_NONE;
}
static jvmtiError JNICALL deallocate(jvmtiEnv *e, unsigned char *p) {
    (void)e;
    free(p);
    return JVMTI_ERROR_NONE;
}
static jvmtiError JNICALL set_callbacks(jvmtiEnv *e, const jvmtiEventCallbacks *c, jint bytes) {
    (void)e;
    memcpy(&callbacks, c, (size_t)bytes < sizeof callbacks ? (size_t)bytes : sizeof callbacks);
    return JVMTI_ERROR_NONE;
}
static jvmtiError JNICALL current_thread(jvmtiEnv *e, jthread *to) {
    (void)e;
    *to = (jthread)&thing;
    return JVMTI_ERROR_NONE;
}
static jvmtiError JNICALL all_threads(jvmtiEnv *e, jint *n, jthread **to) {
    (void)e;
    *n = 1;
    *to = malloc(sizeof **to);
    **to = (jthread)&thing;
    return JVMTI_ERROR_NONE;
}
static jvmtiError JNICALL thread_info(jvmtiEnv *e, jthread t, jvmtiThreadInfo *to) {
    (void)e, (void)t;
    *to = (jvmtiThreadInfo){.name = strdup("main")};
    return JVMTI_ERROR_NONE;
}

static jvmtiStartFunction agent_main;
static void *run_agent(void *arg) {
    struct java_thread *t = attach_thread();
    agent_main(&jvmti, &t->env, arg);
    free(t);
    agent_threads--;
    return NULL;
}
static jvmtiError JNICALL run_agent_thread(jvmtiEnv *e, jthread t, jvmtiStartFunction f,
                                           const void *arg, jint priority) {
    (void)e, (void)t, (void)priority;
    pthread_t thread;
    agent_main = f;
    agent_threads++;
    if (pthread_create(&thread, NULL, run_agent, (void *)(uintptr_t)arg) != 0)
        return JVMTI_ERROR_INTERNAL;
    pthread_detach(thread);
    return JVMTI_ERROR_NONE;
}

static void fill(void *table, size_t bytes, void *function) {
    for (size_t i = 0; i < bytes / sizeof function; i++)
        ((void **)table)[i] = function;
}

static void make_vm(void) {
    fill(&jni_functions, sizeof jni_functions, (void *)nothing);
    fill(&jvmti_functions, sizeof jvmti_functions, (void *)refused);
    vm_functions.GetEnv = get_env;
    jni_functions.GetVersion = get_version;
    jni_functions.GetFieldID = get_field;
    jni_functions.GetMethodID = get_method;
    jni_functions.GetLongField = get_long;
    jni_functions.NewStringUTF = new_string;
    jni_functions.NewObject = new_object;
    jni_functions.GetJavaVM = get_vm;
    jvmti_functions.GetSystemProperty = get_property;
    jvmti_functions.Deallocate = deallocate;
    jvmti_functions.SetEventCallbacks = set_callbacks;
    jvmti_functions.GetCurrentThread = current_thread;
    jvmti_functions.GetAllThreads = all_threads;
    jvmti_functions.GetThreadInfo = thread_info;
    jvmti_functions.RunAgentThread = run_agent_thread;
    jvmti_functions.SetEventNotificationMode = (void *)done;
    jvmti_functions.AddCapabilities = (void *)done;
    jvmti_functions.RelinquishCapabilities = (void *)done;
}

static void check(bool right, const char *what) {
    printf("%s %s\n", right ? "ok" : "not ok", what);
    fflush(stdout);
    if (!right)
        exit(1);
}

static bool wait_for(bool (*condition)(void), void (*meanwhile)(void)) {
    time_t end = time(NULL) + SECONDS;
    while (!condition()) {
        if (time(NULL) > end)
            return false;
        meanwhile();
    }
    return true;
}

static struct wire_mapping *wire;

/* The agent's memory, as a reader finds it. */
static void find_mapping(void) {
    char link[64], name[128];
    for (int fd = 3; fd < 64; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, name, sizeof name - 1);
        struct stat st;
        if (n <= 0 || fstat(fd, &st) != 0)
            continue;
        name[n] = '\0';
        if (strncmp(name, "/memfd:jtop-prof", 16) == 0)
            wire = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t samples_of(enum wire_event e) {
    return wire->control.status.engine[e].samples;
}
/* Nobody empties the ring: what it holds has to do for all events. */
static void work(void) {
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 10 && samples_of(WIRE_EVENT_NATIVEMEM) < 100; i++) {
        char *volatile p = malloc(100);
        free(p);
    }
    pthread_mutex_unlock(&mutex);
    for (volatile int i = 0; i < 100000; i++)
        ;
    wire->control.request.heartbeat++;
}

static bool is_sampled(void) {
    return traces >= 20 && samples_of(WIRE_EVENT_CPU) >= 20 &&
           samples_of(WIRE_EVENT_NATIVEMEM) >= 20 && samples_of(WIRE_EVENT_WALL) >= 5 &&
           samples_of(WIRE_EVENT_NATIVELOCK) >= 1;
}
static bool is_gone(void) {
    return agent_threads == 0;
}
static void rest(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Holds the mutex again and again, for a millisecond. */
static void *contend(void *arg) {
    void *t = attach_thread();
    for (_Atomic bool *quit = arg; !*quit;) {
        pthread_mutex_lock(&mutex);
        rest();
        pthread_mutex_unlock(&mutex);
        rest();
    }
    free(t);
    return NULL;
}

static void detach(void) {
    wire->control.request.command = WIRE_COMMAND_DETACH;
    wire->control.request.generation++;
    syscall(SYS_futex, &wire->control.request.generation, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
    check(wait_for(is_gone, rest), "the agent's thread ends");
    check(wire->control.status.state == WIRE_STATE_DETACHED, "and says that it let go");
    munmap(wire, wire_mapping_bytes(RING_BYTES));
    wire = NULL;
    find_mapping();
    check(!wire, "and its memory is gone");
}

typedef jint(JNICALL *entry)(JavaVM *, char *, void *);

static void refuse(entry attach) {
    char wrong[] = "ring=nonsense";
    char right[] = "session=7,ring=8388608";
    check(attach(&vm, wrong, NULL) == HANDSHAKE_OPTIONS, "wrong options are refused");
    vm_functions.GetEnv = no_env;
    check(attach(&vm, right, NULL) == HANDSHAKE_UNSUPPORTED, "a VM without JVMTI is refused");
    vm_functions.GetEnv = get_env;
    has_fields = false;
    check(attach(&vm, right, NULL) == HANDSHAKE_UNSUPPORTED, "a VM of another kind is refused");
    has_fields = true;
}

static void profile(entry load) {
    char options[] = "start,event=ctimer,interval=1ms,wall=2ms,nativemem=1,nativelock=1,b=8m";
    _Atomic bool quit = false;
    pthread_t other;
    check(load(&vm, options, NULL) == JNI_OK, "Agent_OnLoad works");
    check(callbacks.VMInit != NULL, "and waits for the VM");
    struct java_thread *self = pthread_getspecific(current);
    callbacks.VMInit(&jvmti, &self->env, (jthread)&thing);
    find_mapping();
    check(wire && wire->header.magic == WIRE_MAGIC, "the mapping is there");
    pthread_create(&other, NULL, contend, &quit);
    bool sampled = wait_for(is_sampled, work);
    for (int e = 0; e < WIRE_EVENTS; e++)
        if (wire->control.status.engine[e].name[0])
            printf("# %s: %llu samples, mechanism %u, errno %d %s\n",
                   wire->control.status.engine[e].name, (unsigned long long)samples_of(e),
                   wire->control.status.engine[e].mechanism, wire->control.status.engine[e].error,
                   wire->control.status.engine[e].reason);
    printf("# %u stacks asked for; state %u, walker %s, %s\n", traces, wire->control.status.state,
           wire->control.status.walker, wire->control.status.message);
    check(sampled, "samples of cpu, wall, nativemem, nativelock");
    quit = true;
    pthread_join(other, NULL);
    detach();
    struct sigaction a;
    sigaction(SIGPROF, NULL, &a);
    check(a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN, "no handler of SIGPROF is left");
}

int main(int n, char **argument) {
    if (n != 2)
        return 2;
    pthread_key_create(&current, NULL);
    struct java_thread *self = attach_thread();
    make_vm();
    void *library = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        printf("# %s\n", dlerror());
    check(library != NULL, "the library is loaded");
    entry load, attach;
    *(void **)&load = dlsym(library, "Agent_OnLoad");
    *(void **)&attach = dlsym(library, "Agent_OnAttach");
    check(load && attach, "its entry points are there");
    refuse(attach);
    profile(load);
    char again[] = "session=7,ring=8388608";
    check(attach(&vm, again, NULL) == HANDSHAKE_OK, "Agent_OnAttach works");
    char more[] = "session=8,ring=8388608";
    check(attach(&vm, more, NULL) == HANDSHAKE_BUSY, "a second reader has to wait");
    find_mapping();
    check(wire && wire->header.session == 7, "the mapping is there again");
    detach();
    if (callbacks.VMDeath)
        callbacks.VMDeath(&jvmti, &self->env);
    check(dlclose(library) == 0, "the library is closed");
    free(self);
    return 0;
}
