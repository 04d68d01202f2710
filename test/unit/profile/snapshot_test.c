/* Small trees, counted by hand. The large ones are compared with a model in snapshot_model_test. */
#include "core/profile/snapshot/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { A, B, C, D };

/* Methods A, B, C, D in class p/Q; their ids are the enum's. */
static struct profile *profile_of_letters(void) {
    struct profile *p = profile_new(0);
    for (uint32_t i = 0; i < 4; i++) {
        const char name[2] = {(char)('A' + (char)i), '\0'};
        assert_int_equal(
            method_table_intern(profile_methods(p), METHOD_JAVA, "p/Q", name, "()V", ""), i);
    }
    return p;
}

/* A stack as a word, root first; lower case: interpreted, upper case: C2. */
static void add(struct profile *p, uint64_t second, uint32_t tid, const char *stack,
                uint64_t weight) {
    struct profile_frame f[64] = {{0}};
    size_t n = strlen(stack);
    for (size_t i = 0; i < n; i++) {
        char c = stack[n - 1 - i];
        f[i].method = (uint32_t)(c >= 'a' ? c - 'a' : c - 'A');
        f[i].tier = c >= 'a' ? TIER_INTERPRETED : TIER_C2;
        f[i].line = (uint16_t)(weight + i);
    }
    struct profile_sample s = {.time_ns = second * 1000000000,
                               .weight = weight,
                               .count = 1,
                               .tid = tid,
                               .frames = (uint16_t)n,
                               .frame = f};
    assert_int_equal(profile_add(p, &s), 0);
}

/* The tree as text: "A10/2(B7/7)" is A with total 10 and self 2, and its child B. */
static void tree_text(const struct profile *p, const struct snapshot *s, char *out, size_t size) {
    size_t at = 0;
    uint32_t depth = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        for (; depth > n->depth; depth--)
            at += (size_t)snprintf(out + at, size - at, ")");
        if (n->depth > depth)
            at += (size_t)snprintf(out + at, size - at, "(");
        else if (i)
            at += (size_t)snprintf(out + at, size - at, " ");
        depth = n->depth;
        at += (size_t)snprintf(out + at, size - at, "%s%llu/%llu",
                               method_table_get(profile_methods_const(p), n->method)->name,
                               (unsigned long long)n->total, (unsigned long long)n->self);
    }
    for (; depth > 0; depth--)
        at += (size_t)snprintf(out + at, size - at, ")");
}

static void expect_tree(struct profile *p, const struct query *q, const char *tree) {
    char out[512];
    struct query with_tree = *q;
    with_tree.tree = true;
    struct snapshot *s = snapshot_take(p, &with_tree);
    assert_non_null(s);
    tree_text(p, s, out, sizeof out);
    assert_string_equal(out, tree);
    snapshot_free(s);
}

/* "B 7/9" is B with self 7 and total 9. */
static void expect_rows(struct profile *p, const struct query *q, const char *rows) {
    char out[512] = "";
    size_t at = 0;
    struct snapshot *s = snapshot_take(p, q);
    assert_non_null(s);
    for (uint32_t i = 0; i < s->method_count; i++) {
        const struct snapshot_method *m = &s->methods[i];
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%s %llu/%llu", i ? ", " : "",
                               method_table_get(profile_methods_const(p), m->method)->name,
                               (unsigned long long)m->self, (unsigned long long)m->total);
    }
    assert_string_equal(out, rows);
    snapshot_free(s);
}

static void test_tree(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    expect_tree(p, &(struct query){0}, "");
    expect_rows(p, &(struct query){0}, "");
    add(p, 1, 1, "AB", 3);
    add(p, 1, 1, "ABC", 4);
    add(p, 1, 1, "AD", 1);
    add(p, 1, 1, "D", 7);
    add(p, 1, 1, "AB", 2);
    expect_tree(p, &(struct query){0}, "A10/0(B9/5(C4/4) D1/1) D7/7");
    expect_rows(p, &(struct query){0}, "D 8/8, B 5/9, C 4/4, A 0/10");
    expect_tree(p, &(struct query){.inverted = true}, "D8/7(A1/1) B5/0(A5/5) C4/0(B4/0(A4/4))");
    profile_free(p);
}

