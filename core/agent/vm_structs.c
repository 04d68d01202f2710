#include "core/agent/vm_structs.h"

#include "core/agent/guarded.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

/* One row of gHotSpotVMStructs; the strides and offsets are exported too, but have been these in
 * every release. */
struct entry {
    const char *type_name;
    const char *field_name;
    const char *type_string;
    int32_t is_static;
    uint64_t offset;
    void *address;
};

struct type_entry {
    const char *type_name;
    const char *superclass_name;
    int32_t is_oop, is_integer, is_unsigned;
    uint64_t size;
};

struct int_entry {
    const char *name;
    int32_t value;
};

struct tables {
    const struct entry *entries;
    const struct type_entry *types;
    const struct int_entry *ints;
    const char *missing;
};

static const struct entry *find(const struct tables *t, const char *type, const char *field) {
    for (const struct entry *e = t->entries; e->type_name; e++)
        if (strcmp(e->type_name, type) == 0 && strcmp(e->field_name, field) == 0)
            return e;
    return NULL;
}

static int32_t optional(const struct tables *t, const char *type, const char *field) {
    const struct entry *e = find(t, type, field);
    return e && !e->is_static ? (int32_t)e->offset : -1;
}

static int32_t required(struct tables *t, const char *type, const char *field) {
    int32_t offset = optional(t, type, field);
    if (offset < 0 && !t->missing)
        t->missing = field;
    return offset;
}

/* The first of two places that has the field: HotSpot moves fields between a class and its base. */
static int32_t either(struct tables *t, const char *type, const char *other, const char *field) {
    int32_t offset = optional(t, type, field);
    return offset >= 0 ? offset : required(t, other, field);
}

