#include "core/export/jfr/jfr_notes.h"

#include "core/export/caption.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void jfr_note_machine(struct jfr_chunk *c, uint64_t time_ns) {
    struct utsname name;
    char text[sizeof name.sysname + sizeof name.release + sizeof name.version + 2];
    if (uname(&name) != 0)
        return;
    snprintf(text, sizeof text, "%s %s %s", name.sysname, name.release, name.version);
    struct text *event = jfr_chunk_begin(c, "jdk.OSInformation", time_ns);
    jfr_string(event, text);
    jfr_chunk_end(c);

    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    event = jfr_chunk_begin(c, "jdk.CPUInformation", time_ns);
    jfr_string(event, name.machine);
    jfr_string(event, NULL); /* description */
    jfr_number(event, 0);    /* sockets: unknown */
    jfr_number(event, 0);    /* cores */
    jfr_number(event, cpus > 0 ? (uint64_t)cpus : 0);
    jfr_chunk_end(c);
}

static void property(struct jfr_chunk *c, uint64_t time_ns, const char *key, const char *value) {
    if (!value || !value[0])
        return;
    struct text *event = jfr_chunk_begin(c, "jdk.InitialSystemProperty", time_ns);
    jfr_string(event, key);
    jfr_string(event, value);
    jfr_chunk_end(c);
}

void jfr_note_vm(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_vm *vm) {
    struct text *event = jfr_chunk_begin(c, "jdk.JVMInformation", time_ns);
    jfr_string(event, vm->name);
    jfr_string(event, vm->version);
    jfr_string(event, NULL); /* arguments of the JVM itself */
    jfr_string(event, NULL); /* arguments from its settings file */
    jfr_string(event, vm->arguments);
    jfr_number(event, vm->start_ms);
    jfr_number(event, vm->pid);
    jfr_chunk_end(c);
    property(c, time_ns, "java.vm.name", vm->name);
    property(c, time_ns, "java.vm.version", vm->version);
    property(c, time_ns, "sun.java.command", vm->arguments);
    if (vm->release) {
        char release[16];
        snprintf(release, sizeof release, vm->release < 9 ? "1.%d" : "%d", vm->release);
        property(c, time_ns, "java.vm.specification.version", release);
    }
}

void jfr_note_library(struct jfr_chunk *c, uint64_t time_ns, const char *path, uint64_t begin,
                      uint64_t end) {
    struct text *event = jfr_chunk_begin(c, "jdk.NativeLibrary", time_ns);
    jfr_string(event, path);
    jfr_number(event, begin);
    jfr_number(event, end);
    jfr_chunk_end(c);
}

struct setting {
    struct jfr_chunk *chunk;
    uint64_t time_ns;
    uint32_t of; /* type */
};

static void setting(const struct setting *s, const char *name, const char *value) {
    struct text *event = jfr_chunk_begin(s->chunk, "jdk.ActiveSetting", s->time_ns);
    jfr_number(event, 0); /* duration */
    jfr_number(event, 0); /* thread */
    jfr_number(event, s->of);
    jfr_string(event, name);
    jfr_string(event, value);
    jfr_chunk_end(s->chunk);
}

static void number_setting(const struct setting *s, const char *name, uint64_t n) {
    char value[32];
    snprintf(value, sizeof value, "%" PRIu64, n);
    setting(s, name, value);
}

void jfr_note_recording(struct jfr_chunk *c, uint64_t time_ns, int64_t day, uint64_t elapsed_ns) {
    struct text *event = jfr_chunk_begin(c, "jdk.ActiveRecording", time_ns);
    jfr_number(event, elapsed_ns);
    jfr_number(event, 0); /* thread */
    jfr_number(event, 1); /* id */
    jfr_string(event, "jtop-prof " JTOP_VERSION);
    jfr_string(event, NULL); /* destination */
    jfr_number(event, 0);    /* age */
    jfr_number(event, 0);    /* size */
    jfr_number(event, (time_ns + (uint64_t)day) / 1000000);
    jfr_number(event, elapsed_ns / 1000000);
    jfr_chunk_end(c);
    const struct setting s = {c, time_ns, jfr_type("jdk.ActiveRecording")};
    setting(&s, "version", JTOP_VERSION);
    setting(&s, "clock", "monotonic");
}

void jfr_note_quality(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_kind *kind,
                      const struct export_part *part, const struct export_options *o,
                      uint64_t left_out) {
    const struct export_quality *q = part->quality;
    const struct setting s = {c, time_ns, jfr_type(jfr_kind_type(kind))};
    struct text title = {0}, subtitle = {0};
    caption_title(&title, q, o);
    caption_subtitle(&subtitle, part->snapshot, q, o);
    setting(&s, "profile", title.data);
    setting(&s, "quality", subtitle.data);
    setting(&s, "event", q->event);
    number_setting(&s, jfr_kind_interval(kind), q->interval); /* readers accept only digits here */
    number_setting(&s, "dropped", q->dropped);
    if (jfr_kind_limit(kind, &o->limits))
        number_setting(&s, "ratelimit", jfr_kind_limit(kind, &o->limits) - 1);
    if (left_out)
        number_setting(&s, "left out of this file", left_out);
    text_free(&title);
    text_free(&subtitle);
}

/* ---- figures ---- */

static void real_number(struct text *event, double n) {
    float f = (float)n;
    uint32_t bits;
    char raw[4];
    memcpy(&bits, &f, sizeof bits);
    jfr_big_endian(raw, bits, 4);
    text_add_n(event, raw, sizeof raw);
}

void jfr_note_figures(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_figures *f) {
    if (f->jvm_user >= 0 && f->jvm_system >= 0 && f->machine >= 0) {
        struct text *event = jfr_chunk_begin(c, "jdk.CPULoad", time_ns);
        real_number(event, f->jvm_user);
        real_number(event, f->jvm_system);
        real_number(event, f->machine);
        jfr_chunk_end(c);
    }
    if (f->heap_used && f->heap_committed) {
        struct text *event = jfr_chunk_begin(c, "jdk.GCHeapSummary", time_ns);
        jfr_number(event, f->collections < INT32_MAX ? f->collections : INT32_MAX);
        jfr_number(event, 1); /* when */
        jfr_number(event, 0); /* where the heap begins: unknown */
        jfr_number(event, 0); /* where it ends: unknown */
        jfr_number(event, f->heap_committed);
        jfr_number(event, 0);
        jfr_number(event, f->heap_max);
        jfr_number(event, f->heap_used);
        jfr_chunk_end(c);
    }
}

void jfr_note_window(struct jfr_chunk *c, uint64_t begin_ns, uint64_t end_ns) {
    struct text *event = jfr_chunk_begin(c, "profiler.Window", begin_ns);
    jfr_number(event, end_ns - begin_ns);
    jfr_number(event, 0); /* thread */
    jfr_chunk_end(c);
}

void jfr_note_process(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_process *p) {
    struct text *event = jfr_chunk_begin(c, "profiler.ProcessSample", time_ns);
    jfr_number(event, p->pid);
    jfr_number(event, p->parent);
    jfr_string(event, p->name);
    jfr_string(event, p->command);
    jfr_number(event, p->uid);
    text_add_n(event, &p->state, 1);
    jfr_number(event, p->start_ms);
    real_number(event, p->user_s);
    real_number(event, p->system_s);
    real_number(event, p->share);
    jfr_number(event, p->threads);
    const uint64_t rest[] = {p->size,         p->resident,     p->anonymous, p->files,  p->shared,
                             p->minor_faults, p->major_faults, p->read,      p->written};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        jfr_number(event, rest[i]);
    jfr_chunk_end(c);
}
