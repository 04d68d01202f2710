/*
 * Files:
 *   boot_class       lookup of JDK classes without running application code
 *   boot_natives     binding of native methods of JDK classes without a VM warning
 *   thread_state     what another thread is doing: running, or what it waits for
 *   vm_code          lookup of generated code by address, and its inlined methods
 *   vm_compiler      method that a compiler thread is compiling
 *   vm_continuation  frames of a virtual thread that are stored in the heap
 *   vm_flags         reading and setting of the VM's boolean -XX flags
 *   vm_klass         class of a Java object, from its header
 *   vm_method        identity, names and line table of a method
 *   vm_oop           references to Java objects in all their encodings; text of a String
 *   vm_structs       layout of HotSpot's structures, learned once at attach
 *   vm_tables        lookup in the tables libjvm.so exports for debuggers
 *   vm_zgc           current address of an object that ZGC has moved
 *
 * The layout of HotSpot's structures. libjvm.so exports tables of its fields, types and constants
 * for debuggers (source: vmStructs.hpp; entries in vmStructs.cpp, JDK 8-28). The agent reads the
 * offsets from these tables once, at attach. The walker then reads the structures without calling
 * the VM.
 *
 * Offsets are bytes; -1 where this VM has no such field.
 *
 * Context: vm_structs_read in the agent's thread or an attach callback; the layout is constant
 * afterwards and may be read anywhere.
 */
#ifndef JTOP_AGENT_VM_VM_STRUCTS_H
#define JTOP_AGENT_VM_VM_STRUCTS_H

#include "core/agent/vm/vm_continuation.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field whose width differs between versions. */
struct vm_field {
    int32_t offset; /* -1: absent */
    uint8_t bytes;  /* 1, 2, 4 or 8 */
    bool is_signed;
};

struct vm_layout {
    /* class names and methods */
    int32_t method_const, const_constants, const_code_size, const_name, const_signature;
    int32_t pool_holder, pool_length, pool_tags, klass_name;
    int32_t array_length, array_bytes; /* of Array<u1>, as a pool's tags are */
    int32_t symbol_length, symbol_body;
    uint64_t symbol_mask; /* of a symbol's first word: the bits that do not change */
    struct vm_field method_flags, const_flags;
    uint32_t const_has_lines; /* bit of const_flags */
    int32_t const_method_bytes, pool_bytes;
    /* code */
    int32_t blob_name, blob_size, blob_frame_size;
    struct vm_field blob_frame_complete;
    struct vm_field blob_code_begin, blob_code_end; /* 8 bytes: address; 4: offset in the blob */
    int32_t nmethod_method, nmethod_orig_pc, nmethod_stub_offset;
    int32_t nmethod_compile_id; /* -1: not known */
    struct vm_field nmethod_level;
    struct vm_field nmethod_scopes_data; /* 8 bytes: address; 4: offset in nmethod_scopes_base */
    int32_t nmethod_scopes_pcs, nmethod_scopes_pcs_end;
    int32_t nmethod_immutable; /* address both scope offsets are relative to; -1: the blob */
    int32_t nmethod_metadata;  /* offset in the blob, or -1: see blob_mutable_data */
    int32_t blob_mutable_data, blob_relocation_size;
    int32_t pcdesc_pc, pcdesc_scope, pcdesc_bytes;
    bool scopes_without_zero; /* JDK 20+: compressed integers have no zero bytes */
    /* threads and frames */
    int32_t thread_anchor, thread_stack_base, thread_stack_size, thread_osthread, osthread_tid;
    int32_t thread_state;
    int32_t thread_object, thread_vthread; /* OopHandles; -1 before virtual threads */
    int32_t anchor_sp, anchor_pc, anchor_fp;
    int32_t wrapper_anchor;  /* in a JavaCallWrapper */
    int32_t entry_wrapper;   /* words from fp of an entry frame to its JavaCallWrapper* */
    int32_t interpreter_bcp; /* words from fp of an interpreted frame */
    /* values */
    uintptr_t interpreter_begin, interpreter_end;
    uintptr_t call_stub_return;
    int32_t heap_header_bytes, heap_used;
};

/* Of virtual_thread.h: offsets of Java fields. */
struct virtual_layout {
    bool known;
    uint32_t thread_id, thread_name, thread_eetop; /* in Thread */
    uint32_t carrier;                              /* in VirtualThread */
    bool has_way_back;
    /* Thread.cont → Continuation.target → a virtual thread, whose VirtualThread.cont is the same */
    uint32_t carrier_cont, cont_target, target_thread, own_cont;
};

/* Of vm_compiler.h. */
struct compiler_layout {
    int32_t env, task, method; /* in CompilerThread, ciEnv and CompileTask */
    _Atomic uintptr_t vtable;  /* of CompilerThread; 0: none was seen yet */
};

/* Of vm_klass.h. */
struct klass_layout {
    int32_t offset;        /* in an object; -1: not known */
    uint32_t header_shift; /* of the class's bits in an object's first word; 0: not in that word */
    bool narrow;
    uintptr_t base;
    uint32_t shift;
};

/* The kernel gives user space addresses with more bits only to a program that requests them. */
#if defined(__aarch64__)
#define VM_ADDRESS_BITS 48
#else
#define VM_ADDRESS_BITS 47
#endif

#define VM_HEAPS_MAX 8

/* A code heap: a range of memory that is divided into segments. One byte per segment tells how many
 * segments back its block begins. */
struct vm_code_heap {
    uintptr_t low, high; /* reserved range, constant */
    uintptr_t segmap;
    uint32_t log2_segment;
};

struct vm {
    struct vm_layout at;
    struct vm_code_heap heap[VM_HEAPS_MAX];
    uint32_t heaps;
    uintptr_t code_low, code_high; /* range around all heaps */
    struct oop_layout oops;
    struct klass_layout klasses;
    struct continuation_layout continuation;
    struct virtual_layout virtual_threads;
    struct compiler_layout compiler;
    int thread_key; /* pthread key of Thread::current(); -1: not found */
    /* vtables of JavaThread and those of its subclasses that run Java code; append-only */
    uintptr_t java_vtable[16];
    _Atomic uint32_t java_vtables;
};

/* Fills everything except java_vtable and thread_key. `jni_version`: the result of JNI's
 * GetVersion. 0, or -ENOSYS with the name of the missing field in `missing` (in static storage or
 * the VM's). */
int vm_structs_read(struct vm *vm, uint32_t jni_version, const char **missing);

/* Finds thread_key: `self` is the calling thread's JavaThread*. Agent's thread or callbacks. */
void vm_find_thread_key(struct vm *vm, uintptr_t self);

/* Adds the vtable of a thread that runs Java code. Callbacks and the agent's thread, with the
 * threads' lock held. */
void vm_know_java_vtable(struct vm *vm, uintptr_t vtable);

/* Returns the calling thread's JavaThread*; 0: it is not a Java thread. Signal-safe. */
uintptr_t vm_current_java_thread(const struct vm *vm);

#endif
