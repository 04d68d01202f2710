#include "core/profile/table/thread_kind.h"

#include <stddef.h>
#include <string.h>

/* Beginnings of names. The kernel's own copy of a name has 15 bytes at most. */
static const struct {
    const char *name;
    enum thread_kind kind;
} known[] = {
    {"GC Thread", THREAD_GC},
    {"GC task", THREAD_GC},
    {"G1 ", THREAD_GC},
    {"ZWorker", THREAD_GC},
    {"ZDriver", THREAD_GC},
    {"ZDirector", THREAD_GC},
    {"ZStat", THREAD_GC},
    {"ZUncommitter", THREAD_GC},
    {"ZUnmapper", THREAD_GC},
    {"RuntimeWorker#", THREAD_GC}, /* of ZGC */
    {"XWorker", THREAD_GC},
    {"XDriver", THREAD_GC},
    {"XDirector", THREAD_GC},
    {"Shenandoah", THREAD_GC},
    {"ParGC", THREAD_GC},
    {"Gang worker", THREAD_GC},
    {"CMS Main Thread", THREAD_GC},
    {"CMS Thread#", THREAD_GC},
    {"Concurrent Mark", THREAD_GC},
    {"Surrogate Locke", THREAD_GC}, /* of CMS */
    {"C1 Compiler", THREAD_JIT},
    {"C2 Compiler", THREAD_JIT},
    {"JVMCI", THREAD_JIT},
    {"Sweeper thread", THREAD_JIT},
    {"VM Thread", THREAD_VM},
    {"VM Periodic Ta", THREAD_VM},
    {"Reference Handl", THREAD_VM},
    {"Finalizer", THREAD_VM},
    {"Signal Dispatch", THREAD_VM},
    {"Service Thread", THREAD_VM},
    {"Monitor Deflati", THREAD_VM},
    {"Notification Th", THREAD_VM},
    {"Common-Cleaner", THREAD_VM},
    {"Attach Listener", THREAD_VM},
    {"DestroyJavaVM", THREAD_VM},
    {"JFR ", THREAD_VM},
    {"StringDedup", THREAD_VM},
    {"jtop-", THREAD_VM}, /* our own */
};

const char *const thread_kind_title[THREAD_KINDS] = {
    [THREAD_APPLICATION] = "application threads",
    [THREAD_GC] = "GC threads",
    [THREAD_JIT] = "JIT threads",
    [THREAD_VM] = "VM threads",
};

enum thread_kind thread_kind(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (name[0] == known[i].name[0] && !strncmp(name, known[i].name, strlen(known[i].name)))
            return known[i].kind;
    return THREAD_APPLICATION;
}
