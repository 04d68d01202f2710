/*
 * A file of another profiler, read as jtop-prof reads it, and what a report says of it.
 *
 *      struct imported f = import_bytes(bytes, size);
 *      expect_report(&f, WIRE_EVENT_CPU, "collapsed", &(struct export_options){0}, "a;b 3\n");
 *      imported_done(&f);
 *
 * Context: tests of cmocka.
 */
#ifndef JTOP_TEST_IMPORT_FIXTURE_H
#define JTOP_TEST_IMPORT_FIXTURE_H

#include "core/decode/decoder.h"
#include "core/export/export.h"
#include "core/import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct imported {
    struct profile *profile;
    struct decoder *decoder;
    struct import_result result;
    struct err error;
    int code; /* of import_file */
    bool known;
    uint64_t records;
};

static inline int imported_record(void *arg, const void *record) {
    struct imported *f = arg;
    uint64_t word;
    memcpy(&word, record, sizeof word);
    assert_int_equal((uintptr_t)record % 8, 0);
    assert_int_equal(wire_header_length(word) % 8, 0);
    assert_in_range(wire_header_length(word), 8, WIRE_RECORD_BYTES_MAX);
    decoder_decode(f->decoder, record);
    f->records++;
    return 0;
}

static inline void import_bytes(struct imported *f, const void *bytes, size_t size) {
    char path[] = "/tmp/jtop-import-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    *f = (struct imported){.profile = profile_new(0)};
    f->decoder = decoder_new(f->profile, NULL);
    assert_non_null(f->decoder);
    f->decoder->replay = true;
    f->known = import_knows(path);
    f->code = import_file(path, imported_record, f, &f->result, &f->error);
    decoder_flush(f->decoder);
    unlink(path);
    assert_int_equal(f->decoder->counts.bad, 0);
    assert_int_equal(f->decoder->counts.refused, 0);
    assert_int_equal(f->decoder->held.count, 0);
}

static inline void import_text(struct imported *f, const char *text) {
    import_bytes(f, text, strlen(text));
}

static inline void imported_done(struct imported *f) {
    decoder_free(f->decoder);
    profile_free(f->profile);
}

/* As `profile` prints in that format. Free it. */
static inline char *report_of(struct profile *p, int event, const char *format,
                              const struct export_options *o) {
    struct query q = {.event = event,
                      .tree = true,
                      .by_thread = o->threads,
                      .carriers = o->carriers,
                      .tiers = o->annotate};
    struct snapshot *s = snapshot_take(p, &q);
    struct text t = {0};
    struct export_options mine = *o, unused = {0};
    const struct export_quality quality = {
        .event = event_kind_name[event], .unit = event_kind_unit[event], .jvm = "x (pid 1)"};
    mine.question = &q;
    assert_non_null(s);
    text_add(&t, "");
    assert_int_equal(exporter_by_format(format, &unused)->write(&t, p, s, &quality, &mine), 0);
    snapshot_free(s);
    return t.data;
}

static inline void expect_report(struct imported *f, int event, const char *format,
                                 const struct export_options *o, const char *want) {
    char *got = report_of(f->profile, event, format, o);
    assert_string_equal(got, want);
    free(got);
}

#endif
