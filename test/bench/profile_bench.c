/*
 * What the model costs: samples in, snapshots out, memory.
 *
 * First the screen's budget, in a profile as large as it names: 100,000 distinct stacks of about 60
 * frames, 1,000 threads, 10 minutes of history at 1,000 samples a second, of two events. A second
 * of samples comes between one refresh and the next. Then an hour of it;
 * then what costs more than a refresh may; then virtual threads, 10,000 that stay and ones that
 * come and go.
 *
 * Usage: profile_bench [seed [bars]]
 */
#include "core/profile/profile_state.h"
#include "core/profile/snapshot/snapshot.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    STACKS = 100000,
    THREADS = 1000,
    METHODS = 20000,
    DEPTH = 60,
    ROUNDS = 10, /* samples per stack, each in the thread it likes or in a few others */
};

struct stack {
    uint32_t frames, thread;
    struct profile_frame frame[DEPTH + 4];
};

static uint64_t random_state = 1;

static uint32_t roll(uint32_t sides) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % sides);
}

/* CPU seconds of this process: the same on a busy machine. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the process has now, and not what it once had. */
static double rss_mb(void) {
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static long rss_kb(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void name_methods(struct profile *p) {
    for (uint32_t i = 0; i < METHODS; i++) {
        char class_name[64], name[32];
        snprintf(class_name, sizeof class_name, "com/example/p%u/Class%u", i % 97, i / 10);
        snprintf(name, sizeof name, "method%u", i);
        method_table_intern(profile_methods(p), i % 5 ? METHOD_JAVA : METHOD_NATIVE, class_name,
                            name, "()V", "");
    }
}

/* Each stack leaves an earlier one somewhere in its lower half, mostly near its leaf. */
static void make_stacks(struct stack *s, uint32_t unshared) {
    for (uint32_t i = 0; i < STACKS; i++) {
        s[i].frames = DEPTH - 4 + roll(8);
        s[i].thread = roll(THREADS);
        uint32_t own = 1 + roll(roll(4) ? unshared : DEPTH / 2);
        const struct stack *from = i ? &s[roll(i)] : NULL;
        for (uint32_t j = 0; j < s[i].frames; j++) {
            uint32_t from_root = s[i].frames - 1 - j;
            bool share = from && from_root < s[i].frames - own && from_root < from->frames;
            s[i].frame[j] =
                share ? from->frame[from->frames - 1 - from_root]
                      : (struct profile_frame){.method = roll(METHODS),
                                               .line = (uint16_t)j,
                                               .tier = (uint8_t)(roll(8) ? TIER_C2 : TIER_C1)};
        }
    }
}

static double add_all(struct profile *p, struct stack *s, uint32_t rounds, uint64_t *ns) {
    double start = now();
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < STACKS; i++) {
            uint32_t x = r ? roll(STACKS) : i;
            s[x].frame[0].line = (uint16_t)(100 + roll(6)); /* the leaf is elsewhere every time */
            struct profile_sample sample = {.time_ns = *ns,
                                            .weight = 10000000,
                                            .count = 1,
                                            .tid = 1 + (s[x].thread + roll(3)) % THREADS,
                                            .frames = (uint16_t)s[x].frames,
                                            .frame = s[x].frame};
            *ns += 100000;
            if (profile_add(p, &sample) != 0)
                abort();
        }
    }
    return (double)rounds * STACKS / (now() - start);
}

/* What one thread after another is still doing, as the wall clock engine tells of threads that have
 * not moved; and objects that are allocated, and die some time later. */
static void add_again(struct profile *p, struct stack *s, uint64_t *ns) {
    enum { PLACES = 20000, REPEATS = 1000000 };
    struct profile_place *at = calloc(PLACES, sizeof *at);
    for (uint32_t i = 0; i < PLACES; i++) {
        struct profile_sample sample = {.time_ns = *ns,
                                        .weight = 10000000,
                                        .count = 1,
                                        .tid = 1 + i % THREADS,
                                        .event = 1,
                                        .state = 4,
                                        .frames = (uint16_t)s[i].frames,
                                        .frame = s[i].frame};
        if (profile_add_at(p, &sample, &at[i]) != 0)
            abort();
    }
    double start = now();
    for (uint32_t i = 0; i < REPEATS; i++, *ns += 20000)
        if (profile_repeat(p, &at[roll(PLACES)], *ns, 1000, 1, 4) != 0)
            abort();
    printf("  repeats       %9.0f samples/s\n", REPEATS / (now() - start));
    start = now();
    for (uint32_t i = 0; i < PLACES; i++)
        profile_retract(p, &at[i], 10000000, 1);
    printf("  taken back    %9.0f samples/s\n", PLACES / (now() - start));
    free(at);
}

