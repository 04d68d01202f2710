/* Text of others: what is a character, and which of them a person may be shown. */
#include "core/base/clean_text.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void every_code_point_comes_back(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char bytes[UTF8_BYTES + 1] = "";
        uint32_t back = 0;
        size_t n = utf8_encode(bytes, c);
        bool surrogate = c >= 0xd800 && c < 0xe000;
        assert_int_equal(utf8_decode(bytes, n, &back), surrogate ? 0 : n);
        assert_int_equal(back, surrogate ? 0 : c);
        if (n > 1)
            assert_int_equal(utf8_decode(bytes, n - 1, &back), 0); /* cut */
    }
}

static void what_is_no_character(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "\x80",         "\xbf", "\xc0\xaf",         "\xc1\xbf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf",
        "\xf5\x80\x80", "\xff", "\xf4\x90\x80\x80", "\xe2\x82", "\xe2\x28\xa1", "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t code;
        assert_int_equal(utf8_decode(wrong[i], SIZE_MAX, &code), 0);
    }
}

static void what_may_not_be_shown(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
        bool line = c == 0x2028 || c == 0x2029;
        bool turned = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        bool none = (c >= 0xd800 && c <= 0xdfff) || (c & 0xfffe) == 0xfffe;
        assert_int_equal(utf8_is_shown(c), !control && !line && !turned && !none);
    }
}

/* Both filters say the same of the same text, byte for byte or character for character. */
static void names_are_cleaned(void **state) {
    (void)state;
    static const struct {
        const char *raw, *in_place, *copied;
    } cases[] = {
        {"plain_name$1", "plain_name$1", "plain_name$1"},
        {"a\tb\nc\x7f", "a?b?c?", "a?b?c?"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "??31m", "?31m"}, /* CSI as one C1 control */
        {"exe.\xe2\x80\xae"
         "fdp",
         "exe.???fdp", "exe.?fdp"}, /* shown as exe.pdf */
        {"\xe2\x81\xa6x\xe2\x81\xa9", "???x???", "?x?"},
        {"\xef\xbf\xbf", "???", "?"}, /* none of XML's */
        {"cut \xe2\x82", "cut ??", "cut ??"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64], copy[64];
        snprintf(text, sizeof text, "%s", cases[i].raw);
        clean_text(copy, sizeof copy, text, strlen(text));
        utf8_clean(text);
        assert_string_equal(text, cases[i].in_place);
        assert_string_equal(copy, cases[i].copied);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(what_is_no_character),
        cmocka_unit_test(what_may_not_be_shown),
        cmocka_unit_test(names_are_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
