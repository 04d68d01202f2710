/* The texts that are read before and during an attach: of /proc, of the JVM's start, and its words
 * about a library. The input is any of them. */
#include "attach/find/container.h"
#include "attach/find/java_args.h"
#include "attach/load/listener.h"
#include "attach/load/load_trouble.h"
#include "attach/load/standstill.h"
#include "attach/proc/proc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void command_line(const char *text, size_t size) {
    struct java_args args;
    int flag = java_args_flag(text, size, "DisableAttachMechanism");
    if (flag < -1 || flag > 1)
        abort();
    if (!java_args_parse(text, size, &args))
        return;
    const char *end = text + size;
    if (args.main < text || args.main + strlen(args.main) >= end || args.options_len > size ||
        args.program + args.program_len != end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), out[64], name[CONTAINER_NAME];
    struct proc_stat st;
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    command_line(text, size);
    command_line(text, size + 1);
    if (standstill_file(text, out, sizeof out) && (*out != '/' || strstr(out, "/../")))
        abort();
    if (strlen(container_parse(text, name)) >= sizeof name)
        abort();
    if (proc_stat_parse(text, &st) == 0 && strlen(st.comm) >= sizeof st.comm)
        abort();
    listener_line(text, 12);
    listener_is_renewed(text);
    load_kind(text, "/a/libjtop-agent.so");
    free(text);
    return 0;
}
