#include "tui/view/detail_pane.h"

#include "core/wire/wire_names.h"
#include "tui/widget/chart.h"
#include "core/base/format.h"

#include <stdio.h>
#include <string.h>

#define COLS_LEAST 40
#define COLS_MOST 72
#define TITLE_ROWS 2
#define LABEL_COLS 9 /* of a section's name beside its rows */
#define SHARE_COLS 5
#define LINE_COLS 5
#define TREND_ROWS 3
#define STATE_COLS 9
#define LEAST_STATE 0.5 /* percent */

enum part { TREND, CALLERS, CALLEES, LINES, THREADS, METHODS, STATES, PARTS };

static const struct {
    const char *head, *label;
} names[PARTS] = {
    [TREND] = {"LAST MINUTE", "minute"}, [CALLERS] = {"CALLERS", "callers"},
    [CALLEES] = {"CALLS", "calls"},      [LINES] = {"LINES", "lines"},
    [THREADS] = {"THREADS", "threads"},  [METHODS] = {"METHODS", "methods"},
    [STATES] = {"STATES", "states"},
};

/* What is drawn. */
struct drawing {
    struct detail_pane *p;
    struct canvas *c;
    const struct model *m;
    const struct detail_answer *answer;
    int x, cols; /* of a row, after the name of the section if that is beside it */
    uint64_t state[WIRE_THREAD_STATES], states; /* of the thread; their sum */
};

int detail_pane_cols(int rows, int cols) {
    int third = cols / 3;
    if (rows < DETAIL_PANE_ROWS || cols < DETAIL_PANE_COLS)
        return 0;
    return third < COLS_LEAST ? COLS_LEAST : third > COLS_MOST ? COLS_MOST : third;
}

/* Draws words, each with its figure behind it, as far as they fit. */
static void draw_figures(struct canvas *c, int y, int x, int cols, const char *const *text,
                         int texts) {
    int end = x + cols;
    for (int i = 0; i + 1 < texts; i += 2) {
        if (x + canvas_width(c, text[i]) + 1 + canvas_width(c, text[i + 1]) > end)
            return;
        x += canvas_text(c, y, x, end - x, ROLE_LABEL, text[i]) + 1;
        x += canvas_text(c, y, x, end - x, ROLE_VALUE, text[i + 1]) + 2;
    }
}

static void draw_method_figures(const struct drawing *d, struct area a, uint32_t method) {
    const struct snapshot *s = d->m->snapshot;
    const struct snapshot_method *r = NULL;
    const int event = d->m->asked.event;
    struct format f = {""}, g = {""}, h = {""};
    char self[40], total[40];
    for (uint32_t i = 0; i < s->method_count && !r; i++)
        if (s->methods[i].method == method)
            r = &s->methods[i];
    if (!r)
        return;
    snprintf(self, sizeof self, "%s%%", format_percent(&f, percent_of(r->self, s->weight)));
    snprintf(total, sizeof total, "%s%%", format_percent(&g, percent_of(r->total, s->weight)));
    const char *unit = event_kind_unit[event];
    const char *word[] = {"self",
                          self,
                          "total",
                          total,
                          event == WIRE_EVENT_CPU ? "samples"
                          : !strcmp(unit, "ns")   ? "time"
                                                  : unit,
                          event == WIRE_EVENT_CPU ? format_count(&h, r->total_samples)
                                                  : format_weight(&h, unit, r->total)};
    draw_figures(d->c, a.row + 1, a.col, a.cols, word, 6);
}

static void draw_thread_figures(const struct drawing *d, struct area a,
                                const struct model_thread *t) {
    struct format f = {""}, g = {""};
    char cpu[40], share[40], tid[16];
    snprintf(share, sizeof share, "%s%%",
             format_percent(&g, percent_of(t->weight, d->m->snapshot->weight)));
    snprintf(cpu, sizeof cpu, "%s%%", format_percent(&f, t->cpu_percent));
    snprintf(tid, sizeof tid, "%u", t->tid);
    const char *word[] = {"share", share, t->is_virtual ? "last carrier" : "tid", tid, "cpu", cpu};
    draw_figures(d->c, a.row + 1, a.col, a.cols, word, t->cpu_percent < 0 ? 4 : 6);
}

