/*
 * Writes a flight recording with one chunk, made from the profile after sampling has ended.
 *
 * One event is written for every sample. (A wall clock event stands for several samples.) The
 * profile knows only the second of a sample, so samples are spread over their second; otherwise
 * they would look like a burst. If the leaf is a class (of an object, of a lock), it becomes a
 * field of the event. Allocations are written as jdk.ObjectAllocationInNewTLAB, as async-profiler
 * does it: the sample's weight is the field with the TLAB's size.
 */
#include "core/base/hash.h"
#include "core/export/formats.h"
#include "core/export/jfr/jfr_notes.h"
#include "core/export/jfr_rate.h"
#include "core/profile/snapshot/history_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS UINT64_C(1000000000)
#define EVENTS_MAX 16777216u /* if there are more samples, the file states how many are missing */

struct part {
    const struct export_part *of;
    const struct query *question;
    const struct jfr_kind *kind;
    struct history_reading *r;
    uint32_t *thread; /* number of a thread in the reading → its number in the chunk */
    uint64_t left_out;
};

struct file {
    struct text *out;
    const struct profile *p;
    struct jfr_chunk *chunk;
    struct part *part;
    int parts;
    struct jfr_rate rate;
    bool taken; /* one event is already written as execution samples */
    uint64_t written;
    uint64_t first, last; /* seconds */
};

/* Adds a sample. `seed` gives different items different offsets within their second. */
static void add_item(struct file *f, struct part *a, struct history_item *it, uint64_t seed) {
    bool sum = jfr_kind_is_sum(a->kind);
    if (!it->mark) /* the second time, it is known */
        it->mark = jfr_chunk_stack(f->chunk, f->p, a->question, it->node);
    struct jfr_sample s = {
        .kind = a->kind,
        .count = sum ? it->count : 1,
        .thread = a->thread[it->thread],
        .stack = it->mark,
        .state = jfr_state_of(it->state),
        .event = a->of->quality->event,
        .unit = a->of->quality->unit,
    };
    uint64_t events = sum || !it->count ? 1 : it->count;
    uint64_t room = events < EVENTS_MAX - f->written ? events : EVENTS_MAX - f->written;
    uint64_t offset = (hash_word(seed) >> 32) * NS >> 32;
    for (uint64_t i = 0; i < room; i++) {
        s.time_ns = it->second * NS + (offset + i * (NS / events)) % NS;
        s.weight = it->weight / events + (i < it->weight % events);
        jfr_chunk_add(f->chunk, &s);
    }
    f->written += room;
    a->left_out += events - room;
}

static int read_part(struct file *f, struct part *a) {
    static const struct query everything = {0};
    if (!a->question)
        a->question = &everything;
    a->kind = jfr_kind_for(a->of->quality, &f->taken);
    a->r = history_read(f->p, a->question);
    a->thread = a->r ? calloc((size_t)a->r->threads + 1, sizeof *a->thread) : NULL;
    if (!a->thread)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->r->threads; i++) {
        const struct history_thread *t = &a->r->thread[i];
        a->thread[i] = jfr_chunk_thread(f->chunk, t->tid, t->java_id, t->is_virtual, t->name);
    }
    if (a->r->items && (f->last == 0 || a->r->first < f->first))
        f->first = a->r->first;
    if (a->r->items && a->r->last >= f->last)
        f->last = a->r->last;
    return 0;
}

/* Only "Main (pid 123)" is known about the JVM here. */
static void note_vm(struct file *f, const struct export_quality *q, uint64_t time_ns) {
    const char *pid = q->jvm ? strstr(q->jvm, " (pid ") : NULL;
    char name[256] = "";
    if (q->jvm)
        snprintf(name, sizeof name, "%.*s", (int)(pid ? (size_t)(pid - q->jvm) : strlen(q->jvm)),
                 q->jvm);
    const struct jfr_vm vm = {.arguments = name, .pid = pid ? strtoull(pid + 6, NULL, 10) : 0};
    jfr_note_vm(f->chunk, time_ns, &vm);
}