static struct vm_field sized(const struct tables *t, const char *type, const char *field) {
    static const struct {
        const char *name;
        uint8_t bytes;
        bool is_signed;
    } widths[] = {{"int", 4, true},       {"int16_t", 2, true},   {"u2", 2, false},
                  {"u1", 1, false},       {"CompLevel", 1, true}, {"address", 8, false},
                  {"uint32_t", 4, false}, {"u4", 4, false},       {"AccessFlags", 4, false}};
    struct vm_field f = {.offset = -1};
    const struct entry *e = find(t, type, field);
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

static uintptr_t static_value(struct tables *t, const char *type, const char *field) {
    const struct entry *e = find(t, type, field);
    if (e && e->is_static)
        return guarded_load64((uintptr_t)e->address);
    if (!t->missing)
        t->missing = field;
    return 0;
}

static int32_t type_size(struct tables *t, const char *type) {
    for (const struct type_entry *e = t->types; e->type_name; e++)
        if (strcmp(e->type_name, type) == 0)
            return (int32_t)e->size;
    if (!t->missing)
        t->missing = type;
    return 0;
}

static int32_t int_constant(const struct tables *t, const char *name, int32_t otherwise) {
    for (const struct int_entry *e = t->ints; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e->value;
    return otherwise;
}

static void read_names(struct vm_layout *at, struct tables *t) {
    at->method_const = required(t, "Method", "_constMethod");
    at->method_flags = sized(t, "Method", "_access_flags");
    at->const_constants = required(t, "ConstMethod", "_constants");
    at->const_code_size = required(t, "ConstMethod", "_code_size");
    at->const_name = required(t, "ConstMethod", "_name_index");
    at->const_signature = required(t, "ConstMethod", "_signature_index");
    at->const_flags = sized(t, "ConstMethod", "_flags");
    if (at->const_flags.offset < 0) /* JDK 21+: a struct of its own */
        at->const_flags = sized(t, "ConstMethod", "_flags._flags");
    at->const_has_lines =
        (uint32_t)int_constant(t, "ConstMethod::_has_linenumber_table",
                               int_constant(t, "ConstMethodFlags::_misc_has_linenumber_table", 0));
    at->pool_holder = required(t, "ConstantPool", "_pool_holder");
    at->klass_name = required(t, "Klass", "_name");
    at->klass_constants = required(t, "InstanceKlass", "_constants");
    at->symbol_length = required(t, "Symbol", "_length");
    at->symbol_body = required(t, "Symbol", "_body");
    at->const_method_bytes = type_size(t, "ConstMethod");
    at->pool_bytes = type_size(t, "ConstantPool");
    /* The reference count lives in the symbol's first word and changes all the time. */
    int32_t refcount = optional(t, "Symbol", "_refcount");
    if (refcount < 0)
        refcount = optional(t, "Symbol", "_hash_and_refcount"); /* low half of it */
    at->symbol_mask = ~UINT64_C(0);
    if (refcount >= 0 && refcount < 8)
        at->symbol_mask &= ~(UINT64_C(0xffff) << refcount * 8);
}

static void read_code(struct vm_layout *at, struct tables *t) {
    at->blob_name = required(t, "CodeBlob", "_name");
    at->blob_size = required(t, "CodeBlob", "_size");
    at->blob_frame_size = required(t, "CodeBlob", "_frame_size");
    at->blob_frame_complete = sized(t, "CodeBlob", "_frame_complete_offset");
    at->blob_code_begin = sized(t, "CodeBlob", "_code_begin");
    if (at->blob_code_begin.offset < 0)
        at->blob_code_begin = sized(t, "CodeBlob", "_code_offset");
    at->blob_code_end = sized(t, "CodeBlob", "_code_end");
    if (at->blob_code_end.offset < 0)
        at->blob_code_end = sized(t, "CodeBlob", "_data_offset");
    at->nmethod_method = either(t, "nmethod", "CompiledMethod", "_method");
    at->nmethod_level = sized(t, "nmethod", "_comp_level");
    at->nmethod_orig_pc = required(t, "nmethod", "_orig_pc_offset");
    at->nmethod_stub_offset = required(t, "nmethod", "_stub_offset");
    at->nmethod_scopes_pcs = required(t, "nmethod", "_scopes_pcs_offset");
    at->nmethod_immutable = optional(t, "nmethod", "_immutable_data");
    at->nmethod_scopes_data = sized(t, "CompiledMethod", "_scopes_data_begin");
    if (at->nmethod_scopes_data.offset < 0)
        at->nmethod_scopes_data = sized(t, "nmethod", "_scopes_data_offset");
    at->nmethod_scopes_pcs_end = at->nmethod_immutable >= 0
                                     ? at->nmethod_scopes_data.offset
                                     : required(t, "nmethod", "_dependencies_offset");
    at->nmethod_metadata = optional(t, "nmethod", "_metadata_offset");
    at->blob_mutable_data = optional(t, "CodeBlob", "_mutable_data");
    at->blob_relocation_size = optional(t, "CodeBlob", "_relocation_size");
    if (at->nmethod_metadata < 0 && (at->blob_mutable_data < 0 || at->blob_relocation_size < 0) &&
        !t->missing)
        t->missing = "_metadata_offset";
    if ((at->nmethod_scopes_data.offset < 0 || at->blob_code_begin.offset < 0 ||
         at->blob_code_end.offset < 0 || at->blob_frame_complete.offset < 0) &&
        !t->missing)
        t->missing = "_scopes_data_begin";
    at->pcdesc_pc = required(t, "PcDesc", "_pc_offset");
    at->pcdesc_scope = required(t, "PcDesc", "_scope_decode_offset");
    at->pcdesc_bytes = type_size(t, "PcDesc");
    at->heap_header_bytes = type_size(t, "HeapBlock");
    at->heap_used = required(t, "HeapBlock::Header", "_used");
}

static void read_frames(struct vm_layout *at, struct tables *t, uint32_t jni_version) {
    at->thread_anchor = required(t, "JavaThread", "_anchor");
    at->thread_stack_base = either(t, "JavaThread", "Thread", "_stack_base");
    at->thread_stack_size = either(t, "JavaThread", "Thread", "_stack_size");
    at->thread_osthread = either(t, "JavaThread", "Thread", "_osthread");
    at->thread_state = required(t, "JavaThread", "_thread_state");
    at->osthread_tid = required(t, "OSThread", "_thread_id");
    at->anchor_sp = required(t, "JavaFrameAnchor", "_last_Java_sp");
    at->anchor_pc = required(t, "JavaFrameAnchor", "_last_Java_pc");
    at->anchor_fp = required(t, "JavaFrameAnchor", "_last_Java_fp");
    at->wrapper_anchor = required(t, "JavaCallWrapper", "_anchor");
    at->call_stub_return = static_value(t, "StubRoutines", "_call_stub_return_address");
#if defined(__x86_64__)
    at->entry_wrapper = int_constant(t, "frame::entry_frame_call_wrapper_offset", -6);
    at->interpreter_bcp = jni_version >= 0x00090000 ? -8 : -7;
#else
    at->entry_wrapper = int_constant(t, "frame::entry_frame_call_wrapper_offset", -8);
    at->interpreter_bcp = jni_version >= 0x00090000 ? -9 : -7;
#endif
    at->scopes_without_zero = jni_version >= 0x00140000;
    /* The interpreter is a StubQueue in one buffer. */
    uintptr_t queue = static_value(t, "AbstractInterpreter", "_code");
    int32_t buffer = required(t, "StubQueue", "_stub_buffer");
    int32_t limit = required(t, "StubQueue", "_buffer_limit");
    if (queue && buffer >= 0 && limit >= 0) {
        at->interpreter_begin = guarded_load64(queue + (uintptr_t)buffer);
        at->interpreter_end = at->interpreter_begin + guarded_load32(queue + (uintptr_t)limit);
    }
}

static void add_heap(struct vm *vm, struct tables *t, uintptr_t heap) {
    int32_t memory = required(t, "CodeHeap", "_memory");
    int32_t segmap = required(t, "CodeHeap", "_segmap");
    int32_t log2 = required(t, "CodeHeap", "_log2_segment_size");
    int32_t low = required(t, "VirtualSpace", "_low_boundary");
    int32_t high = required(t, "VirtualSpace", "_high_boundary");
    if (t->missing || !heap || vm->heaps == VM_HEAPS_MAX)
        return;
    struct vm_code_heap *h = &vm->heap[vm->heaps];
    uintptr_t space = heap + (uintptr_t)memory;
    h->low = guarded_load64(space + (uintptr_t)low);
    h->high = guarded_load64(space + (uintptr_t)high);
    h->segmap = guarded_load64(heap + (uintptr_t)segmap + (uintptr_t)low);
    h->log2_segment = guarded_load32(heap + (uintptr_t)log2);
    if (!h->low || h->high <= h->low || !h->segmap || h->log2_segment > 16)
        return;
    if (!vm->heaps || h->low < vm->code_low)
        vm->code_low = h->low;
    if (h->high > vm->code_high)
        vm->code_high = h->high;
    vm->heaps++;
}

static void read_heaps(struct vm *vm, struct tables *t) {
    const struct entry *one = find(t, "CodeCache", "_heap"); /* JDK 8 */
    if (one) {
        add_heap(vm, t, guarded_load64((uintptr_t)one->address));
        return;
    }
    uintptr_t array = static_value(t, "CodeCache", "_heaps");
    int32_t len = optional(t, "GrowableArrayBase", "_len");
    if (len < 0)
        len = required(t, "GenericGrowableArray", "_len");
    int32_t data = required(t, "GrowableArray<int>", "_data");
    if (t->missing || !array)
        return;
    uint32_t n = guarded_load32(array + (uintptr_t)len);
    uintptr_t elements = guarded_load64(array + (uintptr_t)data);
    for (uint32_t i = 0; i < n && i < VM_HEAPS_MAX; i++)
        add_heap(vm, t, guarded_load64(elements + 8 * i));
}

int vm_structs_read(struct vm *vm, uint32_t jni_version, const char **missing) {
    memset(vm, 0, sizeof *vm);
    vm->thread_key = -1;
    const struct entry **entries = dlsym(RTLD_DEFAULT, "gHotSpotVMStructs");
    const struct type_entry **types = dlsym(RTLD_DEFAULT, "gHotSpotVMTypes");
    const struct int_entry **ints = dlsym(RTLD_DEFAULT, "gHotSpotVMIntConstants");
    if (!entries || !types || !ints) {
        /* A launcher may load the VM with local symbols: ask the library itself. */
        void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
        if (jvm) {
            entries = dlsym(jvm, "gHotSpotVMStructs");
            types = dlsym(jvm, "gHotSpotVMTypes");
            ints = dlsym(jvm, "gHotSpotVMIntConstants");
            dlclose(jvm);
        }
    }
    if (!entries || !types || !ints || !*entries || !*types || !*ints) {
        *missing = "gHotSpotVMStructs";
        return -ENOSYS;
    }
    struct tables t = {*entries, *types, *ints, NULL};
    read_names(&vm->at, &t);
    read_code(&vm->at, &t);
    read_frames(&vm->at, &t, jni_version);
    read_heaps(vm, &t);
    if (!vm->heaps && !t.missing)
        t.missing = "CodeCache::_heaps";
    *missing = t.missing;
    return t.missing ? -ENOSYS : 0;
}

void vm_find_thread_key(struct vm *vm, uintptr_t self) {
    /* Thread::current() is kept in a pthread key besides the compiler's TLS, in every release. */
    for (int key = 0; self && key < 1024 && vm->thread_key < 0; key++)
        if ((uintptr_t)pthread_getspecific((pthread_key_t)key) == self)
            vm->thread_key = key;
}

void vm_know_java_thread(struct vm *vm, uintptr_t thread) {
    uintptr_t vtable = guarded_load64(thread);
    uint32_t n = atomic_load_explicit(&vm->java_vtables, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (vm->java_vtable[i] == vtable)
            return;
    if (!vtable || n == sizeof vm->java_vtable / sizeof vm->java_vtable[0])
        return;
    vm->java_vtable[n] = vtable;
    atomic_store_explicit(&vm->java_vtables, n + 1, memory_order_release);
}

uintptr_t vm_current_java_thread(const struct vm *vm) {
    if (vm->thread_key < 0)
        return 0;
    uintptr_t thread = (uintptr_t)pthread_getspecific((pthread_key_t)vm->thread_key);
    if (!thread)
        return 0;
    uintptr_t vtable = guarded_load64(thread);
    uint32_t n = atomic_load_explicit(&vm->java_vtables, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (vm->java_vtable[i] == vtable)
            return thread;
    return 0;
}
