/*
 * The tables libjvm.so exports for debuggers, looked up by name (source: vmStructs.hpp).
 *
 * Context: the agent's thread and attach callbacks: searches are linear.
 */
#ifndef JTOP_AGENT_VM_VM_TABLES_H
#define JTOP_AGENT_VM_VM_TABLES_H

#include "core/agent/vm/vm_structs.h"

struct vm_entry;
struct vm_type;
struct vm_constant;

struct vm_tables {
    const struct vm_entry *entries;
    const struct vm_type *types;
    const struct vm_constant *ints;
    const char *missing; /* the first required entry that was missing */
};

/* 0, or -ENOSYS where this VM exports none. */
int vm_tables_open(struct vm_tables *t);

/* Offset of an instance field, -1 if there is none. */
int32_t vm_offset(const struct vm_tables *t, const char *type, const char *field);
/* The same; notes the field as missing. */
int32_t vm_offset_required(struct vm_tables *t, const char *type, const char *field);
/* The same with a width. */
struct vm_field vm_field(const struct vm_tables *t, const char *type, const char *field);
/* Address of a static field, 0 if there is none. */
uintptr_t vm_static(const struct vm_tables *t, const char *type, const char *field);
/* Size of a type; notes it as missing and gives 0. */
int32_t vm_type_size(struct vm_tables *t, const char *type);
int32_t vm_constant(const struct vm_tables *t, const char *name, int32_t otherwise);

#endif
