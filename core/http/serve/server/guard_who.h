/*
 * Whether who asks may: by a token, a browser's login, or a certificate.
 *
 * Context: any thread.
 */
#ifndef JTOP_SERVE_GUARD_WHO_H
#define JTOP_SERVE_GUARD_WHO_H

#include "core/http/serve/server/guard.h"

/* Else `a` says how he could. */
bool guard_who_passes(const struct guard *g, const struct guard_request *q, struct serve_answer *a);

#endif
