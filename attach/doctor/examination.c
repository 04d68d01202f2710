#include "attach/doctor/examine.h"

#include "attach/proc/proc.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill(char *out, size_t size, const char *fmt, va_list args) {
    vsnprintf(out, size, fmt, args);
    utf8_clean(out);
}

struct finding *examine_add(struct examiner *x, const char *id, const char *title,
                            enum finding_level level, const char *fmt, ...) {
    va_list args;
    struct finding *f = x->count < x->cap ? &x->out[x->count++] : &x->spare;
    *f = (struct finding){.id = id, .title = title, .level = level, .machine = x->machine};
    va_start(args, fmt);
    fill(f->fact, sizeof f->fact, fmt, args);
    va_end(args);
    return f;
}

void examine_remedy(struct finding *f, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fill(f->remedy, sizeof f->remedy, fmt, args);
    va_end(args);
}

int examine_line(const char *path, char *out, size_t size) {
    int r = file_line(path, out, size);
    utf8_clean(out);
    return r;
}

long examine_number(const char *path, long missing, int *error) {
    char text[64], *end;
    int rc = examine_line(path, text, sizeof text);
    *error = -rc;
    if (rc < 0)
        return missing;
    long n = strtol(text, &end, 10);
    if (end != text)
        return n;
    *error = EPROTO;
    return missing;
}

int examine_release(const char *version) {
    int major = 0;
    if (sscanf(version, "%d", &major) != 1 || major < 0)
        return 0;
    return major == 25 && !strncmp(version, "25.", 3) && strstr(version, "-b") &&
                   !strchr(version, '+')
               ? 8
               : major;
}

const char *examine_capabilities(uint64_t set, char *out, size_t size) {
    static const struct {
        int number;
        const char *name;
    } all[] = {{CAPABILITY_PERFMON, "CAP_PERFMON"},
               {CAPABILITY_SYS_ADMIN, "CAP_SYS_ADMIN"},
               {CAPABILITY_SYS_PTRACE, "CAP_SYS_PTRACE"},
               {CAPABILITY_SETUID, "CAP_SETUID"},
               {CAPABILITY_IPC_LOCK, "CAP_IPC_LOCK"}};
    size_t len = 0;
    snprintf(out, size, "none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SETUID");
    for (size_t i = 0; i < sizeof all / sizeof *all && len < size; i++)
        if (process_status_has(set, all[i].number))
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", all[i].name);
    return out;
}

const char *examine_unread(const struct examiner *x, char *out, size_t size) {
    out[0] = '\0';
    if (x->options.error)
        snprintf(out, size, " (%s cannot be read: %s)", x->options.unread,
                 strerror(x->options.error));
    return out;
}

static void look_at(struct examiner *x) {
    x->target_error = -process_status_read(x->jvm->pid, &x->target);
    x->maps_error = -process_maps_read(x->jvm->pid, &x->maps);
    java_options_read(x->jvm, true, &x->options);
    snprintf(x->version, sizeof x->version, "%s", x->jvm->version);
    x->release = examine_release(x->version);
}

int examine(const struct jvm *j, uid_t uid, const char *library, struct finding *out, int cap) {
    static void (*const of_machine[])(struct examiner * x) = {examine_kernel, examine_perf,
                                                              examine_security};
    static void (*const of_jvm[])(struct examiner * x) = {examine_process, examine_vm,
                                                          examine_attach,  examine_place,
                                                          examine_rights,  examine_cgroups};
    struct examiner x = {.jvm = j, .uid = uid, .library = library, .out = out, .cap = cap};
    process_status_read(getpid(), &x.self);
    x.library_error = library ? -library_needs_read(library, &x.needs) : ENOENT;
    x.machine = true;
    for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++)
        of_machine[i](&x);
    x.machine = false;
    if (j)
        look_at(&x);
    for (size_t i = 0; j && i < sizeof of_jvm / sizeof *of_jvm; i++)
        of_jvm[i](&x);
    return x.count;
}
