/*
 * What a format writes of a fixture's profile.
 */
#ifndef JTOP_TEST_WRITTEN_H
#define JTOP_TEST_WRITTEN_H

#include "test/unit/export/export_fixture.h"

static const struct export_quality written_quality = {
    .event = "cpu",
    .unit = "ns",
    .interval = 10000000,
    .elapsed_ns = 3000000000,
    .dropped = 2,
    .jvm = "shop.Main (pid 7)",
    .failed = {{"no_caller", 1}},
    .failed_count = 1,
};

/* By its name after -o. The text is the caller's to free. */
static inline struct text written(const char *format, const struct profile *p,
                                  const struct snapshot *s, const struct export_options *o) {
    struct text out = {0};
    struct export_options unused = {0};
    const struct exporter *x = exporter_by_format(format, &unused);
    assert(x);
    int err = x->write(&out, p, s, &written_quality, o);
    assert(!err && !out.failed);
    (void)err;
    return out;
}

/* The same of several events: each as the first, of another name. */
static inline struct text written_all(const char *format, const struct profile *p,
                                      const struct export_part *part, int parts,
                                      const struct export_options *o) {
    struct text out = {0};
    struct export_options unused = {0};
    const struct exporter *x = exporter_by_format(format, &unused);
    assert(x && x->write_all);
    int err = x->write_all(&out, p, part, parts, o);
    assert(!err && !out.failed);
    (void)err;
    return out;
}

#endif
