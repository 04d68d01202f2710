#include "tui/model/overview_graph.h"

#include "core/base/format.h"

#include <string.h>

#define LEVELS 8
#define SECOND_NS UINT64_C(1000000000)
#define LEAST_PAUSE_NS UINT64_C(1000000)
#define LONG_PAUSE_NS UINT64_C(100000000)

struct moment {
    uint64_t weight; /* of all its seconds */
    uint64_t paused_ns[2], most_ns;
};

/* Returns the next of 1, 2, 5, 10 and so on: the scale, and with it the whole graph, changes
 * seldom. */
static uint64_t scale_for(uint64_t most, uint64_t factor) {
    static const unsigned times[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    for (uint64_t one = 1; one < UINT64_MAX / 1024 / 1024; one *= factor)
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            if (one * times[i] >= most)
                return one * times[i];
    return most;
}

/* Sums seconds to cells. Only complete cells: the current one would look like a dip. Returns the
 * number of cells. */
static uint32_t gather(const struct model *m, struct moment cell[OVERVIEW_CELLS], uint32_t most) {
    uint64_t end = (m->seconds_from + m->seconds) / OVERVIEW_CELL_SECONDS;
    uint64_t first = m->seconds_from / OVERVIEW_CELL_SECONDS;
    first = end - first > most ? end - most : first;
    memset(cell, 0, OVERVIEW_CELLS * sizeof *cell);
    for (uint32_t i = 0; i < m->seconds; i++) {
        uint64_t number = (m->seconds_from + i) / OVERVIEW_CELL_SECONDS;
        if (number < first || number >= end)
            continue;
        struct moment *to = &cell[number - first];
        const struct profile_second *s = &m->second[i];
        uint64_t paused = s->paused_ns[0] + s->paused_ns[1];
        to->weight += s->weight;
        to->paused_ns[0] += s->paused_ns[0];
        to->paused_ns[1] += s->paused_ns[1];
        to->most_ns = paused > to->most_ns ? paused : to->most_ns;
    }
    return (uint32_t)(end - first);
}

static void draw_column(struct canvas *c, struct area a, int col, uint64_t weight, uint64_t most) {
    static const char *const bar[2][LEVELS] = {
        {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"},
        {".", ".", ":", ":", "+", "+", "#", "#"}};
    int rows = a.rows - 1;
    int levels = (int)((double)weight / (double)most * LEVELS * rows + 0.5);
    levels = weight && !levels ? 1 : levels;
    for (int i = 0; i < rows && levels > 0; i++, levels -= LEVELS)
        canvas_text(
            c, a.row + rows - 1 - i, col, 1, ROLE_STRIP,
            bar[c->ascii_lines || c->ascii_text][levels >= LEVELS ? LEVELS - 1 : levels - 1]);
}

static void draw_pause(struct canvas *c, int row, int col, const struct moment *cell) {
    bool gc = cell->paused_ns[0] >= cell->paused_ns[1], is_long = cell->most_ns >= LONG_PAUSE_NS;
    if (cell->most_ns >= LEAST_PAUSE_NS)
        canvas_text(c, row, col, 1, gc ? ROLE_GC : ROLE_SAFEPOINT,
                    gc        ? is_long ? "G" : "g"
                    : is_long ? "S"
                              : "s");
}

/* Draws the scale. CPU time is in percent of one core, as in the threads view. */
static void draw_scale(struct canvas *c, struct area a, const struct model *m, uint64_t scale) {
    struct format f = {""};
    if (m->question.event == WIRE_EVENT_CPU)
        canvas_textf(c, a.row, a.col, OVERVIEW_LABEL_COLS, ROLE_LABEL, "%*.0f%%",
                     OVERVIEW_LABEL_COLS - 2, 100 * (double)scale / (double)SECOND_NS);
    else
        canvas_textf(c, a.row, a.col, OVERVIEW_LABEL_COLS, ROLE_LABEL, "%*s/s",
                     OVERVIEW_LABEL_COLS - 3,
                     format_weight(&f, event_kind_unit[m->question.event], scale));
}

void overview_graph_draw(struct canvas *c, struct area a, const struct model *m) {
    struct moment cell[OVERVIEW_CELLS];
    uint32_t room = a.cols > OVERVIEW_LABEL_COLS ? (uint32_t)(a.cols - OVERVIEW_LABEL_COLS) : 0;
    uint32_t places = room < OVERVIEW_CELLS ? room : OVERVIEW_CELLS;
    if (places < 2 || a.rows < 2)
        return;
    uint32_t count = gather(m, cell, places);
    uint64_t most = 0;
    bool bytes = !strcmp(event_kind_unit[m->question.event], "bytes");
    for (uint32_t i = 0; i < count; i++)
        most = cell[i].weight > most ? cell[i].weight : most;
    uint64_t scale = scale_for(most / OVERVIEW_CELL_SECONDS, bytes ? 1024 : 1000);
    if (most)
        draw_scale(c, a, m, scale);
    canvas_right(c, a.row + a.rows - 1, a.col, OVERVIEW_LABEL_COLS - 1, ROLE_LABEL, "pauses");
    for (uint32_t i = 0; i < count; i++) {
        int col = a.col + OVERVIEW_LABEL_COLS + (int)(places - count + i);
        if (cell[i].weight)
            draw_column(c, a, col, cell[i].weight / OVERVIEW_CELL_SECONDS, scale);
        draw_pause(c, a.row + a.rows - 1, col, &cell[i]);
    }
}
