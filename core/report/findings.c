#include "core/report/findings.h"

#include "core/base/format.h"
#include "core/profile/table/frame_name.h"
#include "core/profile/table/thread_kind.h"
#include "core/report/event_trouble.h"
#include "core/report/quality.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Thresholds in percent: from this share on, a fact is reported. */
#define FEW_THREADS 80.0
#define IDLE_CORE 10.0 /* less of one core: the JVM is nearly idle */
#define MUCH_BLOCKED 5.0
#define HOT_METHOD 10.0
#define MUCH_KERNEL 20.0
#define MUCH_COLLECTING 10.0
#define MUCH_COMPILING 15.0
#define MUCH_PAUSED 1.0
#define MUCH_WAITED 5.0 /* of one thread's time, for locks */
#define TOO_MUCH_PAUSED 5.0
#define FULL_HEAP 90.0
#define MUCH_OF_A_CLASS 20.0
#define MANY_FAILED 5.0
#define FEW 3          /* at most this many threads are few */
#define LEAST 5u       /* seconds; fewer give no useful rate */
#define NAME_BYTES 160 /* of a name within a line */

enum what {
    IDLE,
    BLOCKED,
    COLLECTIONS,
    SAFEPOINTS,
    HEAP,
    FEW_BUSY,
    HOTTEST,
    KERNEL,
    COLLECTORS,
    COMPILERS,
    LOCKS,
    ALLOCATION,
    TROUBLE,
    DROPS,
    FAILURES,
    NOTHING
};

struct list {
    const struct findings_of *of;
    struct finding *out;
    int count;
};

__attribute__((format(printf, 4, 5))) static struct finding *
add(struct list *l, enum what what, bool is_worse, const char *fmt, ...) {
    struct finding *f = &l->out[l->count < FINDINGS_MAX ? l->count++ : FINDINGS_MAX - 1];
    *f = (struct finding){
        .what = (int)what, .is_worse = is_worse, .method = METHOD_NONE, .event = l->of->event};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    return f;
}

#define OF_THE(whole)                                                                              \
    { "of the " whole, "of the selection's " whole }
#define OF_WHAT(what)                                                                              \
    { "of what " what, "of what " what " in the selection" }

/* Returns what the weight of an event is a part of: "of the CPU time". */
static const char *whole_of(const struct findings_of *of, int event) {
    static const char *const whole[EVENT_KINDS][2] = {
        [WIRE_EVENT_CPU] = OF_THE("CPU time"),
        [WIRE_EVENT_WALL] = {"of all threads' time", "of the selection's time"},
        [WIRE_EVENT_ALLOC] = OF_WHAT("is allocated"),
        [WIRE_EVENT_LOCK] = OF_THE("waits"),
        [WIRE_EVENT_NATIVELOCK] = OF_THE("waits"),
        [WIRE_EVENT_NATIVEMEM] = OF_THE("native memory"),
        [WIRE_EVENT_METHOD] = OF_THE("calls"),
        [EVENT_LIVE] = OF_WHAT("is alive"),
        [EVENT_LEAK] = OF_WHAT("was not freed"),
    };
    const char *text = whole[event][of->selected];
    return text ? text : of->selected ? "of the selection" : "of all";
}

/* Returns what limits a sum that is not a share. */
static const char *here(const struct findings_of *of) {
    return of->selected ? " in the selection" : "";
}

struct findings_pauses findings_pauses(const struct profile_second *second, uint32_t seconds) {
    struct findings_pauses p = {.seconds = seconds < FINDINGS_SECONDS ? seconds : FINDINGS_SECONDS};
    for (uint32_t i = seconds - p.seconds; i < seconds; i++) {
        for (int kind = 0; kind < 2; kind++) {
            uint64_t ns = second[i].paused_ns[kind];
            p.paused_ns[kind] += ns;
            p.most_ns[kind] = ns > p.most_ns[kind] ? ns : p.most_ns[kind];
        }
    }
    return p;
}

