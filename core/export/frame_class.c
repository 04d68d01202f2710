#include "core/export/frame_class.h"

/* source: the palette of async-profiler's flame graphs; the colours of threads and errors are
 * our own. */
const struct frame_class_look frame_class_looks[FRAME_CLASSES] = {
    [CLASS_INTERPRETED] = {'i', "Interpreted", 0xb2e1b2, 0x141414},
    [CLASS_JAVA] = {'j', "Java, compiled", 0x50e150, 0x1e1e1e},
    [CLASS_C1] = {'c', "Java, C1", 0xcce880, 0x141414},
    [CLASS_INLINED] = {'l', "Java, inlined", 0x50cccc, 0x1e1e1e},
    [CLASS_NATIVE] = {'n', "Native", 0xe15a5a, 0x1e2828},
    [CLASS_CPP] = {'p', "C++", 0xc8c83c, 0x1e1e0a},
    [CLASS_KERNEL] = {'k', "Kernel", 0xe17d00, 0x1e1e00},
    [CLASS_THREAD] = {'t', "Thread", 0xa9b8d6, 0x141414},
    [CLASS_ERROR] = {'e', "Missing frame", 0xb4b4b4, 0x141414},
};

enum frame_class frame_class_of(enum method_kind kind, enum frame_tier tier) {
    static const enum frame_class by_kind[METHOD_KINDS] = {
        [METHOD_JAVA] = CLASS_JAVA,        [METHOD_NATIVE] = CLASS_NATIVE,
        [METHOD_CPP] = CLASS_CPP,          [METHOD_KERNEL] = CLASS_KERNEL,
        [METHOD_CLASS] = CLASS_INLINED,    [METHOD_STUB] = CLASS_NATIVE,
        [METHOD_ERROR] = CLASS_ERROR,      [METHOD_THREAD] = CLASS_THREAD,
        [METHOD_COMPILING] = CLASS_NATIVE,
    };
    static const enum frame_class by_tier[TIERS] = {
        [TIER_NONE] = CLASS_JAVA, [TIER_INTERPRETED] = CLASS_INTERPRETED, [TIER_C1] = CLASS_C1,
        [TIER_C2] = CLASS_JAVA,   [TIER_INLINED] = CLASS_INLINED,
    };
    return kind == METHOD_JAVA ? by_tier[tier] : by_kind[kind];
}

unsigned frame_class_shade(const char *name) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ h >> 15) % FRAME_SHADES;
}

uint32_t frame_class_colour(enum frame_class c, unsigned shade) {
    const struct frame_class_look *look = &frame_class_looks[c];
    uint32_t colour = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t base = look->colour >> shift & 0xff;
        uint32_t more = (look->spread >> shift & 0xff) * shade / (FRAME_SHADES - 1);
        colour |= (base + more > 255 ? 255 : base + more) << shift;
    }
    return colour;
}
