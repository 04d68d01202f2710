/*
 * How long the exports of a large profile take: 100,000 distinct stacks of 60 frames.
 *
 *   export_bench               prints time and size in every format, how that compares with sorting
 *                              the lines of the collapsed one (`sort`), and the time and memory
 *                              that a file of it takes besides the profile
 *   export_bench --dump [NAME] what a dump of a larger profile takes, the answer to its question
 *                              included: 120,000 distinct stacks of 60 to 100 frames, two threads
 *   export_bench --large FILE  writes that profile as the file's name says
 *   export_bench --sample DIR  writes flame graphs for svg_chromium.py, html_chromium.py and
 *                              tree_chromium.py in test/e2e/formats, and for looking at
 */
#include "core/report/report_format.h"
#include "test/unit/export/export_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACKS 100000u
#define DEPTH 60u
#define METHODS 5000u
#define RUNS 5

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static double now_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint32_t intern_method(struct profile *p, uint32_t i) {
    char class_name[96], name[48];
    snprintf(class_name, sizeof(class_name), "com/example/shop%u/service/Handler%u", i % 37, i / 9);
    snprintf(name, sizeof(name), "handleRequest%u", i % 9);
    return method_table_intern(profile_methods(p), METHOD_JAVA, class_name, name, "(I)V", "");
}

/* Every stack leaves the one before at a random depth, under a name its siblings do not have. */
static struct snapshot *large_snapshot(struct profile *p) {
    struct snapshot *s = calloc(1, sizeof(*s));
    uint32_t seed = 1, open[DEPTH];
    s->nodes = calloc((size_t)STACKS * DEPTH, sizeof(*s->nodes));
    for (uint32_t i = 0; i < METHODS; i++)
        intern_method(p, i);
    for (uint32_t i = 0; i < STACKS; i++) {
        uint32_t from = i ? 1 + next_random(&seed) % (DEPTH - 1) : 0;
        for (uint32_t d = from; d < DEPTH; d++) {
            struct snapshot_node *n = &s->nodes[s->node_count];
            n->method = d == from ? (i * 31u + d) % METHODS : next_random(&seed) % METHODS;
            n->depth = (uint16_t)d;
            n->parent = d ? open[d - 1] : SNAPSHOT_ROOT;
            open[d] = s->node_count++;
        }
        uint32_t samples = 1 + (next_random(&seed) % 100 == 0) * 50;
        s->nodes[open[DEPTH - 1]].self_samples = samples;
        for (uint32_t d = 0; d < DEPTH; d++) {
            struct snapshot_node *n = &s->nodes[open[d]];
            n->total_samples += samples;
            n->total += samples * 10000000ull;
            n->tier[TIER_C2] += samples;
            n->next = s->node_count;
        }
        s->samples += samples;
        s->weight += samples * 10000000ull;
    }
    return s;
}

/* The same stacks as samples: formats that list those do not go by the snapshot. */
static void add_samples(struct profile *p, const struct snapshot *s) {
    static struct profile_frame frame[DEPTH];
    uint32_t open[DEPTH] = {0};
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        open[n->depth] = n->method;
        if (!n->self_samples)
            continue;
        for (uint32_t d = 0; d <= n->depth; d++)
            frame[n->depth - d] = (struct profile_frame){
                .method = open[d], .line = (uint16_t)(10 + open[d] % 90), .tier = TIER_C2};
        struct profile_sample sample = {.time_ns = (1000 + i / 8192 % 300) * 1000000000ull,
                                        .weight = n->self_samples * 10000000ull,
                                        .count = (uint32_t)n->self_samples,
                                        .tid = 100 + i % 16,
                                        .frames = (uint16_t)(n->depth + 1),
                                        .frame = frame};
        if (profile_add(p, &sample) != 0)
            exit(1);
    }
}

/* Milliseconds that `sort` takes for the lines of `t`; 0: it could not be run. */
static double sort_ms(const struct text *t) {
    char path[] = "/tmp/jtop-prof-sort-XXXXXX", command[96];
    int fd = mkstemp(path);
    if (fd < 0)
        return 0;
    FILE *f = fdopen(fd, "w");
    bool written = f && fwrite(t->data, 1, t->len, f) == t->len;
    written = f && fclose(f) == 0 && written;
    snprintf(command, sizeof command, "LC_ALL=C sort -o /dev/null %s", path);
    double start = now_ms(CLOCK_MONOTONIC);
    bool sorted = written && system(command) == 0; /* NOLINT(cert-env33-c): a fixed command */
    double ms = now_ms(CLOCK_MONOTONIC) - start;
    unlink(path);
    return sorted ? ms : 0;
}

