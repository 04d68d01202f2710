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
static void add_item(struct file *f, struct part *a, const struct history_item *it, uint64_t seed) {
    bool sum = jfr_kind_is_sum(a->kind);
    struct jfr_sample s = {
        .kind = a->kind,
        .count = sum ? it->count : 1,
        .thread = a->thread[it->thread],
        .stack = jfr_chunk_stack(f->chunk, f->p, a->question, it->node),
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

static void write_chunk(struct file *f, const struct export_options *o) {
    char header[JFR_HEADER_BYTES] = {0};
    size_t start = f->out->len;
    uint64_t begin = f->first * NS;
    struct jfr_header h = {.start_ns = begin,
                           .duration_ns = (f->last - f->first + 1) * NS,
                           .day = formats_time_of_day(f->part[0].of->quality, f->last),
                           .last = true};
    text_add_n(f->out, header, sizeof header);
    for (int k = 0; k < f->parts; k++) {
        jfr_rate_anew(&f->rate);
        for (size_t i = 0; i < f->part[k].r->items && !f->out->failed; i++)
            add_item(f, &f->part[k], &f->part[k].r->item[i], i + 1);
    }
    jfr_note_recording(f->chunk, begin, h.day, f->part[0].of->quality->elapsed_ns);
    note_vm(f, f->part[0].of->quality, begin);
    for (int k = 0; k < f->parts; k++)
        jfr_note_quality(f->chunk, begin, f->part[k].kind, f->part[k].of, o, f->part[k].left_out);
    h.metadata = f->out->len - start;
    jfr_metadata(f->out, begin);
    h.checkpoint = f->out->len - start;
    jfr_chunk_checkpoint(f->chunk, f->out, begin, 0);
    h.bytes = f->out->len - start;
    f->out->failed |= jfr_chunk_failed(f->chunk);
    if (f->out->failed)
        return;
    jfr_header_write(header, &h);
    memcpy(f->out->data + start, header, sizeof header);
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
        jfr_chunk_to(f.chunk, out);
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
