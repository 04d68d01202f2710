#include "core/export/export.h"

#include "core/export/human.h"
#include "core/export/svg_text.h"
#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const struct export_quality quality = {
    .event = "cpu",
    .unit = "ns",
    .interval = 10000000,
    .elapsed_ns = 30400000000,
    .dropped = 1234,
    .jvm = "Main <b>& (pid 7)",
    .failed = {{"unknown_Java", 5}},
    .failed_count = 1,
};

/* The whole file; also checks that it is XML where xmllint is there to say so. */
static char *draw(const struct profile *p, struct snapshot *s, const struct export_options *o) {
    struct text t = {0};
    struct export_options unused = {0};
    assert_int_equal(exporter_by_format("svg", &unused)->write(&t, p, s, &quality, o), 0);
    FILE *lint = popen("command -v xmllint >/dev/null || exec cat >/dev/null; "
                       "exec xmllint --nonet --noout --huge -",
                       "w");
    assert_non_null(lint);
    fwrite(t.data, 1, t.len, lint);
    int status = pclose(lint);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    snapshot_free(s);
    return t.data;
}

static void expect(const char *svg, const char *part) {
    if (!strstr(svg, part))
        print_error("missing: %s\n", part);
    assert_non_null(strstr(svg, part));
}

static void expect_not(const char *svg, const char *part) {
    if (strstr(svg, part))
        print_error("should not be there: %s\n", part);
    assert_null(strstr(svg, part));
}

static struct profile *sample(void) {
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:a/Main.run(I)V\tl:a/B.get(I)I", 20, 1000);
    fixture_add(p, 1, "j:a/Main.run(I)V\tl:a/B.get(J)I", 10, 1000);
    fixture_add(p, 1, "j:a/Main.run(I)V\ti:a/A.slow(I)I\tk:do_syscall_64", 10, 6000);
    fixture_add(p, 1, "n:start_thread\tp:Thread::run", 60, 2000);
    return p;
}

static void test_places_frames(void **state) {
    (void)state;
    struct profile *p = sample();
    char *svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){0});
    /* depth left samples weight self; siblings by name; overloads are one frame */
    expect(svg, "data-f=\"0 0 100 10000 0\"><title>all (100 samples, 100.00%, 10 us)</title>"
                "<rect x=\"0%\" y=\"132\" width=\"100%\" height=\"15\"/>");
    expect(svg, "data-f=\"1 0 40 8000 0\"><title>a/Main.run (40 samples, 40.00%, 8 us)</title>"
                "<rect x=\"0%\" y=\"116\" width=\"40%\" height=\"15\"/>");
    expect(svg, "data-f=\"2 0 10 6000 0\"><title>a/A.slow (");
    expect(svg, "data-f=\"2 10 30 2000 30\"><title>a/B.get (30 samples, 30.00%, 2 us)</title>"
                "<rect x=\"10%\" y=\"100\" width=\"30%\" height=\"15\"/>");
    expect(svg, "data-f=\"3 0 10 6000 10\"><title>do_syscall_64_[k] (");
    expect(svg, "data-f=\"1 40 60 2000 0\"><title>start_thread (");
    expect(svg, "<title>CPU profile \xc2\xb7 Main &lt;b&gt;&amp; (pid 7)</title>");
    expect(svg,
           "cpu every 10 ms \xc2\xb7 30.4 s \xc2\xb7 100 samples \xc2\xb7 1,234 dropped (92.50%)"
           " \xc2\xb7 5 failed walks (5.00%, unknown_Java 5)</text>");
    free(svg);
    profile_free(p);
}