static void test_recursion(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    add(p, 1, 1, "AAA", 5);
    add(p, 1, 1, "ABABA", 7); /* mutual */
    add(p, 1, 1, "AB", 1);
    expect_tree(p, &(struct query){0}, "A13/0(B8/1(A7/0(B7/0(A7/7))) A5/0(A5/5))");
    expect_rows(p, &(struct query){0}, "A 12/13, B 1/8");
    profile_free(p);
}

static void test_tiers(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    add(p, 1, 1, "aB", 1);
    add(p, 1, 1, "AB", 1);
    add(p, 1, 1, "Ab", 1);
    add(p, 1, 1, "AbA", 1);
    struct snapshot *s = snapshot_take(p, &(struct query){.tree = true});
    expect_tree(p, &(struct query){0}, "A4/0(B4/3(A1/1))"); /* tiers make no branches */
    assert_int_equal(s->nodes[0].tier[TIER_INTERPRETED], 1);
    assert_int_equal(s->nodes[0].tier[TIER_C2], 3);
    assert_int_equal(snapshot_main_tier(s->nodes[0].tier), TIER_C2);
    assert_int_equal(s->nodes[1].tier[TIER_INTERPRETED], 2);
    for (uint32_t i = 0; i < s->method_count; i++) {
        const struct snapshot_method *m = &s->methods[i];
        assert_int_equal(m->tier[TIER_INTERPRETED], m->method == A ? 1 : 2);
        assert_int_equal(m->tier[TIER_C2], m->method == A ? 3 : 2);
    }
    assert_int_equal(profile_node_count(p), 3);
    snapshot_free(s);
    profile_free(p);
}

/* One frame a letter, each followed by its line's digit. */
static void add_lines(struct profile *p, uint64_t second, uint32_t tid, const char *stack,
                      uint64_t weight) {
    struct profile_frame f[64] = {{0}};
    uint16_t n = 0;
    for (size_t i = strlen(stack); i > 0; i -= 2, n++)
        f[n] = (struct profile_frame){.method = (uint32_t)(stack[i - 2] - 'A'),
                                      .line = (uint16_t)(stack[i - 1] - '0')};
    struct profile_sample s = {.time_ns = second * 1000000000,
                               .weight = weight,
                               .count = 1,
                               .tid = tid,
                               .frames = n,
                               .frame = f};
    assert_int_equal(profile_add(p, &s), 0);
}

/* "3:7/9" is line 3 with self 7 and total 9. */
static void expect_lines(struct profile *p, struct query q, uint32_t method, const char *want) {
    char out[512] = "";
    size_t at = 0;
    q.lines = true;
    q.lines_of = method;
    struct snapshot *s = snapshot_take(p, &q);
    assert_non_null(s);
    for (uint32_t i = 0; i < s->line_count; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%u:%llu/%llu", i ? " " : "",
                               s->lines[i].line, (unsigned long long)s->lines[i].self,
                               (unsigned long long)s->lines[i].total);
    assert_string_equal(out, want);
    snapshot_free(s);
}

static void test_lines(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    add_lines(p, 10, 1, "A1B5", 1);
    add_lines(p, 10, 1, "A2B5", 2);
    add_lines(p, 11, 1, "A1", 4);
    add_lines(p, 11, 2, "A1B6A1A2A1", 8); /* recursion: once for 1, once for 2 */
    add_lines(p, 11, 2, "A0B0", 16);
    expect_lines(p, (struct query){0}, A, "0:0/16 1:12/13 2:0/10");
    expect_lines(p, (struct query){0}, B, "0:16/16 5:3/3 6:0/8");
    expect_lines(p, (struct query){0}, C, "");
    expect_lines(p, (struct query){0}, 4711, "");
    expect_lines(p, (struct query){.tid = 1}, A, "1:4/5 2:0/2");
    expect_lines(p, (struct query){.from_second = 11, .to_second = 11}, A, "0:0/16 1:12/12 2:0/8");
    expect_lines(p, (struct query){.filter = "!q.b", .tree = true}, A, "1:4/4");
    expect_lines(p, (struct query){.event = 1}, A, "");
    expect_tree(p, &(struct query){0}, "A31/4(B27/19(A8/0(A8/0(A8/8))))"); /* lines: no branches */
    expect_rows(p, &(struct query){0}, "B 19/27, A 12/31");
    profile_free(p);
}

