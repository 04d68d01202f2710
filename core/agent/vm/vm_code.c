#include "core/agent/vm/vm_code.h"

#include "core/agent/process/guarded.h"

#define SEGMENTS_BACK_MAX 65536 /* steps to a block's first segment */
#define SCOPE_DEPTH_MAX 512     /* inlining levels */

static uintptr_t field_address(uintptr_t base, struct vm_field f, uintptr_t relative_to) {
    if (f.bytes == 8)
        return guarded_load64(base + (uintptr_t)f.offset);
    uint32_t offset = f.bytes == 2 ? guarded_load16(base + (uintptr_t)f.offset)
                                   : guarded_load32(base + (uintptr_t)f.offset);
    return relative_to + offset;
}

static int32_t field_int(uintptr_t base, struct vm_field f) {
    uintptr_t at = base + (uintptr_t)f.offset;
    switch (f.bytes) {
    case 1:
        return f.is_signed ? (int8_t)guarded_load8(at) : guarded_load8(at);
    case 2:
        return f.is_signed ? (int16_t)guarded_load16(at) : guarded_load16(at);
    default:
        return (int32_t)guarded_load32(at);
    }
}

/* The block a pc is in: segment map bytes count back to the block's first segment, 0xff is free
 * (source: CodeHeap::find_block_for). */
static uintptr_t find_blob(const struct vm *vm, uintptr_t pc) {
    for (uint32_t i = 0; i < vm->heaps; i++) {
        const struct vm_code_heap *h = &vm->heap[i];
        if (pc < h->low || pc >= h->high)
            continue;
        uintptr_t segment = (pc - h->low) >> h->log2_segment;
        for (uint32_t steps = 0; steps < SEGMENTS_BACK_MAX; steps++) {
            uint8_t back = guarded_load8(h->segmap + segment);
            if (back == 0xff || back > segment)
                return 0;
            if (back == 0) {
                uintptr_t block = h->low + (segment << h->log2_segment);
                if (!guarded_load8(block + (uintptr_t)vm->at.heap_used))
                    return 0;
                return block + (uintptr_t)vm->at.heap_header_bytes;
            }
            segment -= back;
        }
    }
    return 0;
}

static enum code_kind kind_by_name(const struct vm *vm, uintptr_t blob) {
    uint64_t name = guarded_load64(guarded_load64(blob + (uintptr_t)vm->at.blob_name));
    if (name == 0x00646f6874656d6eULL) /* "nmethod" */
        return CODE_COMPILED;
    if (name == 0x6e2065766974616eULL) /* "native n" */
        return CODE_NATIVE;
    return CODE_STUB;
}

struct code code_find(const struct vm *vm, uintptr_t pc) {
    struct code c = {.kind = CODE_NONE, .frame_complete = -1};
    if (!code_contains(vm, pc))
        return c;
    if (pc >= vm->at.interpreter_begin && pc < vm->at.interpreter_end) {
        c.kind = CODE_INTERPRETER;
        c.begin = vm->at.interpreter_begin;
        c.end = vm->at.interpreter_end;
        return c;
    }
    uintptr_t blob = find_blob(vm, pc);
    if (!blob)
        return c;
    c.blob = blob;
    c.begin = field_address(blob, vm->at.blob_code_begin, blob);
    c.end = field_address(blob, vm->at.blob_code_end, blob);
    c.frame_words = guarded_load32(blob + (uintptr_t)vm->at.blob_frame_size);
    c.frame_complete = field_int(blob, vm->at.blob_frame_complete);
    if (c.frame_words > 1u << 20)
        c.frame_words = 0;
    if (pc == vm->at.call_stub_return) {
        c.kind = CODE_ENTRY;
        return c;
    }
    c.kind = kind_by_name(vm, blob);
    if (c.kind == CODE_COMPILED)
        c.level = (uint32_t)field_int(blob, vm->at.nmethod_level);
    return c;
}