static void test_colours(void **state) {
    (void)state;
    struct profile *p = sample();
    char *svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){0});
    static const char *const colour[] = {".i0 rect{fill:#b2e1b2}", ".j0 rect{fill:#50e150}",
                                         ".l0 rect{fill:#50cccc}", ".n0 rect{fill:#e15a5a}",
                                         ".p0 rect{fill:#c8c83c}", ".k0 rect{fill:#e17d00}"};
    for (size_t i = 0; i < sizeof(colour) / sizeof(colour[0]); i++)
        expect(svg, colour[i]);
    expect_not(svg, ".c0 rect");
    const char *frame = strstr(svg, "<title>Thread::run (");
    assert_non_null(frame);
    while (*frame != '<' || frame[1] != 'g')
        frame--;
    assert_int_equal(strncmp(frame, "<g class=\"p", 11), 0);
    free(svg);
    profile_free(p);
}

static void test_total_inverted_fixed(void **state) {
    (void)state;
    struct profile *p = sample();
    const struct export_options o = {
        .total = true, .inverted = true, .width = 800, .height = 20, .title = "Mine & yours"};
    char *svg = draw(p, fixture_snapshot(p, false, false), &o);
    expect(svg, "width=\"800\" height=\"194\" viewBox=\"0 0 800 194\" data-fluid=\"0\" "
                "data-up=\"0\" data-total=\"1\"");
    expect(svg, "Mine &amp; yours</text>");
    expect(svg, "<rect x=\"0%\" y=\"84\" width=\"100%\" height=\"19\"/>");
    expect(svg, "data-f=\"1 0 40 8000 0\"><title>a/Main.run (40 samples, 80.00%, 8 us)</title>"
                "<rect x=\"0%\" y=\"104\" width=\"80%\" height=\"19\"/>");
    free(svg);
    profile_free(p);
}

static void test_hostile_names(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:</title><script>alert(1)</script>\tn:]]></script>\xff\x01\tn:\"'&amp;", 5,
                5);
    profile_thread_name(p, 1, 1, "</svg><script>");
    char *svg = draw(p, fixture_snapshot(p, true, false), &(struct export_options){0});
    expect(svg, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; (5 samples");
    expect(svg, "<title>]]&gt;&lt;/script&gt;?? (5 samples");
    expect(svg, "<title>&quot;&#39;&amp;amp; (5 samples");
    const char *script = strstr(svg, "<script");
    assert_null(strstr(script + 1, "<script"));
    assert_ptr_equal(strstr(svg, "]]>"), strstr(script, "]]></script>\n</svg>\n"));
    free(svg);
    profile_free(p);
}

static void test_narrow_frames_go(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:wide", 99949, 99949);
    fixture_add(p, 1, "n:narrow\tn:below", 50, 50);
    fixture_add(p, 1, "n:sliver", 1, 1);
    char *svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){0});
    expect(svg, "<title>below (50 samples, 0.05%");
    expect_not(svg, "<title>sliver"); /* 0.02 pixels of 1920 */
    expect(svg, "are not drawn");
    free(svg);
    svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){.minwidth = 0.5});
    expect(svg, "<title>wide (");
    expect_not(svg, "<title>below");
    expect(svg, "frames under 0.5% are not drawn");
    free(svg);
    svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){.minwidth = 0.0001});
    expect(svg, "data-f=\"1 50 1 1 1\"><title>sliver (");
    free(svg);
    profile_free(p);
}

static unsigned count_frames(const char *svg) {
    unsigned n = 0;
    for (const char *f = svg; (f = strstr(f, "</title><rect ")); f++)
        n++;
    return n;
}

/* 1,500 roots of 40 frames each: all wide enough to see, too many for a browser. */
static void test_stays_small(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    for (int i = 0; i < 1500; i++) {
        char stack[2048];
        size_t len = (size_t)snprintf(stack, sizeof(stack), "n:root%d", i);
        for (int d = 0; d < 40; d++)
            len += (size_t)snprintf(stack + len, sizeof(stack) - len, "\tn:f%d", d);
        fixture_add(p, 1, stack, i < 100 ? 50 : 10, 1);
    }
    char *svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){0});
    assert_int_equal(count_frames(svg), 1 + 100 * 41); /* those of 0.26%, not those of 0.05% */
    free(svg);
    svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){.minwidth = 0.01});
    assert_int_equal(count_frames(svg), 1 + 1500 * 41); /* asked for, so drawn */
    free(svg);
    profile_free(p);
}

