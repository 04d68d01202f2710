#include "core/agent/precise/precise_deoptimize.h"

#include "core/agent/precise/precise_class.h"
#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/vm_flags.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FLAG "WhiteBoxAPI"
#define TABLE_WORDS 512 /* JNI had 236 entries in JDK 25 */

typedef jint(JNICALL *deoptimize_function)(JNIEnv *, jobject, jobject method, jboolean osr);

static struct {
    bool tried;
    deoptimize_function function;
} found;

/* Our own JNI table: the VM's, which may be longer than the one we were built with, with some
 * entries replaced. */
static union {
    struct JNINativeInterface_ known;
    void *all[TABLE_WORDS];
} ours;

static jmethodID wanted; /* by give_id */

static bool copy_table(const struct JNINativeInterface_ *table) {
    size_t missing = guarded_copy(ours.all, (uintptr_t)table, sizeof ours.all);
    return sizeof ours.all - missing >= sizeof ours.known;
}

static jint JNICALL note_natives(JNIEnv *jni, jclass c, const JNINativeMethod *m, jint n) {
    (void)jni, (void)c;
    for (jint i = 0; i < n; i++) {
        bool named = m[i].name && m[i].signature &&
                     (strcmp(m[i].name, "deoptimizeMethod0") == 0 ||
                      strcmp(m[i].name, "deoptimizeMethod") == 0) && /* JDK 8 */
                     strcmp(m[i].signature, "(Ljava/lang/reflect/Executable;Z)I") == 0;
        if (named)
            found.function = (deoptimize_function)(uintptr_t)m[i].fnPtr;
    }
    return JNI_OK;
}

static jmethodID JNICALL give_id(JNIEnv *jni, jobject method) {
    (void)jni, (void)method;
    return wanted;
}

struct bytes {
    uint8_t at[160];
    size_t n;
};

static void put(struct bytes *b, const void *from, size_t n) {
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static void put_utf8(struct bytes *b, const char *text) {
    uint8_t head[3] = {1, 0, (uint8_t)strlen(text)};
    put(b, head, sizeof head);
    put(b, text, strlen(text));
}

/* A public final class with one method (source: JVMS chapter 4). */
static jclass define(JNIEnv *jni, const char *name) {
    static const uint8_t head[] = {0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 7};
    static const uint8_t class_1[] = {7, 0, 1};
    static const uint8_t class_3[] = {7, 0, 3};
    static const uint8_t rest[] = {0,    0x31, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1, /* one method: */
                                   0x01, 0x09, 0, 5, 0, 6, 0, 0, 0, 0};
    struct bytes b = {.n = 0};
    put(&b, head, sizeof head);
    put_utf8(&b, name);
    put(&b, class_1, sizeof class_1);
    put_utf8(&b, "java/lang/Object");
    put(&b, class_3, sizeof class_3);
    put_utf8(&b, "registerNatives");
    put_utf8(&b, "()V");
    put(&b, rest, sizeof rest);
    return (*jni)->DefineClass(jni, name, NULL, (const jbyte *)b.at, (jsize)b.n);
}

static void ask(JNIEnv *jni, const char *name) {
    const struct JNINativeInterface_ *table = *jni;
    jclass c = boot_class(jni, name); /* an agent before us may have defined it */
    if (!c)
        c = define(jni, name);
    jmethodID m = c ? table->GetStaticMethodID(jni, c, "registerNatives", "()V") : NULL;
    bool before;
    if (m && copy_table(table) && vm_flag_set(FLAG, true, &before)) {
        ours.known.RegisterNatives = note_natives;
        ours.known.FindClass = boot_class; /* it looks for an error's class */
        *jni = &ours.known;
        table->CallStaticVoidMethod(jni, c, m);
        *jni = table;
        vm_flag_set(FLAG, before, &before);
    }
    table->ExceptionClear(jni);
    if (c)
        table->DeleteLocalRef(jni, c);
}

bool deoptimize_open(JNIEnv *jni) {
    if (!found.tried)
        ask(jni, "sun/hotspot/WhiteBox");
    if (!found.tried && !found.function)
        ask(jni, "jdk/test/whitebox/WhiteBox");
    found.tried = true;
    return found.function != NULL;
}

int deoptimize_method(JNIEnv *jni, jclass holder, jmethodID method, bool osr) {
    const struct JNINativeInterface_ *table = *jni;
    if (!copy_table(table))
        return 0;
    wanted = method;
    ours.known.FromReflectedMethod = give_id;
    *jni = &ours.known;
    jint n = found.function(jni, NULL, holder, osr ? JNI_TRUE : JNI_FALSE);
    *jni = table;
    table->ExceptionClear(jni);
    return n;
}
