#include "core/export/formats.h"

#include <errno.h>

int json_export(struct text *out, const struct profile *p, const struct snapshot *s,
                const struct export_quality *q, const struct export_options *o) {
    (void)out, (void)p, (void)s, (void)q, (void)o;
    return -ENOTSUP;
}
