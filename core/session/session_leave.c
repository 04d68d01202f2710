#include "core/session/session_state.h"

/* Somebody whose request is being carried out has the drain thread for now: session_close will wait
 * for both. */
void session_leave(struct session *s) {
    if (!s->threaded || pthread_mutex_trylock(&s->caller) != 0)
        return;
    session_begin_request(s, WIRE_COMMAND_DETACH);
    pthread_mutex_unlock(&s->caller);
}
