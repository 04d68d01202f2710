/* pprof files read back: ours, and what Go's runtime and others write. */
#include "test/unit/import/import_fixture.h"

#include "test/unit/export/export_fixture.h"

#include <core/export/pprof/profile.pb-c.h>

#include <errno.h>
#include <zlib.h>

static const struct export_options plain;

static struct profile *mixed(void) {
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:java/lang/Thread.run()V\tj:b/B.f(Ljava/lang/String;[[I)V", 2, 200);
    fixture_add(p, 7, "i:java/lang/Thread.run()V\tj:b/B$C.f(J)V\tn:read", 3, 300);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\te:[no_caller]", 1, 50);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\tl:b/A.<init>()V\tk:do_syscall_64", 4, 1000);
    fixture_add(p, 8, "c:Main$$Lambda/0x00007f1234.run()V\tl:b/A.G()V\tl:b/A.Upper()V", 6, 66);
    fixture_add(p, 8, "j:Main.main()V\tc:c.d()V", 6, 66);
    fixture_add(p, 9, "n:start_thread\tp:Parse::Parse(JVMState*)\ts:call_stub", 9, 9);
    fixture_add(p, 1 << 21, "p:Compile::Code_Gen()", 3000000, 5);
    fixture_add_virtual(p, 9, 77, "j:java/lang/VirtualThread.run()V\tj:b/A.g()V", 5, 5);
    profile_thread_name(p, 7, 1, "main");
    profile_thread_name(p, 8, 2, "a;b|c\\d [x] tid=3");
    profile_virtual_name(p, 77, "v");
    return p;
}

static char *file_of(struct profile *p, const struct export_options *o, size_t *size) {
    struct query q = {.tree = true};
    struct snapshot *s = snapshot_take(p, &q);
    struct text t = {0};
    struct export_options mine = *o, unused = {0};
    const struct export_quality quality = {
        .event = "cpu", .unit = "ns", .interval = 10, .elapsed_ns = 3000, .jvm = "Shop (pid 7)"};
    mine.question = &q;
    assert_int_equal(exporter_by_format("pprof", &unused)->write(&t, p, s, &quality, &mine), 0);
    snapshot_free(s);
    *size = t.len;
    return t.data;
}

static void ours_comes_back(void **state) {
    (void)state;
    for (unsigned flags = 0; flags < 16; flags++) {
        struct profile *p = mixed();
        struct export_options o = {
            .threads = flags & 1, .simple = flags & 2, .annotate = flags & 4, .total = flags & 8};
        char *want = report_of(p, 0, "collapsed", &o);
        size_t size;
        char *file = file_of(p, &o, &size);
        struct imported f;
        import_bytes(&f, file, size);
        assert_true(f.known);
        assert_int_equal(f.code, 0);
        assert_string_equal(f.result.format, "pprof");
        assert_string_equal(f.result.damage, "");
        expect_report(&f, WIRE_EVENT_CPU, "collapsed", &o, want);
        assert_string_equal(f.decoder->notes.jvm_name, "Shop");
        assert_int_equal(f.decoder->notes.pid, 7);
        assert_int_equal(f.decoder->marks.sampled_ns, 3000);
        assert_int_equal(f.decoder->marks.engine[WIRE_EVENT_CPU].interval, 10);
        imported_done(&f);
        free(file);
        free(want);
        profile_free(p);
    }
}

static void what_is_before_a_cut_is_read(void **state) {
    (void)state;
    struct profile *p = mixed();
    size_t size;
    char *file = file_of(p, &plain, &size);
    struct imported f;
    uint64_t before = 0;
    for (size_t n = 1; n <= size; n += n < 40 ? 1 : 7) {
        import_bytes(&f, file, n);
        assert_true(f.code == 0 || f.code == -EINVAL);
        assert_true(n == size || f.code != 0 || f.result.damage[0]);
        assert_true(profile_samples(f.profile, 0) >= before);
        before = profile_samples(f.profile, 0);
        imported_done(&f);
    }
    free(file);
    profile_free(p);
}

/* ---- files made by hand ---- */

#define STRINGS                                                                                    \
    "", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space", "cpu",   \
        "samples", "nanoseconds", "main.work", "/src/main.go", "runtime.mallocgc",                 \
        "/go/malloc.go", "/bin/prog", "thread", "java.lang.Thread.run", "Thread.java", "delay",    \
        "microseconds", "contentions", "goroutine", "timestamp_ns", "a.b.C", "alloc-samples",      \
        "Alloc-Size", "exception", "live"
enum {
    EMPTY,
    ALLOC_OBJECTS,
    COUNT,
    ALLOC_SPACE,
    BYTES,
    INUSE_OBJECTS,
    INUSE_SPACE,
    CPU,
    SAMPLES,
    NANOSECONDS,
    WORK,
    MAIN_GO,
    MALLOCGC,
    MALLOC_GO,
    PROG,
    THREAD,
    RUN,
    THREAD_JAVA,
    DELAY,
    MICROSECONDS,
    CONTENTIONS,
    GOROUTINE,
    TIMESTAMP,
    A_B_C,
    DOTNET_SAMPLES,
    DOTNET_SIZE,
    EXCEPTION,
    LIVE,
    STRING_COUNT
};

struct made {
    Pprof__Profile profile;
    Pprof__ValueType type[8], *types[8];
    Pprof__Sample sample[4], *samples[4];
    Pprof__Label label[4], *labels[4];
    Pprof__Function function[4], *functions[4];
    Pprof__Line line[5], *lines[5];
    Pprof__Location location[4], *locations[4];
    Pprof__Mapping mapping, *mappings[1];
    char *string[STRING_COUNT];
    uint64_t stack[3];
    int64_t value[8];
};

static void add_function(struct made *m, size_t i, uint64_t id, int64_t name, int64_t file) {
    pprof__function__init(&m->function[i]);
    m->function[i].id = id;
    m->function[i].name = name;
    m->function[i].filename = file;
    m->functions[i] = &m->function[i];
}

static void add_location(struct made *m, size_t i, uint64_t id, size_t line, size_t lines) {
    pprof__location__init(&m->location[i]);
    m->location[i].id = id;
    m->location[i].mapping_id = 9;
    m->location[i].n_line = lines;
    m->location[i].line = m->lines + line;
    m->locations[i] = &m->location[i];
}

/* Go calls Java, which never happens, in ids that are out of order. */
static void make(struct made *m) {
    static const char *const strings[] = {STRINGS};
    *m = (struct made){.profile = PPROF__PROFILE__INIT};
    for (size_t i = 0; i < STRING_COUNT; i++)
        m->string[i] = (char *)(uintptr_t)strings[i];
    add_function(m, 0, 500, WORK, MAIN_GO);
    add_function(m, 1, 7, MALLOCGC, MALLOC_GO);
    add_function(m, 2, 1, RUN, THREAD_JAVA);
    add_function(m, 3, 2, A_B_C, EMPTY);
    static const uint64_t of_line[] = {7, 500, 1, 2, 99};
    for (size_t i = 0; i < 5; i++) {
        pprof__line__init(&m->line[i]);
        m->line[i].function_id = of_line[i];
        m->line[i].line = 10 + (int64_t)i;
        m->lines[i] = &m->line[i];
    }
    add_location(m, 0, 3000000000000, 0, 2); /* malloc inlined into work */
    add_location(m, 1, 4, 2, 1);
    add_location(m, 2, 3, 3, 1);
    add_location(m, 3, 2, 4, 1); /* of no function there is */
    pprof__mapping__init(&m->mapping);
    m->mapping.id = 9;
    m->mapping.filename = PROG;
    m->mappings[0] = &m->mapping;
    pprof__sample__init(&m->sample[0]);
    m->stack[0] = 3000000000000;
    m->stack[1] = 4;
    m->stack[2] = 2;
    m->sample[0].location_id = m->stack;
    m->sample[0].n_location_id = 3;
    m->sample[0].value = m->value;
    m->samples[0] = &m->sample[0];
    m->profile.sample = m->samples;
    m->profile.n_sample = 1;
    m->profile.function = m->functions;
    m->profile.n_function = 4;
    m->profile.location = m->locations;
    m->profile.n_location = 4;
    m->profile.mapping = m->mappings;
    m->profile.n_mapping = 1;
    m->profile.string_table = m->string;
    m->profile.n_string_table = STRING_COUNT;
    m->profile.sample_type = m->types;
}

static void add_value(struct made *m, int64_t type, int64_t unit, int64_t value) {
    size_t i = m->profile.n_sample_type++;
    pprof__value_type__init(&m->type[i]);
    m->type[i].type = type;
    m->type[i].unit = unit;
    m->types[i] = &m->type[i];
    m->value[i] = value;
    m->sample[0].n_value = i + 1;
}

static void import_made(struct imported *f, const struct made *m) {
    static uint8_t bytes[1 << 16];
    size_t size = pprof__profile__pack(&m->profile, bytes);
    assert_true(size < sizeof bytes);
    import_bytes(f, bytes, size);
    assert_true(f->known);
}

static void go_s_heap_is_allocation_and_what_lives(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, ALLOC_OBJECTS, COUNT, 3 << 20);
    add_value(&m, ALLOC_SPACE, BYTES, 1000);
    add_value(&m, INUSE_OBJECTS, COUNT, 2);
    add_value(&m, INUSE_SPACE, BYTES, 300);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_ALLOC), 3 << 20);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_ALLOC), 1000);
    assert_int_equal(profile_samples(f.profile, EVENT_LIVE), 2);
    assert_int_equal(profile_weight(f.profile, EVENT_LIVE), 300);
    expect_report(&f, EVENT_LIVE, "collapsed", &(struct export_options){.library = true},
                  "prog`[prog];java/lang/Thread.run;prog`main.work;prog`runtime.mallocgc 2\n");
    imported_done(&f);
}

