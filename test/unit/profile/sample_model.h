/* A model of a profile, too simple to be wrong: a list of random samples, all of which are looked at
 * for every question. */
#ifndef JTOP_TEST_UNIT_PROFILE_SAMPLE_MODEL_H
#define JTOP_TEST_UNIT_PROFILE_SAMPLE_MODEL_H

#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SAMPLES = 2500, DEPTH = 12, METHODS = 14, SECONDS = 20, HISTORY = 8, LINES = 4 };

/* Methods below JAVA are Java's. Then come two of native code, the class of an object, a method that
 * is not known, and the row of the collector's threads, which is on no stack. */
enum { JAVA = 9, NATIVE = JAVA, KERNEL, CLASS, ERROR, GC_ROW };

/* Threads are 1 to THREADS by their tid, then virtual threads by their id behind VIRTUAL. */
enum { THREADS = 5, VIRTUALS = 4, ALL_THREADS = THREADS + VIRTUALS, VIRTUAL = 1000 };

struct model_sample {
    uint64_t second, weight, virtual_id;
    uint32_t tid, count, frames;
    int event;
    bool failed;
    struct profile_frame frame[DEPTH];
    uint32_t begins; /* where the query's method is nearest to the root, or what is left there */
};

/* A tree with everything by linear search. */
struct model_node {
    uint32_t parent, method;
    uint8_t kept_tier; /* where tiers are told apart */
    uint64_t self, total, self_samples, total_samples, tier[TIERS];
};

struct model {
    struct model_sample sample[SAMPLES];
    uint64_t newest; /* second */
    struct model_node node[SAMPLES * (DEPTH + 1)];
    uint32_t nodes;
    struct profile *p;
    bool matches[METHODS]; /* the filter at hand */
    uint32_t thread_method[ALL_THREADS + 1];
    uint32_t last_carrier[ALL_THREADS + 1];
};

static uint64_t seed;

static bool is_collector(uint32_t tid) {
    return tid == 3 || tid == THREADS;
}

static const char *const classes[] = {"org/x/Y", "org/x/z/W", "org/xy/V"};

static uint32_t roll(uint32_t sides) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

static void roll_sample(struct model_sample *s, uint64_t second) {
    *s = (struct model_sample){
        .second = second - roll(3) % (second < 3 ? 1 : 3),
        .weight = roll(8) ? 1 + roll(50) : 0,
        .count = 1 + roll(3),
        .tid = 1 + roll(THREADS),
        .virtual_id = roll(3) ? 0 : VIRTUAL + 1 + roll(VIRTUALS),
        .event = (int)roll(2),
        .failed = roll(10) == 0,
        .frames = 1 + roll(DEPTH),
    };
    for (uint32_t i = 0; i < s->frames; i++)
        s->frame[i] = (struct profile_frame){.method = i % 3 || roll(2) ? roll(GC_ROW) : roll(3),
                                             .line = (uint16_t)(roll(2) ? roll(LINES) : 65535),
                                             .tier = (uint8_t)roll(3)};
}

/* The first has no name. */
static void name_virtual_threads(struct model *m) {
    for (uint32_t v = 1; v <= VIRTUALS; v++) {
        char name[32], root[64];
        snprintf(name, sizeof name, v > 1 ? "task %u" : "VirtualThread[#%u]", VIRTUAL + v);
        snprintf(root, sizeof root, "[%s virtual=%u]", name, VIRTUAL + v);
        m->thread_method[THREADS + v] =
            method_table_intern(profile_methods(m->p), METHOD_THREAD, "", root, "", "");
        assert_int_equal(profile_virtual_name(m->p, VIRTUAL + v, v > 1 ? name : ""), 0);
    }
}

