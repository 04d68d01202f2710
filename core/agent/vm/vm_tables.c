#include "core/agent/vm/vm_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* One row of gHotSpotVMStructs; the strides and offsets are exported too, but have been these in
 * every release. */
struct vm_entry {
    const char *type_name;
    const char *field_name;
    const char *type_string;
    int32_t is_static;
    uint64_t offset;
    void *address;
};

struct vm_type {
    const char *type_name;
    const char *superclass_name;
    int32_t is_oop, is_integer, is_unsigned;
    uint64_t size;
};

struct vm_constant {
    const char *name;
    int32_t value;
};

static const struct vm_entry *find(const struct vm_tables *t, const char *type, const char *field) {
    for (const struct vm_entry *e = t->entries; e->type_name; e++)
        if (strcmp(e->type_name, type) == 0 && strcmp(e->field_name, field) == 0)
            return e;
    return NULL;
}

int32_t vm_offset(const struct vm_tables *t, const char *type, const char *field) {
    const struct vm_entry *e = find(t, type, field);
    return e && !e->is_static ? (int32_t)e->offset : -1;
}

int32_t vm_offset_required(struct vm_tables *t, const char *type, const char *field) {
    int32_t offset = vm_offset(t, type, field);
    if (offset < 0 && !t->missing)
        t->missing = field;
    return offset;
}

struct vm_field vm_field(const struct vm_tables *t, const char *type, const char *field) {
    static const struct {
        const char *name;
        uint8_t bytes;
        bool is_signed;
    } widths[] = {{"int", 4, true},       {"int16_t", 2, true},   {"u2", 2, false},
                  {"u1", 1, false},       {"CompLevel", 1, true}, {"address", 8, false},
                  {"uint32_t", 4, false}, {"u4", 4, false},       {"AccessFlags", 4, false}};
    struct vm_field f = {.offset = -1};
    const struct vm_entry *e = find(t, type, field);
    if (!e || e->is_static)
        return f;
    f.offset = (int32_t)e->offset;
    f.bytes = 4;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if (e->type_string && strcmp(e->type_string, widths[i].name) == 0) {
            f.bytes = widths[i].bytes;
            f.is_signed = widths[i].is_signed;
        }
    }
    return f;
}

uintptr_t vm_static(const struct vm_tables *t, const char *type, const char *field) {
    const struct vm_entry *e = find(t, type, field);
    return e && e->is_static ? (uintptr_t)e->address : 0;
}

int32_t vm_type_size(struct vm_tables *t, const char *type) {
    for (const struct vm_type *e = t->types; e->type_name; e++)
        if (strcmp(e->type_name, type) == 0)
            return (int32_t)e->size;
    if (!t->missing)
        t->missing = type;
    return 0;
}

int32_t vm_constant(const struct vm_tables *t, const char *name, int32_t otherwise) {
    for (const struct vm_constant *e = t->ints; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e->value;
    return otherwise;
}

int vm_tables_open(struct vm_tables *t) {
    void *jvm = RTLD_DEFAULT;
    /* A launcher may load the VM with local symbols: then ask the library itself. */
    if (!dlsym(jvm, "gHotSpotVMStructs")) {
        jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
        if (!jvm)
            return -ENOSYS;
    }
    const struct vm_entry **entries = dlsym(jvm, "gHotSpotVMStructs");
    const struct vm_type **types = dlsym(jvm, "gHotSpotVMTypes");
    const struct vm_constant **ints = dlsym(jvm, "gHotSpotVMIntConstants");
    *t = (struct vm_tables){0};
    if (entries && types && ints)
        *t = (struct vm_tables){*entries, *types, *ints, NULL};
    if (jvm != RTLD_DEFAULT)
        dlclose(jvm);
    return t->entries && t->types && t->ints ? 0 : -ENOSYS;
}
