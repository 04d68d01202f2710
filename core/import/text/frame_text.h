/*
 * Files:
 *   frame_text        parser of a printed frame: Java method, class, kernel or native
 *   import_collapsed  importer of collapsed stacks ("root;…;leaf COUNT")
 *
 * Parses a frame in the form that reports print, and finds out what it is:
 *
 *      java/lang/Thread.run_[j]   java.lang.Thread.run   Thread.run()V        a Java method
 *      Ljava/lang/Thread;::run                                                the same, by perf
 *      java/lang/String_[i]   byte[]_[i]                                      a class, as a leaf
 *      do_syscall_64_[k]                                                      a kernel function
 *      libc.so.6`read   start_thread   Foo::bar   main.main   [no_caller]     anything else
 *
 * Text contains less than the profile did, so the result is partly a guess. A name is treated as a
 * Java method in three cases. It ends in a tier (_[0] _[1] _[j] _[i]). Its class has a package
 * with '/', unless the class begins with a small letter and the method with a capital (that is
 * Go). Its class begins with a capital and its method does not: "Main.main". A leaf that ends in
 * _[i] or _[k] and has no method is a class. A wrong guess changes a frame's colour and kind,
 * never its name.
 *
 * Context: as emit.h.
 */
#ifndef JTOP_IMPORT_TEXT_FRAME_TEXT_H
#define JTOP_IMPORT_TEXT_FRAME_TEXT_H

#include "core/import/emit.h"

/* What is known about a frame besides its name; all zeroes: nothing. */
struct frame_text {
    bool leaf;
    bool java;       /* it is a Java method, whatever its name looks like */
    bool native;     /* it is not a Java method */
    bool class_leaf; /* a leaf without a mark may be the class of an allocated object or
                        of a lock */
    uint32_t line;   /* 0: not known */
    struct wire_text module;
};

/* Returns the frame, as a word of a sample, for the text `t` that a report prints for it. */
uint64_t frame_text_emit(struct emit *m, struct wire_text t, const struct frame_text *about);

#endif