static void ask(struct profile *p, const char *what, const struct query *q) {
    double best = 1e9, sum = 0;
    struct snapshot *s = NULL;
    for (int i = 0; i < 7; i++) {
        snapshot_free(s);
        double start = now();
        s = snapshot_take(p, q);
        double took = now() - start;
        best = took < best ? took : best;
        sum += i ? took : 0;
    }
    printf("  %-34s %7.2f ms best %7.2f ms mean  %5u methods %4u threads %7u nodes\n", what,
           best * 1e3, sum / 6 * 1e3, s->method_count, s->thread_count, s->node_count);
    snapshot_free(s);
}

static void run(uint32_t unshared) {
    struct stack *s = malloc(STACKS * sizeof *s);
    struct profile *p = profile_new(0);
    uint64_t ns = UINT64_C(1000000000000);
    long before;
    name_methods(p);
    make_stacks(s, unshared);
    for (uint32_t t = 1; t <= THREADS; t++)
        profile_thread_name(p, t, t, "http-nio-8080-exec");
    printf("%u stacks of %u frames, %u threads, up to %u frames of their own\n", STACKS, DEPTH,
           THREADS, unshared);
    before = rss_kb();
    printf("  new stacks    %9.0f samples/s\n", add_all(p, s, 1, &ns));
    printf("  known stacks  %9.0f samples/s\n", add_all(p, s, ROUNDS, &ns));
    printf("  %u paths, %u nodes, %u pairs, history %zu KiB, peak RSS +%ld KiB\n",
           profile_node_count(p), p->tree.nodes, p->by_pair.count, p->history.bytes >> 10,
           rss_kb() - before);
    uint64_t last = ns / 1000000000 - 1;
    add_again(p, s, &(uint64_t){ns});
    ask(p, "rows, everything", &(struct query){0});
    ask(p, "rows + tree, everything", &(struct query){.tree = true});
    ask(p, "rows + tree, everything, pruned", &(struct query){.tree = true, .prune_ppm = 100});
    ask(p, "rows + tree, last 10 s",
        &(struct query){.tree = true, .from_second = last - 9, .to_second = last});
    ask(p, "rows + tree, last second",
        &(struct query){.tree = true, .from_second = last, .to_second = last});
    ask(p, "rows + tree, one thread", &(struct query){.tree = true, .tid = 17});
    ask(p, "rows + tree, filter", &(struct query){.tree = true, .filter = "class77"});
    ask(p, "rows + lines of a method", &(struct query){.lines = true, .lines_of = 77});
    ask(p, "rows + tree by tier", &(struct query){.tree = true, .tiers = true});
    ask(p, "rows + tree by thread", &(struct query){.tree = true, .by_thread = true});
    ask(p, "rows + tree by thread, pruned",
        &(struct query){.tree = true, .by_thread = true, .prune_ppm = 100});
    ask(p, "rows + inverted tree", &(struct query){.tree = true, .inverted = true});
    ask(p, "rows + inverted tree, pruned",
        &(struct query){.tree = true, .inverted = true, .prune_ppm = 100});
    printf("  peak RSS with snapshots +%ld KiB\n", rss_kb() - before);
    profile_free(p);
    free(s);
}

/* A short stack of one virtual thread; every task has one of a few ways to run. */
static void add_virtual(struct profile *p, const struct stack *s, uint64_t id, uint64_t *ns) {
    uint32_t x = roll(200);
    struct profile_sample sample = {.time_ns = *ns,
                                    .weight = 10000000,
                                    .count = 1,
                                    .tid = 1 + roll(8),
                                    .virtual_id = id,
                                    .frames = (uint16_t)s[x].frames,
                                    .frame = s[x].frame};
    *ns += 100000;
    if (profile_add(p, &sample) != 0)
        abort();
}

