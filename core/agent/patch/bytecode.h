/*
 * Class files in which a method calls a class of ours when it begins and when it ends, by a return
 * or by an exception.
 *
 * What is put in is always four bytes, `invokestatic; nop`, so that the padding of switches stays
 * right. Behind the method's own code comes a handler for everything that is thrown; constructors
 * have none, since `this` may not be initialized where it begins. Jumps, exception tables, stack
 * maps and the debug information move along; type annotations inside the code are left out.
 *
 * Source: JVMS 4 (class file format), 4.10 (verification), 6.5 (instructions).
 *
 * Context: any thread, not in signal handlers; nothing of the application's heap. The input is a class file the VM has
 * taken or is about to check, and is not trusted.
 */
#ifndef JTOP_AGENT_PATCH_BYTECODE_H
#define JTOP_AGENT_PATCH_BYTECODE_H

#include "core/agent/process/bytes.h"

#include <stdint.h>

/* Methods of the class; `*` stands for any characters. */
struct bytecode_target {
    const char *method;
    const char *signature; /* "(I)V"; NULL or "": every method of that name */
    uint32_t exit;         /* which exit they call: exit0, exit1 … */
};

/* Set in the number of a constructor: its end by an exception is not told. */
#define BYTECODE_CONSTRUCTOR 0x8000u

struct bytecode_request {
    const char *hook_class; /* has static void enter(int), and all those exits */
    _Atomic uint16_t *ids;  /* the number of the next method, which its calls are given */
    const struct bytecode_target *target;
    uint32_t targets; /* at least one; of those that match, the first counts */
};

struct bytecode_result {
    struct bytes_out file; /* the caller's, for bytes_end; empty: nothing was changed */
    uint32_t methods;      /* changed */
    uint32_t bodiless;     /* of that name, but native or abstract */
    uint32_t oversized;    /* of that name, but too large to be changed */
};

/* 0; -EINVAL: that is no class file we understand; -ENOMEM. With an error nothing is in `out`. */
int bytecode_add_calls(const uint8_t *file, uint32_t length, const struct bytecode_request *q,
                       struct bytecode_result *out);

#endif
