/*
 * Java objects: the address of an object from a reference to it, for all forms of references that
 * the garbage collectors use; and the text of a String (source: compressedOops.hpp, zAddress.hpp
 * and xAddress.hpp of ZGC, shenandoahForwarding.hpp, oopHandle.hpp, arrayOop.hpp, JDK 15-28).
 *
 *                                in a field          in a handle        on a stack
 *   -XX:+UseCompressedOops       base + (v << shift) address            address
 *   -XX:-UseCompressedOops       address             address            address
 *   ZGC, one generation          coloured above the address, which is mapped at each colour
 *   ZGC, generations             coloured below the address             address
 *
 * A collector may have moved the object since the reference was written; with Shenandoah and ZGC
 * the new address can be found. It may also move the object while it is being read, and nothing
 * prevents that. Then the old copy is read, if it still exists, or garbage. So callers must check
 * what they read.
 *
 * Context: oop_learn in a Java thread at attach; the rest is signal-safe.
 */
#ifndef JTOP_AGENT_VM_VM_OOP_H
#define JTOP_AGENT_VM_VM_OOP_H

#include "core/agent/vm/vm_zgc.h"

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oop_form {
    OOP_UNKNOWN = 0, /* nothing below works */
    OOP_WIDE,
    OOP_NARROW,
    OOP_VIEWS,    /* ZGC before it had generations */
    OOP_COLOURED, /* ZGC with generations */
};

struct oop_layout {
    enum oop_form form;
    bool forwarded; /* an object's old copy has its new address (Shenandoah) */
    uintptr_t narrow_base;
    uint32_t narrow_shift;
    uint64_t finalizable;                /* OOP_VIEWS: the only colour without a mapping */
    struct zgc_layout zgc;               /* OOP_VIEWS, OOP_COLOURED */
    uint32_t field_shift;                /* of an offset in a jfieldID; 0: not known */
    uint32_t string_value, string_coder; /* of java.lang.String; value 0: not known */
    uint32_t bytes_length, bytes_data;   /* of a byte[] */
};

/* Finds the form of this VM's references; `form` stays OOP_UNKNOWN if that fails. */
void oop_learn(struct oop_layout *o, JNIEnv *jni);

/* Finds the offset of a class's instance field. False: there is no such field. `c` may be NULL. No
 * exception is pending afterwards. Call it after oop_learn. */
bool oop_field_offset(const struct oop_layout *o, JNIEnv *jni, jclass c, const char *name,
                      const char *type, uint32_t *out);

/* Returns the address in a coloured reference; 0: null, or not a reference. The address begins at
 * another bit on each architecture. */
uintptr_t oop_uncolour_x86_64(uint64_t v);
uintptr_t oop_uncolour_aarch64(uint64_t v);

/* Each returns the object that is referred to: by the field at this address; by the handle (an
 * OopHandle's slot) at this address; by this word of a stack or of a local JNI reference. 0:
 * none. */
uintptr_t oop_in_field(const struct oop_layout *o, uintptr_t at);
uintptr_t oop_in_handle(const struct oop_layout *o, uintptr_t at);
uintptr_t oop_on_stack(const struct oop_layout *o, uint64_t v);

#define OOP_TEXT_UNITS 256 /* characters of a String that are read, at most */

/* A String's characters, copied. */
struct oop_text {
    uint32_t units; /* number of Java characters */
    bool latin1;    /* one byte per character; else two */
    uint8_t raw[2 * OOP_TEXT_UNITS];
};

/* Copies a String's text, or its beginning. False: it is not a String. */
bool oop_read_text(const struct oop_layout *o, uintptr_t string, struct oop_text *out);

/* Converts the text to modified UTF-8 without a NUL, at most `max` bytes, cut between characters.
 * Returns the number of bytes. */
size_t oop_text_utf8(const struct oop_text *t, uint8_t *out, size_t max);

#endif
