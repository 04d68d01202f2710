/* The JSON to the byte: man 5 jtop-prof promises its fields. */
#include "test/unit/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void is_what_the_manual_says(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B.get(I)I", 2, 200);
    fixture_add(p, 21, "j:a/B.run()V\tk:vfs_read", 3, 300);
    profile_thread_name(p, 21, 1, "one");
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("json", p, s, &(struct export_options){0});
    assert_string_equal(
        out.data,
        "{\"format\":\"jtop-prof\",\"schema\":1,\"program\":\"jtop-prof " JTOP_VERSION
        "\",\"jvm\":\"shop.Main (pid 7)\",\"pid\":7,\n"
        "\"strings\":[\n\"vfs_read_[k]\",\n\"a.B.get\",\n\"a.B.run\"],\n"
        "\"events\":[\n"
        "{\"event\":\"cpu\",\"unit\":\"ns\",\"interval\":10000000,\"elapsed_ns\":3000000000,"
        "\"samples\":5,\"weight\":500,\"dropped\":2,\"walks\":5,"
        "\"failed_walks\":{\"no_caller\":1},\"biased\":false,\n"
        "\"methods\":[\n"
        "{\"name\":0,\"kind\":\"kernel\",\"self\":300,\"total\":300,\"self_samples\":3,"
        "\"total_samples\":3},\n"
        "{\"name\":1,\"kind\":\"java\",\"self\":200,\"total\":200,\"self_samples\":2,"
        "\"total_samples\":2,\"tiers\":{\"interpreted\":2}},\n"
        "{\"name\":2,\"kind\":\"java\",\"self\":0,\"total\":500,\"self_samples\":0,"
        "\"total_samples\":5,\"tiers\":{\"c2\":5}}],\n"
        "\"threads\":[\n"
        "{\"name\":\"one\",\"tid\":21,\"java_id\":1,\"weight\":500,\"samples\":5}],\n"
        "\"stacks\":[\n[2,200,[2,1]],\n[3,300,[2,0]]]}]}\n");
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void names_stay_names(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:a\"],\"x\":[\"\tn:b\\\tn:c\n\x01</script>\tn:\xff\xc3\xa4", 1, 1);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("json", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\"a\\u0022],\\u0022x\\u0022:[\\u0022\""));
    assert_non_null(strstr(out.data, "\"b\\u005c\""));
    assert_non_null(strstr(out.data, "\\u003c/script\\u003e\""));
    assert_non_null(strstr(out.data, "\"?\xc3\xa4\""));
    assert_null(strchr(out.data, '\x01'));
    assert_null(strchr(out.data, '\xff'));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void events_share_the_strings(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:same", 1, 10);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_quality wall = written_quality;
    wall.event = "wall";
    wall.jvm = NULL;
    const struct export_part part[] = {{s, &written_quality, NULL}, {s, &wall, NULL}};
    struct text out = written_all("json", p, part, 2, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\"strings\":[\n\"same\"],"));
    const char *second = strstr(out.data, "\"event\":\"wall\"");
    assert_non_null(second);
    assert_non_null(strstr(second, "\"stacks\":[\n[1,10,[0]]]}]}\n"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void nothing_is_still_a_file(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("json", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\"strings\":[],"));
    assert_non_null(strstr(out.data, "\"methods\":[],\n\"threads\":[],\n\"stacks\":[]}]}\n"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_manual_says),
        cmocka_unit_test(names_stay_names),
        cmocka_unit_test(events_share_the_strings),
        cmocka_unit_test(nothing_is_still_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
