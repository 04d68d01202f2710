/* The detail pane of the screen: whether it is open, and when the profile is queried. */
#include "tui/screen/screen_state.h"

static bool is_open(const struct screen *s, int rows, int cols) {
    return (views[s->view]->scope & SCOPE_DETAIL) && detail_pane_cols(rows, cols) &&
           (s->pane == PANE_OPEN || (s->pane == PANE_IF_WIDE && cols >= DETAIL_PANE_WIDE));
}

void screen_toggle_pane(struct screen *s) {
    if (s->pane == PANE_NEVER)
        screen_pass(s, "pages of lines have no pane");
    else if (!detail_pane_cols(s->rows, s->cols))
        screen_pass(s, "the pane needs %dx%d; this is %dx%d", DETAIL_PANE_COLS, DETAIL_PANE_ROWS,
                    s->cols, s->rows);
    else
        s->pane = is_open(s, s->rows, s->cols) ? PANE_CLOSED : PANE_OPEN;
}

int screen_pane_cols(const struct screen *s, const struct canvas *c) {
    return is_open(s, c->rows, c->cols) ? detail_pane_cols(c->rows, c->cols) : 0;
}

/* Gets the row at the cursor in both forms. False: none. */
static bool subject_of(const struct screen *s, struct view_subject *on, struct detail_subject *of) {
    const struct view_type *v = views[s->view];
    if (!s->model->snapshot || !v->subject || !v->subject(s->state[s->view], s->model, on))
        return false;
    *of = (struct detail_subject){.method = on->method};
    if (on->method == METHOD_NONE && on->thread) {
        of->is_virtual = on->thread->is_virtual;
        of->tid = on->thread->tid;
        of->java_id = on->thread->java_id;
        return of->is_virtual ? of->java_id != 0 : of->tid != 0; /* the others have no row */
    }
    return on->method != METHOD_NONE;
}

void screen_draw_pane(struct screen *s, struct canvas *c, struct area a) {
    struct view_subject on;
    struct detail_subject of;
    bool there = subject_of(s, &on, &of);
    detail_pane_draw(&s->detail_pane, c, a, s->model, there ? &on : NULL,
                     s->view == LIVE_THREADS ? "a group of threads: Enter lists them"
                                             : "no row is selected",
                     there ? detail_answer(s->detail, s->model, &of) : NULL);
}

uint64_t screen_rest(struct screen *s, uint64_t (*clock)(void)) {
    screen_settle(s); /* the pane is of the same samples as the answer */
    struct view_subject on;
    struct detail_subject of;
    bool covered = s->help || s->events.open || s->stacks.open;
    bool there = !covered && is_open(s, s->rows, s->cols) && subject_of(s, &on, &of);
    uint64_t now = clock();
    uint64_t due = detail_want(s->detail, s->model, there ? &of : NULL, s->pressed, now);
    s->pressed = false;
    if (due > now)
        return due;
    (void)detail_take(s->detail, s->model, clock); /* no memory: it is tried again */
    return detail_want(s->detail, s->model, &of, false, clock());
}

/* Returns the thread of the model's answer. NULL: it has ended. */
static const struct model_thread *thread_of(const struct model *m,
                                            const struct detail_subject *of) {
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        if (t->is_virtual == of->is_virtual && t->java_id == of->java_id &&
            (t->is_virtual || t->tid == of->tid))
            return t;
    }
    return NULL;
}

enum view_outcome screen_pane_mouse(struct screen *s, const struct mouse *press) {
    const struct detail_subject *to = detail_pane_at(&s->detail_pane, press->row, press->col);
    struct model *m = s->model;
    if (press->action != MOUSE_TWICE || !to)
        return VIEW_IGNORED;
    if (to->method == METHOD_NONE) {
        const struct model_thread *t = thread_of(m, to);
        return t && model_zoom(m, t) ? view_go(LIVE_METHODS) : VIEW_IGNORED;
    }
    model_narrow_method(m, to->method);
    m->question.inverted = true; /* its callers, as Enter shows them */
    return view_go(LIVE_TREE);
}
