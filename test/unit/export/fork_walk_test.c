/*
 * A snapshot with forks is written as one with nodes, in every format that takes it, and in memory
 * that does not depend on how deep the stacks are.
 *
 * malloc and its kin are replaced to count bytes. Under a sanitizer they are not: it brings its own.
 */
#include "core/profile/snapshot/forks.h"

#include "test/unit/written.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static size_t used, most; /* bytes that are allocated, and their maximum */

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

static void *count(void *p) {
    used += p ? malloc_usable_size(p) : 0;
    most = used > most ? used : most;
    return p;
}

void *malloc(size_t size) {
    return count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size) {
    return count(__libc_calloc(n, size));
}

void *aligned_alloc(size_t align, size_t size) {
    return count(__libc_memalign(align, size));
}

void *realloc(void *p, size_t size) {
    size_t before = p ? malloc_usable_size(p) : 0;
    void *moved = __libc_realloc(p, size);
    used -= moved ? before : 0;
    return moved ? count(moved) : NULL;
}

void free(void *p) {
    used -= p ? malloc_usable_size(p) : 0;
    __libc_free(p);
}
#endif

static uint32_t seed;

static uint32_t next(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

/* Overloads print alike; a native method may print as a Java method does. */
static uint32_t method_of(struct profile *p, uint32_t i) {
    static const char *const signature[] = {"()V", "(I)V", "(J)V"};
    char name[32];
    bool native = i % 5 == 4;
    snprintf(name, sizeof name, "m%u", i / 4);
    return method_table_intern(profile_methods(p), native ? METHOD_NATIVE : METHOD_JAVA,
                               native ? "" : "a/B", name, native ? "" : signature[i % 3], "");
}

/* Each stack shares its outer frames with the one before, sometimes in other tiers and lines. */
static void add_stacks(struct profile *p, uint32_t stacks, uint32_t depth, uint32_t methods,
                       uint32_t kinds) {
    struct profile_frame open[100] = {0}, frame[100];
    assert_true(depth <= 100);
    for (uint32_t i = 0; i < stacks; i++) {
        uint32_t frames = depth / 2 + 1 + next(depth / 2), from = i ? next(frames) : 0;
        for (uint32_t d = from; d < 100; d++)
            open[d] = (struct profile_frame){.method = method_of(p, next(methods)),
                                             .line = (uint16_t)next(kinds),
                                             .tier = (uint8_t)next(kinds < TIERS ? kinds : TIERS)};
        for (uint32_t d = 0; d < frames; d++)
            frame[frames - 1 - d] = open[d];
        struct profile_sample s = {.time_ns = (5 + i % 7) * 1000000000ull,
                                   .weight = 1 + next(3),
                                   .count = next(9) != 0,
                                   .tid = 7 + next(3),
                                   .frames = (uint16_t)frames,
                                   .frame = frame};
        assert_int_equal(profile_add(p, &s), 0);
    }
}

static void expect_alike(struct profile *p, struct query q, const struct export_options *o) {
    q.tree = true;
    struct snapshot *nodes = snapshot_take(p, &q);
    q.forks = true;
    struct snapshot *forks = snapshot_take(p, &q);
    assert_non_null(nodes);
    assert_non_null(forks);
    assert_true(forks->forks && !forks->nodes && nodes->nodes && !nodes->forks);
    assert_int_equal(forks->method_count, nodes->method_count);
    assert_memory_equal(forks->methods, nodes->methods,
                        nodes->method_count * sizeof *nodes->methods);
    for (const struct exporter *x = exporters; x->name; x++) {
        if (!x->walks)
            continue;
        struct text a = written(x->name, p, nodes, o), b = written(x->name, p, forks, o);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data ? a.data : "", b.data ? b.data : "", a.len);
        text_free(&a);
        text_free(&b);
    }
    snapshot_free(nodes);
    snapshot_free(forks);
}

