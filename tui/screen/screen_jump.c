/* Jumps from a row of one view to the same item in another. */
#include "tui/screen/screen_state.h"

/* Shows the subject in another view. A thread without a method is shown by limiting the view to
 * it. */
static void go_to(struct screen *s, enum live_view view, const struct view_subject *on) {
    struct view_subject to = *on;
    if (to.method == METHOD_NONE && to.thread) {
        if (view == LIVE_LINES)
            to.method = to.thread->top_method;
        else if (!model_zoom(s->model, to.thread))
            return;
    }
    to.thread = NULL; /* it lives only as long as the answer */
    if (view == LIVE_LINES && to.method == METHOD_NONE) {
        screen_pass(s, "no method here has lines");
        return;
    }
    if (views[view]->seek)
        views[view]->seek(s->state[view], &to);
    screen_bring_up(s, view);
}

static void zoom(struct screen *s, const struct view_subject *on) {
    if (on->method == METHOD_NONE ? !on->thread || !model_zoom(s->model, on->thread) : false)
        return;
    if (on->method != METHOD_NONE)
        model_narrow_method(s->model, on->method);
    screen_ask(s);
}

static void zoom_package(struct screen *s, const struct view_subject *on) {
    char package[MODEL_NAME_SIZE];
    uint32_t method = on->method == METHOD_NONE && on->thread ? on->thread->top_method : on->method;
    if (method == METHOD_NONE || !model_package(s->model, method, package, sizeof package)[0]) {
        screen_pass(s, "this row has no Java package");
        return;
    }
    model_narrow_package(s->model, package);
    screen_ask(s);
}

static void go_to_threads(struct screen *s, const struct view_subject *on) {
    if (on->method != METHOD_NONE)
        model_narrow_method(s->model, on->method);
    else if (views[LIVE_THREADS]->seek)
        views[LIVE_THREADS]->seek(s->state[LIVE_THREADS], on);
    screen_bring_up(s, LIVE_THREADS);
}

bool screen_jump(struct screen *s, enum command command) {
    const struct view_type *v = views[s->view];
    struct view_subject on = {.method = METHOD_NONE};
    if (command < COMMAND_TO_TREE || command > COMMAND_ZOOM_PACKAGE)
        return false;
    if (!v->subject || !s->model->snapshot || !v->subject(s->state[s->view], s->model, &on)) {
        screen_pass(s, s->view == LIVE_LOCKS     ? "a lock is not code: select an owner below it"
                       : s->view == LIVE_THREADS ? "select a single thread; Enter opens a row"
                                                 : "no row is selected");
        return true;
    }
    if (v->event >= 0)
        s->event = v->event; /* keep the event that was shown */
    switch (command) {
    case COMMAND_TO_TREE:
        go_to(s, LIVE_TREE, &on);
        break;
    case COMMAND_TO_FLAME:
        go_to(s, LIVE_FLAME, &on);
        break;
    case COMMAND_TO_LINES:
        go_to(s, LIVE_LINES, &on);
        break;
    case COMMAND_TO_THREADS:
        go_to_threads(s, &on);
        break;
    case COMMAND_ZOOM:
        zoom(s, &on);
        break;
    default:
        zoom_package(s, &on);
    }
    return true;
}
