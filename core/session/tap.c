#include "core/session/tap.h"

#include "core/session/session_state.h"

void session_tap(struct session *s, const struct session_tap *tap) {
    s->drain.decoder->tap = tap;
}