/* A compressed stream of unsigned integers (source: compressedStream.hpp, unsigned5.hpp): bytes of
 * 192 and more are followed by another one, at most five in all. Since JDK 20 every byte is one
 * more than it means, so that none is zero. */
struct scope_stream {
    uintptr_t at;
    bool without_zero;
};

static uint32_t stream_read(struct scope_stream *s) {
    uint32_t low = s->without_zero ? 191 : 192;
    uint32_t one = s->without_zero ? 1 : 0;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t b = (uint32_t)guarded_load8(s->at++) - one;
        sum += b << (6 * i);
        if (b < low)
            break;
    }
    return sum;
}

struct scope_data {
    uintptr_t pcs, pcs_end; /* PcDesc array */
    uintptr_t data;         /* compressed scopes */
    uintptr_t metadata;
};

static struct scope_data scope_data_of(const struct vm *vm, uintptr_t nm) {
    const struct vm_layout *at = &vm->at;
    uintptr_t base =
        at->nmethod_immutable >= 0 ? guarded_load64(nm + (uintptr_t)at->nmethod_immutable) : nm;
    struct scope_data d = {
        .pcs = base + guarded_load32(nm + (uintptr_t)at->nmethod_scopes_pcs),
        .pcs_end = base + guarded_load32(nm + (uintptr_t)at->nmethod_scopes_pcs_end),
        .data = field_address(nm, at->nmethod_scopes_data, base),
    };
    if (at->nmethod_metadata >= 0)
        d.metadata = nm + guarded_load32(nm + (uintptr_t)at->nmethod_metadata);
    else
        d.metadata = guarded_load64(nm + (uintptr_t)at->blob_mutable_data) +
                     guarded_load32(nm + (uintptr_t)at->blob_relocation_size);
    return d;
}

/* Offset of the scope at pc; 0: none. PcDescs are sorted by pc and each describes the code up to
 * and including its own pc. */
static uint32_t find_scope(const struct vm *vm, const struct scope_data *d, uintptr_t begin,
                           uintptr_t pc, bool *of_pc) {
    uint32_t stride = (uint32_t)vm->at.pcdesc_bytes;
    if (of_pc)
        *of_pc = false;
    if (d->pcs_end <= d->pcs || d->pcs_end - d->pcs > (64u << 20))
        return 0;
    uint32_t n = (uint32_t)((d->pcs_end - d->pcs) / stride);
    int32_t want = (int32_t)(pc - begin);
    uint32_t low = 0;
    uint32_t high = n;
    while (low < high) { /* the first one with pc_offset >= want */
        uint32_t middle = low + (high - low) / 2;
        uintptr_t desc = d->pcs + (uintptr_t)middle * stride;
        if ((int32_t)guarded_load32(desc + (uintptr_t)vm->at.pcdesc_pc) < want)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n)
        return 0;
    uintptr_t desc = d->pcs + (uintptr_t)low * stride;
    if (of_pc)
        *of_pc = (int32_t)guarded_load32(desc + (uintptr_t)vm->at.pcdesc_pc) == want;
    return guarded_load32(desc + (uintptr_t)vm->at.pcdesc_scope);
}

uint32_t code_scopes(const struct vm *vm, const struct code *c, uintptr_t pc, bool *of_pc,
                     struct code_scope *out, uint32_t max) {
    struct scope_data d = scope_data_of(vm, c->blob);
    uint32_t offset = find_scope(vm, &d, c->begin, pc, of_pc);
    uint32_t n = 0;
    while (offset && offset < (256u << 20) && n < max && n < SCOPE_DEPTH_MAX) {
        struct scope_stream s = {d.data + offset, vm->at.scopes_without_zero};
        uint32_t sender = stream_read(&s);
        uint32_t method = stream_read(&s);
        int32_t bci = (int32_t)stream_read(&s) - 1;
        if (!method || method > (1u << 24))
            break;
        out[n].method = guarded_load64(d.metadata + 8 * ((uintptr_t)method - 1));
        out[n].bci = bci;
        n++;
        if (sender >= offset) /* a sender is always written before its callee */
            break;
        offset = sender;
    }
    return n;
}

