#include "core/agent/agent.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/other_copy.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/vm_compiler.h"
#include "core/agent/vm/vm_klass.h"
#include "core/agent/walk/virtual_thread.h"
#include "core/wire/handshake.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SILENT_MS 1000 /* four heartbeats: the reader may then be replaced */
#define EVICT_MS 2000
#define START_MS 1000 /* the longest that the application waits for sampling to begin */

/* All zero, so that it takes no space in the library's file. */
struct agent agent = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .engine_lock = PTHREAD_MUTEX_INITIALIZER,
    .threads.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    threads_started(&agent.threads, jvmti, jni, thread);
}

/* AsyncGetCallTrace needs this event to be enabled. Nothing else uses it. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass c) {
    (void)jvmti, (void)jni, (void)thread, (void)c;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass c) {
    (void)jni, (void)thread;
    asgct_class_prepared(&agent.sampler.asgct, jvmti, c);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    threads_ended(&agent.threads, jvmti, jni, thread);
}

/* All samples are in the ring already. If the agent has started its reader itself (file=), this
 * function waits until the reader has written its files, so that they exist when the process that
 * ran java continues. */
static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni) {
    pthread_mutex_lock(&agent.lock);
    agent.java_exits = true;
    bool active = agent.active;
    pthread_mutex_unlock(&agent.lock);
    if (!active)
        return;
    agent_stop_engines(jvmti, jni);
    struct wire_control *c = &agent.mapping.wire->control;
    atomic_store(&c->status.state, WIRE_STATE_EXITED);
    if (!agent.options.has_file)
        return;
    uint32_t beat = atomic_load(&c->request.heartbeat);
    for (int waited = 0, silent = 0; waited < 60000 && silent < 3000; waited += 5, silent += 5) {
        const volatile uint32_t *reader_done = &c->request.reader_done;
        if (*reader_done)
            return;
        uint32_t now = atomic_load(&c->request.heartbeat);
        if (now != beat)
            silent = 0;
        beat = now;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Writes a line to the application's standard error. */
static __attribute__((format(printf, 1, 2))) void say(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n > 0)
        (void)!write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* Why agent_begin failed. */
static const char *why_not(int result) {
    switch (result) {
    case HANDSHAKE_BUSY:
        return "another process profiles it already";
    case HANDSHAKE_NO_MEMORY:
        return "no memory";
    case HANDSHAKE_NO_THREAD:
        return "it cannot start more threads";
    case HANDSHAKE_SIGNAL:
        return "no handler for SIGSEGV can be installed";
    default:
        return "it is not HotSpot, or an unknown release";
    }
}

/* Whether the wait is over: the agent's thread has carried out the first request, there is no
 * request, or the agent is no longer active. */
static bool has_started(void) {
    pthread_mutex_lock(&agent.lock); /* the mapping is released with this lock held */
    struct wire_control *c = agent.active ? &agent.mapping.wire->control : NULL;
    bool started = !c || !atomic_load(&c->request.generation) || atomic_load(&c->status.generation);
    pthread_mutex_unlock(&agent.lock);
    return started;
}

/* Reads the VM's layout, maps the ring and starts the agent's thread. Returns an enum
 * handshake_result. Context: Agent_OnAttach or VMInit, a Java thread. */
static int agent_begin(JNIEnv *jni);

/* Waits until sampling has begun, at most START_MS. A short program could otherwise end before
 * that. */
static void await_start(void) {
    for (int ms = 0; ms < START_MS && !has_started(); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    (void)jvmti, (void)thread;
    if (!agent.options.start)
        return;
    pthread_mutex_lock(&agent.lock);
    int result = agent.active ? HANDSHAKE_BUSY : agent_begin(jni);
    pthread_mutex_unlock(&agent.lock);
    if (result != HANDSHAKE_OK) {
        say("jtop-prof: agent: this JVM is not profiled: %s\n", why_not(result));
        return;
    }
    int r = agent_spawn_reader();
    if (r == -ENOENT)
        say("jtop-prof: agent: nothing is profiled: no program jtop-prof beside the library or on "
            "the PATH; give its file with frontend=FILE\n");
    else if (r < 0)
        say("jtop-prof: agent: nothing is profiled: jtop-prof cannot be started "
            "(errno %d)\n",
            -r);
    if (r == 0)
        await_start();
}

static bool know_thread_fields(JNIEnv *jni) {
    jclass c = boot_class(jni, "java/lang/Thread");
    if (!c)
        return false;
    agent.threads.eetop = (*jni)->GetFieldID(jni, c, "eetop", "J");
    agent.threads.java_tid = (*jni)->GetFieldID(jni, c, "tid", "J");
    (*jni)->DeleteLocalRef(jni, c);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    java_states_learn(&agent.java_states, jni);
    return agent.threads.eetop && agent.threads.java_tid;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *arg) {
    (void)arg;
    agent_run(jvmti, jni);
}

static bool start_thread(JNIEnv *jni) {
    jclass c = boot_class(jni, "java/lang/Thread");
    jmethodID init = c ? (*jni)->GetMethodID(jni, c, "<init>", "(Ljava/lang/String;)V") : NULL;
    jstring name = init ? (*jni)->NewStringUTF(jni, "jtop-prof") : NULL;
    jobject thread = name ? (*jni)->NewObject(jni, c, init, name) : NULL;
    bool ok =
        thread &&
        (*agent.jvmti)->RunAgentThread(agent.jvmti, thread, run, NULL, JVMTI_THREAD_MAX_PRIORITY) ==
            JVMTI_ERROR_NONE;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
    (*jni)->DeleteLocalRef(jni, name);
    (*jni)->DeleteLocalRef(jni, c);
    return ok;
}

__attribute__((used)) static const char mark[] = WIRE_LIBRARY_MARK;

/* Writes the request that an attached reader would write, from the option string. */
static void request_start(struct wire_control *c) {
    if (!agent.options.plain)
        return; /* the reader looks up what is missing and sends the request */
    c->request.command = WIRE_COMMAND_START;
    c->request.depth = agent.options.depth;
    c->request.cut = agent.options.cut;
    c->request.features = agent.options.features;
    c->request.walk = agent.options.walk;
    c->request.precise = agent.options.precise;
    c->request.signal = agent.options.signal;
    c->request.wall_signal = agent.options.wall_signal;
    c->request.engines = agent.options.engines;
    memcpy(c->request.engine, agent.options.engine, sizeof c->request.engine);
    atomic_store(&c->request.generation, 1);
}

static void listen_to_threads(void) {
    agent.callbacks = (jvmtiEventCallbacks){
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .ThreadStart = on_thread_start,
        .ThreadEnd = on_thread_end,
        .ClassLoad = on_class_load, /* asgct_open enables this and the next one */
        .ClassPrepare = on_class_prepare,
    };
    (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &agent.callbacks, sizeof agent.callbacks);
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START,
                                        JVMTI_EVENT_THREAD_END};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, events[i], NULL);
}

/* Whether this is the Zero VM. Its frames are C++ frames with a layout of their own, and its
 * AsyncGetCallTrace ends the VM. */
static bool is_zero(void) {
    char *name = NULL;
    if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.name", &name) != JVMTI_ERROR_NONE)
        return false;
    bool zero = strstr(name, "Zero") != NULL;
    (*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
    return zero;
}

/* Reads the VM's description of its structures. Where the description is missing or incomplete,
 * agent.vm stays empty: it has no code heaps, and only AsyncGetCallTrace can walk stacks. False:
 * the VM does not have that either. */
static bool learn_layout(JNIEnv *jni) {
    const char **missing = &agent.sampler.asgct.instead_of;
    if (agent.vm.heaps ||
        vm_structs_read(&agent.vm, (uint32_t)(*jni)->GetVersion(jni), missing) == 0)
        return true;
    memset(&agent.vm, 0, sizeof agent.vm);
    agent.vm.thread_key = -1;
    return asgct_exists();
}

/* Reads from the VM what has to be read only once. Returns an enum handshake_result. */
static int learn_vm(JNIEnv *jni) {
    agent.zero = is_zero();
    if (!agent.zero && !learn_layout(jni))
        return HANDSHAKE_UNSUPPORTED;
    if (!know_thread_fields(jni))
        return HANDSHAKE_UNSUPPORTED;
    if (agent.zero) {
        agent.vm.thread_key = -1;
        return HANDSHAKE_OK;
    }
    jthread self = NULL;
    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) != JVMTI_ERROR_NONE)
        return HANDSHAKE_UNSUPPORTED;
    vm_find_thread_key(&agent.vm, threads_java_thread(&agent.threads, jni, self));
    (*jni)->DeleteLocalRef(jni, self);
    if (agent.vm.thread_key < 0)
        return HANDSHAKE_UNSUPPORTED;
    if (!agent.vm.heaps)
        return HANDSHAKE_OK;
    if ((*jni)->GetVersion(jni) >= 0x00150000) { /* virtual threads: JDK 21 */
        oop_learn(&agent.vm.oops, jni);
        continuation_learn(&agent.vm.continuation, &agent.vm.oops, jni);
        virtual_thread_learn(&agent.vm, jni);
    }
    compiler_learn(&agent.vm);
    klass_learn(&agent.vm);
    return HANDSHAKE_OK;
}

