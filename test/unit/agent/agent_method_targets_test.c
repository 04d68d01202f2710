/* Which methods are meant: names, patterns, several at once. */
#include "core/agent/patch/method_targets.h"
#include "core/agent/process/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void patterns(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } c[] = {
        {"", "", true},           {"", "a", false},          {"a", "", false},
        {"*", "", true},          {"*", "abc", true},        {"**", "abc", true},
        {"a*", "abc", true},      {"a*", "ba", false},       {"*c", "abc", true},
        {"*b", "abc", false},     {"a*c", "abbc", true},     {"a*c", "abcb", false},
        {"*a*b*", "xaxbx", true}, {"*a*b*", "xbxax", false}, {"<in*", "<init>", true},
        {"abc", "abc", true},     {"abc", "abcd", false},    {"abcd", "abc", false},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++)
        assert_int_equal(glob_matches(c[i].pattern, c[i].text, strlen(c[i].text)), c[i].matches);
    /* Backtracking stays within text times pattern. */
    char text[4096], pattern[512];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof pattern - 2; i += 2)
        memcpy(pattern + i, "a*", 2);
    memcpy(pattern + sizeof pattern - 2, "b", 2);
    assert_false(glob_matches(pattern, text, sizeof text));
}

static uint32_t in(const struct method_targets *t, const char *name, struct bytecode_target *out) {
    return method_targets_in(t, name, strlen(name), out);
}

static void parts(void **state) {
    (void)state;
    static struct method_targets t;
    struct bytecode_target out[WIRE_METHODS];
    assert_true(method_targets_parse(
        &t, "pkg.Outer$Inner.put(ILjava/lang/String;)V 1000\n*.<init>\npkg/Outer$Inner.get"));
    assert_int_equal(t.count, 3);
    assert_false(t.exact);
    assert_string_equal(t.target[0].class_name, "pkg/Outer$Inner");
    assert_string_equal(t.target[0].method, "put");
    assert_string_equal(t.target[0].signature, "(ILjava/lang/String;)V");
    assert_int_equal(t.target[0].least_ns, 1000);
    assert_string_equal(t.target[1].signature, "");
    assert_int_equal(t.target[1].least_ns, 0);
    assert_int_equal(in(&t, "pkg/Other", out), 1);
    assert_string_equal(out[0].method, "<init>");
    assert_int_equal(out[0].exit, 1);
    /* Those without a pattern come first. */
    assert_int_equal(in(&t, "pkg/Outer$Inner", out), 3);
    assert_int_equal(out[0].exit, 0);
    assert_int_equal(out[1].exit, 2);
    assert_int_equal(out[2].exit, 1);
    assert_true(method_targets_parse(&t, "a.B.*"));
    assert_true(t.exact);
    assert_int_equal(in(&t, "a/B", out), 1);
    assert_int_equal(in(&t, "a/Bc", out), 0);
    assert_true(method_targets_parse(&t, "*.*"));
    assert_int_equal(in(&t, "any/Thing", out), 1);
}

/* As much as fits, and what is of another form. */
static void limits(void **state) {
    (void)state;
    static struct method_targets t;
    char text[WIRE_TEXT_BYTES + 64] = "";
    size_t n = 0;
    for (int i = 0; i <= (int)WIRE_METHODS; i++) {
        assert_int_equal(method_targets_parse(&t, text), i > 0);
        n += (size_t)snprintf(text + n, sizeof text - n, "%sa.B.m(I)%d 5", i ? "\n" : "", i);
    }
    assert_false(method_targets_parse(&t, text)); /* one more than there may be */
    n = 0;
    for (int i = 0; i < (int)WIRE_METHODS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%sp.C.m(%055d)", i ? "\n" : "", i);
    assert_true(n < WIRE_TEXT_BYTES && n > WIRE_TEXT_BYTES - 32);
    assert_true(method_targets_parse(&t, text));
    assert_int_equal(strlen(t.target[WIRE_METHODS - 1].signature), 57);
    static const char *const bad[] = {"",       "\n",    "a",          ".a", "a.",
                                      "a.(I)V", "a.b\n", "a.b\n\na.b", " 5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(method_targets_parse(&t, bad[i]), strcmp(bad[i], "a.b\n") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(parts),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