static void write_events(struct file *f, struct text *events) {
    f->written = 0;
    jfr_chunk_to(f->chunk, events);
    for (int k = 0; k < f->parts; k++) {
        f->part[k].left_out = 0;
        jfr_rate_anew(&f->rate);
        for (size_t i = 0; i < f->part[k].r->items && !events->failed; i++)
            add_item(f, &f->part[k], &f->part[k].r->item[i], i + 1);
    }
}

static int count_bytes(void *arg, const char *data, size_t len) {
    uint64_t *bytes = arg;
    (void)data;
    *bytes += len;
    return 0;
}

/* Returns the size of all events, and makes the constants that they refer to. */
static uint64_t measure_events(struct file *f) {
    uint64_t bytes = 0;
    struct text unwritten = {.sink = count_bytes, .sink_arg = &bytes};
    write_events(f, &unwritten);
    bytes += unwritten.len;
    f->out->failed |= unwritten.failed;
    text_free(&unwritten);
    return bytes;
}

/* Appends to `tail` what follows the events, up to the stacks. `before`: the size of what is before
 * it in the chunk. */
static void write_tail(struct file *f, const struct export_options *o, struct text *tail,
                       uint64_t before, struct jfr_header *h) {
    const struct export_quality *q = f->part[0].of->quality;
    jfr_chunk_to(f->chunk, tail);
    jfr_note_recording(f->chunk, h->start_ns, h->day, q->elapsed_ns);
    note_vm(f, q, h->start_ns);
    for (int k = 0; k < f->parts; k++)
        jfr_note_quality(f->chunk, h->start_ns, f->part[k].kind, f->part[k].of, o,
                         f->part[k].left_out);
    h->metadata = before + tail->len;
    jfr_metadata(tail, h->start_ns);
    h->checkpoint = before + tail->len;
    jfr_chunk_checkpoint(f->chunk, tail, h->start_ns, 0);
    h->bytes = before + tail->len + jfr_chunk_late_bytes(f->chunk);
}

/* The header has the positions of what follows it, so everything is measured first. Events and stacks
 * are then made a second time, which takes less than keeping them. */
static void write_chunk(struct file *f, const struct export_options *o) {
    char header[JFR_HEADER_BYTES] = {0};
    struct text tail = {0};
    struct jfr_header h = {.start_ns = f->first * NS,
                           .duration_ns = (f->last - f->first + 1) * NS,
                           .day = formats_time_of_day(f->part[0].of->quality, f->last),
                           .last = true};
    write_tail(f, o, &tail, sizeof header + measure_events(f), &h);
    jfr_header_write(header, &h);
    text_add_n(f->out, header, sizeof header);
    write_events(f, f->out);
    f->out->failed |= tail.failed;
    if (!f->out->failed)
        text_add_n(f->out, tail.data, tail.len);
    jfr_chunk_write_stacks(f->chunk, f->p, f->out);
    f->out->failed |= jfr_chunk_failed(f->chunk);
    text_free(&tail);
}

int jfr_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                   int parts, const struct export_options *o) {
    struct file f = {.out = out,
                     .p = p,
                     .chunk = jfr_chunk_new(),
                     .part = calloc((size_t)parts, sizeof *f.part),
                     .parts = parts};
    int err = f.chunk && f.part ? 0 : -ENOMEM;
    f.rate.limits = o->limits;
    if (!err) {
        jfr_chunk_stacks_later(f.chunk);
        jfr_chunk_limit(f.chunk, &f.rate);
    }
    for (int k = 0; k < parts && !err; k++) {
        f.part[k].of = &part[k];
        f.part[k].question = part[k].question;
        err = read_part(&f, &f.part[k]);
    }
    if (!err)
        write_chunk(&f, o);
    for (int k = 0; k < parts && f.part; k++) {
        history_reading_free(f.part[k].r);
        free(f.part[k].thread);
    }
    free(f.part);
    jfr_chunk_free(f.chunk);
    return err || out->failed ? -ENOMEM : 0;
}

int jfr_export(struct text *out, const struct profile *p, const struct snapshot *s,
               const struct export_quality *q, const struct export_options *o) {
    const struct export_part part = {.snapshot = s, .quality = q, .question = o->question};
    return jfr_export_all(out, p, &part, 1, o);
}