static void draw_title(const struct drawing *d, struct area a, const struct view_subject *on) {
    char name[1024];
    view_heads(d->c, a, "");
    if (on->method == METHOD_NONE) {
        canvas_middle(d->c, a.row, a.col, a.cols, ROLE_COLUMNS,
                      model_thread_name(on->thread, name, sizeof name));
        draw_thread_figures(d, a, on->thread);
        return;
    }
    canvas_tail(d->c, a.row, a.col, a.cols, ROLE_COLUMNS,
                model_method_name(d->m, on->method, name, sizeof name));
    draw_method_figures(d, a, on->method);
}

static const struct detail_methods *methods_of(const struct detail_answer *a, enum part part) {
    return part == CALLERS ? &a->callers : part == CALLEES ? &a->callees : &a->methods;
}

/* Returns how many rows the section has, and how many there would be. */
static uint32_t rows_of(const struct drawing *d, enum part part, uint32_t *all) {
    const struct detail_answer *a = d->answer;
    switch (part) {
    case LINES:
        *all = a->all_lines;
        return a->lines;
    case THREADS:
        *all = a->all_threads;
        return a->threads;
    case STATES:
        *all = 0;
        for (int i = 0; i < WIRE_THREAD_STATES; i++)
            *all += percent_of(d->state[i], d->states) >= LEAST_STATE;
        return *all;
    case TREND:
        *all = 0;
        return TREND_ROWS;
    default:
        *all = methods_of(a, part)->all;
        return methods_of(a, part)->count;
    }
}

static void add_spot(struct detail_pane *p, int row, const struct detail_subject *to) {
    if (p->spots < DETAIL_SPOTS)
        p->spot[p->spots++] = (struct detail_spot){row, *to};
}

static void draw_method(const struct drawing *d, int y, const struct detail_method *r) {
    int x = d->x + SHARE_COLS + 1, cols = d->cols - SHARE_COLS - 1;
    char name[1024];
    view_percent(d->c, y, d->x, SHARE_COLS, percent_of(r->weight, d->answer->weight));
    if (r->kind != DETAIL_METHOD) {
        canvas_head(d->c, y, x, cols, ROLE_DIM,
                    r->kind == DETAIL_ITSELF ? "(nothing: its own code)"
                                             : "(nobody: it is outermost)");
        return;
    }
    enum method_kind kind = model_method(d->m, r->method)->kind;
    view_name(d->c, y, x, cols, view_frame_role(kind, r->tier),
              model_method_name(d->m, r->method, name, sizeof name), kind, d->m);
    add_spot(d->p, y, &(struct detail_subject){.method = r->method});
}

static void draw_line(const struct drawing *d, int y, const struct detail_line *l) {
    int x = d->x + SHARE_COLS + 1, end = d->x + d->cols;
    char number[16] = "?";
    if (l->line)
        snprintf(number, sizeof number, "%u", l->line);
    view_percent(d->c, y, d->x, SHARE_COLS, percent_of(l->weight, d->answer->weight));
    canvas_right(d->c, y, x, LINE_COLS, ROLE_LINE_NUMBER, number);
    x += LINE_COLS + 1;
    canvas_head(d->c, y, x, end - x, l->line ? ROLE_SOURCE : ROLE_DIM,
                l->line ? l->source : "not known");
}

static void draw_thread(const struct drawing *d, int y, const struct detail_thread *t) {
    int x = d->x + SHARE_COLS + 1;
    view_percent(d->c, y, d->x, SHARE_COLS, percent_of(t->weight, d->answer->weight));
    canvas_middle(d->c, y, x, d->x + d->cols - x, ROLE_TEXT, t->name);
    add_spot(d->p, y, &t->thread);
}