static void find_pauses(struct list *l) {
    static const char *const who[2] = {"collections", "safepoints other than collections"};
    struct findings_pauses p = findings_pauses(l->of->second, l->of->seconds);
    for (int kind = 0; kind < 2 && p.seconds >= LEAST; kind++) {
        double part = percent_of(p.paused_ns[kind], p.seconds * UINT64_C(1000000000));
        struct format f = {""};
        if (part >= MUCH_PAUSED)
            add(l, kind ? SAFEPOINTS : COLLECTIONS, part >= TOO_MUCH_PAUSED,
                "%s stopped the JVM for %.0f %% of the %s%u s%s; worst second: %s", who[kind], part,
                l->of->held ? "" : "last ", p.seconds, l->of->held ? " until then" : "",
                format_duration(&f, p.most_ns[kind]));
    }
}

static void find_heap(struct list *l) {
    const struct jvm *j = l->of->jvm;
    struct format f = {""};
    double part = percent_of(j->heap_used_bytes, j->heap_max_bytes);
    if (part >= FULL_HEAP && l->of->status->phase != SESSION_REPLAYED && !l->of->held)
        add(l, HEAP, true, "the heap is %.0f %% full: %s", part,
            format_heap(&f, j->heap_used_bytes, j->heap_max_bytes));
}

/* Shares of CPU time say little if there is hardly any. */
static void find_idle(struct list *l) {
    const struct findings_of *of = l->of;
    if (of->status->phase == SESSION_RUNNING && !of->held && of->jvm->cpu_percent < IDLE_CORE)
        add(l, IDLE, false, "the JVM is nearly idle: it uses %.0f %% of a core",
            of->jvm->cpu_percent);
}

/* Returns the rows that findings about code are about. Under wall they are those of CPU time, if it
 * is sampled too: most of the wall clock time of most threads is spent waiting for work. */
static const struct snapshot *code_rows(const struct findings_of *of) {
    return of->event == WIRE_EVENT_WALL ? of->cpu : of->answer;
}

static int code_event(const struct findings_of *of) {
    return of->event == WIRE_EVENT_WALL ? (int)WIRE_EVENT_CPU : of->event;
}

static const char *code_whole(const struct findings_of *of) {
    return whole_of(of, code_event(of));
}

static struct findings_thread thread_at(const struct findings_threads *threads, uint32_t i) {
    struct findings_thread t;
    threads->get(threads->arg, i, &t);
    return t;
}

static const char *thread_name(const struct findings_thread *t, char out[64]) {
    if (t->name[0])
        snprintf(out, 64, "%s", t->name);
    else
        snprintf(out, 64, "[tid=%u]", t->tid);
    return out;
}

static enum thread_kind works_for(const struct findings_thread *t) {
    return t->is_virtual ? THREAD_APPLICATION : thread_kind(t->name);
}

/* Time that application threads waited to enter monitors. */
static void find_blocked(struct list *l) {
    const struct findings_threads *threads = &l->of->sleepers;
    struct findings_thread worst = {.self = NULL};
    uint64_t blocked = 0, all = 0, most = 0;
    for (uint32_t i = 0; i < threads->count; i++) {
        const struct findings_thread t = thread_at(threads, i);
        if (!t.states || works_for(&t) != THREAD_APPLICATION)
            continue;
        for (int k = 0; k < WIRE_THREAD_STATES; k++)
            all += t.states[k];
        blocked += t.states[WIRE_THREAD_BLOCKED];
        if (t.states[WIRE_THREAD_BLOCKED] > most) {
            most = t.states[WIRE_THREAD_BLOCKED];
            worst = t;
        }
    }
    char name[64];
    if (!worst.self || percent_of(blocked, all) < MUCH_BLOCKED)
        return;
    struct finding *f = add(l, BLOCKED, true,
                            "%.0f %% of the application threads' time%s is spent waiting for "
                            "monitors, most by %s",
                            percent_of(blocked, all), here(l->of), thread_name(&worst, name));
    f->thread = worst.self;
    f->more = FINDING_MORE_LOCKS;
}

/* Writes " (1.9 cores)" for CPU time, else "". Returns out. */
static const char *load_of(const struct snapshot *s, int event, uint64_t weight, char out[32]) {
    double cores = (double)weight / (double)s->sampled_ns;
    out[0] = '\0';
    if (event == WIRE_EVENT_CPU)
        snprintf(out, 32, " (%.*f %s)", cores < 1 ? 2 : 1, cores, cores == 1 ? "core" : "cores");
    return out;
}

