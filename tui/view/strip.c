#include "tui/view/strip.h"

#include "core/base/format.h"
#include "tui/widget/chart.h"

#define CLOCK_STEP 15 /* seconds from one time to the next; a time is 8 columns */
#define CLOCK_COLS 8
#define SECOND_NS UINT64_C(1000000000)

/* True if the views show this second. Only while held: otherwise they show the newest seconds
 * anyway. */
static bool is_shown(const struct model *m, uint64_t second) {
    const struct model_window w = model_window(m);
    return m->held && w.from && second >= w.from && second <= w.to;
}

/* The seconds on screen, the newest at the right. */
struct seconds {
    uint64_t first;
    uint32_t count;
    int col; /* of the first */
};

static struct seconds seconds_of(const struct model *m, int cols) {
    uint32_t room = cols > CHART_LABEL_COLS ? (uint32_t)(cols - CHART_LABEL_COLS) : 0;
    uint32_t count = m->seconds < room ? m->seconds : room;
    return (struct seconds){
        .first = m->seconds_from + m->seconds - count, .count = count, .col = cols - (int)count};
}

uint64_t strip_second_at(const struct model *m, int cols, int col) {
    const struct seconds s = seconds_of(m, cols);
    if (!s.count)
        return 0;
    int at = col - s.col;
    return s.first + (at < 0 ? 0 : at >= (int)s.count ? s.count - 1 : (uint32_t)at);
}

/* Draws times of day below their seconds. If they are not known, draws ages, which stay in their
 * places. */
static void draw_clock(struct canvas *c, int row, const struct model *m, const struct seconds *s) {
    bool goes_on = m->status.phase == SESSION_RUNNING && !m->held;
    int end = c->cols - (goes_on ? 5 : 0);
    struct format f = {""};
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t day = m->status.day_ns + (int64_t)((s->first + i) * SECOND_NS);
        uint32_t age = s->count - 1 - i;
        int col = s->col + (int)i;
        if (m->status.day_ns && day / (int64_t)SECOND_NS % CLOCK_STEP == 0 &&
            col + CLOCK_COLS <= end)
            canvas_text(c, row, col, CLOCK_COLS, ROLE_DIM, format_time(&f, day));
        else if (!m->status.day_ns && age && age % CLOCK_STEP == 0 && col + CLOCK_COLS <= end)
            canvas_textf(c, row, col, CLOCK_COLS, ROLE_DIM, "-%us", age);
    }
    if (goes_on)
        canvas_right(c, row, c->cols - 3, 3, ROLE_DIM, "now");
}

void strip_draw(struct canvas *c, int row, const struct model *m) {
    const char *unit = event_kind_unit[m->question.event];
    const struct seconds shown = seconds_of(m, c->cols);
    const struct profile_second *s = m->second + m->seconds - shown.count;
    uint64_t most = 0;
    for (uint32_t i = 0; i < shown.count; i++)
        most = s[i].weight > most ? s[i].weight : most;
    uint64_t scale = chart_scale(most, unit);
    if (most)
        chart_label(c, row, 0, m->question.event == WIRE_EVENT_CPU, unit, scale);
    canvas_right(c, row + 1, 0, CHART_LABEL_COLS - 1, ROLE_LABEL, "pauses");
    for (uint32_t i = 0; i < shown.count; i++) {
        int col = shown.col + (int)i;
        chart_column(c, (struct area){row, col, 1, 1}, ROLE_STRIP, s[i].weight, scale);
        chart_pause(c, row + 1, col, s[i].paused_ns, s[i].paused_ns[0] + s[i].paused_ns[1]);
        if (is_shown(m, shown.first + i))
            canvas_role(c, row, col, 1, ROLE_STATE_HELD);
    }
    draw_clock(c, row + 2, m, &shown);
}
