#include "core/http/push/protocol/trouble.h"

#include "core/base/hash.h"

#include <stdio.h>
#include <string.h>

/* Whether it is new; remembers it in place of the one that was reported longest ago. */
static bool is_new(struct trouble *t, uint64_t now_ms, const char *about) {
    uint64_t hash = hash_bytes(0, about, strlen(about));
    int place = 0;
    for (int i = 0; i < TROUBLE_SAID; i++) {
        if (t->said[i].hash == hash && t->said[i].at_ms &&
            now_ms - t->said[i].at_ms < TROUBLE_QUIET_MS) {
            t->said[i].at_ms = now_ms; /* stays quiet as long as the problem lasts */
            return false;
        }
        if (t->said[i].hash == hash || t->said[i].at_ms < t->said[place].at_ms)
            place = i;
        if (t->said[i].hash == hash)
            break;
    }
    t->said[place].hash = hash;
    t->said[place].at_ms = now_ms;
    return true;
}

static void tell(struct trouble *t, const char *line) {
    if (t->say)
        t->say(t->arg, line);
}

void trouble_begins(struct trouble *t, uint64_t now_ms, const char *about, const char *line) {
    if (!t->is)
        t->since_ms = now_ms;
    t->is = true;
    snprintf(t->now, sizeof t->now, "%s", line);
    bool lasts = !t->told && now_ms - t->since_ms >= TROUBLE_LASTS_MS;
    if (!is_new(t, now_ms, about) && !lasts)
        return;
    t->told = true;
    tell(t, line);
}

void trouble_ends(struct trouble *t, const char *line) {
    if (t->told)
        tell(t, line);
    t->is = t->told = false;
    t->now[0] = '\0';
}

void trouble_note(struct trouble *t, uint64_t now_ms, const char *about, const char *line) {
    if (is_new(t, now_ms, about))
        tell(t, line);
}
