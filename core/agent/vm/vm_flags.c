#include "core/agent/vm/vm_flags.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#include <string.h>

#define FLAGS_MAX 4096
#define NAME_MAX_BYTES 64

static bool has_name(uintptr_t text, const char *name) {
    char copy[NAME_MAX_BYTES];
    size_t n = strlen(name) + 1;
    return n <= sizeof copy && guarded_copy(copy, text, n) == 0 && memcmp(copy, name, n) == 0;
}

static volatile bool *find_flag(const char *name) {
    struct vm_tables t;
    if (vm_tables_open(&t) < 0)
        return NULL;
    const char *type = vm_static(&t, "JVMFlag", "flags") ? "JVMFlag" : "Flag";
    int32_t stride = vm_type_size(&t, type);
    int32_t name_at = vm_offset_required(&t, type, "_name");
    int32_t address_at = vm_offset_required(&t, type, "_addr");
    uintptr_t flags = vm_static(&t, type, "flags");
    uintptr_t count = vm_static(&t, type, "numFlags");
    if (t.missing || !flags || !count)
        return NULL;
    uintptr_t flag = guarded_load64(flags);
    uint64_t n = guarded_load64(count);
    for (uint64_t i = 0; i < n && i < FLAGS_MAX; i++, flag += (uintptr_t)stride) {
        if (!has_name(guarded_load64(flag + (uintptr_t)name_at), name))
            continue;
        return (volatile bool *)guarded_load64(flag + (uintptr_t)address_at);
    }
    return NULL;
}

bool vm_flag_set(const char *name, bool value, bool *before) {
    volatile bool *at = find_flag(name);
    if (!at)
        return false;
    *before = *at;
    *at = value;
    return true;
}

bool vm_flag_get(const char *name, bool *out) {
    volatile bool *at = find_flag(name);
    if (at)
        *out = *at;
    return at != NULL;
}
