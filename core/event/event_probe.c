/* Probes in the kernel's and in libraries' code, by the kprobe and uprobe PMUs (Linux 4.17).
 * source: kernel/events/core.c, kernel/trace/trace_event_perf.c */
#include "core/event/event_parts.h"

#include "core/base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the bit of return probes from format/retprobe ("config:0"). */
static int return_bit(const char *directory, const char *text, uint64_t *bit, struct err *e) {
    char path[PATH_MAX], format[64];
    snprintf(path, sizeof path, "%s/format/retprobe", directory);
    int r = file_line(path, format, sizeof format);
    char *end = format;
    unsigned long n = 64;
    if (r == 0 && strncmp(format, "config:", 7) == 0)
        n = strtoul(format + 7, &end, 10);
    if (n > 63 || *end)
        return event_wrong(e, ENOTSUP, text, "this kernel does not describe return probes in %s",
                           path);
    *bit = UINT64_C(1) << n;
    return 0;
}

static int no_device(const char *text, const char *device, const char *directory, struct err *e) {
    return event_wrong(e, ENODEV, text,
                       "this kernel has no %ss for perf (no %s): it needs Linux 4.17 and "
                       "CONFIG_%s_EVENTS",
                       device, directory, device[0] == 'k' ? "KPROBE" : "UPROBE");
}

/* Sets the place of a kprobe: "function", "function+0x10", "0xffffffff81000000". */
static int set_kernel_place(const char *text, const char *place, struct wire_engine_request *out,
                            struct err *e) {
    uint64_t offset;
    if (event_number(place, &out->perf.config2)) /* kprobe_addr, with kprobe_func 0 */
        return 0;
    snprintf(out->text, sizeof out->text, "%s", place);
    if (event_cut_offset(out->text, &offset) < 0 || !out->text[0])
        return event_wrong(e, EINVAL, text, "the form is kprobe:FUNCTION[+OFFSET]");
    out->flags |= WIRE_ENGINE_TEXT_CONFIG;
    out->perf.config2 = offset;
    return 0;
}

int event_probe_parse(const struct event_places *places, const char *text,
                      struct wire_engine_request *out, struct err *e) {
    const char *device = text[0] == 'k' ? "kprobe" : "uprobe";
    const char *place = strchr(text, ':') + 1;
    char directory[PATH_MAX / 2], path[PATH_MAX];
    uint64_t type;
    snprintf(directory, sizeof directory, "%s/%s", places->devices, device);
    snprintf(path, sizeof path, "%s/type", directory);
    out->event = WIRE_EVENT_PERF;
    out->interval = 1;
    if (!*place || strlen(place) >= sizeof out->text)
        return event_wrong(e, EINVAL, text, "the form is %s",
                           device[0] == 'k' ? "kprobe:FUNCTION[+OFFSET]"
                                            : "uprobe:LIBRARY:FUNCTION or uprobe:LIBRARY+OFFSET");
    if (event_read_number(path, &type) < 0 || type > UINT32_MAX)
        return no_device(text, device, directory, e);
    out->perf.type = (uint32_t)type;
    if (text[1] == 'r') { /* kretprobe, uretprobe */
        int r = return_bit(directory, text, &out->perf.config, e);
        if (r < 0)
            return r;
    }
    if (device[0] == 'k')
        return set_kernel_place(text, place, out, e);
    snprintf(out->text, sizeof out->text, "%s", place); /* event_resolve looks it up */
    return 0;
}
