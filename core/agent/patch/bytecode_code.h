/*
 * The code of one method, rewritten; see bytecode.h.
 *
 * Context: as bytes.h.
 */
#ifndef JTOP_AGENT_PATCH_BYTECODE_CODE_H
#define JTOP_AGENT_PATCH_BYTECODE_CODE_H

#include "core/agent/process/bytes.h"

/* Indices of the constant pool that the new code needs. */
struct bytecode_constants {
    uint16_t enter, exit;     /* Methodref */
    uint16_t throwable;       /* Class */
    uint16_t stack_map_table; /* Utf8 */
};

/* What the names of a code's attributes mean. */
enum bytecode_attribute {
    ATTRIBUTE_OTHER = 0,
    ATTRIBUTE_BAD, /* there is no such name; with our constants there might be one */
    ATTRIBUTE_LINES,
    ATTRIBUTE_VARIABLES, /* LocalVariableTable and LocalVariableTypeTable */
    ATTRIBUTE_STACK_MAP,
};

struct bytecode_context {
    const struct bytecode_constants *constants;
    enum bytecode_attribute (*attribute)(const void *pool, uint16_t name);
    const void *pool;
    uint16_t id;  /* what the calls are given */
    bool handler; /* also if the method is left by an exception */
    bool maps;    /* the class file's version has stack maps */
};

/* `code` is the content of a Code attribute; the new content is appended to `out`. 0; -EINVAL:
 * invalid code; -E2BIG: it would be too large; -ENOMEM. */
int bytecode_rewrite(const struct bytecode_context *c, const uint8_t *code, uint32_t length,
                     struct bytes_out *out);

#endif
