/* Keeping the agent to its budget: what core/session/drain/budget.c decides is asked of it. */
#include "core/session/session_state.h"

#include "core/base/clock.h"

static void show(struct session *s) {
    session_lock(s);
    budget_show(&s->drain.budget, s->options.engine, s->options.engines, &s->status.budget);
    session_unlock(s);
}

void drain_look_at_budget(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (!d->budget.limit_ppm || s->joined || !d->linked || d->pending != WIRE_COMMAND_NONE ||
        !d->report.engine_runs || drain_wanted(s) != WIRE_COMMAND_NONE)
        return;
    uint32_t before = d->budget.factor;
    if (budget_look(&d->budget, now, s->status.agent_ns)) {
        d->budgeting = true;
        d->budget_before = before;
        drain_ask_start(s);
    }
    show(s);
}

void drain_end_budgeting(struct session *s, bool succeeded) {
    struct drain *d = &s->drain;
    d->budgeting = false;
    if (succeeded)
        budget_restart(&d->budget, clock_now_ns());
    else
        budget_undo(&d->budget, d->budget_before);
    show(s);
    if (!succeeded)
        drain_ask_start(s);
}
