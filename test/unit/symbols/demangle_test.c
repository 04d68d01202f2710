#include "core/base/utf8.h"
#include "symbols/elf/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *mangled, *readable; /* NULL: not mangled */
    } cases[] = {
        {"_ZN3foo3barEv", "foo::bar"},
        {"_ZN3foo3barEv.constprop.0", "foo::bar"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
        {"_Z3fooIiEvT_", "foo<int>"},
        {"_ZplRK1AS1_", "operator+"},
        {"_ZN1AcvT_IiEEv", "A::operator int<int>"},
        {"_ZNSt8functionIFvvEEclEv", "std::function<void ()>::operator()"},
        {"_ZZN3foo3barEvENKUlvE_clEv", "foo::bar()::{lambda()#1}::operator()"},
        {"_ZN3AbcD0Ev", "Abc::~Abc"},
        {"_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread",
         "JavaCalls::call_helper"},
        {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
        {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h93"
         "0b740aa94f1d3aE",
         "<Test + 'static as foo::Bar<Test>>::bar"},
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvNtNtCs2hGYpKCnZFn_3std6thread5local4with", "std::thread::local::with"},
        {"main", NULL},
        {"", NULL},
        {"_", NULL},
        {"_Z", NULL},
        {"_R", NULL},
        {"_ZN", NULL},
        {"_ZN3foo", NULL},
        {"__Znot", NULL},
        {"Java_java_lang_Object_wait", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[DEMANGLE_BYTES] = "untouched";
        bool mangled = demangle(cases[i].mangled, out);
        assert_string_equal(out, cases[i].readable ? cases[i].readable : "untouched");
        assert_int_equal(mangled, cases[i].readable != NULL);
    }
}

/* "S_", "S0_", … "SZ_", "S10_": the n-th part of a name to come back to. */
static char *reference(char *p, unsigned n) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    *p++ = 'S';
    if (n > 36)
        *p++ = digits[(n - 1) / 36];
    if (n > 0)
        *p++ = digits[(n - 1) % 36];
    *p++ = '_';
    return p;
}

/* Each type holds the one before it twice: 2^depth of them when written out. */
static char *doubling(char *p, unsigned depth, unsigned of, unsigned first) {
    for (unsigned i = 0; i < depth; i++) {
        p = reference(p, of);
        *p++ = 'I';
        p = reference(p, first + i);
        p = reference(p, first + i);
        *p++ = 'E';
    }
    return p;
}

static void test_names_that_explode(void **state) {
    (void)state;
    char name[DEMANGLE_BYTES], out[DEMANGLE_BYTES];
    alarm(60); /* what does not end at once does not end */
    char *end = doubling(stpcpy(name, "_Z1fI1AIiiE"), 60, 1, 2);
    stpcpy(end, "Evv");
    assert_true(demangle(name, out));
    assert_int_equal(strlen(out), DEMANGLE_BYTES - 1);
    assert_memory_equal(out, "f<A<int, int>, A<A<int, int>, A<int, int> >", 40);

    /* The same inside a pack expansion takes its time before anything is written. */
    end = doubling(stpcpy(name, "_Z1fIDpN1BI1AIiiE"), 60, 2, 3);
    stpcpy(end, "E1cEEvv");
    assert_false(demangle(name, out));

    /* Rust: tuples of the tuple before, by back reference. */
    stpcpy(name, "_RINvC1a1bTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTuuEBf_EBe_EBd_EBc_EE");
    demangle(name, out);

    memset(name, 'N', sizeof name);
    memcpy(name, "_Z", 2);
    name[sizeof name - 1] = '\0';
    assert_false(demangle(name, out));
    memset(name + 2, 'P', sizeof name - 3);
    assert_false(demangle(name, out));
    alarm(0);
}

static void test_long_names_are_cut(void **state) {
    (void)state;
    char name[4096] = "_ZN3fooE", out[DEMANGLE_BYTES];
    memset(name + 8, 'x', 3000); /* mangled names of more than 1 KiB stay as they are */
    assert_false(demangle(name, out));
    char *end = stpcpy(name, "_Z3fooI");
    for (int i = 0; i < 100; i++)
        end = stpcpy(end, "St6vectIiE");
    stpcpy(end, "Evv");
    demangle(name, out);
    assert_true(strlen(out) < DEMANGLE_BYTES);
}

static void test_clean(void **state) {
    (void)state;
    static const struct {
        const char *raw, *clean;
    } cases[] = {
        {"plain_name$1", "plain_name$1"},
        {"\x1b[31mred\x07", "?[31mred?"},
        {"tab\tnewline\n\x7f", "tab?newline??"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "??31m"},                           /* CSI as a C1 control */
        {"\xc0\xaf \xe0\x80\xaf", "?? ???"}, /* overlong */
        {"\xed\xa0\x80", "???"},             /* surrogate */
        {"\xf4\x90\x80\x80 \xff", "???? ?"}, /* beyond Unicode */
        {"cut \xe2\x82", "cut ??"},
        {"cut \xf0", "cut ?"},
        {"\xef\xbf\xbf", "???"}, /* U+FFFF: no XML */
        {"exe.\xe2\x80\xae"
         "fdp",
         "exe.???fdp"}, /* the rest from right to left: seen as exe.pdf */
        {"\xe2\x81\xa7x\xe2\x81\xa9", "???x???"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        stpcpy(name, cases[i].raw);
        utf8_clean(name);
        assert_string_equal(name, cases[i].clean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_that_explode),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
