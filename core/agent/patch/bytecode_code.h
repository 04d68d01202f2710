/*
 * Rewrites the code of one method; see bytecode.h.
 *
 * Context: as in bytes.h.
 */
#ifndef JTOP_AGENT_PATCH_BYTECODE_CODE_H
#define JTOP_AGENT_PATCH_BYTECODE_CODE_H

#include "core/agent/process/bytes.h"

/* Constant pool indices that the new code needs. */
struct bytecode_constants {
    uint16_t enter, exit;     /* Methodref */
    uint16_t throwable;       /* Class */
    uint16_t stack_map_table; /* Utf8 */
};

/* Kinds of attributes of a Code attribute, by name. */
enum bytecode_attribute {
    ATTRIBUTE_OTHER = 0,
    ATTRIBUTE_BAD, /* invalid index of a name; with our constants added it might become valid */
    ATTRIBUTE_LINES,
    ATTRIBUTE_VARIABLES, /* LocalVariableTable and LocalVariableTypeTable */
    ATTRIBUTE_STACK_MAP,
};

struct bytecode_context {
    const struct bytecode_constants *constants;
    enum bytecode_attribute (*attribute)(const void *pool, uint16_t name);
    const void *pool;
    uint16_t id;  /* argument of the calls */
    bool handler; /* also add a call for exceptions that leave the method */
    bool maps;    /* the class file's version has stack maps */
};

/* `code` is the content of a Code attribute; the new content is appended to `out`. 0; -EINVAL: the
 * content is invalid; -E2BIG: the new code would be too large; -ENOMEM. */
int bytecode_rewrite(const struct bytecode_context *c, const uint8_t *code, uint32_t length,
                     struct bytes_out *out);

#endif
