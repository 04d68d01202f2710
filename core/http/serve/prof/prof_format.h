/*
 * What the script of a result may do in a browser, for each format.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H
#define JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H

#include "core/export/export.h"

/* The Content-Security-Policy: nothing from elsewhere, nothing of ours, and no script except for
 * the format's own, by its hash. NULL: the server's usual one. Valid as long as the process
 * lives. */
const char *prof_format_policy(const struct exporter *x);

#endif
