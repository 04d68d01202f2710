/*
 * Names on their way into the ring: methods and stubs are announced when they are first seen on a
 * stack, by the handler that sees them.
 *
 * Context: signal-safe, any thread.
 */
#ifndef JTOP_AGENT_WALK_NAMES_H
#define JTOP_AGENT_WALK_NAMES_H

#include "core/agent/process/id_table.h"
#include "core/agent/process/recent_set.h"
#include "core/agent/vm/vm_code.h"
#include "core/agent/vm/vm_method.h"
#include "core/wire/ring_writer.h"

struct names {
    const struct vm *vm;
    struct ring_writer *ring;
    struct id_table methods, stubs, classes;
    struct recent_set virtual_threads; /* those whose names were announced */
};

#define NAMES_NO_ROOM (UINT32_MAX - 1)

/* The method's id on the wire. Announces it where that has not been done. ID_TABLE_FULL: too many
 * methods; NAMES_NO_ROOM: the ring had no room for its names. */
uint32_t names_method(struct names *n, const struct method_view *m);

/* The frame for a piece of generated code that is no method: the routine at `pc` if the VM has
 * reported it (stub_names.h). Announces its name. */
uint64_t names_stub(struct names *n, const struct code *c, uintptr_t pc);

/* The frame for a class, by its Klass*, which something keeps alive, or by its name in internal
 * form (java/lang/String, [B). Announces it. An error frame if there is no room. */
uint64_t names_class(struct names *n, uintptr_t klass);
uint64_t names_class_called(struct names *n, const char *name, uint32_t bytes);

#endif
