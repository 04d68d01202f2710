/*
 * Java calls C, which calls Java, which calls C: for Callbacks.java. Compiled twice: with frame pointers (KIND Fp), and
 * without (KIND Plain), where the frame pointer's register is used for something else, so that
 * only unwind tables lead to the caller.
 */
#include <jni.h>
#include <stdint.h>

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
#define TEXT(a) #a
#define TEXT_OF(a) TEXT(a)
#define BACK "back" TEXT_OF(KIND) /* the Java method called back */
#define EXPORT __attribute__((visibility("default"), noinline))

#if defined(WITHOUT_FRAME_POINTER) && defined(__x86_64__)
#define FRAME_POINTER() __asm__ volatile("mov $0x5a5a, %%ebp" ::: "rbp")
#else /* asking for its address makes even a leaf have one */
#define FRAME_POINTER() __asm__ volatile("" ::"r"(__builtin_frame_address(0)))
#endif

EXPORT uint64_t NAME(callback_burn, KIND)(uint64_t rounds);
EXPORT uint64_t NAME(callback_middle, KIND)(uint64_t rounds);
EXPORT jlong NAME(callback_outer, KIND)(JNIEnv *env, jclass c, jint depth);
JNIEXPORT jlong NAME(Java_Callbacks_burn, KIND)(JNIEnv *env, jclass c, jlong rounds);
JNIEXPORT jlong NAME(Java_Callbacks_call, KIND)(JNIEnv *env, jclass c, jint depth);

uint64_t NAME(callback_burn, KIND)(uint64_t rounds) {
    FRAME_POINTER();
    uint64_t x = rounds + 1;
    for (uint64_t i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/* What follows a call in these functions keeps them from being left by a jump. */
uint64_t NAME(callback_middle, KIND)(uint64_t rounds) {
    FRAME_POINTER();
    uint64_t x = NAME(callback_burn, KIND)(rounds);
    FRAME_POINTER();
    return x + 1;
}

jlong NAME(callback_outer, KIND)(JNIEnv *env, jclass c, jint depth) {
    jmethodID back = (*env)->GetStaticMethodID(env, c, BACK, "(I)J");
    jlong x = back ? (*env)->CallStaticLongMethod(env, c, back, depth) : 0;
    FRAME_POINTER();
    return x + 1;
}

jlong NAME(Java_Callbacks_burn, KIND)(JNIEnv *env, jclass c, jlong rounds) {
    (void)env, (void)c;
    return (jlong)NAME(callback_middle, KIND)((uint64_t)rounds) + 1;
}

jlong NAME(Java_Callbacks_call, KIND)(JNIEnv *env, jclass c, jint depth) {
    return NAME(callback_outer, KIND)(env, c, depth) + 1;
}
