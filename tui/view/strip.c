#include "tui/view/strip.h"

#include "core/base/format.h"

#include <stdio.h>
#include <string.h>

#define LABEL_COLS 9
#define CLOCK_STEP 15 /* seconds from one time to the next; a time is 8 columns */
#define CLOCK_COLS 8
#define LEVELS 8
#define MS UINT64_C(1000000)
#define SECOND_NS (1000 * MS)
#define LEAST_PAUSE_NS MS /* sum of a second; shorter pauses explain no dip */
#define LONG_PAUSE_NS (100 * MS)

/* Returns the next of 1, 2, 5, 10 and so on of the unit: the scale, and with it the whole strip,
 * changes seldom. */
static uint64_t scale_for(uint64_t most, const char *unit) {
    static const unsigned times[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    uint64_t factor = strcmp(unit, "bytes") != 0 ? 1000 : 1024;
    for (uint64_t one = 1; one < UINT64_MAX / 1024 / 1024; one *= factor)
        for (int i = 0; i < 9; i++)
            if (one * times[i] >= most)
                return one * times[i];
    return most;
}

static const char *level(const struct canvas *c, uint64_t weight, uint64_t scale) {
    static const char *const bar[2][LEVELS] = {
        {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"},
        {".", ":", "-", "=", "+", "*", "%", "#"}};
    double part = (double)weight / (double)scale * LEVELS;
    int i = part >= LEVELS ? LEVELS - 1 : (int)part;
    return bar[c->ascii_lines || c->ascii_text][i];
}

static void draw_pause(struct canvas *c, int row, int col, const struct profile_second *s) {
    uint64_t all = s->paused_ns[0] + s->paused_ns[1];
    bool gc = s->paused_ns[0] >= s->paused_ns[1], is_long = all >= LONG_PAUSE_NS;
    if (all >= LEAST_PAUSE_NS)
        canvas_text(c, row, col, 1, gc ? ROLE_GC : ROLE_SAFEPOINT,
                    gc        ? is_long ? "G" : "g"
                    : is_long ? "S"
                              : "s");
}

/* True if the views show this second. Only while held: otherwise they show the newest seconds
 * anyway. */
static bool is_shown(const struct model *m, uint64_t second) {
    const struct model_window w = model_window(m);
    return m->held && w.from && second >= w.from && second <= w.to;
}

/* Draws the scale. CPU time is in percent of one core, as in the overview. */
static void draw_scale(struct canvas *c, int row, int event, uint64_t scale) {
    struct format f = {""};
    double percent = 100 * (double)scale / (double)SECOND_NS;
    if (event == WIRE_EVENT_CPU)
        canvas_textf(c, row, 0, LABEL_COLS - 1, ROLE_LABEL, "%*.*f%%", LABEL_COLS - 2,
                     percent < 1 ? 1 : 0, percent);
    else
        canvas_textf(c, row, 0, LABEL_COLS - 1, ROLE_LABEL, "%6s/s",
                     format_weight(&f, event_kind_unit[event], scale));
}

/* The seconds on screen, the newest at the right. */
struct seconds {
    uint64_t first;
    uint32_t count;
    int col; /* of the first */
};

static struct seconds seconds_of(const struct model *m, int cols) {
    uint32_t room = cols > LABEL_COLS ? (uint32_t)(cols - LABEL_COLS) : 0;
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
    uint64_t scale = scale_for(most, unit);
    if (most)
        draw_scale(c, row, m->question.event, scale);
    canvas_right(c, row + 1, 0, LABEL_COLS - 1, ROLE_LABEL, "pauses");
    for (uint32_t i = 0; i < shown.count; i++) {
        int col = shown.col + (int)i;
        if (s[i].weight)
            canvas_text(c, row, col, 1, ROLE_STRIP, level(c, s[i].weight, scale));
        draw_pause(c, row + 1, col, &s[i]);
        if (is_shown(m, shown.first + i))
            canvas_role(c, row, col, 1, ROLE_STATE_HELD);
    }
    draw_clock(c, row + 2, m, &shown);
}
