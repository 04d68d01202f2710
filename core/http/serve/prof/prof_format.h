/*
 * What the script of an answer in one of the formats may do in a browser.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H
#define JTOP_HTTP_SERVE_PROF_PROF_FORMAT_H

#include "core/export/export.h"

/* Content-Security-Policy: nothing from elsewhere, nothing of ours, and of scripts only the
 * format's own, by its hash. NULL: the server's usual one. Lives as long as the process. */
const char *prof_format_policy(const struct exporter *x);

#endif
