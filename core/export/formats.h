/*
 * The writers behind the rows of `exporters`, one source file each, and the helpers that
 * they share.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_FORMATS_H
#define JTOP_EXPORT_FORMATS_H

#include "core/export/export.h"
#include "core/profile/table/frame_name.h"

int text_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o);
int collapsed_export(struct text *out, const struct profile *p, const struct snapshot *s,
                     const struct export_quality *q, const struct export_options *o);
int svg_export(struct text *out, const struct profile *p, const struct snapshot *s,
               const struct export_quality *q, const struct export_options *o);
int html_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o);
int jfr_export(struct text *out, const struct profile *p, const struct snapshot *s,
               const struct export_quality *q, const struct export_options *o);
int pprof_export(struct text *out, const struct profile *p, const struct snapshot *s,
                 const struct export_quality *q, const struct export_options *o);

int tree_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o);
int otlp_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o);
int speedscope_export(struct text *out, const struct profile *p, const struct snapshot *s,
                      const struct export_quality *q, const struct export_options *o);
int json_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o);
int markdown_export(struct text *out, const struct profile *p, const struct snapshot *s,
                    const struct export_quality *q, const struct export_options *o);

/* These write all events into one file. */
int jfr_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                   int parts, const struct export_options *o);
int otlp_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                    int parts, const struct export_options *o);
int speedscope_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                          int parts, const struct export_options *o);
int json_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                    int parts, const struct export_options *o);
int markdown_export_all(struct text *out, const struct profile *p, const struct export_part *part,
                        int parts, const struct export_options *o);

/* Returns the offset in ns that turns the samples' clock into the time of day. `last` is the newest
 * second that is written. If the profile was not read from a file (`q` is NULL or has no day_ns),
 * the offset comes from this machine's clock; if `last` would then be in the future, the offset is
 * reduced so that `last` is now. */
int64_t formats_time_of_day(const struct export_quality *q, uint64_t last);

/* If an event has no sample counts (q->uncounted), widths and numbers are weights. */
static inline struct export_options formats_options(const struct export_options *o,
                                                    const struct export_quality *q) {
    struct export_options own = *o;
    own.total |= q->uncounted;
    return own;
}

/* The options that concern names, as the style that frame_name() takes. */
static inline unsigned formats_name_style(const struct export_options *o) {
    return NAME_MARKS | (o->simple ? NAME_SIMPLE : 0u) | (o->dotted ? NAME_DOTTED : 0u) |
           (o->normalize ? NAME_NORMALIZE : 0u) | (o->signatures ? NAME_SIGNATURE : 0u) |
           (o->library ? NAME_LIBRARY : 0u);
}

/* part/whole in percent; 0 if `whole` is 0. */
static inline double formats_percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

#endif
