#include "tui/widget/chart.h"

#include "core/base/format.h"

#include <math.h>
#include <string.h>

#define LEVELS 8 /* heights of a cell */
#define MS UINT64_C(1000000)
#define SECOND_NS (1000 * MS)
#define LEAST_PAUSE_NS MS
#define LONG_PAUSE_NS (100 * MS)

uint64_t chart_scale(uint64_t most, const char *unit) {
    static const unsigned times[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    uint64_t factor = strcmp(unit, "bytes") != 0 ? 1000 : 1024;
    for (uint64_t one = 1; one < UINT64_MAX / 1024 / 1024; one *= factor)
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            if (one * times[i] >= most)
                return one * times[i];
    return most;
}

/* Returns the character of a cell that is filled to a level from 1 to LEVELS. */
static const char *cell_of(const struct canvas *c, int level) {
    static const char *const bar[2][LEVELS] = {
        {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"},
        {".", ":", "-", "=", "+", "*", "%", "#"}};
    int i = level < 1 ? 0 : level > LEVELS ? LEVELS - 1 : level - 1;
    return bar[c->ascii_lines || c->ascii_text][i];
}

void chart_column(struct canvas *c, struct area a, enum role role, uint64_t weight,
                  uint64_t scale) {
    double part = scale ? (double)weight / (double)scale : 0;
    int most = LEVELS * a.rows;
    int level = part >= 1 ? most : (int)ceil(part * most);
    level = weight && !level ? 1 : level;
    for (int row = a.row + a.rows - 1; level > 0; row--, level -= LEVELS)
        for (int i = 0; i < a.cols; i++)
            canvas_text(c, row, a.col + i, 1, role, cell_of(c, level));
}

void chart_label(struct canvas *c, int row, int col, bool cpu, const char *unit, uint64_t scale) {
    struct format f = {""};
    double percent = 100 * (double)scale / (double)SECOND_NS;
    if (cpu)
        canvas_textf(c, row, col, CHART_LABEL_COLS - 1, ROLE_LABEL, "%*.*f%%", CHART_LABEL_COLS - 2,
                     percent < 1 ? 1 : 0, percent);
    else
        canvas_textf(c, row, col, CHART_LABEL_COLS - 1, ROLE_LABEL, "%*s/s", CHART_LABEL_COLS - 3,
                     format_weight(&f, unit, scale));
}

void chart_pause(struct canvas *c, int row, int col, const uint64_t paused_ns[2],
                 uint64_t most_ns) {
    bool gc = paused_ns[0] >= paused_ns[1], is_long = most_ns >= LONG_PAUSE_NS;
    if (most_ns >= LEAST_PAUSE_NS)
        canvas_text(c, row, col, 1, gc ? ROLE_GC : ROLE_SAFEPOINT,
                    gc        ? is_long ? "G" : "g"
                    : is_long ? "S"
                              : "s");
}
