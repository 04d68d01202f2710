/* The keys that choose the window of time and the baseline. */
#include "tui/screen/screen_state.h"
#include "core/base/format.h"

static void told(struct screen *s, int err) {
    if (err)
        screen_pass(s, "no memory for this: the last screen stays");
    screen_update_view(s);
}

static void toggle_hold(struct screen *s) {
    told(s, model_hold(s->model, !s->model->held));
}

/* Switches from one window to the next: a minute, everything, five minutes, ten seconds. */
static void next_span(struct screen *s) {
    static const uint64_t spans[] = {60, 0, 300, 10};
    uint64_t span = 60;
    for (int i = 0; i < 3; i++)
        if (s->model->span == spans[i])
            span = spans[i + 1];
    told(s, model_set_span(s->model, span));
}

static void compare(struct screen *s, bool on) {
    struct model *m = s->model;
    if (on && !m->snapshot) {
        screen_pass(s, "there is nothing to compare with yet");
        return;
    }
    told(s, model_compare(m, on));
    /* New samples must not be mixed with those of the baseline. */
    bool counts =
        on && !m->held && (!m->span || m->span_is_default) && m->status.phase == SESSION_RUNNING;
    if (counts || (!on && s->marked_by_baseline))
        told(s, model_mark(m, counts));
    s->marked_by_baseline = on && (counts || s->marked_by_baseline);
    if (on && s->view == LIVE_LOCKS)
        screen_pass(s,
                    "baseline set: locks are not compared with it, other views are; B removes it");
    else if (on)
        screen_pass(s, "baseline set: %s compared with it; B removes it",
                    counts ? "new samples are" : "the times you show next are");
}

static void mark(struct screen *s) {
    struct model *m = s->model;
    if (!m->mark_second && m->status.phase != SESSION_RUNNING)
        screen_pass(s, "sampling has ended: there will be nothing to count from now on");
    else
        told(s, model_mark(m, !m->mark_second));
    s->marked_by_baseline = false;
}

static void scrub(struct screen *s, int64_t seconds) {
    struct model *m = s->model;
    told(s, model_scrub(m, seconds));
    if (seconds < 0 && m->held && m->held_second <= (m->oldest_second ? m->oldest_second : 1))
        screen_pass(s, "the history goes no further back");
}

bool screen_move_in_time(struct screen *s, enum command command) {
    switch (command) {
    case COMMAND_PAUSE:
        toggle_hold(s);
        return true;
    case COMMAND_SECOND_BACK:
        scrub(s, -1);
        return true;
    case COMMAND_SECOND_ON:
        scrub(s, 1);
        return true;
    case COMMAND_MINUTE_BACK:
        scrub(s, -60);
        return true;
    case COMMAND_MINUTE_ON:
        scrub(s, 60);
        return true;
    case COMMAND_WINDOW:
        next_span(s);
        return true;
    case COMMAND_MARK:
        mark(s);
        return true;
    case COMMAND_BASELINE:
        compare(s, true);
        return true;
    case COMMAND_NO_BASELINE:
        compare(s, false);
        return true;
    default:
        return false;
    }
}
