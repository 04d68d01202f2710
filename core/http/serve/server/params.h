/*
 * A URL's parameters: decoded, bounded, and read by their names. Handlers read the parameters that
 * they know; a wrong one becomes a 400 that names it.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_PARAMS_H
#define JTOP_HTTP_SERVE_SERVER_PARAMS_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define PARAMS_MAX 64
#define PARAMS_VALUE_MAX 1024 /* bytes of a decoded value */

struct params {
    struct {
        const char *name, *value; /* value "": given without one, "?thread" or "?thread=" */
        bool used;
    } item[PARAMS_MAX];
    uint32_t count;
};

/* Adds the parameters of "a=1&b=%20"; this text is decoded in place and must live as long as `p`.
 * 0, or -errno with a message for a 400, which names the parameter if there is one: -E2BIG (too
 * many, or too long a value), -EINVAL (half a %-sequence, not UTF-8, a control character). */
int params_read(struct params *p, char *form, struct err *e);

/* NULL: not given. If there are several, the first one counts. */
const char *params_text(struct params *p, const char *name);
/* Given, and neither "false", "0", "no" nor "off". */
bool params_flag(struct params *p, const char *name);
/* 1: given, 0: not; -EINVAL with a message "duration: …" for a 400. */
int params_number(struct params *p, const char *name, uint64_t least, uint64_t most, uint64_t *out,
                  struct err *e);
/* The first parameter that no handler has read; NULL: none. */
const char *params_unused(const struct params *p);

#endif
