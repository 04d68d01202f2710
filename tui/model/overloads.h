/*
 * Methods that would look equal on screen: overloads of a Java method, and symbols of one name in
 * several libraries. Views write those out further than the others.
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
    struct index first; /* by their look: the first method of each */
    bool *equal;        /* by method id: another one has its name */
    uint32_t room;      /* of `equal` */
    uint32_t count;     /* methods seen */
};

/* Looks at the methods from o->count up to `count`. -ENOMEM: they are looked at the next time. */
int overloads_add(struct overloads *o, const struct method *methods, uint32_t count);
bool overloads_has(const struct overloads *o, uint32_t id);
void overloads_free(struct overloads *o);

#endif
