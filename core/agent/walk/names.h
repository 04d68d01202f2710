/*
 * Writes the names of methods, stubs and classes to the ring. The handler that first sees one on a
 * stack announces it.
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

/* Returns the method's id on the wire, and announces the method if that has not been done.
 * ID_TABLE_FULL: too many methods; NAMES_NO_ROOM: the ring had no room for its names. */
uint32_t names_method(struct names *n, const struct method_view *m);

/* Returns the frame for generated code that is not a method, and announces its name: the stub
 * routine at `pc` if stub_names.h knows it, else the whole blob. */
uint64_t names_stub(struct names *n, const struct code *c, uintptr_t pc);

/* Returns the frame for a class, and announces its name: by a Klass* that the caller keeps alive,
 * or by a name in internal form (java/lang/String, [B). If there is no room, returns an error
 * frame. */
uint64_t names_class(struct names *n, uintptr_t klass);
uint64_t names_class_called(struct names *n, const char *name, uint32_t bytes);

#endif
