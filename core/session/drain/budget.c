#include "core/session/drain/budget.h"

#include "core/event/event.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND_NS UINT64_C(1000000000)
#define SETTLE_NS (1 * SECOND_NS)   /* wait after a change, before a period begins */
#define LONGER_NS (3 * SECOND_NS)   /* minimum period before intervals are made longer */
#define SHORTER_NS (10 * SECOND_NS) /* minimum period before intervals are made shorter */
#define AGAIN_NS (60 * SECOND_NS)   /* wait after a useless step */
#define STEP_MOST 8                 /* maximum factor of one step */
/* Target in percent of the limit: between the target and the limit, nothing changes */
#define AIM_PERCENT 80
/* Below this percentage of the limit, intervals can be made shorter */
#define ROOM_PERCENT 60
/* A step is useful if the cost falls to this percentage of the former cost */
#define HELPS_PERCENT 90

void budget_init(struct budget *b, uint32_t limit_ppm) {
    *b = (struct budget){.limit_ppm = limit_ppm, .factor = 1};
}

void budget_restart(struct budget *b, uint64_t now_ns) {
    b->since_ns = 0;
    b->settle_ns = now_ns + SETTLE_NS;
}

static void change(struct budget *b, uint32_t factor, uint64_t now_ns) {
    b->factor = factor;
    b->steps++;
    budget_restart(b, now_ns);
}

void budget_undo(struct budget *b, uint32_t factor) {
    b->factor = factor;
    b->before_factor = 0;
    b->exhausted = b->measured_ppm > b->limit_ppm;
    b->again_ns = b->settle_ns + AGAIN_NS;
}

static uint32_t between(uint64_t n, uint32_t least, uint32_t most) {
    return n < least ? least : n > most ? most : (uint32_t)n;
}

/* Returns the factor that would cost AIM_PERCENT of the limit, if all the cost came from
 * sampling. */
static uint64_t aim(const struct budget *b) {
    uint64_t aimed = (uint64_t)b->limit_ppm * AIM_PERCENT / 100;
    return ((uint64_t)b->factor * b->measured_ppm + aimed - 1) / (aimed ? aimed : 1);
}

/* Whether the last lengthening was useless; it has had time to take effect. */
static bool was_vain(const struct budget *b) {
    return b->before_factor && b->measured_ppm > (uint64_t)b->before_ppm * HELPS_PERCENT / 100;
}

static bool make_longer(struct budget *b, uint64_t now_ns) {
    if (was_vain(b)) {
        uint32_t factor = b->before_factor;
        b->before_factor = 0;
        b->exhausted = true;
        b->again_ns = now_ns + AGAIN_NS;
        change(b, factor, now_ns);
        return true;
    }
    b->exhausted = b->factor == BUDGET_FACTOR_MAX || now_ns < b->again_ns;
    if (b->exhausted)
        return false;
    b->before_ppm = b->measured_ppm;
    b->before_factor = b->factor;
    uint64_t most = (uint64_t)b->factor * STEP_MOST;
    change(b, between(aim(b), b->factor + 1, between(most, 1, BUDGET_FACTOR_MAX)), now_ns);
    return true;
}

static bool make_shorter(struct budget *b, uint64_t now_ns) {
    uint32_t factor = between(aim(b), 1, b->factor);
    if (factor == b->factor)
        return false;
    change(b, factor, now_ns);
    return true;
}

bool budget_look(struct budget *b, uint64_t now_ns, uint64_t spent_ns) {
    if (!b->limit_ppm || now_ns < b->settle_ns)
        return false;
    if (!b->since_ns || spent_ns < b->since_spent) {
        b->since_ns = now_ns;
        b->since_spent = spent_ns;
        return false;
    }
    uint64_t period = now_ns - b->since_ns;
    if (period < LONGER_NS)
        return false;
    double ppm = (double)(spent_ns - b->since_spent) * 1e6 / (double)period;
    b->measured_ppm = ppm < 1e9 ? (uint32_t)ppm : 1000000000;
    if (b->measured_ppm > b->limit_ppm) {
        b->since_ns = 0; /* the next period begins */
        return make_longer(b, now_ns);
    }
    b->exhausted = false;
    b->before_factor = 0;
    if (period < SHORTER_NS)
        return false;
    b->since_ns = 0;
    return b->factor > 1 && b->measured_ppm < (uint64_t)b->limit_ppm * ROOM_PERCENT / 100 &&
           make_shorter(b, now_ns);
}

/* Whether the samples have a weight: then a longer interval takes fewer samples, each with
 * more weight. */
static bool has_weight(uint32_t event) {
    switch (event) {
    case WIRE_EVENT_LOCK:
    case WIRE_EVENT_NATIVELOCK:
    case WIRE_EVENT_METHOD:
        return false;
    default:
        return true;
    }
}

static uint64_t interval_of(const struct wire_engine_request *q) {
    return q->interval ? q->interval : event_default_interval((enum wire_event)q->event);
}

struct wire_engine_request budget_apply(const struct budget *b,
                                        const struct wire_engine_request *asked) {
    struct wire_engine_request q = *asked;
    uint64_t interval = interval_of(&q);
    if (b->factor > 1 && has_weight(q.event) && interval < UINT64_MAX / BUDGET_FACTOR_MAX)
        q.interval = interval * b->factor;
    return q;
}

/* Writes "40ms", "2m" for bytes, "3000". */
static void interval_text(uint32_t event, uint64_t n, char *out, size_t size) {
    static const char *const time[] = {"ns", "us", "ms", "s"}, *const count[] = {"", "k", "m", "g"};
    enum event_measure measure = event_measure((enum wire_event)event);
    uint64_t step = measure == EVENT_BYTES ? 1024 : 1000;
    unsigned unit = 0;
    while (unit < 3 && n >= step && n % step == 0) {
        n /= step;
        unit++;
    }
    snprintf(out, size, "%" PRIu64 "%s", n, (measure == EVENT_TIME ? time : count)[unit]);
}

void budget_show(const struct budget *b, const struct wire_engine_request *engine, uint32_t engines,
                 struct session_budget *out) {
    *out = (struct session_budget){.limit_ppm = b->limit_ppm,
                                   .measured_ppm = b->measured_ppm,
                                   .factor = b->factor,
                                   .steps = b->steps,
                                   .exhausted = b->exhausted};
    double limit = (double)b->limit_ppm / 1e4;
    size_t used = 0;
    for (uint32_t i = 0; i < engines && b->factor > 1; i++) {
        char from[32], to[32];
        struct wire_engine_request now = budget_apply(b, &engine[i]);
        if (now.interval == engine[i].interval || used >= sizeof out->text)
            continue;
        interval_text(engine[i].event, interval_of(&engine[i]), from, sizeof from);
        interval_text(engine[i].event, now.interval, to, sizeof to);
        used += (size_t)snprintf(out->text + used, sizeof out->text - used,
                                 "%s%s every %s in place of %s", used ? ", " : "", engine[i].name,
                                 to, from);
    }
    if (used < sizeof out->text && b->exhausted)
        snprintf(out->text + used, sizeof out->text - used,
                 "%sthe agent takes %.2f%% of a CPU, and longer intervals do not get it below "
                 "%g%%",
                 used ? "; " : "", (double)b->measured_ppm / 1e4, limit);
    else if (used && used < sizeof out->text)
        snprintf(out->text + used, sizeof out->text - used, ", to keep below %g%% of a CPU", limit);
}