static long peak_mb(void) {
    struct rusage u = {0};
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static const struct export_quality quality = {.event = "cpu", .unit = "ns", .interval = 10000000};

/* A file, by a process that has nothing but the profile yet. */
static void measure_file(const struct exporter *x, const struct profile *p,
                         const struct snapshot *s) {
    const struct export_options o = {0};
    char dir[] = "/tmp/jtop-prof-export-XXXXXX", path[64];
    if (!mkdtemp(dir))
        exit(1);
    snprintf(path, sizeof path, "%s/file", dir);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct err e = {0};
        long before = peak_mb();
        double start = now_ms(CLOCK_MONOTONIC);
        int err = export_file(path, x, p, s, &quality, &o, &e);
        double ms = now_ms(CLOCK_MONOTONIC) - start;
        double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        printf("export %-10s %7.1f ms, %7.1f ms of CPU, to a file, %ld MB of memory besides\n",
               x->name, ms, cpu, peak_mb() - before);
        fputs(e.message, stderr);
        fflush(NULL);
        _exit(err != 0);
    }
    int status = 1;
    bool done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    unlink(path);
    rmdir(dir);
    if (!done)
        exit(1);
}

static void measure(const struct exporter *x, const struct profile *p, const struct snapshot *s,
                    double *sorted) {
    const struct export_options o = {0};
    double best = 1e9, best_cpu = 1e9;
    struct text t = {0};
    for (int i = 0; i < RUNS; i++) {
        text_free(&t);
        double start = now_ms(CLOCK_MONOTONIC), start_cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        int err = x->write(&t, p, s, &quality, &o);
        double ms = now_ms(CLOCK_MONOTONIC) - start;
        double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
        best = ms < best ? ms : best;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
        if (err)
            exit(1);
    }
    if (!strcmp(x->name, "collapsed"))
        *sorted = sort_ms(&t);
    printf("export %-10s %7.1f ms, %7.1f ms of CPU, best of %d, %7.2f MB, %5.2f of sort\n", x->name,
           best, best_cpu, RUNS, (double)t.len / 1e6, *sorted > 0 ? best / *sorted : 0);
    text_free(&t);
}

#define DUMP_STACKS 120000u
#define DUMP_DEEPEST 100u
#define DUMP_PARTS 32u /* most of the frames that a stack does not share with the one before */

/* Every stack leaves the one before a few frames above its leaf: what is near the root is shared. */
static void add_deep_stacks(struct profile *p) {
    static struct profile_frame open[DUMP_DEEPEST], frame[DUMP_DEEPEST];
    uint32_t seed = 1, depth = 0;
    for (uint32_t i = 0; i < METHODS; i++)
        intern_method(p, i);
    for (uint32_t i = 0; i < DUMP_STACKS; i++) {
        uint32_t frames = 60 + next_random(&seed) % (DUMP_DEEPEST - 59);
        uint32_t from = frames - 1 - next_random(&seed) % DUMP_PARTS;
        for (uint32_t d = from < depth ? from : depth; d < frames; d++)
            open[d] = (struct profile_frame){.method = next_random(&seed) % METHODS,
                                             .line = (uint16_t)(1 + next_random(&seed) % 9),
                                             .tier = TIER_C2};
        depth = frames;
        for (uint32_t d = 0; d < frames; d++)
            frame[frames - 1 - d] = open[d];
        struct profile_sample s = {.time_ns = (1000 + i / 1000) * 1000000000ull,
                                   .weight = 10000000,
                                   .count = 1,
                                   .tid = 100 + i % 2,
                                   .frames = (uint16_t)frames,
                                   .frame = frame};
        if (profile_add(p, &s) != 0)
            exit(1);
    }
}

static int dump_one(const struct exporter *x, struct profile *p, const char *path) {
    struct export_options o = {0};
    struct query q = {0};
    struct err e = {0};
    long before = peak_mb();
    double start = now_ms(CLOCK_MONOTONIC);
    report_query(&q, x, &o);
    struct snapshot *s = snapshot_take(p, &q);
    double answer = now_ms(CLOCK_MONOTONIC) - start;
    o.question = &q;
    int err = s ? export_file(path, x, p, s, &quality, &o, &e) : -1;
    double ms = now_ms(CLOCK_MONOTONIC) - start, cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    printf("dump %-10s %7.1f ms, %7.1f ms of CPU, %7.1f ms for the answer, %ld MB of memory "
           "besides\n",
           x->name, ms, cpu, answer, peak_mb() - before);
    fputs(e.message, stderr);
    fflush(NULL);
    snapshot_free(s);
    return err != 0;
}