/* Reports at most FEW threads that together have most of the weight. */
static void find_busy_threads(struct list *l) {
    const struct findings_of *of = l->of;
    const struct findings_threads *threads = &of->threads;
    struct findings_thread busy[FEW + 1]; /* and the next one, if it has samples */
    uint64_t sum = 0;
    uint32_t n = 0, sampled = 0;
    for (; sampled < threads->count && sampled < FEW + 1; sampled++) {
        busy[sampled] = thread_at(threads, sampled);
        if (!busy[sampled].weight)
            break;
    }
    while (n < FEW && n < sampled && percent_of(sum, of->answer->weight) < FEW_THREADS)
        sum += busy[n++].weight;
    double part = percent_of(sum, of->answer->weight);
    if (!n || part < FEW_THREADS || sampled <= n)
        return;
    char names[NAME_BYTES] = "", load[32];
    size_t at = 0;
    for (uint32_t i = 0; i < n && at < sizeof names; i++) {
        char name[64];
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "",
                               thread_name(&busy[i], name));
    }
    load_of(of->answer, of->event, sum, load);
    struct finding *f = n == 1 ? add(l, FEW_BUSY, false, "%.0f %% %s%s is in one thread: %s", part,
                                     whole_of(of, of->event), load, names)
                               : add(l, FEW_BUSY, false, "%.0f %% %s%s is in %u threads: %s", part,
                                     whole_of(of, of->event), load, n, names);
    f->thread = busy[0].self;
}

static enum method_kind kind_of(const struct findings_of *of, uint32_t method) {
    return of->method(of->arg, method)->kind;
}

static bool is_of_locks(int event) {
    return event == WIRE_EVENT_LOCK || event == WIRE_EVENT_NATIVELOCK;
}

/* Writes the 95% interval of a share in percent: "77 to 81", or "79". Returns out. */
static const char *range_of(uint64_t part, uint64_t samples, double percent, char out[32]) {
    double error = percent_error(part, samples);
    double least = percent > error ? percent - error : 0, most = percent + error;
    if (error < 0.5)
        snprintf(out, 32, "%.0f", percent);
    else
        snprintf(out, 32, "%.0f to %.0f", least, most < 100 ? most : 100);
    return out;
}

/* Returns the hottest row that is code or a class: a row that stands for threads of the VM is
 * neither. NULL: none. */
static const struct snapshot_method *hottest_of(const struct findings_of *of,
                                                const struct snapshot *s) {
    for (uint32_t i = 0; i < s->method_count; i++)
        if (kind_of(of, s->methods[i].method) != METHOD_THREAD)
            return &s->methods[i];
    return NULL;
}

static void find_code(struct list *l) {
    const struct findings_of *of = l->of;
    const struct snapshot *s = code_rows(of);
    char name[1024], range[32];
    uint64_t kernel = 0;
    uint32_t first = METHOD_NONE;
    if (!s || !s->weight || !s->method_count)
        return;
    const struct snapshot_method *hot = hottest_of(of, s);
    if (hot && percent_of(hot->self, s->weight) >= HOT_METHOD) {
        bool of_class = kind_of(of, hot->method) == METHOD_CLASS;
        struct finding *f =
            add(l, HOTTEST, false, "%s %% %s %s %.*s%s",
                range_of(hot->self_samples, s->samples, percent_of(hot->self, s->weight), range),
                code_whole(of),
                !of_class                ? "is in"
                : is_of_locks(of->event) ? "are for"
                                         : "is",
                NAME_BYTES - 1, of->name(of->arg, hot->method, name, sizeof name),
                of_class ? "" : " itself");
        f->method = hot->method;
        f->event = code_event(of);
    }
    for (uint32_t i = 0; i < s->method_count && s->methods[i].self; i++) {
        if (kind_of(of, s->methods[i].method) != METHOD_KERNEL)
            continue;
        kernel += s->methods[i].self;
        first = first == METHOD_NONE ? s->methods[i].method : first;
    }
    if (!s->folds_natives && percent_of(kernel, s->weight) >= MUCH_KERNEL) {
        struct finding *f = add(l, KERNEL, false, "%.0f %% %s is in the kernel",
                                percent_of(kernel, s->weight), code_whole(of));
        f->method = first;
        f->event = code_event(of);
    }
}

