/* The command lines of serve and push. */
#include "test/unit/tui/cli/options_fixture.h"

static void serve_takes_no_jvm(void **state) {
    (void)state;
    struct options o = good("serve");
    assert_int_equal(o.action, ACTION_HTTP);
    o = good("serve --listen :0 --all-jvms -e wall -i 5ms --max-overhead 1%");
    assert_string_equal(o.listen, ":0");
    assert_true(o.all_jvms);
    assert_int_equal(o.session.max_overhead_ppm, 10000);
    bad("serve 9", 1, "/prof?pid=PID");
    bad("serve -e wall", 1, "-e is only for --all-jvms");
    bad("serve -d 3", 1, "-d cannot be used with serve");
    bad("serve -f a.svg", 1, "-f cannot be used");
    bad("serve --to 5s", 1, "--to cannot be used with serve");
    bad("serve --tls-cert a", 1, "--tls-cert and --tls-key must be given together");
    bad("serve --spool /tmp", 1, "--spool works only with push");
}

static void push_needs_a_receiver_and_a_jvm(void **state) {
    (void)state;
    struct options o = good("push --to http://h:4318 --label a=b --label c.d=e=f --every 1m 9");
    assert_int_equal(o.action, ACTION_HTTP);
    assert_string_equal(o.to, "http://h:4318");
    assert_string_equal(o.target, "9");
    assert_int_equal(o.every_ms, 60000);
    assert_int_equal(o.labels, 2);
    assert_string_equal(o.label[1], "c.d=e=f");
    o = good("--to http://h push --all-jvms --spool /s --spool-size 16m --protocol parca");
    assert_string_equal(o.to, "http://h");
    assert_string_equal(o.protocol, "parca");
    assert_true(o.spool_bytes == 16 << 20);
    bad("push 9", 1, "where to? Give --to URL");
    bad("push --to http://h", 1, "which JVM?");
    bad("push --to http://h --all-jvms 9", 1, "not both");
    bad("push --to http://h --every 1500ms 9", 1, "--every: whole seconds");
    bad("push --to http://h --every 2h 9", 1, "--every: whole seconds");
    bad("push --to http://h --listen :1 9", 1, "--listen works only with serve");
    bad("push --to http://h --label 9=a 9", 1, "--label 9=a: not NAME=VALUE");
    bad("push --to http://h --label a 9", 1, "not NAME=VALUE");
    bad("push --to http://h --protocol grpc 9", 1, "not one of: otlp pyroscope parca");
    bad("push --to http://h --record x 9", 1, "--record cannot be used with push");
}

/* It is a time everywhere else. */
static void to_is_a_url_behind_push_only(void **state) {
    (void)state;
    struct options o = good("-d 10 --to 5s 9");
    assert_true(o.to_ms == 5000);
    assert_null(o.to);
    bad("-d 10 --to http://h 9", 100, "--to");
    bad("-d 10 --to 5s push", 1, "-d cannot be used with push");
}

static void options_of_theirs_go_with_nothing_else(void **state) {
    (void)state;
    bad("--listen :1 9", 1, "--listen works only with serve");
    bad("-d 3 --token-file t 9", 1, "--token-file works only with serve and push");
    bad("status --all-jvms 9", 1, "--all-jvms works only with serve and push");
}

static void overheads(void **state) {
    (void)state;
    assert_int_equal(good("--max-overhead 0.5 9").session.max_overhead_ppm, 5000);
    assert_int_equal(good("--max-overhead=100% 9").session.max_overhead_ppm, 1000000);
    bad("--max-overhead 0 9", 100, "from 0.001% to 100%");
    bad("--max-overhead 1%% 9", 100, "not a share of one CPU");
    bad("--max-overhead nan 9", 100, "not a share");
    bad("--max-overhead much 9", 100, "not a share");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serve_takes_no_jvm),
        cmocka_unit_test(push_needs_a_receiver_and_a_jvm),
        cmocka_unit_test(to_is_a_url_behind_push_only),
        cmocka_unit_test(options_of_theirs_go_with_nothing_else),
        cmocka_unit_test(overheads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
