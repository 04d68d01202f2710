#include "core/session/lent.h"

#include "core/event/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether gone objects and freed blocks are reported. */
#define FOLLOW_FLAGS ((uint32_t)(WIRE_ENGINE_LIVE | WIRE_ENGINE_NO_FREE))

static uint64_t interval_of(const struct wire_engine_request *r) {
    return r->interval ? r->interval : event_default_interval((enum wire_event)r->event);
}

static uint64_t every(const struct wire_engine_request *r) {
    return r->every ? r->every : 1;
}

static bool follows(const struct wire_engine_request *r) {
    return r->event == WIRE_EVENT_NATIVEMEM ? !(r->flags & WIRE_ENGINE_NO_FREE)
                                            : r->flags & WIRE_ENGINE_LIVE;
}

/* The interval as text, such as "every 10ms". */
static const char *describe(const struct wire_engine_request *r, char *out, size_t size) {
    static const char unit[] = "KMGT";
    uint64_t n = interval_of(r);
    size_t u = 0;
    if (n == 0) {
        snprintf(out, size, "at every call");
    } else if (event_measure((enum wire_event)r->event) == EVENT_TIME) {
        static const char *const name[] = {"ns", "us", "ms", "s"};
        for (; u < 3 && n % 1000 == 0; u++)
            n /= 1000;
        snprintf(out, size, "every %" PRIu64 "%s", n, name[u]);
    } else if (event_measure((enum wire_event)r->event) == EVENT_BYTES) {
        for (; u < 4 && n % 1024 == 0; u++)
            n /= 1024;
        snprintf(out, size, "every %" PRIu64 "%.*s bytes", n, u ? 1 : 0, unit + (u ? u - 1 : 0));
    } else {
        snprintf(out, size, "every %" PRIu64, n);
    }
    return out;
}

bool lent_fits(const struct wire_engine_request *have, const struct wire_engine_request *want,
               char *why, size_t size) {
    char a[64], b[64];
    const uint32_t flags = (have->flags ^ want->flags) & ~FOLLOW_FLAGS;
    if (strncmp(have->name, want->name, sizeof have->name) != 0 ||
        strncmp(have->text, want->text, sizeof have->text) != 0 ||
        memcmp(&have->perf, &want->perf, sizeof have->perf) != 0 ||
        have->mechanism != want->mechanism)
        snprintf(why, size, "%.63s is sampled there, and only one of %.63s and %.63s can run",
                 have->name, have->name, want->name);
    else if (interval_of(have) != interval_of(want))
        snprintf(why, size, "%.63s is sampled %s there, and is to be sampled %s here", want->name,
                 describe(have, a, sizeof a), describe(want, b, sizeof b));
    else if (every(have) != every(want))
        snprintf(why, size, "%.63s is sampled every %" PRIu64 " calls there, not every %" PRIu64,
                 want->name, every(have), every(want));
    else if (follows(want) && !follows(have))
        snprintf(why, size, "%.63s is sampled there without %s", want->name,
                 want->event == WIRE_EVENT_ALLOC ? "live objects (--live)"
                                                 : "calls of free (--nofree)");
    else if (flags || (want->flags & WIRE_ENGINE_TARGET_CPU && have->cpu != want->cpu))
        snprintf(why, size,
                 "%.63s is sampled there with other options (--all-user, --all-kernel, --tlab, "
                 "--target-cpu)",
                 want->name);
    else
        return true;
    return false;
}

static int refuse(const char *why, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, EBUSY, "%s", why);
}

static const struct wire_engine_request *find(const struct wire_engine_request *engine,
                                              uint32_t engines, uint32_t event) {
    for (uint32_t i = 0; i < engines; i++)
        if (engine[i].event == event)
            return &engine[i];
    return NULL;
}

/* What is lent to other viewers than `but`. */
static const struct wire_engine_request *find_lent(const struct lent *l, uint32_t event,
                                                   const void *but) {
    for (uint32_t i = 0; i < l->loans; i++) {
        const struct wire_engine_request *r =
            l->loan[i].to && l->loan[i].to == but
                ? NULL
                : find(l->loan[i].engine, l->loan[i].engines, event);
        if (r)
            return r;
    }
    return NULL;
}

const struct wire_engine_request *lent_find(const struct lent *l, uint32_t event) {
    return find_lent(l, event, NULL);
}

static struct lent_loan *loan_of(struct lent *l, const void *to) {
    for (uint32_t i = 0; to && i < l->loans; i++)
        if (l->loan[i].to == to)
            return &l->loan[i];
    return l->loans < LENT_MAX ? &l->loan[l->loans++] : NULL;
}

