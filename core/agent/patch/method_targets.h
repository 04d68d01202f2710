/*
 * Which methods' calls are wanted: pkg.Class.method, with or without a signature, `*` for any
 * characters in each of the three parts.
 *
 * Context: any thread, outside signal handlers; pure.
 */
#ifndef JTOP_AGENT_PATCH_METHOD_TARGETS_H
#define JTOP_AGENT_PATCH_METHOD_TARGETS_H

#include "core/agent/patch/bytecode.h"
#include "core/wire/layout.h"

#include <stdbool.h>

struct method_target {
    const char *class_name; /* internal form: pkg/Outer$Inner */
    const char *method;
    const char *signature; /* "": any */
    uint64_t least_ns;     /* calls that took less are none */
};

struct method_targets {
    uint32_t count;
    bool exact; /* no class has a pattern for a name */
    struct method_target target[WIRE_METHODS];
    char text[WIRE_TEXT_BYTES + 2 * WIRE_METHODS]; /* what the parts point into */
};

/* `text` as in struct wire_engine_request. False: some of it is not of that form. */
bool method_targets_parse(struct method_targets *t, const char *text);

/* The targets in a class of that name, `n` bytes in internal form; exact ones come first. Returns
 * how many. */
uint32_t method_targets_in(const struct method_targets *t, const char *class_name, size_t n,
                           struct bytecode_target out[WIRE_METHODS]);

#endif
