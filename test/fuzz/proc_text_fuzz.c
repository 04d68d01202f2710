/* What a process says of itself in /proc: the first byte chooses the file, the rest is its text. */
#include "attach/find/container.h"
#include "attach/find/java_args.h"
#include "attach/proc/proc.h"
#include "core/base/clean_text.h"
#include "core/base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No control character of either set. */
static void check_shown(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    for (; *p; p++)
        if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
            abort();
}

static void try_stat(const char *text) {
    struct proc_stat st = {0};
    if (proc_stat_parse(text, &st) == 0)
        check_shown(st.comm);
}

static void try_cgroup(const char *text) {
    char name[CONTAINER_NAME];
    container_parse(text, name);
    if (strlen(name) >= sizeof name)
        abort();
    check_shown(name);
}

/* Ends with a NUL, or is no command line. */
static void try_command_line(const char *text, size_t size) {
    struct java_args args;
    if (java_args_parse(text, size, &args) &&
        (args.main < text || args.main >= text + size || args.options_len > size ||
         args.program < args.main || args.program + args.program_len > text + size))
        abort();
    java_args_flag(text, size, "DisableAttachMechanism");
}

static void try_name(char *text, size_t size) {
    char *clean = malloc(size + 1);
    if (!clean)
        return;
    if (clean_text(clean, size + 1, text, size) > size)
        abort();
    check_shown(clean);
    free(clean);
    utf8_clean(text);
    check_shown(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 4) {
    case 0:
        try_stat(text);
        break;
    case 1:
        try_cgroup(text);
        break;
    case 2:
        try_command_line(text, size);
        break;
    default:
        try_name(text, size - 1);
    }
    free(text);
    return 0;
}
