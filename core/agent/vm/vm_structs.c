#include "core/agent/vm/vm_structs.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The first of two places that has the field: HotSpot moves fields between a class and its base. */
static int32_t either(struct vm_tables *t, const char *type, const char *other, const char *field) {
    int32_t offset = vm_offset(t, type, field);
    return offset >= 0 ? offset : vm_offset_required(t, other, field);
}

static uintptr_t static_value(struct vm_tables *t, const char *type, const char *field) {
    uintptr_t at = vm_static(t, type, field);
    if (!at && !t->missing)
        t->missing = field;
    return at ? guarded_load64(at) : 0;
}

static void read_names(struct vm_layout *at, struct vm_tables *t) {
    at->method_const = vm_offset_required(t, "Method", "_constMethod");
    at->method_flags = vm_field(t, "Method", "_access_flags");
    at->const_constants = vm_offset_required(t, "ConstMethod", "_constants");
    at->const_code_size = vm_offset_required(t, "ConstMethod", "_code_size");
    at->const_name = vm_offset_required(t, "ConstMethod", "_name_index");
    at->const_signature = vm_offset_required(t, "ConstMethod", "_signature_index");
    at->const_flags = vm_field(t, "ConstMethod", "_flags");
    if (at->const_flags.offset < 0) /* JDK 21+: a struct of its own */
        at->const_flags = vm_field(t, "ConstMethod", "_flags._flags");
    at->const_has_lines =
        (uint32_t)vm_constant(t, "ConstMethod::_has_linenumber_table",
                              vm_constant(t, "ConstMethodFlags::_misc_has_linenumber_table", 0));
    at->pool_holder = vm_offset_required(t, "ConstantPool", "_pool_holder");
    at->pool_length = vm_offset_required(t, "ConstantPool", "_length");
    at->pool_tags = vm_offset_required(t, "ConstantPool", "_tags");
    at->klass_name = vm_offset_required(t, "Klass", "_name");
    at->array_length = vm_offset_required(t, "Array<Klass*>", "_length"); /* the same in each */
    at->array_bytes = vm_offset_required(t, "Array<u1>", "_data");
    at->symbol_length = vm_offset_required(t, "Symbol", "_length");
    at->symbol_body = vm_offset_required(t, "Symbol", "_body");
    at->const_method_bytes = vm_type_size(t, "ConstMethod");
    at->pool_bytes = vm_type_size(t, "ConstantPool");
    /* The reference count lives in the symbol's first word and changes all the time. */
    int32_t refcount = vm_offset(t, "Symbol", "_refcount");
    if (refcount < 0)
        refcount = vm_offset(t, "Symbol", "_hash_and_refcount"); /* low half of it */
    at->symbol_mask = ~UINT64_C(0);
    if (refcount >= 0 && refcount < 8)
        at->symbol_mask &= ~(UINT64_C(0xffff) << refcount * 8);
}

static void read_code(struct vm_layout *at, struct vm_tables *t) {
    at->blob_name = vm_offset_required(t, "CodeBlob", "_name");
    at->blob_size = vm_offset_required(t, "CodeBlob", "_size");
    at->blob_frame_size = vm_offset_required(t, "CodeBlob", "_frame_size");
    at->blob_frame_complete = vm_field(t, "CodeBlob", "_frame_complete_offset");
    at->blob_code_begin = vm_field(t, "CodeBlob", "_code_begin");
    if (at->blob_code_begin.offset < 0)
        at->blob_code_begin = vm_field(t, "CodeBlob", "_code_offset");
    at->blob_code_end = vm_field(t, "CodeBlob", "_code_end");
    if (at->blob_code_end.offset < 0)
        at->blob_code_end = vm_field(t, "CodeBlob", "_data_offset");
    at->nmethod_method = either(t, "nmethod", "CompiledMethod", "_method");
    at->nmethod_level = vm_field(t, "nmethod", "_comp_level");
    at->nmethod_orig_pc = vm_offset_required(t, "nmethod", "_orig_pc_offset");
    at->nmethod_compile_id = vm_offset(t, "nmethod", "_compile_id");
    at->nmethod_stub_offset = vm_offset_required(t, "nmethod", "_stub_offset");
    at->nmethod_scopes_pcs = vm_offset_required(t, "nmethod", "_scopes_pcs_offset");
    at->nmethod_immutable = vm_offset(t, "nmethod", "_immutable_data");
    at->nmethod_scopes_data = vm_field(t, "CompiledMethod", "_scopes_data_begin");
    if (at->nmethod_scopes_data.offset < 0)
        at->nmethod_scopes_data = vm_field(t, "nmethod", "_scopes_data_offset");
    at->nmethod_scopes_pcs_end = at->nmethod_immutable >= 0
                                     ? at->nmethod_scopes_data.offset
                                     : vm_offset_required(t, "nmethod", "_dependencies_offset");
    at->nmethod_metadata = vm_offset(t, "nmethod", "_metadata_offset");
    at->blob_mutable_data = vm_offset(t, "CodeBlob", "_mutable_data");
    at->blob_relocation_size = vm_offset(t, "CodeBlob", "_relocation_size");
    if (at->nmethod_metadata < 0 && (at->blob_mutable_data < 0 || at->blob_relocation_size < 0) &&
        !t->missing)
        t->missing = "_metadata_offset";
    if ((at->nmethod_scopes_data.offset < 0 || at->blob_code_begin.offset < 0 ||
         at->blob_code_end.offset < 0 || at->blob_frame_complete.offset < 0) &&
        !t->missing)
        t->missing = "_scopes_data_begin";
    at->pcdesc_pc = vm_offset_required(t, "PcDesc", "_pc_offset");
    at->pcdesc_scope = vm_offset_required(t, "PcDesc", "_scope_decode_offset");
    at->pcdesc_bytes = vm_type_size(t, "PcDesc");
    at->heap_header_bytes = vm_type_size(t, "HeapBlock");
    at->heap_used = vm_offset_required(t, "HeapBlock::Header", "_used");
}

