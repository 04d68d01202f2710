/* The pages: whole, self-contained, hostile names as text, and a policy that fits what is in them. */
#include "core/http/serve/page/pages.h"

#include "core/http/serve/page/pages_hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char evil[] = "\"><script>alert(1)</script><img src=x onerror='a'>&\x01\xff";

static struct jvm some_jvm(void) {
    struct jvm j = {.pid = 4711, .threads = 12, .uptime_ms = 61000, .rss_bytes = 3 << 20};
    (void)snprintf(j.name, sizeof j.name, "%s", evil);
    (void)snprintf(j.user, sizeof j.user, "<b>");
    (void)snprintf(j.version, sizeof j.version, "17.0.1");
    return j;
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void hash_of(const char *data, size_t n, char out[PAGES_HASH_TEXT]) {
    struct pages_hash h;
    pages_hash_begin(&h);
    pages_hash_add(&h, data, n);
    pages_hash_end(&h, out);
}

/* Examples of FIPS 180-4, and one whose padding needs a block of its own. */
static void test_hash(void **state) {
    (void)state;
    static const struct {
        const char *text, *sum;
    } known[] = {
        {"", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char sum[PAGES_HASH_TEXT];
        hash_of(known[i].text, strlen(known[i].text), sum);
        assert_string_equal(sum, known[i].sum);
    }
}

static void test_hash_in_pieces(void **state) {
    (void)state;
    char text[300], whole[PAGES_HASH_TEXT], pieces[PAGES_HASH_TEXT];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        struct pages_hash h;
        pages_hash_begin(&h);
        pages_hash_add(&h, text, cut);
        pages_hash_add(&h, text + cut, sizeof text - cut);
        pages_hash_end(&h, pieces);
        hash_of(text, sizeof text, whole);
        assert_string_equal(pieces, whole);
    }
}

/* What stands between a tag and its end has the hash that the policy names for it. */
static void assert_allowed(const char *page, const char *policy, const char *kind, const char *tag,
                           const char *end) {
    const char *from = strstr(page, tag);
    assert_non_null(from);
    from += strlen(tag);
    const char *to = strstr(from, end);
    assert_non_null(to);
    char sum[PAGES_HASH_TEXT], named[100];
    hash_of(from, (size_t)(to - from), sum);
    (void)snprintf(named, sizeof named, "%s 'sha256-%s'", kind, sum);
    assert_non_null(strstr(policy, named));
}

static void assert_page(const char *page, const char *policy) {
    assert_allowed(page, policy, "style-src", "<style>", "</style>");
    assert_allowed(page, policy, "script-src", "<script>", "</script>");
    assert_int_equal(count_of(page, "<script>"), 1);
    assert_int_equal(count_of(page, "</script>"), count_of(page, "<script"));
    assert_int_equal(count_of(page, "<style"), 1);
    /* Nothing from elsewhere, nothing the policy would refuse. */
    assert_null(strstr(page, " src=\""));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, " style=\""));
    assert_null(strstr(page, " onclick="));
    assert_null(strstr(page, "innerHTML"));
    assert_null(strstr(page, "https://"));
    assert_null(strstr(policy, "unsafe"));
    assert_non_null(strstr(policy, "default-src 'none'"));
    assert_non_null(strstr(page, "lang=\"en\""));
    assert_non_null(strstr(page, "width=device-width"));
    assert_non_null(strstr(page, "<main"));
    assert_string_equal(page + strlen(page) - 8, "</html>\n");
}

static void test_live(void **state) {
    (void)state;
    struct jvm j = some_jvm();
    struct text out = {0};
    pages_live(&out, &j);
    assert_false(out.failed);
    assert_non_null(strstr(out.data, "data-pid=\"4711\""));
    assert_non_null(strstr(out.data, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_null(strstr(out.data, "<script>alert"));
    assert_null(strstr(out.data, "<img"));
    assert_non_null(strstr(out.data, "\"letter\":\"j\""));
    assert_page(out.data, pages_policy(PAGE_LIVE));
    text_free(&out);
}

static void test_list(void **state) {
    (void)state;
    struct jvm jvms[2] = {some_jvm(), some_jvm()};
    jvms[1].pid = 4712;
    jvms[1].closed = true;
    struct text out = {0};
    pages_list(&out, jvms, 2, NULL);
    assert_false(out.failed);
    assert_non_null(strstr(out.data, "href=\"/live/4711\""));
    assert_non_null(strstr(out.data, "href=\"/prof?pid=4711\""));
    assert_null(strstr(out.data, "/live/4712"));
    assert_non_null(strstr(out.data, "cannot be profiled"));
    assert_non_null(strstr(out.data, "href=\"/metrics\""));
    assert_non_null(strstr(out.data, "href=\"/api/v1/jvms\""));
    assert_non_null(strstr(out.data, "3 MB"));
    assert_null(strstr(out.data, "<script>alert"));
    assert_null(strstr(out.data, "<img"));
    assert_null(strstr(out.data, "<b>"));
    assert_page(out.data, pages_policy(PAGE_LIST));
    text_free(&out);
}

static void test_list_of_none(void **state) {
    (void)state;
    struct text out = {0};
    pages_list(&out, NULL, 0, "cannot read <here>");
    assert_non_null(strstr(out.data, "cannot read &lt;here&gt;"));
    text_clear(&out);
    pages_list(&out, NULL, 0, NULL);
    assert_non_null(strstr(out.data, "no JVM on this machine"));
    text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),         cmocka_unit_test(test_hash_in_pieces),
        cmocka_unit_test(test_live),         cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
