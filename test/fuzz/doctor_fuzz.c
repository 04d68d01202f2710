/* What the doctor reads of a process: its status, maps and options as texts, and libraries. The
 * first byte says as what. */
#include "attach/doctor/examine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_maps(char *text) {
    struct process_maps m = {0};
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        process_maps_line(&m, line);
    if (strpbrk(m.libc_path, "\033\n") || strpbrk(m.vm_path, "\033\n") ||
        strpbrk(m.profiler, "\033"))
        abort();
}

static void check_options(const char *text, size_t size) {
    struct java_options o = {.error = 0};
    java_options_scan(&o, "here", text, size);
    for (size_t i = 0; i < JAVA_OPTIONS_COUNT; i++)
        if (o.option[i].said < -1 || o.option[i].said > 1 ||
            !o.option[i].said != !o.option[i].source)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct library_needs needs;
    struct process_status status;
    if (size < 1)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] & 3) {
    case 0:
        if (process_status_parse(text, &status) && (status.seccomp > 9 || status.seccomp < -1))
            abort();
        (void)examine_release(text);
        break;
    case 1:
        check_maps(text);
        break;
    case 2:
        check_options(text, size - 1);
        break;
    default:
        if (library_needs_parse(text, size - 1, &needs) == 0 &&
            !memchr(needs.beyond_libc, '\0', sizeof needs.beyond_libc))
            abort();
        (void)library_glibc_minor(text, size - 1);
    }
    free(text);
    return 0;
}
