/* Java states of threads, which the agent reports only while they are wanted. */
#include "core/session/session_state.h"

bool drain_wants_java_states(struct session *s, uint64_t now, bool *all) {
    struct drain *d = &s->drain;
    bool wanted = now < atomic_load(&s->states_until_ns);
    *all = wanted && (atomic_exchange(&s->states_all, false) || !d->states_on);
    if (d->states_on != wanted) { /* also at the start: late records may have come since the end */
        session_lock(s);
        profile_forget_java_states(s->profile);
        session_unlock(s);
    }
    d->states_on = wanted;
    return wanted;
}

void drain_ask_java_states(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    bool all, wanted = drain_wants_java_states(s, now, &all);
    if (wanted && (all || !d->states_number) && ++d->states_number == 0)
        d->states_number = 1;
    if (d->linked)
        control_ask_java_states(&d->control, wanted ? d->states_number : 0);
}