static void test_tiers_told_apart(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    add(p, 1, 1, "aB", 1);
    add(p, 1, 1, "AB", 2);
    add(p, 1, 2, "Ab", 4);
    add(p, 1, 2, "AbA", 8);
    expect_tree(p, &(struct query){0}, "A15/0(B15/7(A8/8))");
    expect_tree(p, &(struct query){.tiers = true}, "A14/0(B12/4(A8/8) B2/2) A1/0(B1/1)");
    expect_tree(p, &(struct query){.tiers = true, .inverted = true},
                "A8/0(B8/0(A8/8)) B4/0(A4/4) B3/0(A2/2 A1/1)");
    expect_tree(p, &(struct query){.tiers = true, .by_thread = true},
                "[tid=2]12/0(A12/0(B12/4(A8/8))) [tid=1]3/0(A2/0(B2/2) A1/0(B1/1))");
    expect_tree(p, &(struct query){.tiers = true, .prune_ppm = 200000}, "A14/0(B12/4(A8/8)) A1/0");
    expect_rows(p, &(struct query){.tiers = true}, "A 8/15, B 7/15");
    profile_free(p);
}

static void test_windows_and_threads(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    assert_int_equal(profile_thread_name(p, 7, 70, "seven"), 0);
    add(p, 10, 7, "AB", 1);
    add(p, 11, 8, "AC", 2);
    add(p, 13, 8, "AC", 4);
    add(p, 13, 7, "D", 8);
    expect_tree(p, &(struct query){.from_second = 11, .to_second = 12}, "A2/0(C2/2)");
    expect_tree(p, &(struct query){.from_second = 13, .to_second = 99}, "D8/8 A4/0(C4/4)");
    expect_tree(p, &(struct query){.from_second = 12, .to_second = 12}, "");
    expect_tree(p, &(struct query){.tid = 8}, "A6/0(C6/6)");
    expect_tree(p, &(struct query){.tid = 7, .from_second = 13, .to_second = 13}, "D8/8");
    expect_tree(p, &(struct query){.by_thread = true},
                "[seven tid=7]9/0(D8/8 A1/0(B1/1)) [tid=8]6/0(A6/0(C6/6))");
    expect_tree(p, &(struct query){.by_thread = true, .inverted = true},
                "[seven tid=7]9/0(D8/8 B1/0(A1/1)) [tid=8]6/0(C6/0(A6/6))");
    struct snapshot *s = snapshot_take(p, &(struct query){.from_second = 5, .to_second = 12});
    assert_int_equal(s->weight, 3);
    assert_int_equal(s->samples, 2);
    assert_int_equal(s->sampled_ns, 3 * UINT64_C(1000000000));
    assert_int_equal(s->threads[0].tid, 8);
    assert_int_equal(s->threads[0].top_method, C);
    assert_string_equal(s->threads[0].name, "");
    assert_int_equal(s->threads[1].java_id, 70);
    assert_string_equal(s->threads[1].name, "seven");
    snapshot_free(s);
    profile_free(p);
}

static void test_filter(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    method_table_intern(profile_methods(p), METHOD_JAVA, "p/Other", "x", "", "");
    add(p, 1, 1, "AB", 1);
    add(p, 1, 1, "ABE", 2);
    add(p, 1, 2, "D", 4);
    expect_tree(p, &(struct query){.filter = "p.oTHER.X"}, "A2/0(B2/0(x2/2))");
    expect_tree(p, &(struct query){.filter = "!Other"}, "D4/4 A1/0(B1/1)");
    expect_tree(p, &(struct query){.filter = "q.b"}, "A3/0(B3/1(x2/2))");
    expect_tree(p, &(struct query){.filter = "p/Q"}, ""); /* names are dotted */
    expect_tree(p, &(struct query){.filter = "!"}, "D4/4 A3/0(B3/1(x2/2))");
    expect_tree(p, &(struct query){.filter = ""}, "D4/4 A3/0(B3/1(x2/2))");
    profile_free(p);
}

