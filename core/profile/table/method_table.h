/*
 * Everything that can be a frame in a stack: Java methods, native and kernel symbols, classes,
 * stubs, failures, threads (as roots). Interned: the same names and kind give the same id, ids
 * count up from 0 and stay valid as long as the table.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_METHOD_TABLE_H
#define JTOP_PROFILE_TABLE_METHOD_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum method_kind {
    METHOD_JAVA = 0,
    METHOD_NATIVE, /* C symbol */
    METHOD_CPP,    /* C++ or Rust symbol, demangled */
    METHOD_KERNEL,
    METHOD_CLASS,     /* the class of an allocated object or a lock, as a leaf */
    METHOD_STUB,      /* generated code that is no method: interpreter, adapters, intrinsics */
    METHOD_ERROR,     /* why there is no frame here, "[unknown_Java]"-like */
    METHOD_THREAD,    /* a thread as the root of its stacks, "[name tid=N]", "[name virtual=ID]" */
    METHOD_COMPILING, /* what a compiler thread compiles: the method's names, and yet not that
                         method, whose own time this is not; only where it was asked for */
    METHOD_KINDS
};

#define METHOD_NONE UINT32_MAX
#define METHOD_TABLE_MAX (1u << 22)        /* far above what any program shows on its stacks */
#define METHOD_OUTSIDE_TLAB "outside TLAB" /* module of a class allocated there */

struct method {
    enum method_kind kind;
    const char *class_name; /* internal form java/lang/Thread; "" where there is none */
    const char *name;       /* run; or the symbol */
    const char *signature;  /* (I)V; "" where there is none */
    const char *module;     /* library's base name, or METHOD_OUTSIDE_TLAB; "": none */
};

struct method_table;

struct method_table *method_table_new(void); /* NULL: no memory */
void method_table_free(struct method_table *t);
/* At most so many bytes of names; there is room for half a gigabyte otherwise. */
void method_table_limit(struct method_table *t, size_t bytes);

/* The id, or METHOD_NONE when memory ran out. The strings are copied; NULL means "". */
uint32_t method_table_intern(struct method_table *t, enum method_kind kind, const char *class_name,
                             const char *name, const char *signature, const char *module);

/* Never NULL: an id not given out yields a method named "[unknown]" of kind METHOD_ERROR.
 * The pointer is valid until the next intern; the strings in it as long as the table. */
const struct method *method_table_get(const struct method_table *t, uint32_t id);
uint32_t method_table_count(const struct method_table *t);

#endif