/* Draws the state that comes at this place, the most frequent first. */
static void draw_state(const struct drawing *d, int y, uint32_t place) {
    int at = 0;
    for (int i = 0; i < WIRE_THREAD_STATES; i++) {
        uint32_t before = 0;
        for (int k = 0; k < WIRE_THREAD_STATES; k++)
            before += k < i ? d->state[k] >= d->state[i] : d->state[k] > d->state[i];
        at = before == place ? i : at;
    }
    view_percent(d->c, y, d->x, SHARE_COLS, percent_of(d->state[at], d->states));
    canvas_text(d->c, y, d->x + SHARE_COLS + 1, d->cols - SHARE_COLS - 1,
                at == WIRE_THREAD_RUNNING ? ROLE_VALUE : ROLE_TEXT, wire_state_name[at]);
}

/* Draws the weight of the last minute, per second; the newest at the right. */
static void draw_trend(const struct drawing *d, int y, int rows) {
    const uint64_t *cell = d->answer->spark;
    const int event = d->m->asked.event;
    const char *unit = event_kind_unit[event];
    uint64_t most = 0;
    for (uint32_t i = 0; i < MODEL_SPARKS; i++)
        most = cell[i] > most ? cell[i] : most;
    uint64_t scale = chart_scale(most / MODEL_SPARK_SECONDS, unit);
    int width = (d->cols - CHART_LABEL_COLS) / (int)MODEL_SPARKS;
    if (!most || width < 1) {
        canvas_text(d->c, y, d->x + 1, d->cols - 1, ROLE_DIM, "nothing");
        return;
    }
    chart_label(d->c, y, d->x, event == WIRE_EVENT_CPU, unit, scale);
    for (uint32_t i = 0; i < MODEL_SPARKS; i++)
        chart_column(d->c, (struct area){y, d->x + CHART_LABEL_COLS + (int)i * width, rows, width},
                     ROLE_SPARK, cell[i] / MODEL_SPARK_SECONDS, scale);
}

/* Says why a section is empty. */
static const char *nothing(const struct drawing *d, enum part part) {
    if (part != LINES)
        return "none of a thousandth or more";
    return model_method(d->m, d->answer->of.method)->kind == METHOD_JAVA
               ? "not known"
               : "known only of Java methods";
}

static void draw_rows(const struct drawing *d, enum part part, int y, int rows) {
    uint32_t all, count = rows_of(d, part, &all);
    if (part == TREND) {
        draw_trend(d, y, rows);
        return;
    }
    if (!count)
        canvas_head(d->c, y, d->x + 1, d->cols - 1, ROLE_DIM, nothing(d, part));
    for (uint32_t i = 0; i < count && i < (uint32_t)rows; i++, y++) {
        if (part == LINES)
            draw_line(d, y, &d->answer->line[i]);
        else if (part == THREADS)
            draw_thread(d, y, &d->answer->thread[i]);
        else if (part == STATES)
            draw_state(d, y, i);
        else
            draw_method(d, y, &methods_of(d->answer, part)->row[i]);
    }
}

/* The sections on screen, and the rows of each. */
struct plan {
    enum part part[PARTS];
    int rows[PARTS];
    int parts;
    bool beside; /* the names of the sections stand beside their rows */
    int gap;     /* blank rows between sections */
};

/* Gives every section a row, then the others in turn, as many as each can use. Returns how many rows
 * are left. */
static int share_rows(const struct drawing *d, struct plan *p, int rows) {
    for (int i = 0; i < p->parts; i++)
        p->rows[i] = 1;
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < p->parts; i++) {
            uint32_t all, used = rows_of(d, p->part[i], &all);
            if (p->part[i] == TREND && p->beside)
                used = 1;
            if (rows > 0 && (uint32_t)p->rows[i] < used) {
                p->rows[i]++;
                rows--;
                any = true;
            }
        }
    }
    return rows;
}

