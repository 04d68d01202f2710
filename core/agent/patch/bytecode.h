/*
 * Rewrites class files so that a method calls a class of ours when it begins and when it ends, by a
 * return or by an exception.
 *
 * Each insertion has four bytes, `invokestatic; nop`, so that the padding of switches stays right.
 * A handler for all exceptions is added after the method's code. Constructors have none, because
 * `this` may not be initialized where the handler begins. Jumps, exception tables, stack maps and
 * debug information are adjusted; type annotations inside the code are removed.
 *
 * Source: JVMS 4 (class file format), 4.10 (verification), 6.5 (instructions).
 *
 * Context: any thread, not in signal handlers; does not use the application's heap. The input is a
 * class file that the VM has accepted or is about to check. It is not trusted.
 */
#ifndef JTOP_AGENT_PATCH_BYTECODE_H
#define JTOP_AGENT_PATCH_BYTECODE_H

#include "core/agent/process/bytes.h"

#include <stdint.h>

/* Methods of the class; `*` stands for any characters. */
struct bytecode_target {
    const char *method;
    const char *signature; /* "(I)V"; NULL or "": every method of that name */
    uint32_t exit;         /* number of the exit method that they call: exit0, exit1 … */
};

/* This bit is set in the number of a constructor: its end by an exception is not reported. */
#define BYTECODE_CONSTRUCTOR 0x8000u

struct bytecode_request {
    const char *hook_class; /* has static void enter(int), and all those exits */
    _Atomic uint16_t *ids;  /* number of the next method, passed in its calls */
    const struct bytecode_target *target;
    uint32_t targets; /* at least one; the first that matches is used */
};

struct bytecode_result {
    struct bytes_out file; /* the caller must call bytes_end; empty: nothing was changed */
    uint32_t methods;      /* changed */
    uint32_t bodiless;     /* matching, but native or abstract */
    uint32_t oversized;    /* matching, but too large to be changed */
};

/* 0; -EINVAL: the class file is invalid or not supported; -ENOMEM. After an error `out` is
 * empty. */
int bytecode_add_calls(const uint8_t *file, uint32_t length, const struct bytecode_request *q,
                       struct bytecode_result *out);

#endif
