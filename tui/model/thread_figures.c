#include "tui/model/thread_figures.h"

#include "core/base/format.h"

void thread_figures_add(struct thread_figures *f, const struct model *m,
                        const struct model_thread *t) {
    if (!f->threads++)
        *f = (struct thread_figures){.threads = 1, .cpu_percent = -1, .change.chance = true};
    if (t->cpu_percent >= 0)
        f->cpu_percent = t->cpu_percent + (f->cpu_percent > 0 ? f->cpu_percent : 0);
    f->weight += t->weight;
    f->samples += t->samples;
    const uint64_t *states = model_thread_states(m, t);
    for (int i = 0; states && i < PROFILE_STATES; i++)
        f->states[i] += states[i];
    for (int i = 0; i < EVENT_KINDS; i++)
        if (i != m->asked.event && m->rows[i].snapshot)
            f->share[i] += model_thread_share(m, i, t);
    if (t->row >= m->snapshot->thread_count)
        return;
    for (uint32_t i = 0; m->snapshot->thread_spark && i < MODEL_SPARKS; i++)
        f->spark[i] += m->snapshot->thread_spark[(size_t)t->row * MODEL_SPARKS + i];
    if (!m->diff)
        return;
    struct diff_change change = diff_thread(m->diff, t->row);
    f->change.percent += change.percent;
    f->change.chance = f->change.chance && change.chance;
}

/* Returns the weight of an event per second; < 0: no samples. */
static double rate(const struct model *m, const struct thread_figures *f, int event) {
    const struct snapshot *rows = m->rows[event].snapshot;
    if (m->asked.event == event)
        return (double)snapshot_per_second(m->snapshot, f->weight);
    return rows ? f->share[event] / 100 * (double)snapshot_per_second(rows, rows->weight) : -1;
}

double thread_alloc_rate(const struct model *m, const struct thread_figures *f) {
    return rate(m, f, WIRE_EVENT_ALLOC);
}

double thread_blocked(const struct model *m, const struct thread_figures *f) {
    double percent = -1, locks = rate(m, f, WIRE_EVENT_LOCK);
    uint64_t sum = 0;
    for (int i = 0; i < PROFILE_STATES; i++)
        sum += f->states[i];
    if (sum)
        percent = percent_of(f->states[WIRE_THREAD_BLOCKED], sum);
    if (locks >= 0 && f->threads) {
        locks = locks / 1e7 / f->threads;
        percent = locks > percent ? locks : percent;
    }
    return percent > 100 ? 100 : percent;
}
