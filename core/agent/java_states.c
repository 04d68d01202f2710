#include "core/agent/java_states.h"

#include "core/agent/vm/boot_class.h"
#include "core/base/clock.h"

#define PAUSE_MS 1000u   /* between two reports */
#define SOON_MS 500u     /* the same, if all states are requested again */
#define PAUSE_TIMES 500u /* and at least this many times the CPU time of the last one */

static jfieldID field_of(JNIEnv *jni, jclass c, const char *name, const char *type) {
    jfieldID field = c ? (*jni)->GetFieldID(jni, c, name, type) : NULL;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return field;
}

void java_states_learn(struct java_states *s, JNIEnv *jni) {
    jclass thread = boot_class(jni, "java/lang/Thread");
    *s = (struct java_states){.status = field_of(jni, thread, "threadStatus", "I")};
    if (!s->status) {
        jclass holder = boot_class(jni, "java/lang/Thread$FieldHolder");
        s->holder = field_of(jni, thread, "holder", "Ljava/lang/Thread$FieldHolder;");
        s->status = s->holder ? field_of(jni, holder, "threadStatus", "I") : NULL;
        (*jni)->DeleteLocalRef(jni, holder);
    }
    (*jni)->DeleteLocalRef(jni, thread);
}

static enum wire_java state_of_bits(int32_t status) {
    if (!(status & JVMTI_THREAD_STATE_ALIVE))
        return WIRE_JAVA_UNKNOWN;
    if (status & JVMTI_THREAD_STATE_RUNNABLE)
        return WIRE_JAVA_RUNNABLE;
    if (status & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
        return WIRE_JAVA_BLOCKED;
    if (status & JVMTI_THREAD_STATE_WAITING_INDEFINITELY)
        return WIRE_JAVA_WAITING;
    if (status & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT)
        return WIRE_JAVA_TIMED_WAITING;
    return WIRE_JAVA_RUNNABLE;
}

static enum wire_java state_of(const struct java_states *s, JNIEnv *jni, jthread thread) {
    jobject holder = s->holder ? (*jni)->GetObjectField(jni, thread, s->holder) : NULL;
    jobject owner = s->holder ? holder : thread;
    int32_t status = owner ? (*jni)->GetIntField(jni, owner, s->status) : 0;
    (*jni)->DeleteLocalRef(jni, holder);
    return state_of_bits(status);
}

static void report_all(const struct java_states *s, struct threads *t, jvmtiEnv *jvmti,
                       JNIEnv *jni) {
    jint n = 0;
    jthread *all = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return;
    (*jni)->EnsureLocalCapacity(jni, n + 16);
    for (jint i = 0; i < n; i++) {
        uintptr_t java = threads_java_thread(t, jni, all[i]);
        uint32_t tid = java ? threads_tid_of(t, java) : 0;
        enum wire_java state = tid ? state_of(s, jni, all[i]) : WIRE_JAVA_UNKNOWN;
        /* If eetop is unchanged, the number read before belongs to this thread; see threads.c. */
        if (tid && threads_java_thread(t, jni, all[i]) == java)
            threads_tell_state(t, tid, java, state);
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

enum wire_java_report java_states_turn(struct java_states *s, struct threads *t, uint32_t asked,
                                       uint64_t now_ms, jvmtiEnv *jvmti, JNIEnv *jni) {
    if (!s->status)
        return WIRE_JAVA_REPORT_NO_FIELD;
    if (!t->vm->heaps)
        return WIRE_JAVA_REPORT_NO_TIDS;
    if (!asked) {
        s->asked = 0;
        return WIRE_JAVA_REPORT_OFF;
    }
    if (asked != s->asked) {
        threads_forget_states(t);
        s->asked = asked;
        s->next_ms = s->soon_ms;
    }
    if (now_ms < s->next_ms)
        return WIRE_JAVA_REPORT_ON;
    uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    report_all(s, t, jvmti, jni);
    uint64_t pause = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1000000 * PAUSE_TIMES;
    s->next_ms = now_ms + (pause > PAUSE_MS ? pause : PAUSE_MS);
    s->soon_ms = now_ms + (pause > SOON_MS ? pause : SOON_MS);
    return WIRE_JAVA_REPORT_ON;
}