/* `living`: ids are of so many threads; 0: each thread is sampled once, after its name came. */
static void run_virtual(const char *what, uint32_t living) {
    enum { SAMPLES = 1000000 };
    struct stack *s = malloc(STACKS * sizeof *s);
    struct profile *p = profile_new(0);
    uint64_t ns = UINT64_C(1000000000000);
    char name[32];
    long before = rss_kb();
    name_methods(p);
    make_stacks(s, 4);
    double start = now();
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint64_t id = 1 + (living ? roll(living) : i);
        if (!living || i < living) {
            snprintf(name, sizeof name, "task-%u", i);
            profile_virtual_name(p, living ? i + 1 : id, name);
        }
        add_virtual(p, s, id, &ns);
    }
    printf("virtual threads, %s: %.0f samples/s, %u threads, %u pairs, peak RSS +%ld KiB\n", what,
           SAMPLES / (now() - start), profile_thread_count(p), p->by_pair.count, rss_kb() - before);
    uint64_t last = ns / 1000000000 - 1;
    ask(p, "rows, everything", &(struct query){0});
    ask(p, "rows by carrier, everything", &(struct query){.carriers = true});
    ask(p, "rows, last 10 s", &(struct query){.from_second = last - 9, .to_second = last});
    ask(p, "rows by carrier, last 10 s",
        &(struct query){.carriers = true, .from_second = last - 9, .to_second = last});
    ask(p, "rows + tree, one virtual thread", &(struct query){.tree = true, .virtual_id = 17});
    ask(p, "rows + tree by thread, pruned",
        &(struct query){.tree = true, .by_thread = true, .prune_ppm = 100});
    profile_free(p);
    free(s);
}

enum { PER_SECOND = 1000, HISTORY = 600, BAR_MS = 12, REFRESHES = 9 };