static void read_frames(struct vm_layout *at, struct vm_tables *t, uint32_t jni_version) {
    at->thread_anchor = vm_offset_required(t, "JavaThread", "_anchor");
    at->thread_stack_base = either(t, "JavaThread", "Thread", "_stack_base");
    at->thread_stack_size = either(t, "JavaThread", "Thread", "_stack_size");
    at->thread_osthread = either(t, "JavaThread", "Thread", "_osthread");
    at->thread_state = vm_offset_required(t, "JavaThread", "_thread_state");
    at->thread_object = vm_offset(t, "JavaThread", "_threadObj");
    at->thread_vthread = vm_offset(t, "JavaThread", "_vthread");
    at->osthread_tid = vm_offset_required(t, "OSThread", "_thread_id");
    at->anchor_sp = vm_offset_required(t, "JavaFrameAnchor", "_last_Java_sp");
    at->anchor_pc = vm_offset_required(t, "JavaFrameAnchor", "_last_Java_pc");
    at->anchor_fp = vm_offset_required(t, "JavaFrameAnchor", "_last_Java_fp");
    at->wrapper_anchor = vm_offset_required(t, "JavaCallWrapper", "_anchor");
    at->call_stub_return = static_value(t, "StubRoutines", "_call_stub_return_address");
#if defined(__x86_64__)
    at->entry_wrapper = vm_constant(t, "frame::entry_frame_call_wrapper_offset", -6);
    at->interpreter_bcp = jni_version >= 0x00090000 ? -8 : -7;
#else
    at->entry_wrapper = vm_constant(t, "frame::entry_frame_call_wrapper_offset", -8);
    at->interpreter_bcp = jni_version >= 0x00090000 ? -9 : -7;
#endif
    at->scopes_without_zero = jni_version >= 0x00140000;
    /* The interpreter is a StubQueue in one buffer. */
    uintptr_t queue = static_value(t, "AbstractInterpreter", "_code");
    int32_t buffer = vm_offset_required(t, "StubQueue", "_stub_buffer");
    int32_t limit = vm_offset_required(t, "StubQueue", "_buffer_limit");
    if (queue && buffer >= 0 && limit >= 0) {
        at->interpreter_begin = guarded_load64(queue + (uintptr_t)buffer);
        at->interpreter_end = at->interpreter_begin + guarded_load32(queue + (uintptr_t)limit);
    }
}

static void add_heap(struct vm *vm, struct vm_tables *t, uintptr_t heap) {
    int32_t memory = vm_offset_required(t, "CodeHeap", "_memory");
    int32_t segmap = vm_offset_required(t, "CodeHeap", "_segmap");
    int32_t log2 = vm_offset_required(t, "CodeHeap", "_log2_segment_size");
    int32_t low = vm_offset_required(t, "VirtualSpace", "_low_boundary");
    int32_t high = vm_offset_required(t, "VirtualSpace", "_high_boundary");
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

static void read_heaps(struct vm *vm, struct vm_tables *t) {
    uintptr_t one = vm_static(t, "CodeCache", "_heap"); /* JDK 8 */
    if (one) {
        add_heap(vm, t, guarded_load64(one));
        return;
    }
    uintptr_t array = static_value(t, "CodeCache", "_heaps");
    int32_t len = vm_offset(t, "GrowableArrayBase", "_len");
    if (len < 0)
        len = vm_offset_required(t, "GenericGrowableArray", "_len");
    int32_t data = vm_offset_required(t, "GrowableArray<int>", "_data");
    if (t->missing || !array)
        return;
    uint32_t n = guarded_load32(array + (uintptr_t)len);
    uintptr_t elements = guarded_load64(array + (uintptr_t)data);
    for (uint32_t i = 0; i < n && i < VM_HEAPS_MAX; i++)
        add_heap(vm, t, guarded_load64(elements + 8 * (uintptr_t)i));
}

int vm_structs_read(struct vm *vm, uint32_t jni_version, const char **missing) {
    memset(vm, 0, sizeof *vm);
    vm->thread_key = -1;
    struct vm_tables t;
    if (vm_tables_open(&t) < 0) {
        *missing = "gHotSpotVMStructs";
        return -ENOSYS;
    }
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
    long keys = sysconf(_SC_THREAD_KEYS_MAX); /* musl reads whatever is behind the last */
    for (int key = 0; self && key < keys && vm->thread_key < 0; key++)
        if ((uintptr_t)pthread_getspecific((pthread_key_t)key) == self)
            vm->thread_key = key;
}

void vm_know_java_vtable(struct vm *vm, uintptr_t vtable) {
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
