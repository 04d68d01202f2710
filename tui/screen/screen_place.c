/* The way back: the places the user came through, each with its view, row, direction and
 * restrictions. Esc goes back to the last one, and the status line names them. */
#include "core/base/utf8.h"
#include "tui/screen/screen_state.h"

#include <stdio.h>
#include <string.h>

#define NAME_COLS 24 /* of a name in the status line */

/* Writes the beginning of a name that is long, in whole characters. */
static void brief(const char *name, char *out, size_t size) {
    size_t n = 0;
    for (int i = 0; i < NAME_COLS && name[n] && n + UTF8_BYTES < size; i++) {
        uint32_t code;
        size_t bytes = utf8_decode(name + n, SIZE_MAX, &code);
        n += bytes ? bytes : 1;
    }
    snprintf(out, size, "%.*s", (int)n, name);
}

/* Writes a method's name without its class and parameters. */
static void brief_method(const struct model *m, uint32_t id, char *out, size_t size) {
    const struct method *method = model_method(m, id);
    char name[MODEL_NAME_SIZE];
    if (method->kind == METHOD_JAVA)
        brief(method->name, out, size);
    else
        brief(model_method_name(m, id, name, sizeof name), out, size);
}

/* Writes what the newest restriction keeps: " of thread main", " in java.util.*". */
static void describe_restriction(const struct model *m, char *out, size_t size) {
    const struct model_question *q = &m->question;
    char name[MODEL_NAME_SIZE], text[SCREEN_LABEL - 48];
    out[0] = '\0';
    if (!q->narrowings)
        return;
    switch ((enum model_narrowing)q->order[q->narrowings - 1]) {
    case NARROW_THREAD:
        brief(model_zoom_name(m, name, sizeof name), text, sizeof text);
        snprintf(out, size, " of thread %s", text);
        break;
    case NARROW_METHOD:
        brief_method(m, q->method, text, sizeof text);
        snprintf(out, size, " in %s", text);
        break;
    case NARROW_PACKAGE:
        brief(q->package, text, sizeof text);
        snprintf(out, size, " in %s.*", text);
        break;
    default:
        brief(q->filter, text, sizeof text);
        snprintf(out, size, " \\%s", text);
    }
}

/* Writes the place on screen: "methods", "callers of discount", "lines of book". */
static void describe_here(const struct screen *s, char *out, size_t size) {
    const struct model *m = s->model;
    char text[SCREEN_LABEL - 24];
    if (s->view == LIVE_TREE && m->question.with_method) {
        brief_method(m, m->question.method, text, sizeof text);
        snprintf(out, size, "%s of %s", m->question.inverted ? "callers" : "calls", text);
    } else if (s->view == LIVE_LINES && m->question.lines) {
        brief_method(m, m->question.lines_of, text, sizeof text);
        snprintf(out, size, "lines of %s", text);
    } else {
        describe_restriction(m, text, sizeof text);
        snprintf(out, size, "%s%s", views[s->view]->title, text);
    }
}

void screen_note_place(struct screen *s) {
    struct screen_place *p = &s->here;
    *p = (struct screen_place){.view = s->view,
                               .event = s->event,
                               .inverted = s->inverted,
                               .question = s->model->question,
                               .in = {.method = METHOD_NONE}};
    if (views[s->view]->leave && s->model->snapshot)
        views[s->view]->leave(s->state[s->view], s->model, &p->in);
    describe_here(s, p->label, sizeof p->label);
}

static bool same_restrictions(const struct model_question *a, const struct model_question *b) {
    return a->tid == b->tid && a->virtual_id == b->virtual_id && a->with_method == b->with_method &&
           (!a->with_method || a->method == b->method) && !strcmp(a->package, b->package) &&
           !strcmp(a->filter, b->filter);
}

void screen_remember_place(struct screen *s) {
    const struct screen_place *p = &s->here;
    if (p->view == s->view && same_restrictions(&p->question, &s->model->question))
        return;
    if (s->places == SCREEN_PLACES) {
        memmove(s->place, s->place + 1, sizeof s->place - sizeof *s->place);
        s->places--;
        s->searched_at -= s->searched_at > 0;
    }
    s->place[s->places++] = *p;
}

bool screen_return(struct screen *s) {
    if (!s->places)
        return false;
    const struct screen_place *p = &s->place[--s->places];
    const struct model_question left = s->model->question;
    s->model->question = p->question;
    s->model->question.carriers = left.carriers;
    s->model->question.idle = left.idle;
    s->model->question.fold_natives = left.fold_natives;
    s->event = p->event;
    s->inverted = p->inverted;
    if (views[p->view]->come_back)
        views[p->view]->come_back(s->state[p->view], &p->in);
    screen_bring_up(s, p->view);
    return true;
}

void screen_reset(struct screen *s) {
    struct model *m = s->model;
    while (model_widen(m))
        ;
    m->search[0] = '\0';
    tags_clear(&m->tags);
    m->question.by_thread = false;
    m->question.idle = m->settings.idle;
    m->question.fold_natives = m->settings.fold_natives;
    s->inverted = 0;
    s->places = 0;
    if (m->baseline) /* without its mark, new samples would be mixed with those of the baseline */
        (void)model_compare(m, false);
    s->marked_by_baseline = false;
    if (model_reset_time(m))
        screen_pass(s, "no memory for this: the last screen stays");
    screen_ask(s);
}

void screen_trail(const struct screen *s, struct canvas *c, int row, int cols) {
    char text[SCREEN_PLACES * (SCREEN_LABEL + 3) + SCREEN_LABEL], here[SCREEN_LABEL];
    size_t n = 0;
    if (!s->places)
        return;
    for (int i = 0; i < s->places; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s > ", s->place[i].label);
    describe_here(s, here, sizeof here);
    snprintf(text + n, sizeof text - n, "%s", here);
    canvas_tail(c, row, 0, cols, ROLE_DIM, text);
}
