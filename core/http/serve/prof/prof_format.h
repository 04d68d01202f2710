/*
 * What an answer in one of the formats is to a browser: its type, whether it is a page or a file to
 * keep, and what its script may do.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H
#define JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H

#include "core/export/export.h"

struct prof_format {
    const char *exporter; /* its name */
    const char *type;     /* Content-Type */
    const char *extension;
    bool download; /* a file to keep, for another program */
    bool script;   /* there is one in it */
    bool titled;   /* it shows export_options.title */
};

/* Never NULL: what is in no row is a file to keep. */
const struct prof_format *prof_format_of(const struct exporter *x);

/* Content-Security-Policy: nothing from elsewhere, nothing of ours, and of scripts only the
 * format's own, by its hash. NULL: the server's usual one. Lives as long as the process. */
const char *prof_format_policy(const struct prof_format *f);

#endif
