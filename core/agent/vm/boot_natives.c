#include "core/agent/vm/boot_natives.h"

#include "core/agent/vm/boot_class.h"

/* What the callback is to do; of one thread at a time. */
static struct {
    jclass c; /* NULL: nothing */
    const JNINativeMethod *natives;
    jint count;
    bool done;
} wanted;

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                            jlong ms) {
    (void)jvmti, (void)thread, (void)object, (void)ms;
    if (!wanted.c)
        return;
    wanted.done = (*jni)->RegisterNatives(jni, wanted.c, wanted.natives, wanted.count) == JNI_OK;
    wanted.c = NULL;
}

static void clear(JNIEnv *jni) {
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

/* Object.wait(1, 0): the method with a Java caller of its own in every release. */
static void wait_a_moment(JNIEnv *jni) {
    jclass c = boot_class(jni, "java/lang/Object");
    jmethodID wait = c ? (*jni)->GetMethodID(jni, c, "wait", "(JI)V") : NULL;
    jobject o = wait ? (*jni)->AllocObject(jni, c) : NULL;
    if (o && (*jni)->MonitorEnter(jni, o) == JNI_OK) {
        (*jni)->CallVoidMethod(jni, o, wait, (jlong)1, (jint)0);
        clear(jni);
        (*jni)->MonitorExit(jni, o);
    }
    clear(jni);
    (*jni)->DeleteLocalRef(jni, o);
    (*jni)->DeleteLocalRef(jni, c);
}

static bool listen(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, jthread self, bool on) {
    callbacks->MonitorWait = on ? on_wait : NULL;
    return (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof *callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                              JVMTI_EVENT_MONITOR_WAIT, self) == JVMTI_ERROR_NONE;
}

bool boot_natives_bind(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, JNIEnv *jni, jclass c,
                       const JNINativeMethod *natives, jint count) {
    const jvmtiCapabilities monitors = {.can_generate_monitor_events = 1};
    jvmtiCapabilities had = {0};
    jthread self = NULL;
    (*jvmti)->GetCapabilities(jvmti, &had);
    if ((*jvmti)->GetCurrentThread(jvmti, &self) != JVMTI_ERROR_NONE ||
        (*jvmti)->AddCapabilities(jvmti, &monitors) != JVMTI_ERROR_NONE)
        return false;
    wanted.c = c;
    wanted.natives = natives;
    wanted.count = count;
    wanted.done = false;
    if (listen(jvmti, callbacks, self, true))
        wait_a_moment(jni);
    wanted.c = NULL;
    listen(jvmti, callbacks, self, false);
    (*jni)->DeleteLocalRef(jni, self);
    if (!had.can_generate_monitor_events)
        (*jvmti)->RelinquishCapabilities(jvmti, &monitors);
    return wanted.done;
}
