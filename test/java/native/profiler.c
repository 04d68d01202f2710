/* Another profiler, to ours: an agent that takes SIGPROF and keeps it. */
#include <jni.h>
#include <signal.h>
#include <string.h>

static void ignore(int number) {
    (void)number;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    (void)vm, (void)options, (void)reserved;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ignore;
    return sigaction(SIGPROF, &action, NULL) == 0 ? JNI_OK : JNI_ERR;
}
