#include "core/agent/vm/vm_oop.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"
#include "core/agent/vm/vm_flags.h"
#include "core/agent/vm/vm_tables.h"

#include <string.h>

#define COLOUR_SHIFT 12 /* of the four bits by which a load is checked */
#define COLOURS 4
#define COLOUR_END (COLOUR_SHIFT + COLOURS)
#define MARK_FORWARDED 3u /* low bits of an object's mark word */
#define LENGTH_MAX (1 << 30)

/* An instance field's offset out of its jfieldID (source: jfieldIDWorkaround.hpp): bits from 2 or
 * (JDK 28) 3 on; bit 1 says instance field; with bit 0 only seven are the offset, the rest check
 * the class. 0: not an instance field's ID. */
static uint32_t offset_of_id(uintptr_t id, uint32_t shift) {
    uintptr_t offset = id & 1 ? id >> shift & 127 : id >> shift;
    return id & 2 ? (uint32_t)offset : 0;
}

static uintptr_t field_id(JNIEnv *jni, jclass c, const char *name, const char *type) {
    uintptr_t id = c ? (uintptr_t)(*jni)->GetFieldID(jni, c, name, type) : 0;
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return id;
}

bool oop_field_offset(const struct oop_layout *o, JNIEnv *jni, jclass c, const char *name,
                      const char *type, uint32_t *out) {
    *out = o->field_shift ? offset_of_id(field_id(jni, c, name, type), o->field_shift) : 0;
    return *out != 0;
}

static bool flag(const char *name, bool otherwise) {
    bool value;
    return vm_flag_get(name, &value) ? value : otherwise;
}

static bool read_narrow(struct oop_layout *o, const struct vm_tables *t) {
    uintptr_t base = vm_static(t, "CompressedOops", "_base");
    uintptr_t shift = vm_static(t, "CompressedOops", "_shift");
    if (!base)
        base = vm_static(t, "CompressedOops", "_narrow_oop._base");
    if (!shift)
        shift = vm_static(t, "CompressedOops", "_narrow_oop._shift");
    if (!base || !shift)
        return false;
    o->narrow_base = guarded_load64(base);
    o->narrow_shift = guarded_load32(shift);
    return o->narrow_shift <= 8;
}

/* ZGC without generations is X in the VMs that have both. */
static bool read_views(struct oop_layout *o, const struct vm_tables *t) {
    uintptr_t at = vm_static(t, "XGlobalsForVMStructs", "_instance_p");
    int32_t finalizable = vm_offset(t, "XGlobalsForVMStructs", "_XAddressMetadataFinalizable");
    if (!at) {
        at = vm_static(t, "ZGlobalsForVMStructs", "_instance_p");
        finalizable = vm_offset(t, "ZGlobalsForVMStructs", "_ZAddressMetadataFinalizable");
    }
    uintptr_t globals = at ? guarded_load64(at) : 0;
    if (!globals || finalizable < 0)
        return false;
    o->finalizable = guarded_load64(guarded_load64(globals + (uintptr_t)finalizable));
    return o->finalizable != 0;
}

static enum oop_form find_form(struct oop_layout *o, const struct vm_tables *t) {
    if (flag("UseZGC", false)) {
        /* The flag was there as long as there was a choice. */
        bool generations = vm_offset(t, "ZGlobalsForVMStructs", "_ZPointerLoadShift") >= 0 &&
                           flag("ZGenerational", true);
        return generations ? OOP_COLOURED : read_views(o, t) ? OOP_VIEWS : OOP_UNKNOWN;
    }
    bool narrow;
    if (!vm_flag_get("UseCompressedOops", &narrow))
        return OOP_UNKNOWN;
    return !narrow ? OOP_WIDE : read_narrow(o, t) ? OOP_NARROW : OOP_UNKNOWN;
}

#define SAMPLE "jtop-prof measures"

/* Where a byte[] has its length and its data depends on flags and releases: this one is known to
 * have SAMPLE in it. */
static bool find_bytes(struct oop_layout *o, uintptr_t array) {
    static const char text[] = SAMPLE;
    const uint32_t n = sizeof text - 1;
    char got[24 + sizeof text];
    if (guarded_copy(got, array, sizeof got) != 0)
        return false;
    for (uint32_t data = 12; data <= 24; data += 4) {
        if (memcmp(got + data, text, n) != 0)
            continue;
        for (uint32_t length = 8; length < data; length += 4) {
            if (memcmp(got + length, &n, sizeof n) == 0) {
                o->bytes_length = length;
                o->bytes_data = data;
                return true;
            }
        }
    }
    return false;
}

/* A String that we make tells how fields are numbered and how strings look: only one numbering
 * leads to its text. */
static void learn_strings(struct oop_layout *o, JNIEnv *jni) {
    jclass c = boot_class(jni, "java/lang/String");
    jstring s = (*jni)->NewStringUTF(jni, SAMPLE);
    uintptr_t value = field_id(jni, c, "value", "[B");
    uintptr_t coder = field_id(jni, c, "coder", "B");
    /* A collector may move it between two loads. */
    for (uint32_t tries = 0; s && !o->field_shift && tries < 6; tries++) {
        uint32_t shift = 2 + tries % 2;
        uintptr_t string = oop_on_stack(o, guarded_load64((uintptr_t)s & ~(uintptr_t)3));
        uintptr_t array = string ? oop_in_field(o, string + offset_of_id(value, shift)) : 0;
        if (array && find_bytes(o, array)) {
            o->field_shift = shift;
            o->string_value = offset_of_id(value, shift);
            o->string_coder = offset_of_id(coder, shift);
        }
    }
    (*jni)->DeleteLocalRef(jni, s);
    (*jni)->DeleteLocalRef(jni, c);
}

