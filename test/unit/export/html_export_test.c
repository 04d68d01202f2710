/* The page around the script: frames decode to the snapshot's, and no name gets out of its string.
 * What the page does is tried in test/e2e/formats/html_chromium.py. */
#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct text written(const struct snapshot *s, const struct profile *p,
                           const struct export_options *o) {
    struct text out = {0};
    struct export_options unused = {0};
    const struct export_quality q = {.event = "cpu", .unit = "ns", .jvm = "</title><b>"};
    assert_int_equal(exporter_by_format("html", &unused)->write(&out, p, s, &q, o), 0);
    return out;
}

struct frames {
    unsigned char data[4096];
    size_t len;
};

static struct frames decode(const char *page) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct frames f = {{0}, 0};
    const char *at = strstr(page, "id=\"frames\">");
    assert_non_null(at);
    for (at += 12; *at != '<'; at += 4) {
        uint32_t v = 0;
        int bytes = 3;
        for (int i = 0; i < 4; i++) {
            const char *d = at[i] == '=' ? digits : strchr(digits, at[i]);
            assert_non_null(d);
            bytes -= at[i] == '=';
            v = v << 6 | (uint32_t)(d - digits);
        }
        for (int i = 0; i < bytes; i++)
            f.data[f.len++] = (unsigned char)(v >> (16 - 8 * i));
    }
    return f;
}

static uint64_t number(const unsigned char **at) {
    uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
        n |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128)
            return n;
    }
}

static void frames_are_in_preorder(void **unused) {
    (void)unused;
    /* up, count, self of a, a;b, a;b;d, a;c, e */
    static const uint64_t want[][3] = {{0, 10, 1}, {0, 5, 2}, {0, 3, 3}, {2, 4, 4}, {2, 7, 7}};
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:a.x()V", 1, 10);
    fixture_add(p, 1, "j:a.x()V\tj:b.x()V", 2, 20);
    fixture_add(p, 1, "j:a.x()V\tj:b.x()V\tn:d", 3, 33);
    fixture_add(p, 1, "j:a.x()V\tj:c.x()V", 4, 40);
    fixture_add(p, 1, "k:e", 7, 70);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text page = written(s, p, &(struct export_options){0});
    struct frames f = decode(page.data);
    const unsigned char *at = f.data;
    for (size_t i = 0; i < 5; i++) {
        uint64_t first = number(&at);
        assert_int_equal(first >> 4, want[i][0]);
        (void)number(&at); /* name */
        assert_int_equal(number(&at), want[i][1]);
        assert_int_equal(number(&at), want[i][2]);
        (void)number(&at); /* weight */
    }
    assert_ptr_equal(at, f.data + f.len);
    text_free(&page);
    snapshot_free(s);
    profile_free(p);
}

static int occurrences(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void names_stay_names(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text empty = written(s, p, &(struct export_options){0});
    int scripts = occurrences(empty.data, "<script"), ends = occurrences(empty.data, "</script");
    snapshot_free(s);
    fixture_add(p, 1, "n:</script><script>alert(1)</script>\tn:<!--\tn:\"],x:[\"\\\tn:a\x01&", 1,
                1);
    s = fixture_snapshot(p, false, false);
    struct text page = written(s, p, &(struct export_options){.title = "</h1><script>"});
    assert_int_equal(occurrences(page.data, "<script"), scripts);
    assert_int_equal(occurrences(page.data, "</script"), ends);
    assert_null(strstr(page.data, "<!--"));
    assert_null(strstr(page.data, "<b>"));
    assert_non_null(strstr(page.data, "\"\\u0022],x:[\\u0022\\u005c\""));
    assert_non_null(strstr(page.data, "&lt;/h1&gt;"));
    assert_null(strstr(page.data, "http"));
    text_free(&empty);
    text_free(&page);
    snapshot_free(s);
    profile_free(p);
}

static void narrow_frames_go_where_that_is_asked(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:wide", 99, 990);
    fixture_add(p, 1, "n:narrow", 1, 10);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text page = written(s, p, &(struct export_options){.minwidth = 5});
    assert_non_null(strstr(page.data, "\"frames\":1,"));
    assert_non_null(strstr(page.data, "\"hidden\":5"));
    text_free(&page);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_in_preorder),
        cmocka_unit_test(names_stay_names),
        cmocka_unit_test(narrow_frames_go_where_that_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