static void know_fault_handler(void) {
    const union {
        void *object;
        int (*function)(int, siginfo_t *, void *, int);
    } handle = {dlsym(RTLD_DEFAULT, "JVM_handle_linux_signal")};
    guarded_know_vm(handle.function);
}

static int agent_begin(JNIEnv *jni) {
    know_fault_handler();
    /* The handler must be in place before the first guarded load and until after the last one. */
    if (guarded_install() < 0)
        return HANDSHAKE_SIGNAL;
    int result = learn_vm(jni);
    if (result != HANDSHAKE_OK) {
        guarded_remove();
        return result;
    }
    result = HANDSHAKE_NO_MEMORY;
    if (agent_mapping_open(&agent.mapping, agent.options.map, agent.options.ring_bytes,
                           agent.options.session) < 0) {
        guarded_remove();
        return result;
    }
    if (sampler_map(&agent.sampler, &agent.vm, agent.mapping.wire, agent.mapping.ring_bytes) < 0)
        goto fail_sampler;
    if (threads_open(&agent.threads, &agent.vm, &agent.sampler.ring) < 0)
        goto fail_threads;
    agent.threads.wake = agent_wake;
    agent.active = true;
    if (agent.options.start)
        request_start(&agent.mapping.wire->control);
    listen_to_threads();
    if (start_thread(jni))
        return HANDSHAKE_OK;
    result = HANDSHAKE_NO_THREAD;
    agent.active = false;
    threads_close(&agent.threads, agent.jvmti);
fail_threads:
    sampler_unmap(&agent.sampler);
fail_sampler:
    agent_mapping_close(&agent.mapping);
    guarded_remove();
    return result;
}