/* A second of both events; every tenth sample is of the second one. */
static void add_second(struct profile *p, struct stack *s, uint32_t stacks, uint64_t second) {
    for (uint32_t i = 0; i < PER_SECOND; i++) {
        static uint32_t turn;
        uint32_t x = turn < stacks ? turn++ : roll(stacks);
        struct profile_sample sample = {.time_ns = second * 1000000000 + i * 1000000,
                                        .weight = 1000000,
                                        .count = 1,
                                        .tid = 1 + (s[x].thread + roll(3)) % THREADS,
                                        .event = i % 10 == 9,
                                        .frames = (uint16_t)s[x].frames,
                                        .frame = s[x].frame};
        if (profile_add(p, &sample) != 0)
            abort();
    }
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* `seconds`: the window's length, 0 for everything. The answers live as long as a model's do: the
 * old one until there is a new one. */
static void refresh(struct profile *p, struct stack *s, uint64_t *second, const char *what,
                    struct query q, uint32_t seconds, bool both_events) {
    double took[REFRESHES], first = 0;
    struct snapshot *shown = NULL, *other = NULL;
    for (int i = 0; i <= REFRESHES; i++) {
        add_second(p, s, STACKS, (*second)++);
        q.from_second = seconds ? *second - seconds : 0;
        double start = now();
        struct snapshot *next = snapshot_take(p, &q), *rows = NULL;
        if (both_events)
            rows = snapshot_take(p, &(struct query){.event = 1, .from_second = q.from_second});
        double t = (now() - start) * 1e3;
        snapshot_free(shown);
        snapshot_free(other);
        shown = next;
        other = rows;
        if (i == 0)
            first = t;
        else
            took[i - 1] = t;
    }
    qsort(took, REFRESHES, sizeof *took, by_time);
    printf("  %-44s %6.2f ms, at most %6.2f, the first %6.2f  %s %5u methods %7u nodes\n", what,
           took[REFRESHES / 2], took[REFRESHES - 1], first,
           took[REFRESHES / 2] <= BAR_MS ? "ok  " : "OVER", shown->method_count, shown->node_count);
    snapshot_free(shown);
    snapshot_free(other);
}

static void run_bars(void) {
    enum { PPM = 100 };
    struct stack *s = malloc(STACKS * sizeof *s);
    memset(s, 0, STACKS * sizeof *s);
    make_stacks(s, 4);
    double before = rss_mb();
    struct profile *p = profile_new(HISTORY);
    uint64_t second = 1000;
    name_methods(p);
    for (uint32_t t = 1; t <= THREADS; t++)
        profile_thread_name(p, t, t, "http-nio-8080-exec");
    for (uint32_t i = 0; i < HISTORY; i++)
        add_second(p, s, STACKS, second++);
    printf("the screen's budget: %u stacks, %u paths, %u nodes, %u pairs, %u threads, %u seconds\n",
           STACKS, profile_node_count(p), p->tree.nodes, p->by_pair.count, THREADS, HISTORY);
    double filled = rss_mb() - before;
    struct query tree = {.tree = true, .prune_ppm = PPM}, q = {0};
    refresh(p, s, &second, "methods, threads", q, 0, false);
    refresh(p, s, &second, "tree, flame graph", tree, 0, false);
    q = tree;
    q.inverted = true;
    refresh(p, s, &second, "inverted tree", q, 0, false);
    refresh(p, s, &second, "methods, threads of two events", (struct query){0}, 0, true);
    q = (struct query){.filter = "class77|method1.*9$"};
    refresh(p, s, &second, "filter, methods", q, 0, false);
    q.filter = "!class7.\\.";
    refresh(p, s, &second, "filter without, methods", q, 0, false);
    q = tree;
    q.filter = "class77|method1.*9$";
    refresh(p, s, &second, "filter, tree", q, 0, false);
    refresh(p, s, &second, "60 s, methods", (struct query){0}, 60, false);
    refresh(p, s, &second, "60 s, tree", tree, 60, false);
    refresh(p, s, &second, "10 min, methods", (struct query){0}, 600, false);
    refresh(p, s, &second, "10 min, tree", tree, 600, false);
    q = (struct query){.spark_cells = 12, .spark_seconds = 5};
    refresh(p, s, &second, "methods with 12 sparks of 5 s", q, 0, false);
    refresh(p, s, &second, "60 s, methods with sparks of two events", q, 60, true);
    q = tree;
    q.tid = 17;
    refresh(p, s, &second, "one thread, tree", q, 0, false);
    q = (struct query){.tree = true, .prune_ppm = PPM, .with_method = true, .from_method = true};
    q.method = s[0].frame[s[0].frames - 1].method;
    refresh(p, s, &second, "from a method, tree", q, 0, false);
    q.inverted = true;
    refresh(p, s, &second, "from a method, inverted tree", q, 0, false);
    /* the two questions of the detail pane, of a method at the root and of one at a leaf */
    q.prune_ppm = 1000;
    q.inverted = false;
    q.lines = true;
    q.spark_cells = 12;
    q.spark_seconds = 5;
    for (int i = 0; i < 2; i++) {
        q.method = q.lines_of = s[0].frame[i ? 0 : s[0].frames - 1].method;
        refresh(p, s, &second, i ? "60 s, detail of a leaf" : "60 s, detail of a root", q, 60,
                false);
    }
    q = (struct query){.lines = true, .lines_of = 77};
    refresh(p, s, &second, "lines of a method", q, 0, false);
    q = tree;
    q.by_thread = true;
    refresh(p, s, &second, "tree by thread", q, 0, false);
    q = tree;
    q.fold_natives = true;
    refresh(p, s, &second, "native folded, tree", q, 0, false);
    refresh(p, s, &second, "60 s, native folded, tree", q, 60, false);
    q.tree = false;
    refresh(p, s, &second, "60 s, native folded, methods", q, 60, false);
    printf("  memory of the profile %.0f MB, with what refreshes keep %.0f MB\n", filled,
           rss_mb() - before);
    profile_free(p);
    free(s);
}

static void run_hour(void) {
    struct stack *s = calloc(STACKS, sizeof *s);
    make_stacks(s, 4);
    double before = rss_mb();
    struct profile *p = profile_new(HISTORY);
    uint64_t second = 1000;
    name_methods(p);
    printf("an hour of 1,000 samples/s, 100,000 stacks\n");
    for (uint32_t i = 1; i <= 3600; i++) {
        add_second(p, s, STACKS, second++);
        if (i % 600 == 0) {
            struct query q = {.tree = true, .prune_ppm = 100};
            snapshot_free(snapshot_take(p, &q));
            printf("  after %4u s %6.1f MB, history %5.1f MB, %u nodes, %u pairs\n", i,
                   rss_mb() - before, (double)p->history.bytes / 1e6, p->tree.nodes,
                   p->by_pair.count);
        }
    }
    profile_free(p);
    free(s);
}

int main(int argc, char **argv) {
    if (argc > 1)
        random_state = strtoull(argv[1], NULL, 10);
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20); /* as the program does */
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
    run_bars();
    run_hour();
    if (argc > 2)
        return 0;
    run(4);
    run(16);
    run_virtual("10,000 that stay", 10000);
    run_virtual("one a sample", 0);
    return 0;
}
