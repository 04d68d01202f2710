/* What an OpenTelemetry collector is sent, and what its answers mean. */
#include "test/unit/http/push_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_resource_has_all_labels(void **state) {
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    assert_int_equal(push_fixture_make(&x, "otlp"), 0);
    assert_int_equal(x.messages, 1);
    const struct push_message *m = &x.sent[0];
    assert_string_equal(m->path, "/v1development/profiles");
    assert_string_equal(m->query, "");
    assert_string_equal(m->type, "application/x-protobuf");
    assert_string_equal(m->subject, "Shop (pid 42)");
    assert_true(m->gzip);
    assert_true(m->from_ns == FIXTURE_FROM_NS && m->to_ns == FIXTURE_TO_NS);
    assert_int_equal(fixture_fields(m->body.data, m->body.len, 1), 1);
    assert_int_equal(fixture_fields(m->body.data, m->body.len, 2), 1); /* the dictionary */
    struct protobuf_field of = fixture_field(m->body.data, m->body.len, 1, 0);
    assert_int_equal(fixture_fields(of.data, of.size, 1), 1);
    struct protobuf_field resource = fixture_in(of, 1, 0);
    assert_int_equal(fixture_fields(resource.data, resource.size, 1), 3);
    struct protobuf_field pid = fixture_in(resource, 1, 0), name = fixture_in(resource, 1, 1);
    assert_true(fixture_is(fixture_in(pid, 1, 0), "process.pid"));
    assert_int_equal(fixture_in(fixture_in(pid, 2, 0), 3, 0).value, 42);
    assert_true(fixture_is(fixture_in(name, 1, 0), "service.name"));
    assert_true(fixture_is(fixture_in(fixture_in(name, 2, 0), 1, 0), "shop"));
    push_fixture_end(&x);
}

/* Times and sums of both profiles: weights, and counts. */
static void the_profile_is_the_window(void **state) {
    static const uint64_t sum[] = {30000000, 3};
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    assert_int_equal(push_fixture_make(&x, "otlp"), 0);
    const struct text *body = &x.sent[0].body;
    struct protobuf_field of = fixture_field(body->data, body->len, 1, 0);
    struct text all = {0}; /* pieces that follow each other are one ScopeProfiles */
    for (int i = 0, n = fixture_fields(of.data, of.size, 2); i < n; i++) {
        struct protobuf_field scope = fixture_in(of, 2, i);
        text_add_n(&all, scope.data, scope.size);
    }
    assert_int_equal(fixture_fields(all.data, all.len, 2), 2);
    for (int i = 0; i < 2; i++) {
        struct protobuf_field profile = fixture_field(all.data, all.len, 2, i);
        uint64_t total = 0;
        assert_true(fixture_in(profile, 3, 0).value == FIXTURE_FROM_NS);
        assert_true(fixture_in(profile, 4, 0).value == FIXTURE_TO_NS - FIXTURE_FROM_NS);
        for (int k = 0, n = fixture_fields(profile.data, profile.size, 2); k < n; k++) {
            struct protobuf_field values = fixture_in(fixture_in(profile, 2, k), 4, 0);
            uint64_t v = 0;
            for (size_t b = 0; b < values.size; b++)
                v |= (uint64_t)(values.data[b] & 0x7f) << (7 * b);
            total += v;
        }
        assert_int_equal(total, sum[i]);
    }
    text_free(&all);
    push_fixture_end(&x);
}

static int judge(unsigned status, const char *body, size_t bytes, char why[256]) {
    return push_protocol_by_name("otlp")->judge(status, body, bytes, why, 256);
}

static void partial_success_is_told(void **state) {
    char why[256];
    struct text partial = {0}, all = {0};
    (void)state;
    assert_int_equal(judge(200, "", 0, why), 0);
    assert_int_equal(judge(200, NULL, 0, why), 0);
    protobuf_add_number(&partial, 1, 2);
    protobuf_add_bytes(&partial, 2, "too old", 7);
    protobuf_add_bytes(&all, 1, partial.data, partial.len);
    assert_int_equal(judge(200, all.data, all.len, why), -EBADMSG);
    assert_string_equal(why, "too old");
    assert_int_equal(judge(503, all.data, all.len, why), 0); /* the status says it all */
    text_clear(&partial);
    text_clear(&all);
    protobuf_add_bytes(&partial, 2, "deprecated", 10);
    protobuf_add_bytes(&all, 1, partial.data, partial.len);
    assert_int_equal(judge(200, all.data, all.len, why), 0); /* a remark: nothing was rejected */
    assert_int_equal(judge(200, "{}", 2, why), 0);
    assert_int_equal(judge(200, "\x0a\xff\xff\xff\xff\xff", 6, why), 0);
    text_free(&partial);
    text_free(&all);
}

static void urls_say_which(void **state) {
    static const char *const url[][2] = {
        {"http://h:4318/v1development/profiles", "otlp"},
        {"http://h:4318/v1development/profiles/", "otlp"},
        {"https://h/tenant/ingest?x=1", "pyroscope"},
        {"http://h:7070/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", "parca"}};
    (void)state;
    for (size_t i = 0; i < sizeof url / sizeof url[0]; i++)
        assert_string_equal(push_protocol_by_url(url[i][0])->name, url[i][1]);
    assert_null(push_protocol_by_url("http://h:4318"));
    assert_null(push_protocol_by_url(""));
    assert_null(push_protocol_by_name("jaeger"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_resource_has_all_labels),
        cmocka_unit_test(the_profile_is_the_window),
        cmocka_unit_test(partial_success_is_told),
        cmocka_unit_test(urls_say_which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