/* The event need not be kept any longer for a viewer that will ask again. */
static void claim(struct lent *l, uint32_t event) {
    for (uint32_t i = 0; i < l->loans; i++) {
        struct lent_loan *loan = &l->loan[i];
        for (uint32_t k = 0; !loan->to && loan->until_ns && k < loan->engines;) {
            if (loan->engine[k].event == event)
                loan->engine[k] = loan->engine[--loan->engines];
            else
                k++;
        }
    }
}

int lent_begin(struct lent *l, const void *to, const struct wire_engine_request *own, uint32_t owns,
               const struct wire_engine_request *engine, uint32_t engines, struct err *e) {
    char why[320];
    for (uint32_t i = 0; i < engines; i++) {
        const struct wire_engine_request *have = find(own, owns, engine[i].event);
        if (!have)
            have = find_lent(l, engine[i].event, to);
        if (have && !lent_fits(have, &engine[i], why, sizeof why))
            return refuse(why, e);
    }
    struct lent_loan *loan = loan_of(l, to);
    if (!loan)
        return err_exit_as(e, ERR_EXIT_PROFILER, EUSERS,
                           "too many other profiles of this JVM add events to its session");
    for (uint32_t i = 0; i < engines; i++)
        claim(l, engine[i].event);
    loan->to = to;
    loan->until_ns = 0;
    loan->engines = engines;
    memcpy(loan->engine, engine, engines * sizeof *engine);
    return 0;
}

void lent_inherit(struct lent *l, const struct wire_engine_request *engine, uint32_t engines,
                  uint64_t until_ns) {
    struct lent_loan *loan = engines ? loan_of(l, NULL) : NULL;
    if (!loan)
        return;
    *loan = (struct lent_loan){.until_ns = until_ns, .engines = engines};
    memcpy(loan->engine, engine, engines * sizeof *engine);
}

uint32_t lent_kept(const struct lent *l) {
    uint32_t events = 0;
    for (uint32_t i = 0; i < l->loans; i++)
        for (uint32_t k = 0; !l->loan[i].to && !l->loan[i].until_ns && k < l->loan[i].engines; k++)
            events |= 1u << l->loan[i].engine[k].event;
    return events;
}

void lent_drop_kept(struct lent *l) {
    for (uint32_t i = 0; i < l->loans; i++)
        if (!l->loan[i].to && !l->loan[i].until_ns)
            l->loan[i].until_ns = 1;
}

void lent_end(struct lent *l, const void *to) {
    for (uint32_t i = 0; i < l->loans; i++) {
        if (l->loan[i].to != to)
            continue;
        l->loan[i].to = NULL;
        l->loan[i].until_ns = 1;
    }
}

bool lent_expire(struct lent *l, uint64_t now_ns, const struct wire_engine_request *own,
                 uint32_t owns) {
    bool changed = false;
    for (uint32_t i = 0; i < l->loans;) {
        const struct lent_loan *loan = &l->loan[i];
        if (!loan->until_ns || loan->until_ns > now_ns) {
            i++;
            continue;
        }
        for (uint32_t k = 0; k < loan->engines; k++)
            changed |= !find(own, owns, loan->engine[k].event);
        l->loans--;
        memmove(&l->loan[i], &l->loan[i + 1], (l->loans - i) * sizeof *loan);
    }
    return changed;
}

int lent_check(const struct lent *l, const struct wire_engine_request *engine, uint32_t engines,
               struct err *e) {
    char why[320], text[64];
    for (uint32_t i = 0; i < engines; i++) {
        const struct wire_engine_request *r = lent_find(l, engine[i].event);
        if (!r || lent_fits(&engine[i], r, why, sizeof why))
            continue;
        snprintf(why, sizeof why,
                 "another process takes a profile of %.63s, sampled %s, from this session: change "
                 "the event when that profile has ended",
                 r->name, describe(r, text, sizeof text));
        return refuse(why, e);
    }
    return 0;
}

uint32_t lent_list(const struct lent *l, const struct wire_engine_request *own, uint32_t owns,
                   struct wire_engine_request out[WIRE_EVENTS], uint32_t *only) {
    uint32_t n = owns;
    *only = 0;
    memcpy(out, own, owns * sizeof *own);
    for (uint32_t event = 0; event < WIRE_EVENTS && n < WIRE_EVENTS; event++) {
        const struct wire_engine_request *r = lent_find(l, event);
        if (!r || find(own, owns, event))
            continue;
        out[n++] = *r;
        *only |= 1u << event;
    }
    return n;
}