void oop_learn(struct oop_layout *o, JNIEnv *jni) {
    struct vm_tables t;
    *o = (struct oop_layout){0};
    if (vm_tables_open(&t) < 0)
        return;
    o->form = find_form(o, &t);
    o->forwarded = flag("UseShenandoahGC", false);
    if (o->form == OOP_VIEWS || o->form == OOP_COLOURED)
        zgc_learn(&o->zgc, &t, o->form == OOP_COLOURED);
    if (o->form != OOP_UNKNOWN)
        learn_strings(o, jni);
}

static uintptr_t plausible(uint64_t address) {
    return address % 8 == 0 && address >> VM_ADDRESS_BITS == 0 ? (uintptr_t)address : 0;
}

uintptr_t oop_uncolour_x86_64(uint64_t v) {
    /* One of the four bits is set, and the address begins right above it: the zeros between are
     * the address's own low bits. */
    uint32_t colour = (uint32_t)(v >> COLOUR_SHIFT) & ((1u << COLOURS) - 1);
    for (uint32_t i = 0; i < COLOURS; i++)
        if (colour == 1u << i)
            return plausible(v >> (COLOUR_SHIFT + 1 + i));
    return 0;
}

uintptr_t oop_uncolour_aarch64(uint64_t v) {
    return plausible(v >> COLOUR_END);
}

static uintptr_t uncolour(uint64_t v) {
#if defined(__x86_64__)
    return oop_uncolour_x86_64(v);
#else
    return oop_uncolour_aarch64(v);
#endif
}

static uintptr_t follow(const struct oop_layout *o, uintptr_t object) {
    if (!object || !o->forwarded)
        return object;
    uint64_t mark = guarded_load64(object);
    uint64_t to = mark & ~(uint64_t)MARK_FORWARDED;
    return (mark & MARK_FORWARDED) == MARK_FORWARDED && plausible(to) ? (uintptr_t)to : object;
}

uintptr_t oop_on_stack(const struct oop_layout *o, uint64_t v) {
    if (o->form == OOP_UNKNOWN)
        return 0;
    if (o->form != OOP_VIEWS)
        return follow(o, plausible(v));
    uintptr_t address = plausible(v & ~o->finalizable);
    return address ? zgc_current(&o->zgc, v, address) : 0;
}

uintptr_t oop_in_handle(const struct oop_layout *o, uintptr_t at) {
    uint64_t v = guarded_load64(at);
    if (o->form != OOP_COLOURED)
        return oop_on_stack(o, v);
    uintptr_t address = uncolour(v);
    return address ? zgc_current(&o->zgc, v, address) : 0;
}

uintptr_t oop_in_field(const struct oop_layout *o, uintptr_t at) {
    if (o->form != OOP_NARROW)
        return oop_in_handle(o, at);
    uint32_t v = guarded_load32(at);
    return v ? follow(o, plausible(o->narrow_base + ((uint64_t)v << o->narrow_shift))) : 0;
}

bool oop_read_text(const struct oop_layout *o, uintptr_t string, struct oop_text *out) {
    uintptr_t array = o->string_value ? oop_in_field(o, string + o->string_value) : 0;
    if (!array)
        return false;
    uint8_t coder = guarded_load8(string + o->string_coder);
    uint32_t bytes = guarded_load32(array + o->bytes_length);
    if (coder > 1 || bytes > LENGTH_MAX || bytes & coder)
        return false;
    out->latin1 = coder == 0;
    uint32_t units = bytes >> coder;
    out->units = units < OOP_TEXT_UNITS ? units : OOP_TEXT_UNITS;
    return guarded_copy(out->raw, array + o->bytes_data, (size_t)out->units << coder) == 0;
}

/* A Java character as modified UTF-8 (JVMS 4.4.7): 0 takes two bytes, a surrogate three. */
static size_t encode(uint32_t c, uint8_t *out) {
    if (c && c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (uint8_t)(0xe0 | c >> 12);
    out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c & 0x3f));
    return 3;
}

static uint32_t unit(const struct oop_text *t, size_t i) {
    return t->latin1 ? t->raw[i] : (uint32_t)(t->raw[2 * i] | t->raw[2 * i + 1] << 8);
}

size_t oop_text_utf8(const struct oop_text *t, uint8_t *out, size_t max) {
    size_t n = 0;
    for (uint32_t i = 0; i < t->units; i++) {
        uint8_t bytes[6];
        uint32_t c = unit(t, i);
        size_t more = encode(c, bytes);
        /* A pair of surrogates is one character. */
        if (c >> 10 == 0xd800 >> 10 && i + 1 < t->units && unit(t, i + 1) >> 10 == 0xdc00 >> 10)
            more += encode(unit(t, ++i), bytes + more);
        if (n + more > max)
            break;
        memcpy(out + n, bytes, more);
        n += more;
    }
    return n;
}
