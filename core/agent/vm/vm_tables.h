/*
 * Looks up entries, by name, in the tables that libjvm.so exports for debuggers (source:
 * vmStructs.hpp).
 *
 * Context: the agent's thread and attach callbacks. Searches are linear.
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

/* 0, or -ENOSYS if this VM exports no tables. */
int vm_tables_open(struct vm_tables *t);

/* Returns the offset of an instance field; -1: there is none. */
int32_t vm_offset(const struct vm_tables *t, const char *type, const char *field);
/* The same; if there is none, also sets t->missing. */
int32_t vm_offset_required(struct vm_tables *t, const char *type, const char *field);
/* The same, with the field's width. */
struct vm_field vm_field(const struct vm_tables *t, const char *type, const char *field);
/* Returns the address of a static field; 0: there is none. */
uintptr_t vm_static(const struct vm_tables *t, const char *type, const char *field);
/* Returns the size of a type; if there is none, sets t->missing and returns 0. */
int32_t vm_type_size(struct vm_tables *t, const char *type);
int32_t vm_constant(const struct vm_tables *t, const char *name, int32_t otherwise);

#endif
