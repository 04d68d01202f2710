#include "tui/cli/compare/compare_sides.h"

#include "core/export/formats.h"
#include "core/profile/table/frame_name.h"
#include "tui/cli/output/output.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define TIME_NS UINT64_C(1000000000) /* the profile's only second */

static int no_memory(struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory to compare the profiles");
}

/* ---- which event ---- */

struct opened {
    struct session *session;
    struct session_status status;
};

static bool is_made(int event) {
    return event == EVENT_LIVE || event == EVENT_LEAK;
}

static const char *name_of(const struct session_status *st, int event) {
    const struct session_engine *engine = &st->engine[event];
    return is_made(event) || !engine->name[0] ? event_kind_name[event] : engine->name;
}

/* True for numbers of events whose meaning depends on the requested name. The others have one
 * meaning. */
static bool is_named(int event) {
    return event == WIRE_EVENT_PERF || event == WIRE_EVENT_METHOD;
}

static bool has(const struct session_status *st, int event, const char *name) {
    return st->engine[event].samples > 0 &&
           (!is_named(event) || strcmp(name_of(st, event), name) == 0);
}

/* True if the file has only "samples" of an unknown event, as collapsed stacks do. These are
 * compared with any event. */
static bool is_any(const struct session_status *st, int *event) {
    *event = WIRE_EVENT_PERF;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].samples > 0 && i != WIRE_EVENT_PERF)
            return false;
    return has(st, WIRE_EVENT_PERF, "samples");
}

static int first_event(const struct session_status *st) {
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].samples > 0)
            return i;
    return -1;
}

static int live_event(const struct wire_engine_request *q) {
    return q->event == WIRE_EVENT_ALLOC && q->flags & WIRE_ENGINE_LIVE ? (int)EVENT_LIVE
                                                                       : (int)q->event;
}

/* Returns the event of a side that fits that of the other side; -1: none fits. */
static int fitting(const struct session_status *st, int event, const char *name) {
    int any;
    if (has(st, event, name))
        return event;
    return is_any(st, &any) ? any : -1;
}

static void list_events(const struct session_status *st, char *out, size_t size) {
    size_t used = 0;
    snprintf(out, size, "no samples");
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].samples > 0 && used < size)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", name_of(st, i));
}

static int none_in_common(const struct options *o, const struct opened at[SIDES], struct err *e) {
    char list[SIDES][120];
    for (int i = 0; i < SIDES; i++)
        list_events(&at[i].status, list[i], sizeof list[i]);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT, "diff: %s: %.80s has %s; %.80s has %s",
                       o->events_given ? "that event is not in both" : "no event in common",
                       o->operand[0], list[SIDE_A], o->operand[1], list[SIDE_B]);
}

static int choose(const struct options *o, const struct opened at[SIDES], int event[SIDES],
                  struct err *e) {
    const struct session_status *a = &at[SIDE_A].status, *b = &at[SIDE_B].status;
    int any;
    if (o->events_given && o->session.engines > 1)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "diff: one event at a time (-e)");
    if (o->events_given) {
        int wanted = live_event(&o->session.engine[0]);
        event[SIDE_A] = fitting(a, wanted, o->session.engine[0].name);
        event[SIDE_B] = fitting(b, wanted, o->session.engine[0].name);
        return event[SIDE_A] >= 0 && event[SIDE_B] >= 0 ? 0 : none_in_common(o, at, e);
    }
    if (is_any(a, &any)) {
        event[SIDE_A] = any;
        event[SIDE_B] = first_event(b);
        return event[SIDE_B] >= 0 ? 0 : none_in_common(o, at, e);
    }
    for (int i = 0; i < EVENT_KINDS; i++) {
        event[SIDE_A] = i;
        event[SIDE_B] = a->engine[i].samples ? fitting(b, i, name_of(a, i)) : -1;
        if (event[SIDE_B] >= 0)
            return 0;
    }
    return none_in_common(o, at, e);
}

/* ---- into one profile ---- */

/* A frame, found by its printed name. */
struct name {
    uint32_t method; /* in the joint profile */
    bool lost;       /* uthash had no memory to add it */
    struct name *older;
    UT_hash_handle hh;
    char text[];
};

struct joining {
    struct profile *to;
    struct name *names, *newest; /* names: by text; newest: list of all */
    const struct export_options *o;
    const struct method_table *from;
    uint32_t *known; /* by method of `from`: method of `to`, or METHOD_NONE */
    enum compare_side_number side;
    struct profile_frame frame[PROFILE_STACK_MAX];
};

/* Turns "[main tid=12]" into "[main]": threads with the same name are the same. */
static void without_number(char *name) {
    char *equals = strrchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : 0;
    size_t word = n >= 4 && strncmp(equals - 3, "tid", 3) == 0       ? 3
                  : n >= 8 && strncmp(equals - 7, "virtual", 7) == 0 ? 7
                                                                     : 0;
    if (!word)
        return;
    char *end = equals - word;
    if (end[-1] == ' ')
        end--;
    snprintf(end, strlen(end) + 1, "%s", end == name + 1 ? "none]" : "]");
}

/* Adds the method to the joint profile, without the parts that are not printed. */
static uint32_t intern(struct joining *j, const struct method *m, const char *printed) {
    const struct export_options *o = j->o;
    struct method_table *t = profile_methods(j->to);
    if (m->kind == METHOD_THREAD)
        return method_table_intern(t, METHOD_THREAD, "", printed, "", "");
    return method_table_intern(t, m->kind, m->class_name, m->name,
                               o->signatures ? m->signature : "", o->library ? m->module : "");
}

