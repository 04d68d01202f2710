#include "tui/model/overview_graph.h"

#include "core/base/format.h"
#include "tui/widget/chart.h"

#include <string.h>

struct moment {
    uint64_t weight; /* of all its seconds */
    uint64_t paused_ns[2], most_ns;
};

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

void overview_graph_draw(struct canvas *c, struct area a, const struct model *m) {
    struct moment cell[OVERVIEW_CELLS];
    uint32_t room = a.cols > OVERVIEW_LABEL_COLS ? (uint32_t)(a.cols - OVERVIEW_LABEL_COLS) : 0;
    uint32_t places = room < OVERVIEW_CELLS ? room : OVERVIEW_CELLS;
    if (places < 2 || a.rows < 2)
        return;
    uint32_t count = gather(m, cell, places);
    uint64_t most = 0;
    const char *unit = event_kind_unit[m->question.event];
    for (uint32_t i = 0; i < count; i++)
        most = cell[i].weight > most ? cell[i].weight : most;
    uint64_t scale = chart_scale(most / OVERVIEW_CELL_SECONDS, unit);
    if (most)
        chart_label(c, a.row, a.col, m->question.event == WIRE_EVENT_CPU, unit, scale);
    canvas_right(c, a.row + a.rows - 1, a.col, OVERVIEW_LABEL_COLS - 1, ROLE_LABEL, "pauses");
    for (uint32_t i = 0; i < count; i++) {
        int col = a.col + OVERVIEW_LABEL_COLS + (int)(places - count + i);
        chart_column(c, (struct area){a.row, col, a.rows - 1, 1}, ROLE_STRIP,
                     cell[i].weight / OVERVIEW_CELL_SECONDS, scale);
        chart_pause(c, a.row + a.rows - 1, col, cell[i].paused_ns, cell[i].most_ns);
    }
}