/* What is left out stays in the totals above it; the first level always stays. */
static void test_prune(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    add(p, 1, 1, "AB", 90);
    add(p, 1, 1, "AC", 5);
    add(p, 1, 1, "aCb", 1);
    add(p, 1, 1, "ACb", 1);
    add(p, 1, 2, "D", 3);
    expect_tree(p, &(struct query){.prune_ppm = 20000}, "A97/0(B90/90 C7/5(B2/2)) D3/3");
    expect_tree(p, &(struct query){.prune_ppm = 20001}, "A97/0(B90/90 C7/5) D3/3");
    expect_tree(p, &(struct query){.prune_ppm = 80000}, "A97/0(B90/90) D3/3");
    expect_tree(p, &(struct query){.prune_ppm = 6000000}, "A97/0 D3/3");
    expect_tree(p, &(struct query){.prune_ppm = 6000000, .tid = 2}, "D3/3");
    expect_tree(p, &(struct query){.prune_ppm = 50000, .by_thread = true},
                "[tid=1]97/0(A97/0(B90/90 C7/5)) [tid=2]3/0");
    expect_tree(p, &(struct query){.prune_ppm = 50000, .inverted = true},
                "B92/0(A90/90) C5/0(A5/5) D3/3");
    profile_free(p);
}

struct stack_list {
    const struct profile *p;
    char text[256];
    int stop_at;
};

static int list_stack(void *arg, const struct snapshot_node *const *path, uint32_t depth) {
    struct stack_list *l = arg;
    for (uint32_t i = 0; i < depth; i++)
        strcat(l->text, method_table_get(profile_methods_const(l->p), path[i]->method)->name);
    strcat(l->text, " ");
    return --l->stop_at == 0 ? 42 : 0;
}

static void test_each_stack(void **state) {
    (void)state;
    struct profile *p = profile_of_letters();
    struct stack_list l = {.p = p};
    add(p, 1, 1, "ABC", 4);
    add(p, 1, 1, "AB", 3);
    add(p, 1, 1, "AD", 1);
    add(p, 1, 1, "DD", 0); /* no weight, yet a sample */
    struct snapshot *s = snapshot_take(p, &(struct query){.tree = true});
    assert_int_equal(snapshot_each_stack(s, list_stack, &l), 0);
    assert_string_equal(l.text, "AB ABC AD DD ");
    l = (struct stack_list){.p = p, .stop_at = 2};
    assert_int_equal(snapshot_each_stack(s, list_stack, &l), 42);
    assert_string_equal(l.text, "AB ABC ");
    assert_int_equal(snapshot_child(s, 0), 1);
    assert_int_equal(snapshot_child(s, 2), SNAPSHOT_ROOT);
    snapshot_free(s);
    profile_free(p);
}

/* The same samples in another order, in a table with other ids, look the same. */
static void test_deterministic(void **state) {
    (void)state;
    struct profile *p = profile_of_letters(), *q = profile_new(0);
    const char *const stacks[] = {"AB", "AC", "AD", "BA", "BAD", "CAB", "C", "D"};
    const char *const same[] = {"DC", "DB", "DA", "CD", "CDA", "BDC", "B", "A"};
    for (uint32_t i = 0; i < 4; i++) {
        const char name[2] = {(char)('D' - (char)i), '\0'};
        method_table_intern(profile_methods(q), METHOD_JAVA, "p/Q", name, "()V", "");
    }
    for (size_t i = 0; i < 8; i++) {
        add(p, 1, 1, stacks[i], 1);
        add(q, 1, 1, same[7 - i], 1);
    }
    for (int bits = 0; bits < 4; bits++) {
        char a[512], b[512];
        struct query ask = {.tree = true, .inverted = bits & 1, .by_thread = bits & 2};
        struct snapshot *x = snapshot_take(p, &ask), *y = snapshot_take(q, &ask);
        tree_text(p, x, a, sizeof a);
        tree_text(q, y, b, sizeof b);
        assert_string_equal(a, b);
        snapshot_free(x);
        snapshot_free(y);
    }
    profile_free(p);
    profile_free(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),       cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_tiers),      cmocka_unit_test(test_windows_and_threads),
        cmocka_unit_test(test_filter),     cmocka_unit_test(test_prune),
        cmocka_unit_test(test_each_stack), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_tiers_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
