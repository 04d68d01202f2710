/*
 * Files:
 *   frame_text        parser of a printed frame: Java method, class, kernel or native
 *   import_collapsed  importer of collapsed stacks ("root;…;leaf COUNT")
 *
 * A frame as people read it in a report, back to what it is:
 *
 *      java/lang/Thread.run_[j]   java.lang.Thread.run   Thread.run()V        a Java method
 *      Ljava/lang/Thread;::run                                                the same, as perf has it
 *      java/lang/String_[i]   byte[]_[i]                                      a class, as a leaf
 *      do_syscall_64_[k]                                                      of the kernel
 *      libc.so.6`read   start_thread   Foo::bar   main.main   [no_caller]     anything else
 *
 * Text says less than the profile did, so some of it is a guess. A name is taken for a Java method
 * that ends in a tier (_[0] _[1] _[j] _[i]); whose class has a package with '/' and whose method
 * does not begin with a capital below a small package (that is Go); or whose class begins with a
 * capital and the method without one: "Main.main". What ends in _[i] or _[k] and is a leaf without
 * a method is a class. A wrong guess changes a frame's colour and kind, never its name.
 *
 * Context: as emit.h.
 */
#ifndef JTOP_IMPORT_TEXT_FRAME_TEXT_H
#define JTOP_IMPORT_TEXT_FRAME_TEXT_H

#include "core/import/emit.h"

/* What is known of a frame besides its name; all zero: nothing. */
struct frame_text {
    bool leaf;
    bool java;       /* a Java method, whatever it looks like */
    bool native;     /* none */
    bool class_leaf; /* a leaf without any mark may be what was allocated, or a lock */
    uint32_t line;   /* 0: not known */
    struct wire_text module;
};

/* The frame's word, of what a report calls it. */
uint64_t frame_text_emit(struct emit *m, struct wire_text t, const struct frame_text *about);

#endif
