/*
 * Everything that can be a frame in a stack: Java methods, native and kernel symbols, classes,
 * stubs, failures, threads (as roots). Entries are interned: the same names and kind give the same
 * id. Ids count up from 0 and stay valid as long as the table.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_METHOD_TABLE_H
#define JTOP_PROFILE_TABLE_METHOD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum method_kind {
    METHOD_JAVA = 0,
    METHOD_NATIVE, /* C symbol */
    METHOD_CPP,    /* C++ or Rust symbol, demangled */
    METHOD_KERNEL,
    METHOD_CLASS,     /* the class of an allocated object or a lock, as a leaf */
    METHOD_STUB,      /* generated code that is not a method: interpreter, adapters, intrinsics */
    METHOD_ERROR,     /* the reason why there is no frame, such as "[unknown_Java]" */
    METHOD_THREAD,    /* a thread as the root of its stacks, "[name tid=N]", "[name virtual=ID]" */
    METHOD_COMPILING, /* the method that a compiler thread compiles: it has that method's names, but
                         is a different entry, because the time is not the method's own; only if
                         requested */
    METHOD_KINDS
};

#define METHOD_NONE UINT32_MAX
#define METHOD_TABLE_MAX (1u << 22)        /* far more methods than any program has on its stacks */
#define METHOD_OUTSIDE_TLAB "outside TLAB" /* module of a class that was allocated there */

struct method {
    enum method_kind kind;
    const char *class_name; /* internal form java/lang/Thread; "" if there is none */
    const char *name;       /* run; or the symbol */
    const char *signature;  /* (I)V; "" if there is none */
    const char *module;     /* base name of the library, or METHOD_OUTSIDE_TLAB; "": none */
};

struct method_table;

struct method_table *method_table_new(void); /* NULL: no memory */
void method_table_free(struct method_table *t);
/* Limits the names to this many bytes; without a call, half a gigabyte is allowed. */
void method_table_limit(struct method_table *t, size_t bytes);

/* Returns the id; METHOD_NONE: no memory. The strings are copied; NULL means "". */
uint32_t method_table_intern(struct method_table *t, enum method_kind kind, const char *class_name,
                             const char *name, const char *signature, const char *module);

/* Never NULL: an unknown id gives a method named "[unknown]" of kind METHOD_ERROR. The pointer is
 * valid until the next intern; the strings are valid as long as the table. */
const struct method *method_table_get(const struct method_table *t, uint32_t id);
uint32_t method_table_count(const struct method_table *t);

/* True for classes in packages of the JDK, whose code works because other code called it. */
bool method_is_jdk(const struct method *m);

#endif
