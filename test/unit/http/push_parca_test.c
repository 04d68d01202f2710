/* Parca's WriteRaw in gRPC-Web's frames, and what its trailers mean. */
#include "test/unit/http/push_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_series_an_event(void **state) {
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    struct export_quality alloc = x.quality;
    alloc.event = "alloc";
    alloc.unit = "bytes";
    struct export_part parts[] = {x.part, {x.part.snapshot, &alloc, &x.query}};
    x.f.part = parts;
    x.f.parts = 2;
    assert_int_equal(push_fixture_make(&x, "parca"), 0);
    assert_int_equal(x.messages, 1);
    const struct text *body = &x.sent[0].body;
    const unsigned char *head = (const unsigned char *)body->data;
    assert_int_equal(head[0], 0);
    assert_int_equal((size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4], body->len - 5);
    assert_int_equal(fixture_fields(body->data + 5, body->len - 5, 2), 2);
    assert_int_equal(fixture_field(body->data + 5, body->len - 5, 3, 0).value, 1);
    for (int i = 0; i < 2; i++) {
        struct protobuf_field series = fixture_field(body->data + 5, body->len - 5, 2, i);
        struct protobuf_field labels = fixture_in(series, 1, 0), name = fixture_in(labels, 1, 0);
        assert_true(fixture_is(fixture_in(name, 1, 0), "__name__"));
        assert_true(fixture_is(fixture_in(name, 2, 0), i ? "memory" : "process_cpu"));
        assert_true(fixture_is(fixture_in(fixture_in(labels, 1, 3), 1, 0), "team_name"));
        struct protobuf_field raw = fixture_in(fixture_in(series, 2, 0), 1, 0);
        assert_true(raw.size > 20 && !memcmp(raw.data, "\x1f\x8b", 2));
    }
    push_fixture_end(&x);
}

static void an_event_of_another_name(void **state) {
    struct push_fixture x;
    (void)state;
    push_fixture_begin(&x);
    x.quality.event = "com.x.Y.z";
    assert_int_equal(push_fixture_make(&x, "parca"), 0);
    const struct text *body = &x.sent[0].body;
    struct protobuf_field series = fixture_field(body->data + 5, body->len - 5, 2, 0);
    struct protobuf_field name = fixture_in(fixture_in(series, 1, 0), 1, 0);
    assert_true(fixture_is(fixture_in(name, 2, 0), "com_x_Y_z"));
    push_fixture_end(&x);
}

static int judge(unsigned status, const char *body, size_t bytes, char why[256]) {
    return push_protocol_by_name("parca")->judge(status, body, bytes, why, 256);
}

#define TRAILER(text) "\x80\0\0\0" text, sizeof(text) + 3

static void the_trailer_decides(void **state) {
    char why[256];
    (void)state;
    assert_int_equal(judge(200, TRAILER("\x10grpc-status: 0\r\n"), why), 0);
    assert_int_equal(judge(200,
                           "\0\0\0\0\0\x80\0\0\0\x0f"
                           "Grpc-Status:0\r\n",
                           25, why),
                     0);
    assert_int_equal(judge(200, TRAILER("\x20grpc-status: 3\r\ngrpc-message: no\r"), why),
                     -EBADMSG);
    assert_string_equal(why, "gRPC status 3: no");
    assert_int_equal(judge(200, TRAILER("\x10grpc-status: 14\n"), why), -EAGAIN);
    assert_int_equal(judge(200, TRAILER("\x02\r\n"), why), -EBADMSG);
    assert_string_equal(why, "gRPC status missing");
    assert_int_equal(judge(200, "", 0, why), -EBADMSG);
    assert_int_equal(judge(200, "<html>", 6, why), -EBADMSG);
    assert_int_equal(judge(200, "\0\xff\xff\xff\xff", 5, why), -EBADMSG);
    assert_int_equal(judge(404, "", 0, why), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_an_event),
        cmocka_unit_test(an_event_of_another_name),
        cmocka_unit_test(the_trailer_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