static jint get_environments(JavaVM *vm, JNIEnv **jni) {
    agent.java_vm = vm;
    if (jni && (*vm)->GetEnv(vm, (void **)jni, JNI_VERSION_1_6) != JNI_OK)
        return HANDSHAKE_UNSUPPORTED;
    if (agent.jvmti)
        return HANDSHAKE_OK;
    return (*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_1_2) == JNI_OK
               ? HANDSHAKE_OK
               : HANDSHAKE_STARTING;
}

/* Replaces a reader that was silent for SILENT_MS by a new one, without waiting for the end of its
 * lease. Returns true when the agent is free. Context: with agent.lock, which is unlocked
 * while this function waits. */
static bool evict_silent_reader(void) {
    if (agent.reader_silent_ms < SILENT_MS)
        return false;
    agent.evict = true;
    for (int waited = 0; agent.active && waited < EVICT_MS; waited += 5) {
        pthread_mutex_unlock(&agent.lock);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        pthread_mutex_lock(&agent.lock);
    }
    return !agent.active;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved) {
    (void)reserved;
    struct agent_options o;
    JNIEnv *jni;
    if (!agent_options_parse(options, &o))
        return HANDSHAKE_OPTIONS;
    pthread_mutex_lock(&agent.lock);
    int result =
        agent.active && !evict_silent_reader() ? HANDSHAKE_BUSY : get_environments(vm, &jni);
    if (result == HANDSHAKE_OK && other_copy_active())
        result = HANDSHAKE_OTHER_COPY;
    if (result == HANDSHAKE_OK) {
        agent.options = o;
        agent.broker.quit = &agent.java_exits;
        broker_connect(&agent.broker, o.broker);
        result = agent_begin(jni);
        if (result != HANDSHAKE_OK)
            broker_close(&agent.broker);
    }
    pthread_mutex_unlock(&agent.lock);
    return result;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void)reserved;
    if (!agent_options_parse(options, &agent.options))
        return HANDSHAKE_OPTIONS;
    jint result = get_environments(vm, NULL);
    if (result != HANDSHAKE_OK)
        return result;
    for (uint32_t i = 0; i < agent.options.engines; i++)
        if (agent.options.engine[i].event == WIRE_EVENT_ALLOC)
            engine_alloc_foresee(agent.jvmti, agent.options.engine[i].interval);
    jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init};
    (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof callbacks);
    (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    return JNI_OK;
}