/* A difference of two heaps: more is alive than was allocated, and some has become less. */
static void what_lives_may_be_apart(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, ALLOC_OBJECTS, COUNT, 3);
    add_value(&m, ALLOC_SPACE, BYTES, 1000);
    add_value(&m, INUSE_OBJECTS, COUNT, -2);
    add_value(&m, INUSE_SPACE, BYTES, 1300);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_ALLOC), 3);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_ALLOC), 1000);
    assert_int_equal(profile_weight(f.profile, EVENT_LIVE), 0);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_PERF), 1300);
    assert_string_equal(f.decoder->marks.engine[WIRE_EVENT_PERF].name, "inuse_space");
    assert_string_equal(
        f.result.note,
        "the file has negative values, as a difference of two profiles has; they are left out (1)");
    imported_done(&f);
}

static void a_rest_of_bytes_counts_nothing(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, ALLOC_OBJECTS, COUNT, 2);
    add_value(&m, ALLOC_SPACE, BYTES, 1000);
    add_value(&m, INUSE_OBJECTS, COUNT, 2);
    add_value(&m, INUSE_SPACE, BYTES, 300);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_ALLOC), 2);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_ALLOC), 1000);
    imported_done(&f);
}

static void large_numbers_are_whole(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, CONTENTIONS, COUNT, INT64_C(2223898853784));
    add_value(&m, DELAY, NANOSECONDS, INT64_C(1164000000000000));
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_LOCK), 1);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_LOCK), 1164000000000000);
    assert_string_equal(f.result.damage, "");
    assert_non_null(strstr(f.result.note, "as weights only"));
    imported_done(&f);
}