/* Each by a process that has nothing but the profile yet. */
static int dump(const char *format) {
    char dir[] = "/tmp/jtop-prof-export-XXXXXX", path[64];
    struct export_options unused = {0};
    struct profile *p = profile_new(0);
    int failed = !mkdtemp(dir);
    add_deep_stacks(p);
    snprintf(path, sizeof path, "%s/file", dir);
    printf("dump: %u stacks, %u call paths, %ld MB before\n", DUMP_STACKS, profile_node_count(p),
           peak_mb());
    for (const struct exporter *x = exporters; x->name && !failed; x++) {
        int status = 1;
        if (format && strcmp(format, x->name) != 0)
            continue;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(dump_one(exporter_by_format(x->name, &unused), p, path));
        failed = child < 0 || waitpid(child, &status, 0) != child || status != 0;
        unlink(path);
    }
    rmdir(dir);
    profile_free(p);
    return failed;
}

/* The call tree has no extension of its own: here it is ".tree". */
static const struct exporter *exporter_of(const char *path) {
    struct export_options unused = {0};
    size_t len = strlen(path);
    bool tree = len > 5 && !strcmp(path + len - 5, ".tree");
    return tree ? exporter_by_format("tree", &unused) : exporter_by_path(path);
}

static int large(const char *path) {
    static const char *const order[] = {"collapsed", "svg",      "text",  "html",
                                        "tree",      "jfr",      "pprof", "speedscope",
                                        "json",      "markdown", "otlp"};
    struct profile *p = profile_new(0);
    struct snapshot *s = large_snapshot(p);
    struct export_options o = {0};
    struct err e = {0};
    double sorted = 0;
    add_samples(p, s);
    if (path) {
        export_file(path, exporter_of(path), p, s, &quality, &o, &e);
        fputs(e.message, stderr);
    } else {
        printf("export: %u stacks x %u frames, %u nodes, %ld MB before\n", STACKS, DEPTH,
               s->node_count, peak_mb());
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
            measure_file(exporter_by_format(order[i], &o), p, s);
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
            measure(exporter_by_format(order[i], &o), p, s, &sorted);
        printf("export: sort takes %.1f ms\n", sorted);
    }
    free(s->nodes);
    free(s);
    profile_free(p);
    return e.code != 0;
}

