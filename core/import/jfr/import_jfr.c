/*
 * Reads JFR files as the JDK, async-profiler and this program write them. jfr_events.h shows
 * what each event becomes. The file is read twice, because its description must be written
 * before its samples.
 */
#include "core/import/importer.h"
#include "core/import/jfr/jfr_samples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NS UINT64_C(1000000000)

struct file {
    const uint8_t *data;
    size_t bytes;
    struct import_result *result;
    struct err *e;
    struct jfr_survey survey;
    struct jfr_samples samples;
};

static bool knows(const uint8_t *head, size_t bytes, bool whole) {
    (void)whole;
    return bytes >= sizeof JFR_MAGIC && !memcmp(head, JFR_MAGIC, sizeof JFR_MAGIC);
}

/* Stores only the first damage that is found. */
static void damaged(struct file *f, const uint8_t *at, const char *what) {
    if (!f->result->damage[0])
        snprintf(f->result->damage, sizeof f->result->damage, "at byte %zu: %s",
                 (size_t)(at - f->data), what);
}

/* Calls `use` for each chunk that can be read. */
static int each_chunk(struct file *f, int (*use)(struct file *, struct jfr_chunk *)) {
    const uint8_t *at = f->data, *end = f->data + f->bytes;
    while (at < end) {
        struct jfr_chunk k;
        const char *why;
        int r = jfr_chunk_open(&k, at, (size_t)(end - at), &why);
        if (r == -EINVAL && at == f->data)
            return err_set(f->e, EINVAL, "this JFR file cannot be read: %s", why);
        if (r == -ENOMEM)
            return err_set(f->e, ENOMEM, "out of memory");
        if (r == 0)
            r = use(f, &k);
        else
            damaged(f, at, why);
        if (r == 0 && !k.whole)
            damaged(f, at, "this chunk is cut, or still being written");
        if (r == 0 && k.damage)
            damaged(f, k.damage, "the events from here to the end of their chunk are invalid");
        at = k.end;
        jfr_chunk_close(&k);
        if (r < 0 && r != -ENODATA)
            return r == -EINVAL ? 0 : r;
    }
    return 0;
}

static int survey(struct file *f, struct jfr_chunk *k) {
    struct jfr_events ev;
    jfr_events_bind(&ev, k);
    jfr_events_survey(&ev, k, &f->survey);
    if (!f->survey.both)
        return 0;
    int r = jfr_chunk_read_constants(k);
    if (r == 0)
        jfr_events_survey_states(&ev, k, &f->survey);
    return r == -ENOMEM ? err_set(f->e, ENOMEM, "out of memory") : r;
}

static int sample(struct file *f, struct jfr_chunk *k) {
    int r = jfr_samples_read(&f->samples, k);
    return r == -ENOMEM ? err_set(f->e, ENOMEM, "out of memory") : r;
}

static int living(struct file *f, struct jfr_chunk *k) {
    return jfr_samples_read_living(&f->samples, k);
}

/* Needed only if live objects are not themselves read as the allocations. */
static int find_living(struct file *f) {
    enum wire_event event;
    if (!f->survey.count[JFR_LIVE] || jfr_survey_wants(&f->survey, JFR_LIVE, &event))
        return 0;
    int r = each_chunk(f, living);
    jfr_live_settle(&f->samples.living);
    f->samples.left_out = 0;
    return r;
}

/* Writes a mark for every event of the file, or for CPU time if it has none. */
static void mark(struct file *f, uint64_t time_ns) {
    uint32_t told = 0;
    for (unsigned row = 0; row < JFR_SAMPLES; row++) {
        enum wire_event event;
        if (!f->survey.count[row] || !jfr_survey_wants(&f->survey, row, &event) ||
            told & 1u << event)
            continue;
        told |= 1u << event;
        /* A native method sample's period is a time, but its weight is not. */
        emit_mark(f->samples.emit, time_ns, event, jfr_survey_name(&f->survey, event),
                  row == JFR_NATIVE_METHOD
                      ? 0
                      : jfr_period(&f->survey, row, f->survey.period, f->survey.jdk),
                  true);
    }
    if (!told)
        emit_mark(f->samples.emit, time_ns, WIRE_EVENT_CPU, "cpu",
                  jfr_period(&f->survey, JFR_EXECUTION, f->survey.period, f->survey.jdk), true);
}

static int emit_all(struct file *f) {
    const struct jfr_survey *s = &f->survey;
    uint64_t lasts = s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;
    f->samples.base_ns = s->start_ns - JFR_LEAD_NS;
    emit_jvm(f->samples.emit, s->pid, (struct wire_text){s->name, strlen(s->name)},
             (struct wire_text){s->version, strlen(s->version)}, f->samples.base_ns);
    mark(f, JFR_LEAD_NS);
    int r = find_living(f);
    f->result->damage[0] = '\0';
    if (r == 0)
        r = each_chunk(f, sample);
    lasts += JFR_LEAD_NS;
    if (r == 0)
        mark(f, lasts > f->samples.last_ns ? lasts : f->samples.last_ns);
    return r ? r : emit_failure(f->samples.emit);
}

static int read(const uint8_t *data, size_t bytes, import_record *each, void *arg,
                struct import_result *result, struct err *e) {
    struct file f = {.data = data, .bytes = bytes, .result = result, .e = e};
    int r = each_chunk(&f, survey);
    if (r == 0)
        r = jfr_samples_open(&f.samples, &f.survey, each, arg);
    if (r == 0)
        r = emit_all(&f);
    if (r == -ENOMEM)
        err_set(e, ENOMEM, "out of memory");
    if (r == 0 && f.samples.left_out && !result->damage[0])
        snprintf(result->damage, sizeof result->damage, "%llu samples have no valid stack",
                 (unsigned long long)f.samples.left_out);
    jfr_samples_close(&f.samples);
    return r;
}

const struct import_reader import_jfr = {"jfr", false, knows, read};