static struct model *model_new(uint64_t start) {
    struct model *m = calloc(1, sizeof *m);
    char name[32];
    seed = start;
    m->p = profile_new(HISTORY);
    for (uint32_t i = 0; i < METHODS; i++) {
        static const enum method_kind others[] = {METHOD_NATIVE, METHOD_KERNEL, METHOD_CLASS,
                                                  METHOD_ERROR, METHOD_THREAD};
        bool java = i < JAVA;
        snprintf(name, sizeof name,
                 java         ? "Method%c"
                 : i < GC_ROW ? "frame_%c"
                              : "[GC threads]",
                 'A' + (int)(i * 5 % JAVA));
        assert_int_equal(method_table_intern(profile_methods(m->p),
                                             java ? METHOD_JAVA : others[i - JAVA],
                                             java ? classes[i % 3] : "", name, "", ""),
                         i);
    }
    for (uint32_t t = 1; t <= THREADS; t++) {
        const char *kind = is_collector(t) ? "GC Thread#" : "worker-";
        snprintf(name, sizeof name, "[%s%u tid=%u]", kind, t % 2, t);
        m->thread_method[t] =
            method_table_intern(profile_methods(m->p), METHOD_THREAD, "", name, "", "");
        snprintf(name, sizeof name, "%s%u", kind, t % 2);
        assert_int_equal(profile_thread_name(m->p, t, t, name), 0);
    }
    name_virtual_threads(m);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct model_sample *s = &m->sample[i];
        roll_sample(s, 100 + (uint64_t)i * SECONDS / SAMPLES);
        struct profile_sample add = {.time_ns = s->second * 1000000000 + roll(1000000000),
                                     .weight = s->weight,
                                     .count = s->count,
                                     .tid = s->tid,
                                     .virtual_id = s->virtual_id,
                                     .event = (uint8_t)s->event,
                                     .failed = s->failed,
                                     .frames = (uint16_t)s->frames,
                                     .frame = s->frame};
        assert_int_equal(profile_add(m->p, &add), 0);
        if (s->virtual_id)
            m->last_carrier[THREADS + s->virtual_id - VIRTUAL] = s->tid;
        if (s->second > m->newest)
            m->newest = s->second;
    }
    return m;
}

static void model_free(struct model *m) {
    profile_free(m->p);
    free(m);
}

static void model_set_filter(struct model *m, const char *text) {
    regex_t regex;
    text += text[0] == '!';
    bool is_regex = regcomp(&regex, text, REG_EXTENDED | REG_ICASE) == 0;
    for (uint32_t i = 0; i < METHODS; i++) {
        char name[64];
        frame_name(method_table_get(profile_methods_const(m->p), i), NAME_DOTTED, name,
                   sizeof name);
        m->matches[i] =
            is_regex ? regexec(&regex, name, 0, NULL, 0) == 0 : strcasestr(name, text) != NULL;
    }
    if (is_regex)
        regfree(&regex);
}

static bool model_matches(const struct model *m, const struct model_sample *s) {
    for (uint32_t i = 0; i < s->frames; i++)
        if (m->matches[s->frame[i].method])
            return true;
    return false;
}

/* Where the method is nearest to the root; UINT32_MAX: nowhere. */
static uint32_t model_outermost(const struct model_sample *s, uint32_t method) {
    uint32_t i = s->frames;
    while (i-- > 0)
        if (s->frame[i].method == method)
            return i;
    return UINT32_MAX;
}

/* As classes have it, with slashes. */
static bool model_in_package(const struct model_sample *s, const char *package) {
    for (uint32_t i = 0; i < s->frames; i++) {
        const char *class = s->frame[i].method < JAVA ? classes[s->frame[i].method % 3] : "";
        size_t n = strlen(package);
        if (strncmp(class, package, n) == 0 && class[n] == '/')
            return true;
    }
    return false;
}

/* Whose sample it is. */
static uint32_t model_owner(const struct model_sample *s, const struct query *q) {
    bool by_carrier = !s->virtual_id || (q->carriers && !q->virtual_id);
    return by_carrier ? s->tid : THREADS + (uint32_t)(s->virtual_id - VIRTUAL);
}

static bool model_keeps(const struct model *m, const struct model_sample *s,
                        const struct query *q) {
    if (s->event != q->event)
        return false;
    if (q->virtual_id ? s->virtual_id != q->virtual_id : q->tid && model_owner(s, q) != q->tid)
        return false;
    uint64_t to = q->to_second ? q->to_second : UINT64_MAX;
    if ((q->from_second || q->to_second) &&
        (s->second < q->from_second || s->second > to || m->newest - s->second >= HISTORY))
        return false;
    if (q->with_method && model_outermost(s, q->method) == UINT32_MAX)
        return false;
    if (q->with_also && model_outermost(s, q->also) == UINT32_MAX)
        return false;
    if (q->package && !model_in_package(s, strchr(q->package, 'z') ? "org/x/z" : "org/x"))
        return false;
    if (!q->filter)
        return true;
    return model_matches(m, s) == (q->filter[0] != '!');
}