/* Events of .NET, one of which has nothing. */
static void other_spellings(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, CPU, NANOSECONDS, 5);
    add_value(&m, EXCEPTION, COUNT, 0);
    add_value(&m, DOTNET_SAMPLES, COUNT, 7);
    add_value(&m, DOTNET_SIZE, BYTES, 60192);
    add_value(&m, GOROUTINE, COUNT, 2);
    add_value(&m, A_B_C, NANOSECONDS, 3);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_ALLOC), 7);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_ALLOC), 60192);
    assert_string_equal(f.decoder->marks.engine[WIRE_EVENT_PERF].name, "goroutine");
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_METHOD), 3);
    assert_string_equal(f.result.damage, "");
    assert_string_equal(f.result.note, "");
    imported_done(&f);
}

static void objects_are_no_bytes(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, LIVE, COUNT, 4);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, EVENT_LIVE), 4);
    assert_int_equal(profile_weight(f.profile, EVENT_LIVE), 0);
    imported_done(&f);
}

static void units_and_pairs(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, CONTENTIONS, COUNT, 5);
    add_value(&m, DELAY, MICROSECONDS, 7);
    add_value(&m, GOROUTINE, COUNT, 11);
    add_value(&m, SAMPLES, COUNT, 2);
    add_value(&m, CPU, NANOSECONDS, -5);
    import_made(&f, &m);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_LOCK), 5);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_LOCK), 7000);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 11);
    assert_string_equal(f.decoder->marks.engine[WIRE_EVENT_PERF].name, "goroutine");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_CPU), 2);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_CPU), 0);
    imported_done(&f);
}

static void a_period_has_its_unit(void **state) {
    (void)state;
    static const int64_t period[][2] = {{10, 10000}, {INT64_MAX, 0}, {0, 0}, {-7, 0}};
    for (size_t i = 0; i < sizeof period / sizeof *period; i++) {
        struct made m;
        struct imported f;
        Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
        make(&m);
        add_value(&m, CPU, NANOSECONDS, 5);
        type.type = CPU;
        type.unit = MICROSECONDS;
        m.profile.period_type = &type;
        m.profile.period = period[i][0];
        import_made(&f, &m);
        assert_int_equal(f.decoder->marks.engine[WIRE_EVENT_CPU].interval, period[i][1]);
        imported_done(&f);
    }
}