static struct plan make_plan(const struct drawing *d, int rows) {
    struct plan p = {.parts = 0};
    bool is_thread = d->answer->of.method == METHOD_NONE;
    int most = is_thread ? 2 : 4; /* sections beside the trend */
    for (int part = rows > most ? TREND : CALLERS; part < PARTS; part++)
        if ((part == TREND || is_thread == (part >= METHODS)) && (part != STATES || d->states) &&
            p.parts < rows)
            p.part[p.parts++] = (enum part)part;
    p.beside = rows < 3 * p.parts;
    p.gap = share_rows(d, &p, rows - p.parts * (p.beside ? 1 : 2)) >= p.parts;
    return p;
}

static void draw_section(struct drawing *d, struct area a, enum part part, int rows, bool beside) {
    struct canvas *c = d->c;
    uint32_t all, have = rows_of(d, part, &all);
    const char *dots = canvas_glyph(c, GLYPH_ELLIPSIS);
    uint32_t shown = have < (uint32_t)rows ? have : (uint32_t)rows;
    uint32_t more = all > shown ? all - shown : 0;
    d->x = a.col + (beside ? LABEL_COLS : 0);
    d->cols = a.cols - (beside ? LABEL_COLS : 0);
    if (beside) {
        int used = canvas_text(c, a.row, a.col, LABEL_COLS, ROLE_LABEL, names[part].label);
        if (more)
            canvas_text(c, a.row, a.col + used, LABEL_COLS - used, ROLE_DIM, dots);
        draw_rows(d, part, a.row, rows);
        return;
    }
    char text[40];
    snprintf(text, sizeof text, "%s %u more", dots, more);
    canvas_text(c, a.row, a.col, a.cols, ROLE_TITLE, names[part].head);
    if (more)
        canvas_right(c, a.row, a.col, a.cols, ROLE_DIM, text);
    draw_rows(d, part, a.row + 1, rows);
}

static void take_states(struct drawing *d, const struct model_thread *t) {
    const uint64_t *state = t ? model_thread_states(d->m, t) : NULL;
    for (int i = 0; state && i < WIRE_THREAD_STATES; i++)
        d->states += d->state[i] = state[i];
}

void detail_pane_draw(struct detail_pane *p, struct canvas *c, struct area a, const struct model *m,
                      const struct view_subject *on, const char *why,
                      const struct detail_answer *answer) {
    struct drawing d = {.p = p, .c = c, .m = m, .answer = answer};
    p->area = a;
    p->spots = 0;
    for (int i = 0; i < a.rows; i++)
        canvas_text(c, a.row + i, a.col, 1, ROLE_DIM, canvas_glyph(c, GLYPH_PIPE));
    a.col++;
    a.cols--;
    if (!on || !m->snapshot) {
        view_heads(c, a, "");
        canvas_head(c, a.row + 1, a.col, a.cols, ROLE_DIM, why);
        return;
    }
    draw_title(&d, a, on);
    if (!answer) {
        canvas_text(c, a.row + TITLE_ROWS, a.col, a.cols, ROLE_DIM,
                    canvas_glyph(c, GLYPH_ELLIPSIS));
        return;
    }
    if (!answer->samples) {
        canvas_head(c, a.row + TITLE_ROWS, a.col, a.cols, ROLE_DIM, "no samples in this selection");
        return;
    }
    take_states(&d, on->method == METHOD_NONE ? on->thread : NULL);
    const struct plan plan = make_plan(&d, a.rows - TITLE_ROWS);
    int row = a.row + TITLE_ROWS;
    for (int i = 0; i < plan.parts; i++) {
        draw_section(&d, (struct area){row, a.col, plan.rows[i], a.cols}, plan.part[i],
                     plan.rows[i], plan.beside);
        row += plan.rows[i] + !plan.beside + plan.gap;
    }
}

const struct detail_subject *detail_pane_at(const struct detail_pane *p, int row, int col) {
    for (int i = 0; i < p->spots && col > p->area.col && col < p->area.col + p->area.cols; i++)
        if (p->spot[i].row == row)
            return &p->spot[i].to;
    return NULL;
}
