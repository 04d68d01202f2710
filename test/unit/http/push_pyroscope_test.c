/* Pyroscope's forms: the name with its labels, the times, the parts. */
#include "test/unit/http/push_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void name_and_times(void **state) {
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    assert_int_equal(push_fixture_make(&x, "pyroscope"), 0);
    assert_int_equal(x.messages, 1);
    assert_string_equal(x.sent[0].path, "/ingest");
    assert_string_equal(x.sent[0].query,
                        "name=shop%7Bpid%3D42%2Cteam_name%3Da_b_c_d%20%C3%A4%7D&from=1700000000"
                        "&until=1700000015&format=pprof&spyName=jtop-prof&sampleRate=100");
    assert_true(strstr(x.sent[0].type, "multipart/form-data; boundary=") == x.sent[0].type);
    push_fixture_end(&x);
}

static void a_form_an_event(void **state) {
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    struct export_quality alloc = x.quality;
    alloc.event = "alloc";
    alloc.unit = "bytes";
    struct export_part parts[] = {x.part, {x.part.snapshot, &alloc, &x.query}};
    x.f.part = parts;
    x.f.parts = 2;
    assert_int_equal(push_fixture_make(&x, "pyroscope"), 0);
    assert_int_equal(x.messages, 2);
    for (int i = 0; i < 2; i++) {
        const struct text *body = &x.sent[i].body;
        const char *boundary = strchr(x.sent[i].type, '=') + 1;
        assert_memory_equal(body->data + 2, boundary, strlen(boundary));
        const char *config =
            i ? "\"alloc_space\":{\"units\":\"bytes\"" : "\"cpu\":{\"units\":\"nanoseconds\"";
        assert_non_null(memmem(body->data, body->len, config, strlen(config)));
        assert_non_null(memmem(body->data, body->len, "\x1f\x8b", 2));
        assert_memory_equal(body->data + body->len - 4, "--\r\n", 4);
    }
    push_fixture_end(&x);
}

/* Labels that there is no room for are left out whole, and what follows them is there. */
static void a_query_is_bounded(void **state) {
    struct push_fixture x;
    char name[32], value[300];
    (void)state;
    push_fixture_begin(&x);
    memset(value, '%', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (int i = 0; i < PUSH_LABELS_MAX; i++) {
        snprintf(name, sizeof name, "a%d", i);
        (void)labels_set(&x.labels, name, value);
    }
    (void)labels_set(&x.labels, "service_name", value);
    assert_int_equal(push_fixture_make(&x, "pyroscope"), 0);
    const char *query = x.sent[0].query, *end = strstr(query, "%7D&from=1700000000&until=");
    assert_non_null(end);
    assert_memory_equal(end - 3, "%A4", 3); /* a small one that still fits */
    assert_non_null(strstr(query, "&sampleRate=100"));
    push_fixture_end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_and_times),
        cmocka_unit_test(a_form_an_event),
        cmocka_unit_test(a_query_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