uintptr_t code_method(const struct vm *vm, const struct code *c) {
    return guarded_load64(c->blob + (uintptr_t)vm->at.nmethod_method);
}

/* Calls of leaf routines carry no debug information, so what tells a return address from any other
 * word is the call instruction in front of it. */
#if defined(__x86_64__)
static bool follows_direct_call(uintptr_t pc, uintptr_t *target) {
    uint64_t before = guarded_load64(pc - 8); /* the eight bytes before pc, last one highest */
    if ((uint8_t)(before >> 24) != 0xe8)      /* call rel32 */
        return false;
    *target = pc + (uintptr_t)(intptr_t)(int32_t)(before >> 32);
    return true;
}

bool code_follows_call(uintptr_t pc) {
    uint64_t before = guarded_load64(pc - 8);
    uint8_t b2 = (uint8_t)(before >> 48); /* pc[-2] */
    uint8_t b3 = (uint8_t)(before >> 40); /* pc[-3] */
    uintptr_t target;
    if (follows_direct_call(pc, &target))
        return true;
    if (b2 == 0xff && ((uint8_t)(before >> 56) & 0xf8) == 0xd0) /* call reg */
        return true;
    if (b3 == 0xff && (b2 & 0x38) == 0x10) /* call [reg+disp8] */
        return true;
    return (uint8_t)(before >> 16) == 0xff && ((before >> 24) & 0x38) == 0x10; /* [reg+disp32] */
}
#else
static bool follows_direct_call(uintptr_t pc, uintptr_t *target) {
    uint32_t before = guarded_load32(pc - 4);
    if (before >> 26 != 0x25) /* bl */
        return false;
    *target = pc - 4 + (uintptr_t)(intptr_t)((int32_t)(before << 6) >> 4);
    return true;
}

bool code_follows_call(uintptr_t pc) {
    uintptr_t target;
    return follows_direct_call(pc, &target) ||
           (guarded_load32(pc - 4) & 0xfffffc1f) == 0xd63f0000; /* blr */
}
#endif

bool code_called_method(const struct vm *vm, uintptr_t pc) {
    uintptr_t target;
    return follows_direct_call(pc, &target) && code_contains(vm, target) &&
           code_find(vm, target).kind == CODE_COMPILED;
}

bool code_is_routine(const struct vm *vm, const struct code *c) {
    uint64_t name = guarded_load64(guarded_load64(c->blob + (uintptr_t)vm->at.blob_name));
    return c->kind == CODE_STUB && name == 0x74756f5262757453; /* "StubRout" */
}

bool code_is_return(const struct code *c, uintptr_t pc) {
    switch (c->kind) {
    case CODE_INTERPRETER:
    case CODE_ENTRY:
        return true;
    case CODE_COMPILED:
        return pc > c->begin && pc < c->end && code_follows_call(pc);
    case CODE_NATIVE:
    case CODE_STUB:
        return c->frame_words > 0 && pc > c->begin && pc < c->end && code_follows_call(pc);
    default:
        return false;
    }
}

bool code_is_return_address(const struct vm *vm, uintptr_t pc) {
    struct code c = code_find(vm, pc);
    return code_is_return(&c, pc);
}

uintptr_t code_original_pc(const struct vm *vm, const struct code *c, uintptr_t pc, uintptr_t sp) {
    if (c->kind != CODE_COMPILED)
        return pc;
    uintptr_t stubs = c->blob + guarded_load32(c->blob + (uintptr_t)vm->at.nmethod_stub_offset);
    if (pc < stubs)
        return pc;
    uint32_t offset = guarded_load32(c->blob + (uintptr_t)vm->at.nmethod_orig_pc);
    if (offset > c->frame_words * 8)
        return pc;
    uintptr_t original = guarded_load64(sp + offset);
    return original >= c->begin && original < stubs ? original : pc;
}
