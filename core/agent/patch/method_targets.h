/*
 * The methods whose calls are to be sampled: pkg.Class.method, with or without a signature. `*`
 * stands for any characters in each of the three parts.
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
    uint64_t least_ns;     /* shorter calls are ignored */
};

struct method_targets {
    uint32_t count;
    bool exact; /* no class name is a pattern */
    struct method_target target[WIRE_METHODS];
    char text[WIRE_TEXT_BYTES + 2 * WIRE_METHODS]; /* the strings of all targets point into this */
};

/* Parses `text` from struct wire_engine_request. False: a part of it is invalid. */
bool method_targets_parse(struct method_targets *t, const char *text);

/* Finds the targets in a class with this name, `n` bytes in internal form; exact ones come first.
 * Returns their number. */
uint32_t method_targets_in(const struct method_targets *t, const char *class_name, size_t n,
                           struct bytecode_target out[WIRE_METHODS]);

#endif