static void lines_and_times_are_kept(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    add_value(&m, CPU, NANOSECONDS, 5);
    pprof__label__init(&m.label[0]);
    pprof__label__init(&m.label[1]);
    m.label[0].key = TIMESTAMP;
    m.label[0].num = 1700000004000000000;
    m.label[1].key = THREAD;
    m.label[1].str = WORK;
    m.labels[0] = &m.label[0];
    m.labels[1] = &m.label[1];
    m.sample[0].label = m.labels;
    m.sample[0].n_label = 2;
    m.profile.time_nanos = 1700000000000000000;
    import_made(&f, &m);
    uint64_t first, last, kept;
    profile_span(f.profile, &first, &last, &kept);
    assert_int_equal(first, 5);
    assert_int_equal(f.decoder->notes.day_ns + 5 * INT64_C(1000000000), 1700000004000000000);
    assert_false(f.decoder->notes.undated);
    struct query q = {.by_thread = true, .tree = true};
    struct snapshot *s = snapshot_take(f.profile, &q);
    assert_int_equal(s->thread_count, 1);
    assert_string_equal(s->threads[0].name, "main.work");
    uint32_t run = METHOD_NONE;
    for (uint32_t i = 0; i < s->method_count; i++)
        if (!strcmp(method_table_get(profile_methods(f.profile), s->methods[i].method)->name,
                    "run"))
            run = s->methods[i].method;
    snapshot_free(s);
    q = (struct query){.lines = true, .lines_of = run};
    s = snapshot_take(f.profile, &q);
    assert_int_equal(s->line_count, 1);
    assert_int_equal(s->lines[0].line, 12);
    snapshot_free(s);
    imported_done(&f);
}

static void a_class_is_a_leaf_of_allocation(void **state) {
    (void)state;
    struct made m;
    struct imported f;
    make(&m);
    m.stack[0] = 3;
    m.mapping.filename = EMPTY;
    add_value(&m, ALLOC_SPACE, BYTES, 5);
    add_value(&m, CPU, NANOSECONDS, 6);
    import_made(&f, &m);
    expect_report(&f, WIRE_EVENT_ALLOC, "collapsed", &plain,
                  "[unknown];java/lang/Thread.run;a.b.C_[i] 1\n");
    expect_report(&f, WIRE_EVENT_CPU, "collapsed", &plain,
                  "[unknown];java/lang/Thread.run;a.b.C 1\n");
    imported_done(&f);
}

static void a_bomb_is_no_profile(void **state) {
    (void)state;
    size_t plain_bytes = (size_t)200 << 20;
    uint8_t *zero = calloc(1, 1 << 20), *out = malloc(1 << 20);
    z_stream z = {0};
    struct imported f;
    assert_non_null(zero);
    assert_non_null(out);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = out;
    z.avail_out = 1 << 20;
    /* One empty sample type, an empty string, and then empty samples without end. */
    static uint8_t head[] = {0x0a, 0, 0x32, 0};
    z.next_in = head;
    z.avail_in = sizeof head;
    assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    for (size_t i = 0; i < 1 << 20; i += 2)
        zero[i] = 0x12;
    for (size_t done = 0; done < plain_bytes; done += 1 << 20) {
        z.next_in = zero;
        z.avail_in = 1 << 20;
        assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    import_bytes(&f, out, z.total_out);
    assert_true(f.known);
    assert_int_equal(f.code, -EINVAL);
    assert_non_null(strstr(f.error.message, "inflates to more than"));
    deflateEnd(&z);
    imported_done(&f);
    free(zero);
    free(out);
}

static void other_files_are_not_taken(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } not [] = {{"\x0a\x00", 2},         {"hello world\n", 12},   {"\n\n\n\n", 4},
                {"\x1f\x8b\x08\x00", 4}, {"\x12\x00\x12\x00", 4}, {"\x0a\x02\x08\x01\x0b", 5}};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        struct imported f;
        import_bytes(&f, not [i].bytes, not [i].size);
        assert_false(f.known);
        imported_done(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_comes_back),
        cmocka_unit_test(what_is_before_a_cut_is_read),
        cmocka_unit_test(go_s_heap_is_allocation_and_what_lives),
        cmocka_unit_test(units_and_pairs),
        cmocka_unit_test(what_lives_may_be_apart),
        cmocka_unit_test(a_rest_of_bytes_counts_nothing),
        cmocka_unit_test(large_numbers_are_whole),
        cmocka_unit_test(other_spellings),
        cmocka_unit_test(objects_are_no_bytes),
        cmocka_unit_test(a_period_has_its_unit),
        cmocka_unit_test(lines_and_times_are_kept),
        cmocka_unit_test(a_class_is_a_leaf_of_allocation),
        cmocka_unit_test(a_bomb_is_no_profile),
        cmocka_unit_test(other_files_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
