#include "core/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What a sink got. */
struct taken {
    char *bytes;
    size_t len, largest;
    unsigned calls, refuse; /* the call with that number fails; 0: none */
};

static int take(void *arg, const char *data, size_t len) {
    struct taken *t = arg;
    assert_true(len > 0);
    assert_int_equal(data[len], '\0');
    if (++t->calls == t->refuse)
        return -1;
    t->bytes = realloc(t->bytes, t->len + len);
    assert_non_null(t->bytes);
    memcpy(t->bytes + t->len, data, len);
    t->len += len;
    t->largest = len > t->largest ? len : t->largest;
    return 0;
}

/* Numbers, a line each, in all the ways there are. */
static void add_lines(struct text *t, unsigned lines) {
    for (unsigned i = 0; i < lines; i++) {
        text_addf(t, "%u", i);
        text_add(t, " is a ");
        text_add_n(t, "number\n", 7);
    }
}

static void test_without_a_sink_all_stays(void **state) {
    (void)state;
    struct text t = {0};
    add_lines(&t, 200000);
    assert_false(t.failed);
    assert_true(t.len > 3 * TEXT_GATHERED);
    assert_int_equal(t.len, strlen(t.data));
    text_clear(&t);
    assert_string_equal(t.data, "");
    text_free(&t);
    assert_null(t.data);
}

static void test_a_sink_takes_what_gathers(void **state) {
    (void)state;
    struct taken k = {0};
    struct text whole = {0}, t = {.sink = take, .sink_arg = &k};
    text_add(&t, "few");
    assert_int_equal(k.calls, 0);
    assert_string_equal(t.data, "few");
    text_clear(&t);
    add_lines(&whole, 300000);
    add_lines(&t, 300000);
    assert_false(t.failed);
    assert_true(k.calls > 3);
    assert_true(k.largest <= TEXT_GATHERED && t.cap <= TEXT_GATHERED);
    assert_int_equal(t.len, strlen(t.data));
    assert_int_equal(k.len + t.len, whole.len);
    assert_memory_equal(whole.data, k.bytes, k.len);
    assert_string_equal(whole.data + k.len, t.data);
    text_free(&whole);
    text_free(&t);
    free(k.bytes);
}

/* One piece that is larger than what is kept. */
static void test_a_large_piece(void **state) {
    (void)state;
    struct taken k = {0};
    struct text t = {.sink = take, .sink_arg = &k};
    size_t n = 3 * (size_t)TEXT_GATHERED + 5;
    char *large = malloc(n + 1);
    memset(large, 'x', n);
    large[n] = '\0';
    for (int i = 0; i < 3; i++) {
        text_add(&t, "before ");
        text_add_n(&t, large, n);
        text_addf(&t, " %s", large);
    }
    assert_false(t.failed);
    assert_int_equal(k.len + t.len, 3 * (2 * n + 8));
    assert_memory_equal(k.bytes, "before xxx", 10);
    text_free(&t);
    free(large);
    free(k.bytes);
}

static void test_a_sink_that_fails_is_not_asked_again(void **state) {
    (void)state;
    struct taken k = {.refuse = 2};
    struct text t = {.sink = take, .sink_arg = &k};
    add_lines(&t, 400000);
    assert_true(t.failed);
    assert_int_equal(k.calls, 2);
    assert_int_equal(t.len, 0);
    text_clear(&t);
    text_add(&t, "more");
    assert_true(t.failed);
    assert_int_equal(t.len, 0);
    text_free(&t);
    free(k.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_sink_all_stays),
        cmocka_unit_test(test_a_sink_takes_what_gathers),
        cmocka_unit_test(test_a_large_piece),
        cmocka_unit_test(test_a_sink_that_fails_is_not_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