static void find_vm_threads(struct list *l) {
    const struct findings_of *of = l->of;
    uint64_t sum[THREAD_KINDS] = {0};
    for (uint32_t i = 0; i < of->threads.count; i++) {
        const struct findings_thread t = thread_at(&of->threads, i);
        if (!t.weight)
            break;
        sum[works_for(&t)] += t.weight;
    }
    double part = percent_of(sum[THREAD_GC], of->answer->weight);
    if (part >= MUCH_COLLECTING)
        add(l, COLLECTORS, false, "the collector's threads take %.0f %% %s", part,
            whole_of(of, of->event));
    part = percent_of(sum[THREAD_JIT], of->answer->weight);
    if (part >= MUCH_COMPILING)
        add(l, COMPILERS, false, "the compilers take %.0f %% %s: the JVM is warming up", part,
            whole_of(of, of->event));
}

/* Writes the name of a class as a type, without the mark of its kind. */
static void class_name(const struct findings_of *of, uint32_t id, char *out, size_t size) {
    frame_name(of->method(of->arg, id), of->style & ~(unsigned)NAME_MARKS, out, size);
}

static void find_locks(struct list *l) {
    const struct snapshot *s = l->of->answer;
    const struct snapshot_lock *first = s->lock_count ? &s->locks[0] : NULL;
    struct format waited = {""}, time = {""};
    char name[1024] = "", owner[128] = "";
    uint64_t all = 0;
    for (uint32_t i = 0; i < s->lock_count; i++)
        all += s->locks[i].is_class ? s->locks[i].waited_ns : 0;
    double part = percent_of(all, s->locks_sampled_ns);
    if (!first || part < MUCH_WAITED)
        return;
    if (s->lock_count > 1 && !s->locks[1].is_class && s->locks[1].owner && s->locks[1].owner[0])
        snprintf(owner, sizeof owner, ", held most by %.60s", s->locks[1].owner);
    class_name(l->of, first->class_id, name, sizeof name);
    add(l, LOCKS, false,
        "in %s, threads%s waited %s for locks (as much as %.0f %% of the time of one thread): %.0f "
        "%% for %.80s%s",
        format_duration(&time, s->locks_sampled_ns), here(l->of), format_duration(&waited, all),
        part, percent_of(first->waited_ns, all), name, owner)
        ->more = FINDING_MORE_LOCKS;
}

static void find_allocation(struct list *l) {
    const struct findings_of *of = l->of;
    const struct snapshot *s = of->alloc;
    struct format f = {""};
    char name[1024] = "";
    for (uint32_t i = 0; s && i < s->method_count; i++) {
        if (kind_of(of, s->methods[i].method) != METHOD_CLASS)
            continue;
        double part = percent_of(s->methods[i].self, s->weight);
        if (part < MUCH_OF_A_CLASS)
            return;
        class_name(of, s->methods[i].method, name, sizeof name);
        add(l, ALLOCATION, false, "%s are allocated per second%s, %.0f %% of it %.120s",
            format_bytes(&f, snapshot_per_second(s, s->weight)), here(of), part, name)
            ->more = FINDING_MORE_ALLOC;
        return;
    }
}

static void find_faults(struct list *l) {
    const struct session_status *s = l->of->status;
    struct format f = {""};
    char text[200];
    if (event_trouble_find(s, l->of->event, text, sizeof text))
        add(l, TROUBLE, true, "%s", text)->more = FINDING_MORE_STATUS;
    if (s->dropped)
        add(l, DROPS, true, "%s samples were dropped: the sample buffer (-b) was full",
            format_count(&f, s->dropped))
            ->more = FINDING_MORE_STATUS;
    double part = percent_of(quality_failed(s), s->samples);
    if (part >= MANY_FAILED)
        add(l, FAILURES, true, "%.0f %% of the stacks are not complete", part)->more =
            FINDING_MORE_STATUS;
}

int findings_list(const struct findings_of *of, struct finding out[FINDINGS_MAX]) {
    struct list l = {.of = of, .out = out};
    find_idle(&l);
    find_pauses(&l);
    find_heap(&l);
    find_blocked(&l);
    bool of_wall = of->event == WIRE_EVENT_WALL || !of->answer->weight;
    if (!of_wall)
        find_busy_threads(&l);
    find_code(&l);
    if (!of_wall)
        find_vm_threads(&l);
    find_locks(&l);
    find_allocation(&l);
    find_faults(&l);
    if (!l.count)
        add(&l, NOTHING, false,
            of->answer->samples ? "nothing stands out: many methods, many threads, few pauses"
                                : "no samples in this selection");
    return l.count;
}
