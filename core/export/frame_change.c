#include "core/export/frame_change.h"

struct diff_change frame_change(const struct diff *d, const struct snapshot *s,
                                const struct walked_frame *f) {
    struct diff_change sum = {.chance = true, .is_new = true};
    for (size_t i = 0; i < f->nodes; i++) {
        struct diff_change c = diff_node(d, (uint32_t)(f->node[i] - s->nodes));
        sum.percent += c.percent;
        sum.chance &= c.chance;
        sum.is_new &= c.is_new;
    }
    return sum;
}

unsigned frame_change_shade(struct diff_change c) {
    static const double steps[] = {0, 0.5, 2, 5}; /* percent points */
    double size = c.percent < 0 ? -c.percent : c.percent;
    unsigned step = 0;
    if (c.chance || size < 0.005)
        return CHANGE_SHADES / 2;
    while (step < 4 && size > steps[step])
        step++;
    return c.percent < 0 ? CHANGE_SHADES / 2 - step : CHANGE_SHADES / 2 + step;
}

uint32_t frame_change_colour(unsigned shade) {
    static const uint32_t colours[CHANGE_SHADES] = {
        0x5b8fe0, 0x85aeea, 0xaecaf2, 0xd3e2f8, 0xd9d9d9, 0xf9d9d3, 0xf4b4a8, 0xec8b7a, 0xe0604d};
    return colours[shade < CHANGE_SHADES ? shade : CHANGE_SHADES - 1];
}
