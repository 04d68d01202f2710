/* The speedscope file to the byte. That speedscope takes it is tried in
 * test/e2e/formats/speedscope_chromium.py. */
#include "test/unit/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void stacks_are_root_first(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B.get(I)I", 2, 200);
    fixture_add(p, 21, "j:a/B.run()V", 3, 300);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("speedscope", p, s, &(struct export_options){.title = "<t>"});
    assert_string_equal(
        out.data, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                  "\"exporter\":\"jtop-prof " JTOP_VERSION "\",\n"
                  "\"name\":\"\\u003ct\\u003e \xc2\xb7 shop.Main (pid 7) \xc2\xb7 cpu every 10 ms "
                  "\xc2\xb7 3 s \xc2\xb7 5 samples \xc2\xb7 2 dropped (28.57%) \xc2\xb7 1 failed "
                  "walk (20.00%, no_caller 1)\",\n"
                  "\"profiles\":[\n"
                  "{\"type\":\"sampled\",\"name\":\"cpu\",\"unit\":\"nanoseconds\","
                  "\"startValue\":0,\"samples\":[[0],\n[0,1]],\n"
                  "\"weights\":[300,200],\"endValue\":500}],\n"
                  "\"shared\":{\"frames\":[\n{\"name\":\"a.B.run\"},\n{\"name\":\"a.B.get\"}]},\n"
                  "\"activeProfileIndex\":0}\n");
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void threads_are_profiles(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "n:x", 1, 100);
    fixture_add(p, 22, "n:x\tn:y", 4, 400);
    profile_thread_name(p, 21, 1, "a\"b");
    profile_thread_name(p, 22, 2, "c");
    struct snapshot *s = fixture_snapshot(p, true, false);
    struct text out = written("speedscope", p, s, &(struct export_options){.threads = true});
    const char *one = strstr(out.data, "\"name\":\"[a\\u0022b tid=21]\",\"unit\":\"nanoseconds\"");
    const char *two = strstr(out.data, "\"name\":\"[c tid=22]\",\"unit\":\"nanoseconds\"");
    assert_non_null(one);
    assert_non_null(two);
    assert_true(strstr(one, "\"weights\":[100],\"endValue\":100}") < two);
    assert_non_null(strstr(two, "\"weights\":[400],\"endValue\":400}"));
    assert_non_null(strstr(out.data, "\"activeProfileIndex\":1}"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void units_are_speedscopes(void **unused) {
    (void)unused;
    static const char *const unit[][2] = {
        {"ns", "nanoseconds"}, {"bytes", "bytes"}, {"calls", "none"}, {NULL, "none"}};
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
        struct export_quality q = written_quality;
        q.unit = unit[i][0];
        const struct export_part part = {s, &q, NULL};
        struct text out = written_all("speedscope", p, &part, 1, &(struct export_options){0});
        char want[64];
        snprintf(want, sizeof want, "\"unit\":\"%s\"", unit[i][1]);
        assert_non_null(strstr(out.data, want));
        assert_non_null(strstr(out.data, "\"samples\":[],\n\"weights\":[],\"endValue\":0}"));
        text_free(&out);
    }
    snapshot_free(s);
    profile_free(p);
}

static void events_are_profiles(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:same", 1, 10);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_quality alloc = written_quality;
    alloc.event = "alloc";
    alloc.unit = "bytes";
    const struct export_part part[] = {{s, &written_quality, NULL}, {s, &alloc, NULL}};
    struct text out = written_all("speedscope", p, part, 2, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\"name\":\"cpu\",\"unit\":\"nanoseconds\""));
    assert_non_null(strstr(out.data, "\"name\":\"alloc\",\"unit\":\"bytes\""));
    assert_non_null(strstr(out.data, "\"frames\":[\n{\"name\":\"same\"}]"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_root_first),
        cmocka_unit_test(threads_are_profiles),
        cmocka_unit_test(units_are_speedscopes),
        cmocka_unit_test(events_are_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
