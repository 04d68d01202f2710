/*
 * Methods that would look equal on screen: overloads of a Java method, and symbols of the same name
 * in several libraries. Views write their names in more detail.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_OVERLOADS_H
#define JTOP_TUI_MODEL_OVERLOADS_H

#include "core/profile/table/index.h"
#include "core/profile/table/method_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: empty. */
struct overloads {
    struct index first; /* by look: the first method with each look */
    bool *equal;        /* by method id: another method looks the same */
    uint32_t room;      /* capacity of `equal` */
    uint32_t count;     /* number of methods added */
};

/* Adds the methods from o->count up to `count`. -ENOMEM: the rest is added at the next call. */
int overloads_add(struct overloads *o, const struct method *methods, uint32_t count);
bool overloads_has(const struct overloads *o, uint32_t id);
void overloads_free(struct overloads *o);

#endif
