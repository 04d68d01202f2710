#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile/snapshot/frame_pattern.h"
#include "core/profile/snapshot/pattern.h"
#include "test/unit/profile/profile_fixture.h"

static bool matches(const char *text, const char *name) {
    struct pattern p;
    char *copy = strdup(name);
    assert_int_equal(pattern_open(&p, text, NULL, 0), 0);
    int rc = pattern_matches(&p, copy);
    assert_in_range(rc, 0, 1);
    pattern_close(&p);
    free(copy);
    return rc;
}

static void test_patterns(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        bool matches;
    } table[] = {
        {"hashmap", "java.util.HashMap.get", true},
        {"HASHMAP\\.(get|put)$", "java.util.HashMap.get", true},
        {"hashmap\\.(get|put)$", "java.util.HashMap.getNode", false},
        {"^java\\.", "x.java.y", false},
        /* a '$' that is not the last is itself */
        {"Main$$Lambda", "a.Main$$Lambda.run", true},
        {"Main$Inner$", "a.Main$Inner", true},
        {"Main$Inner$", "a.Main$Inner.run", false},
        {"[$]lambda", "a.b$lambda", true},
        {"[^$]lambda", "a.b$lambda", false},
        {"a\\$b", "a$b", true},
        {"[]$x]y$", "a$y", true},
        {"[[:digit:]$]$", "x$", true},
        /* what is no expression is itself */
        {"byte[]", "BYTE[]", true},
        {"byte[]", "byte", false},
        {"(foo", "a(FOO", true},
        {"a\\1", "A\\1", true},
        {"((a{255}){255}){255}", "x((A{255}){255}){255}x", true},
        {"((a{255}){255}){255}", "aaa", false},
        /* nor is what takes too long */
        {"(a+)+$", "x(A+)+$x", true},
        {"(a+)+$", "aaa", false},
        {"a{99999999999}", "A{99999999999}", true},
        {"a{2,3}b", "xaab", true},
        {"\\", "a\\b", true},
        {"[[:", "x[[:y", true},
        {"x{", "x{", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (matches(table[i].text, table[i].name) != table[i].matches)
            fail_msg("\"%s\" and \"%s\"", table[i].text, table[i].name);
}

static void test_check(void **state) {
    (void)state;
    static const char *const good[] = {"", "!", "a|b", "!^java", "Main$$Lambda$14", NULL};
    static const char *const bad[] = {"(", "!(", "[a", "a\\1", "((a{255}){255}){255}", "(a+)+$"};
    char why[128];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(snapshot_check_filter(good[i], why, sizeof why), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(snapshot_check_filter(bad[i], why, sizeof why) < 0);
        assert_true(strlen(why) > 0);
    }
    assert_true(snapshot_check_filter("(", why, 4) < 0);
    assert_int_equal(strlen(why), 3);
}

static uint32_t java(struct profile *p, const char *class, enum method_kind kind) {
    return method_table_intern(profile_methods(p), kind, class, "f", "()V", "");
}

static uint64_t weight(struct profile *p, struct query q) {
    struct snapshot *s = take(p, q);
    uint64_t weight = s->weight;
    snapshot_free(s);
    return weight;
}

/* A name that takes the expression too long counts as if it did not fit, and the answer says so. */
static void test_costly(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    char name[1001];
    memset(name, 'x', 1000);
    name[1000] = '\0';
    const struct query costly = {.filter = "(x+x+)+[yz]"};
    add(p, SECOND, 1, intern(p, "axxyb"));
    struct snapshot *s = take(p, costly);
    assert_int_equal(s->weight, 10);
    assert_false(s->filter_gave_up);
    snapshot_free(s);
    add(p, SECOND, 1, intern(p, name));
    for (int i = 0; i < 2; i++) { /* what is known by then is not found out anew */
        s = take(p, costly);
        assert_int_equal(s->weight, 10);
        assert_true(s->filter_gave_up);
        snapshot_free(s);
    }
    s = take(p, (struct query){.filter = "xxy"});
    assert_false(s->filter_gave_up);
    snapshot_free(s);
    profile_free(p);
}

/* Of Java frames only, and not of packages that are called alike. */
static void test_package(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    static const char *const classes[] = {"java/util/HashMap", "java/util/concurrent/Exchanger",
                                          "java/utilities/X", "java/util", "util/java/util/X"};
    for (uint32_t i = 0; i < sizeof classes / sizeof *classes; i++)
        add(p, SECOND, 1, java(p, classes[i], METHOD_JAVA));
    add(p, SECOND, 1, java(p, "java/util/HashMap", METHOD_COMPILING));
    assert_int_equal(weight(p, (struct query){.package = "java.util"}), 20);
    assert_int_equal(weight(p, (struct query){.package = "java.util.concurrent"}), 10);
    assert_int_equal(weight(p, (struct query){.package = "java"}), 40);
    assert_int_equal(weight(p, (struct query){.package = ""}), 60);
    assert_int_equal(weight(p, (struct query){.package = "java.util", .filter = "!Hash"}), 10);
    profile_free(p);
}

/* What is known of the nodes so far is kept; new methods and nodes, and other questions, are not
 * mistaken for them. */
static void test_kept(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    for (uint32_t i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%u", i);
        uint32_t method = intern(p, name);
        add(p, SECOND, 1, method);
        assert_int_equal(weight(p, (struct query){.filter = "m1"}),
                         10 * ((i >= 1) + (i >= 10 ? (i < 20 ? i - 9 : 10) : 0) +
                               (i >= 100 ? (i < 200 ? i - 99 : 100) : 0)));
        if (i % 3)
            continue;
        assert_int_equal(weight(p, (struct query){.filter = "!m1$"}), 10 * (i + 1 - (i >= 1)));
        assert_int_equal(weight(p, (struct query){.with_method = true, .method = method}), 10);
        assert_int_equal(weight(p, (struct query){.with_method = true, .method = METHOD_NONE}), 0);
    }
    profile_free(p);
}

/* Both methods must be on the stack, in any order; the tree is from the first one. */
static void test_with_also(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t main = intern(p, "main"), f = intern(p, "f"), g = intern(p, "g");
    struct profile_frame both[] = {{.method = g}, {.method = f}, {.method = main}};
    struct profile_frame turned[] = {{.method = f}, {.method = g}};
    struct profile_frame only_f[] = {{.method = f}, {.method = main}};
    assert_int_equal(add_frames(p, SECOND, 1, both, 3), 0);
    assert_int_equal(add_frames(p, SECOND, 1, turned, 2), 0);
    assert_int_equal(add_frames(p, SECOND, 1, only_f, 2), 0);
    struct query q = {.with_method = true, .method = f, .with_also = true, .also = g};
    assert_int_equal(weight(p, q), 20);
    q.also = main;
    assert_int_equal(weight(p, q), 20);
    q.also = f;
    assert_int_equal(weight(p, q), 30);
    assert_int_equal(weight(p, (struct query){.with_also = true, .also = main}), 20);
    q.also = g;
    q.from_method = q.tree = true;
    struct snapshot *s = take(p, q);
    assert_int_equal(s->nodes[0].method, f);
    assert_int_equal(s->nodes[0].total, 20);
    assert_int_equal(s->nodes[0].self, 10); /* not that of the stack without g */
    snapshot_free(s);
    profile_free(p);
}

/* A recursion begins at its outermost frame, and its samples count once. */
static void test_from_method(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t main = intern(p, "main"), other = intern(p, "other"), f = intern(p, "f"),
             g = intern(p, "g");
    struct profile_frame recursive[] = {
        {.method = f}, {.method = g}, {.method = f}, {.method = main}};
    struct profile_frame plain[] = {{.method = g}, {.method = f}, {.method = other}};
    struct profile_frame without[] = {{.method = g}, {.method = main}};
    assert_int_equal(add_frames(p, SECOND, 1, recursive, 4), 0);
    assert_int_equal(add_frames(p, SECOND, 1, plain, 3), 0);
    assert_int_equal(add_frames(p, SECOND, 1, without, 2), 0);
    struct query q = {.with_method = true, .method = f, .from_method = true};
    struct snapshot *s = take(p, q);
    uint32_t down[] = {f, g, f};
    assert_int_equal(s->node_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(s->nodes[i].method, down[i]);
    assert_int_equal(s->nodes[1].total, 20);
    assert_int_equal(s->nodes[1].self, 10);
    snapshot_free(s);
    q.inverted = true;
    s = take(p, q);
    assert_int_equal(s->node_count, 3); /* f, and who called it: main and other */
    assert_int_equal(s->nodes[0].method, f);
    assert_int_equal(s->nodes[0].total, 20);
    assert_int_equal(s->nodes[1].total, 10);
    assert_int_equal(s->nodes[1].depth, 1);
    assert_int_equal(s->nodes[2].depth, 1);
    snapshot_free(s);
    profile_free(p);
}

static void test_frame_patterns(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool is;
    } table[] = {
        {"a.b", "a.b", true},  {"a.b", "a.bc", false},  {"a.b", "xa.b", false},
        {"a.*", "a.b", true},  {"a.*", "a.", true},     {"a.*", "a", false},
        {"*.b", "a.b", true},  {"*.b", "a.bc", false},  {"*b*", "abc", true},
        {"*b*", "acc", false}, {"*", "anything", true}, {"*", "", true},
        {"**", "", true},      {"", "", true},          {"", "a", false},
        {"*ab", "b", false},   {"a*b", "axb", false},   {"a*b", "a*b", true},
        {"A.b", "a.b", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (frame_pattern_is(table[i].pattern, table[i].name) != table[i].is)
            fail_msg("\"%s\" and \"%s\"", table[i].pattern, table[i].name);
}

static uint64_t included(struct profile *p, const char *in, const char *out, bool simple) {
    const char *include[] = {in, "no.such"}, *exclude[] = {"no.such", out};
    return weight(p, (struct query){.include = include,
                                    .includes = in ? 2 : 0,
                                    .exclude = exclude,
                                    .excludes = out ? 2 : 0,
                                    .simple_names = simple});
}

/* Names as the outputs have them; a frame anywhere on the stack decides. */
static void test_includes(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct method_table *t = profile_methods(p);
    uint32_t run = method_table_intern(t, METHOD_JAVA, "java/lang/Thread", "run", "()V", "");
    uint32_t get = method_table_intern(t, METHOD_JAVA, "a/b/Map", "get", "(I)J", "");
    uint32_t call = method_table_intern(t, METHOD_KERNEL, "", "do_syscall_64", "", "");
    uint32_t bytes = method_table_intern(t, METHOD_CLASS, "", "[B", "", "");
    uint32_t native = method_table_intern(t, METHOD_NATIVE, "", "write", "", "libc.so.6");
    struct profile_frame one[] = {{.method = call}, {.method = get}, {.method = run}};
    struct profile_frame two[] = {{.method = bytes}, {.method = run}};
    struct profile_frame three[] = {{.method = native}};
    assert_int_equal(add_frames(p, SECOND, 1, one, 3), 0);
    assert_int_equal(add_frames(p, SECOND, 1, two, 2), 0);
    assert_int_equal(add_frames(p, SECOND, 1, three, 1), 0);
    static const struct {
        const char *in, *out;
        uint64_t weight;
    } table[] = {
        {"java/lang/Thread.run", NULL, 20},
        {"java.lang.Thread.run", NULL, 20},
        {NULL, "java.lang.Thread.run", 10},
        {"java.lang.*", "a/b/*", 10},
        {"a.b.Map.get(int)", NULL, 10},
        {"a/b/Map.get(I)J", NULL, 10},
        {"do_syscall_64", NULL, 10},
        {"*_[k]", NULL, 10},
        {"byte[]", NULL, 10},
        {"byte[]_[i]", NULL, 10},
        {"write", "write", 0},
        {"libc.so.6`write", NULL, 10},
        {"Map.get", NULL, 0},
        {"*", NULL, 30},
        {NULL, "*", 0},
        {NULL, NULL, 30},
    };
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            if (included(p, table[i].in, table[i].out, false) != table[i].weight)
                fail_msg("-I %s -X %s", table[i].in ? table[i].in : "",
                         table[i].out ? table[i].out : "");
    assert_int_equal(included(p, "Map.get", NULL, true), 10);
    /* a new stack is judged as the old ones are */
    assert_int_equal(included(p, "a/b/*", NULL, false), 10);
    assert_int_equal(add_frames(p, SECOND, 2, one, 3), 0);
    assert_int_equal(add_frames(p, SECOND, 2, one + 1, 2), 0);
    assert_int_equal(included(p, "a/b/*", NULL, false), 30);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),       cmocka_unit_test(test_check),
        cmocka_unit_test(test_package),        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_with_also),      cmocka_unit_test(test_from_method),
        cmocka_unit_test(test_frame_patterns), cmocka_unit_test(test_includes),
        cmocka_unit_test(test_costly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
