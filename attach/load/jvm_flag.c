#include "attach/load/jvm_flag.h"

#include "attach/find/java_args.h"
#include "attach/proc/proc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1U << 20) /* bytes of a command line or an environment */

/* Finds the flag in an environment variable from which the JVM or its launcher takes options. */
static int flag_in_variable(const char *environment, size_t len, const char *name,
                            const char *flag) {
    size_t name_len = strlen(name);
    for (size_t at = 0; at < len;) {
        size_t n = strnlen(environment + at, len - at);
        if (n > name_len && memcmp(environment + at, name, name_len) == 0)
            return java_args_flag(environment + at + name_len, n - name_len, flag);
        at += n + 1;
    }
    return 0;
}

int jvm_flag(const struct jvm *j, const char *flag) {
    char *text = malloc(TEXT_MAX);
    if (!text)
        return 0;
    int command = 0, before = 0, after = 0, launcher = 0;
    struct java_args args;
    ssize_t n = proc_read(j->pid, "cmdline", text, TEXT_MAX);
    if (n > 0) {
        bool known = java_args_parse(text, (size_t)n, &args) && args.options_len > 0;
        command = java_args_flag(text, known ? args.options_len : (size_t)n, flag);
    }
    n = proc_read(j->pid, "environ", text, TEXT_MAX);
    if (n > 0) {
        before = flag_in_variable(text, (size_t)n, "JAVA_TOOL_OPTIONS=", flag);
        launcher = flag_in_variable(text, (size_t)n, "JDK_JAVA_OPTIONS=", flag);
        after = flag_in_variable(text, (size_t)n, "_JAVA_OPTIONS=", flag);
    }
    free(text);
    return after ? after : command ? command : launcher ? launcher : before;
}