static void test_nothing_sampled(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    char *svg = draw(p, fixture_snapshot(p, false, false), &(struct export_options){0});
    expect(svg, ">no samples</text>");
    assert_int_equal(count_frames(svg), 1);
    free(svg);
    profile_free(p);
}

static void label(const char *name, bool java, unsigned columns, const char *want) {
    struct text t = {0};
    text_add(&t, "");
    svg_text_add_label(&t, name, java, columns);
    assert_string_equal(t.data, want);
    text_free(&t);
}

static void test_labels(void **state) {
    (void)state;
    label("java/lang/Thread.run", true, 20, "java/lang/Thread.run");
    label("java/lang/Thread.run", true, 19, "Thread.run");
    label("java/lang/Thread.run", true, 9, "Thread.r\xe2\x80\xa6");
    label("java/lang/Thread.run", true, 4, "");
    label("a/B.f(Lc/D;)V", true, 12, "B.f(Lc/D;)V");
    label("a/Main$$Lambda/0x00007f.run", true, 26, "Main$$Lambda/0x00007f.run");
    label("lib/symbol", false, 9, "lib/symb\xe2\x80\xa6");
    label("\xe8\xa8\x88\xe7\xae\x97\xe8\xa8\x88", false, 6, "\xe8\xa8\x88\xe7\xae\x97\xe8\xa8\x88");
    label("\xe8\xa8\x88\xe7\xae\x97\xe8\xa8\x88", false, 5, "\xe8\xa8\x88\xe7\xae\x97\xe2\x80\xa6");
    label("<&>", false, 3, "&lt;&amp;&gt;");
    label("\xc3", false, 3, "?");
    label("\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xef\xbf\xbf", false, 99, "??????????");
}

static void weight(uint64_t n, const char *unit, const char *want) {
    struct text t = {0};
    human_weight(&t, n, unit);
    assert_string_equal(t.data, want);
    text_free(&t);
}

static void test_numbers_for_people(void **state) {
    (void)state;
    weight(0, "ns", "0 ns");
    weight(999, "ns", "999 ns");
    weight(12345, "ns", "12.3 us");
    weight(999999, "ns", "1000 us");
    weight(10000000, "ns", "10 ms");
    weight(1234000000, "ns", "1.23 s");
    weight(125000000000, "ns", "2 min 5 s");
    weight(UINT64_MAX, "ns", "5124095 h 34 min");
    weight(524287, "bytes", "512 KB");
    weight(1536, "bytes", "1.5 KB");
    weight(1234567, "calls", "1,234,567 calls");
}

static void test_events_of_other_kinds(void **state) {
    (void)state;
    struct profile *p = sample();
    struct snapshot *s = fixture_snapshot(p, false, false);
    const struct export_quality q = {.event = "wall",
                                     .unit = "ns",
                                     .interval = 50000000,
                                     .biased = true,
                                     .coverage = 0.995,
                                     .windows = 1,
                                     .window_ns = 2000000,
                                     .failed = {{"loop", 5}},
                                     .failed_count = 1,
                                     .walks = 200};
    struct export_options o = {0};
    struct text t = {0};
    assert_int_equal(exporter_by_format("svg", &o)->write(&t, p, s, &q, &o), 0);
    expect(t.data, "<title>Wall clock profile</title>");
    expect(t.data, "wall every 50 ms \xc2\xb7 100 samples");
    expect(t.data, "5 failed walks (2.50%, loop 5) \xc2\xb7 BIASED: sampled at safepoints only "
                   "\xc2\xb7 coverage 99.5% \xc2\xb7 1 window, 2 ms</text>");
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_frames),        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_total_inverted_fixed), cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_narrow_frames_go),     cmocka_unit_test(test_stays_small),
        cmocka_unit_test(test_nothing_sampled),      cmocka_unit_test(test_labels),
        cmocka_unit_test(test_numbers_for_people),   cmocka_unit_test(test_events_of_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
