#include "core/export/caption.h"

#include "core/export/formats.h"
#include "core/export/human.h"

#include <inttypes.h>
#include <string.h>

#define SEPARATOR " \xc2\xb7 "

void caption_title(struct text *out, const struct export_quality *q,
                   const struct export_options *o) {
    static const struct {
        const char *event, *title;
    } known[] = {
        {"cpu", "CPU profile"},
        {"wall", "Wall clock profile"},
        {"alloc", "Allocation profile"},
        {"lock", "Lock profile"},
        {"live", "Live objects"},
        {"nativemem", "Native memory profile"},
        {"leak", "Native memory not freed"},
        {"nativelock", "Native lock profile"},
    };
    const char *event = q->event ? q->event : "";
    if (o->title) {
        text_add(out, o->title);
        return;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!strcmp(event, known[i].event)) {
            text_add(out, known[i].title);
            return;
        }
    }
    text_add(out, event[0] ? event : "Flame graph");
    text_add(out, event[0] ? " profile" : "");
}

static void add_failed(struct text *out, const struct snapshot *s, const struct export_quality *q) {
    uint64_t failed = 0;
    for (int i = 0; i < q->failed_count; i++)
        failed += q->failed[i].samples;
    if (!failed)
        return;
    text_add(out, SEPARATOR);
    human_count(out, failed);
    text_addf(out, " failed walk%s (%.2f%%", failed == 1 ? "" : "s",
              formats_percent(failed, q->walks ? q->walks : s->samples));
    for (int i = 0; i < q->failed_count; i++) {
        if (!q->failed[i].samples)
            continue;
        text_add(out, ", ");
        text_add(out, q->failed[i].name);
        text_add(out, " ");
        human_count(out, q->failed[i].samples);
    }
    text_add(out, ")");
}

/* Adds the quality figures that only some events have. */
static void add_event_quality(struct text *out, const struct export_quality *q) {
    if (q->biased)
        text_add(out, SEPARATOR "BIASED: sampled at safepoints only");
    if (q->coverage > 0)
        text_addf(out, SEPARATOR "coverage %.1f%%", 100 * q->coverage);
    if (q->windows) {
        text_add(out, SEPARATOR);
        human_count(out, q->windows);
        text_addf(out, " window%s, ", q->windows == 1 ? "" : "s");
        human_weight(out, q->window_ns, "ns");
    }
}

void caption_subtitle(struct text *out, const struct snapshot *s, const struct export_quality *q,
                      const struct export_options *o) {
    const char *unit = q->unit ? q->unit : "total";
    if (q->jvm) {
        text_add(out, q->jvm);
        text_add(out, SEPARATOR);
    }
    if (q->event) {
        text_add(out, q->event);
        if (q->interval) {
            text_add(out, " every ");
            human_weight(out, q->interval, unit);
        }
        text_add(out, SEPARATOR);
    }
    if (q->elapsed_ns) {
        human_weight(out, q->elapsed_ns, "ns");
        text_add(out, SEPARATOR);
    }
    if (q->uncounted) {
        text_add(out, "no sample counts" SEPARATOR);
    } else {
        human_count(out, s->samples);
        text_addf(out, " sample%s" SEPARATOR, s->samples == 1 ? "" : "s");
    }
    human_count(out, q->dropped);
    text_add(out, " dropped");
    if (q->dropped)
        text_addf(out, " (%.2f%%)", formats_percent(q->dropped, s->samples + q->dropped));
    add_failed(out, s, q);
    add_event_quality(out, q);
    if (q->walker) {
        text_add(out, SEPARATOR "walker ");
        text_add(out, q->walker);
    }
    if (q->precise) {
        text_add(out, SEPARATOR "precise: ");
        text_add(out, q->precise);
    }
    if (o->total) {
        text_add(out, SEPARATOR "widths are ");
        text_add(out, unit);
    }
    if (o->reverse)
        text_add(out, SEPARATOR "from the leaf to its callers");
}