/* A web shop as it might be, and a few names nobody should trust. */
static void fill_sample(struct profile *p) {
    static const char top[] = "j:java/lang/Thread.run()V\t"
                              "j:java/util/concurrent/ThreadPoolExecutor$Worker.run()V\t"
                              "j:java/util/concurrent/ThreadPoolExecutor.runWorker(L;)V\t"
                              "i:com/example/shop/Main.lambda$accept$0(I)V";
    static const struct {
        const char *below;
        uint32_t samples;
    } part[] = {
        {"j:com/example/shop/OrderService.place(I)V\tl:java/util/HashMap.get(I)L;", 1200},
        {"j:com/example/shop/OrderService.place(I)V\tl:java/util/HashMap.get(I)L;\tl:java/lang/"
         "String.hashCode()I",
         700},
        {"j:com/example/shop/OrderService.place(I)V\tc:com/example/shop/Price.round(D)D", 400},
        {"j:com/example/shop/OrderService.place(I)V\ti:com/example/shop/Price.tax(D)D", 150},
        {"j:com/example/shop/Search.find(I)V\tj:java/util/regex/Pattern.matcher(L;)L;\tl:java/util/"
         "regex/Matcher.<init>(L;)V",
         900},
        {"j:com/example/shop/Search.find(I)V\tj:java/util/regex/Matcher.find()Z\tj:java/util/regex/"
         "Pattern$GroupCurly.match(I)Z\tj:java/util/regex/Pattern$CharProperty.match(I)Z",
         2100},
        {"j:sun/nio/ch/SocketChannelImpl.write(I)I\tn:Java_sun_nio_ch_SocketDispatcher_write0\t"
         "n:write\tk:entry_SYSCALL_64_after_hwframe\tk:do_syscall_64\tk:sock_write_iter\t"
         "k:tcp_sendmsg",
         800},
        {"j:com/example/shop/Kr\xc3\xa4mer.\xe8\xa8\x88\xe7\xae\x97(I)V\ts:call_stub", 120},
        {"e:[unknown_Java]", 90},
    };
    static const char *const other[] = {
        "n:start_thread\tp:Thread::call_run\tp:CompileBroker::compiler_thread_loop\tp:C2Compiler::"
        "compile_method\tp:Compile::Optimize\tp:PhaseIdealLoop::build_and_optimize",
        "n:start_thread\tp:Thread::call_run\tp:G1YoungGCEvacuateFailureTask::work<G1CollectedHeap&>"
        "(bool, char const*)",
        "n:</text><script>document.title='owned'</script>\tn:\"><img src=x onerror=\"document."
        "title='owned'\">\tn:]]></script><script>document.title='owned'</script>\tn:&lt;b&gt; & "
        "\xff\xfe\x01 (9 samples, 1.00%, 2 s)",
    };
    char stack[1024];
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        snprintf(stack, sizeof(stack), "%s\t%s", top, part[i].below);
        fixture_add(p, 21, stack, part[i].samples, part[i].samples * 10000000ull);
        fixture_add(p, 22, stack, part[i].samples / 3, part[i].samples / 3 * 10000000ull);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        fixture_add(p, 23, other[i], 300, 3000000000);
    profile_thread_name(p, 21, 1, "http-exec-1");
    profile_thread_name(p, 22, 2, "http-exec-2 <admin> & co");
    profile_thread_name(p, 23, 3, "C2 CompilerThread0");
    uint32_t seed = 7;
    for (int i = 0; i < 150; i++) {
        size_t len = (size_t)snprintf(stack, sizeof(stack), "%s", top);
        for (uint32_t d = 0; d < 3 + next_random(&seed) % 9; d++)
            len += (size_t)snprintf(
                stack + len, sizeof(stack) - len, "\t%c:com/example/shop/Task%u.step%u(I)V",
                "jjjlci"[next_random(&seed) % 6], next_random(&seed) % 3, next_random(&seed) % 3);
        fixture_add(p, 21, stack, 1 + next_random(&seed) % 9, 40000000);
    }
}

static int sample(const char *dir) {
    static const struct {
        const char *file;
        bool by_thread, inverted;
        struct export_options o;
    } what[] = {
        {"fluid.svg", false, false, {0}},
        {"threads.svg", true, false, {.threads = true, .signatures = true, .height = 20}},
        {"fixed.svg", false, false, {.width = 1000, .inverted = true, .total = true}},
        {"reverse.svg", false, true, {.inverted = true, .reverse = true}},
        {"fluid.html", false, false, {0}},
        {"threads.html", true, false, {.threads = true, .signatures = true}},
        {"weights.html", false, false, {.inverted = true, .total = true}},
        {"reverse.html", false, true, {.inverted = true, .reverse = true}},
        {"fluid.tree", false, false, {0}},
        {"threads.tree", true, false, {.threads = true, .signatures = true}},
        {"weights.tree", false, false, {.total = true}},
        {"reverse.tree", false, true, {.reverse = true}},
        {"page.txt", false, false, {0}},
        {"page.collapsed", false, false, {0}},
    };
    const struct export_quality q = {.event = "cpu",
                                     .unit = "ns",
                                     .interval = 10000000,
                                     .elapsed_ns = 30400000000,
                                     .dropped = 3,
                                     .jvm = "com.example.shop.Main (pid 4711)",
                                     .failed = {{"unknown_Java", 120}},
                                     .failed_count = 1};
    struct profile *p = profile_new(0);
    int failed = 0;
    fill_sample(p);
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
        char path[4096];
        struct err e = {0};
        struct snapshot *s = fixture_snapshot(p, what[i].by_thread, what[i].inverted);
        snprintf(path, sizeof(path), "%s/%s", dir, what[i].file);
        if (export_file(path, exporter_of(path), p, s, &q, &what[i].o, &e)) {
            fprintf(stderr, "%s\n", e.message);
            failed = 1;
        }
        snapshot_free(s);
    }
    profile_free(p);
    return failed;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--sample"))
        return sample(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--large") && exporter_of(argv[2]))
        return large(argv[2]);
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "--dump"))
        return dump(argv[2]);
    if (argc == 1)
        return large(NULL) || dump(NULL);
    fprintf(stderr, "usage: export_bench [--dump [NAME] | --large FILE | --sample DIR]\n");
    return 1;
}