static uint32_t join_method(struct joining *j, uint32_t method) {
    char printed[4 * WIRE_STRING_MAX];
    const struct method *m = method_table_get(j->from, method);
    struct name *n;
    if (j->known[method] != METHOD_NONE)
        return j->known[method];
    frame_name(m, formats_name_style(j->o) | NAME_DOTTED, printed, sizeof printed);
    if (m->kind == METHOD_THREAD)
        without_number(printed);
    HASH_FIND_STR(j->names, printed, n);
    if (!n) {
        size_t bytes = strlen(printed) + 1;
        n = calloc(1, sizeof *n + bytes);
        if (!n)
            return METHOD_NONE;
        memcpy(n->text, printed, bytes);
        n->method = intern(j, m, printed);
        HASH_ADD_STR(j->names, text, n);
        if (n->lost) {
            free(n);
            return METHOD_NONE;
        }
        n->older = j->newest;
        j->newest = n;
    }
    j->known[method] = n->method;
    return n->method;
}

static int join_stack(void *arg, const struct snapshot_node *const *path, uint32_t depth) {
    struct joining *j = arg;
    const struct snapshot_node *leaf = path[depth - 1];
    uint32_t frames = depth < PROFILE_STACK_MAX ? depth : PROFILE_STACK_MAX;
    for (uint32_t i = 0; i < frames; i++) {
        const struct snapshot_node *n = path[depth - 1 - i];
        j->frame[i] = (struct profile_frame){.method = join_method(j, n->method),
                                             .tier = (uint8_t)snapshot_main_tier(n->tier)};
        if (j->frame[i].method == METHOD_NONE)
            return -ENOMEM;
    }
    struct profile_sample s = {.time_ns = TIME_NS,
                               .weight = leaf->self,
                               .event = (uint8_t)j->side,
                               .frames = (uint16_t)frames,
                               .frame = j->frame};
    uint64_t left = leaf->self_samples;
    int r = 0;
    do {
        s.count = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
        left -= s.count;
        r = profile_add(j->to, &s);
        s.weight = 0;
    } while (left > 0 && r == 0);
    return r;
}

static int join_side(struct joining *j, struct session *s, const struct query *q) {
    struct profile *p = session_lock(s);
    struct snapshot *snap = snapshot_take(p, q);
    int r = -ENOMEM;
    j->from = profile_methods_const(p);
    uint32_t methods = method_table_count(j->from);
    j->known = malloc(((size_t)methods + 1) * sizeof *j->known);
    if (snap && j->known) {
        memset(j->known, 0xff, ((size_t)methods + 1) * sizeof *j->known);
        r = snapshot_each_stack(snap, join_stack, j);
    }
    snapshot_free(snap);
    session_unlock(s);
    free(j->known);
    j->known = NULL;
    return r;
}

static void forget_names(struct joining *j) {
    HASH_CLEAR(hh, j->names);
    for (struct name *n = j->newest, *older; n; n = older) {
        older = n->older;
        free(n);
    }
}

static int join(struct compare_sides *c, const struct options *o, const struct opened at[SIDES],
                const int event[SIDES]) {
    struct export_options names;
    struct joining *j = calloc(1, sizeof *j);
    int r = j ? 0 : -ENOMEM;
    compare_export_options(&names, o);
    c->profile = profile_new(0);
    if (!c->profile)
        r = -ENOMEM;
    /* B first: if the two files have different details, B's are shown. */
    for (int i = SIDES; i-- > 0 && r == 0;) {
        struct query q = {.event = event[i],
                          .tree = true,
                          .by_thread = o->export.threads,
                          .carriers = o->export.carriers,
                          .tiers = o->export.annotate};
        output_select(o, &q);
        j->to = c->profile;
        j->o = &names;
        j->side = (enum compare_side_number)i;
        r = join_side(j, at[i].session, &q);
    }
    if (j)
        forget_names(j);
    free(j);
    return r;
}

static void describe(struct compare_side *side, const struct session_status *st, int event) {
    snprintf(side->event, sizeof side->event, "%s", name_of(st, event));
    side->unit = event_kind_unit[event];
    side->elapsed_ns = st->elapsed_ns;
    side->interval = st->engine[event].interval;
    side->counted = session_engine_is_counted(&st->engine[event]);
}

/* ---- reading ---- */

static int open_side(struct opened *at, const struct options *o, const char *path, struct err *e) {
    struct session_options so = o->session;
    so.events_given = false; /* the required events are checked here */
    int r = session_replay(path, &so, &at->session, e);
    if (r < 0)
        return r;
    session_status(at->session, &at->status);
    if (at->status.message[0])
        fprintf(stderr, "jtop-prof: %s: %s\n", path, at->status.message);
    return 0;
}

int compare_sides_read(struct compare_sides *c, const struct options *o, struct err *e) {
    struct opened at[SIDES] = {0};
    int event[SIDES] = {0}, r = 0;
    *c = (struct compare_sides){0};
    for (int i = 0; i < SIDES && r == 0; i++) {
        c->side[i].path = o->operand[i];
        r = open_side(&at[i], o, o->operand[i], e);
    }
    if (r == 0)
        r = choose(o, at, event, e);
    if (r == 0 && join(c, o, at, event) < 0)
        r = no_memory(e);
    for (int i = 0; i < SIDES && r == 0; i++) {
        describe(&c->side[i], &at[i].status, event[i]);
        c->side[i].weight = profile_weight(c->profile, i);
        c->side[i].samples = profile_samples(c->profile, i);
    }
    for (int i = 0; i < SIDES; i++)
        session_close(at[i].session);
    return r;
}

void compare_sides_free(struct compare_sides *c) {
    profile_free(c->profile);
    c->profile = NULL;
}

void compare_export_options(struct export_options *out, const struct options *o) {
    *out = o->export;
    out->normalize = true;
    out->threads = false; /* threads are frames here */
}