static bool is_native(uint32_t method) {
    return method == NATIVE || method == KERNEL;
}

/* Writes what a fold leaves of a stack: from the root, frames of Java, of unknown methods, and the
 * first class below Java. */
static void model_fold(struct model_sample *s, const struct query *q) {
    bool keep[DEPTH] = {false}, java = false, dropped = false, unknown = false, class = false;
    uint32_t kept = 0;
    if (!q->fold_natives || (q->with_method && is_native(q->method)) ||
        (q->with_also && is_native(q->also)))
        return;
    for (uint32_t i = s->frames; i-- > 0;) {
        uint32_t method = s->frame[i].method;
        keep[i] = method < JAVA || method == ERROR || (method == CLASS && java && !class);
        java |= method < JAVA || (method == ERROR && dropped);
        unknown |= method == ERROR;
        class |= method == CLASS;
        dropped |= !keep[i];
    }
    bool by_carrier = !s->virtual_id || (q->carriers && !q->virtual_id);
    bool of_method = q->with_method && q->method != GC_ROW;
    if (java) {
        uint32_t begins = s->begins;
        for (uint32_t i = 0; i < s->frames; i++) {
            s->begins = keep[i] && i <= begins ? kept : s->begins;
            if (keep[i])
                s->frame[kept++] = s->frame[i];
        }
        s->frames = kept;
    } else if (!unknown && !of_method && by_carrier && is_collector(s->tid)) {
        s->frames = 1;
        s->begins = 0;
        s->frame[0] = (struct profile_frame){.method = GC_ROW};
    }
}

/* Returns the sample as the query counts it; NULL: it does not keep it. */
static const struct model_sample *model_take(const struct model *m, uint32_t i,
                                             const struct query *q) {
    static struct model_sample folded;
    struct query ask = *q;
    bool row = q->with_method && q->method == GC_ROW, also = q->with_also && q->also == GC_ROW;
    folded = m->sample[i];
    if (row)
        ask.with_method = false; /* the row is in the folded stack only */
    if (also)
        ask.with_also = false;
    ask.fold_natives = true;
    if (!model_keeps(m, &folded, &ask))
        return NULL;
    folded.begins = model_outermost(&folded, q->method);
    model_fold(&folded, &ask);
    if ((row || also) && folded.frame[0].method != GC_ROW)
        return NULL;
    if (!q->fold_natives) {
        folded = m->sample[i];
        folded.begins = model_outermost(&folded, q->method);
    }
    return &folded;
}

static uint32_t model_child(struct model *m, uint32_t parent, uint32_t method, uint8_t tier) {
    for (uint32_t i = 0; i < m->nodes; i++)
        if (m->node[i].parent == parent && m->node[i].method == method &&
            m->node[i].kept_tier == tier)
            return i;
    m->node[m->nodes] = (struct model_node){.parent = parent, .method = method, .kept_tier = tier};
    return m->nodes++;
}

static uint32_t model_step(struct model *m, const struct model_sample *s, const struct query *q,
                           uint32_t parent, uint32_t method, uint8_t tier) {
    uint32_t at = model_child(m, parent, method, q->tiers ? tier : 0);
    m->node[at].total += s->weight;
    m->node[at].total_samples += s->count;
    m->node[at].tier[tier] += s->count;
    return at;
}

static void model_build(struct model *m, const struct query *q) {
    m->nodes = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *s = model_take(m, i, q);
        if (!s)
            continue;
        uint32_t at = SNAPSHOT_ROOT;
        if (q->by_thread)
            at = model_step(m, s, q, at, m->thread_method[model_owner(s, q)], TIER_NONE);
        uint32_t outermost = q->from_method ? s->begins : UINT32_MAX;
        uint32_t leaf = q->inverted && q->from_method ? outermost : 0;
        uint32_t root = !q->inverted && q->from_method ? outermost : s->frames - 1;
        for (uint32_t j = 0; j <= root - leaf; j++) {
            const struct profile_frame *f = &s->frame[q->inverted ? leaf + j : root - j];
            at = model_step(m, s, q, at, f->method, f->tier);
        }
        m->node[at].self += s->weight;
        m->node[at].self_samples += s->count;
    }
}

#endif