static void expect_all_alike(struct profile *p) {
    static const char *const some[] = {"*m1"};
    expect_alike(p, (struct query){0}, &(struct export_options){0});
    expect_alike(p, (struct query){0},
                 &(struct export_options){.total = true, .signatures = true, .inverted = true});
    expect_alike(p, (struct query){.include = some, .includes = 1},
                 &(struct export_options){.simple = true, .minwidth = 0.5});
    expect_alike(p, (struct query){.exclude = some, .excludes = 1, .tid = 8},
                 &(struct export_options){.dotted = true});
    expect_alike(p, (struct query){.from_second = 6, .to_second = 8, .filter = "!m2"},
                 &(struct export_options){.normalize = true, .library = true});
}

static void test_every_format_is_alike(void **state) {
    (void)state;
    static const uint32_t shape[][4] = {
        {0, 2, 1, 1},    {1, 2, 1, 1},     {300, 2, 3, 4},
        {400, 12, 9, 3}, {300, 60, 30, 5}, {600, 99, 200, 1},
    };
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        struct profile *p = profile_new(0);
        seed = 1 + (uint32_t)i;
        add_stacks(p, shape[i][0], shape[i][1], shape[i][2], shape[i][3]);
        expect_all_alike(p);
        profile_free(p);
    }
}

/* A frame and the one below it are different forks only where a stack ends, or two part. */
static void test_forks_are_few(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct query q = {.tree = true, .forks = true};
    fixture_add(p, 7, "j:a/A.a()V\tj:a/A.b()V\tj:a/A.c()V\tj:a/A.d()V", 1, 10);
    fixture_add(p, 7, "j:a/A.a()V\tj:a/A.b()V\tj:a/A.e()V\tj:a/A.f()V\tj:a/A.g()V", 1, 20);
    struct snapshot *s = snapshot_take(p, &q);
    assert_int_equal(s->fork_count, 3);
    assert_int_equal(s->forks[s->fork_root].total, 30);
    assert_int_equal(s->forks[s->fork_root].next, FORK_NONE);
    snapshot_free(s);
    q.by_thread = true; /* the roots are threads, which the call tree does not have */
    s = snapshot_take(p, &q);
    assert_null(s->forks);
    assert_int_equal(s->node_count, 8);
    snapshot_free(s);
    profile_free(p);
}

#ifndef SANITIZED
enum { STACKS = 8000 };

/* What a file of the format takes for stacks of this depth. */
static size_t memory_for(const char *format, uint32_t depth) {
    struct profile *p = profile_new(0);
    struct export_options o = {0};
    const struct exporter *x = exporter_by_format(format, &o);
    struct query q = {.tree = true, .forks = true};
    struct err e = {0};
    seed = 3;
    add_stacks(p, STACKS, depth, 4000, 1);
    size_t before = used;
    most = used;
    struct snapshot *s = snapshot_take(p, &q);
    assert_non_null(s);
    o.question = &q;
    assert_int_equal(export_file("/dev/null", x, p, s, &written_quality, &o, &e), 0);
    snapshot_free(s);
    profile_free(p);
    return most - before;
}

static void test_memory_does_not_depend_on_depth(void **state) {
    (void)state;
    static const char *const format[] = {"collapsed", "json", "markdown", "jfr", "text"};
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++) {
        size_t flat = memory_for(format[i], 20), deep = memory_for(format[i], 100);
        print_message("%s: %zu KB for 20 frames, %zu KB for 100\n", format[i], flat / 1024,
                      deep / 1024);
        /* JFR keeps a size for each node of the call tree, in 4 bytes. */
        size_t more = strcmp(format[i], "jfr") ? flat / 4 : 5 * (size_t)STACKS * (100 - 20);
        assert_true(deep < flat + more);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_is_alike),
        cmocka_unit_test(test_forks_are_few),
#ifndef SANITIZED
        cmocka_unit_test(test_memory_does_not_depend_on_depth),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
