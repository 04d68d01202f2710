#include "tui/model/finding.h"

static const struct method *method_of(const void *m, uint32_t id) {
    return model_method(m, id);
}

static const char *name_of(const void *m, uint32_t id, char *out, size_t size) {
    return model_method_name(m, id, out, size);
}

static void get_thread(const void *arg, uint32_t i, struct findings_thread *out) {
    const struct model *m = arg;
    const struct model_thread *t = &m->threads[i];
    *out = (struct findings_thread){.self = t,
                                    .name = t->name[0] ? t->name : t->comm,
                                    .tid = t->tid,
                                    .is_virtual = t->is_virtual,
                                    .weight = t->weight};
}

/* Finding a thread's states takes a search, so only the list of sleepers has them. */
static void get_sleeper(const void *arg, uint32_t i, struct findings_thread *out) {
    const struct model *m = arg;
    get_thread(arg, i, out);
    out->states = model_thread_states(m, &m->threads[i]);
}

/* Returns the rows of an event: the answer's, or those beside it. */
static const struct snapshot *rows_of(const struct model *m, int event) {
    return m->asked.event == event ? m->snapshot : m->rows[event].snapshot;
}

int finding_list(const struct model *m, struct finding out[FINDINGS_MAX]) {
    if (!m->snapshot)
        return 0;
    const struct findings_of of = {.event = m->asked.event,
                                   .answer = m->snapshot,
                                   .cpu = rows_of(m, WIRE_EVENT_CPU),
                                   .alloc = rows_of(m, WIRE_EVENT_ALLOC),
                                   .threads = {m->thread_count, get_thread, m},
                                   .sleepers = {m->thread_count, get_sleeper, m},
                                   .jvm = &m->jvm,
                                   .status = &m->status,
                                   .held = m->held,
                                   .selected = m->asked.narrowings > 0,
                                   .second = m->second,
                                   .seconds = m->seconds,
                                   .method = method_of,
                                   .name = name_of,
                                   .arg = m,
                                   .style = m->style};
    return findings_list(&of, out);
}

int finding_view(const struct finding *f) {
    static const int view[] = {[FINDING_MORE_NONE] = -1,
                               [FINDING_MORE_LOCKS] = LIVE_LOCKS,
                               [FINDING_MORE_ALLOC] = LIVE_ALLOC,
                               [FINDING_MORE_STATUS] = LIVE_STATUS};
    return view[f->more];
}

struct findings_pauses finding_pauses(const struct model *m) {
    return findings_pauses(m->second, m->seconds);
}
