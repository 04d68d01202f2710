/* Trees by site: the inverted tree without the frames of the JDK above its roots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile/snapshot/diff.h"
#include "test/unit/profile/profile_fixture.h"

#define FRAMES_MAX 8

/* "app/A.f": a Java method; "[B": a class; "malloc": native. */
static uint32_t method(struct profile *p, const char *text) {
    char class_name[64];
    const char *dot = strchr(text, '.');
    if (text[0] == '[')
        return method_table_intern(profile_methods(p), METHOD_CLASS, text, "", "", "");
    if (!dot)
        return intern(p, text);
    snprintf(class_name, sizeof class_name, "%.*s", (int)(dot - text), text);
    return method_table_intern(profile_methods(p), METHOD_JAVA, class_name, dot + 1, "()V", "");
}

/* `times` samples of a stack, leaf first; each weighs 10. */
static void allocate(struct profile *p, uint32_t times, const char *const *stack) {
    struct profile_frame f[FRAMES_MAX];
    uint16_t frames = 0;
    for (; stack[frames]; frames++)
        f[frames] = (struct profile_frame){.method = method(p, stack[frames]), .tier = TIER_C2};
    while (times-- > 0)
        assert_int_equal(add_frames(p, 10 * SECOND, 1, f, frames), 0);
}

#define ALLOCATE(p, times, ...) allocate(p, times, (const char *const[]){__VA_ARGS__, NULL})

/* "LEVEL METHOD SAMPLES SELF [via METHOD]" of each node, one a line. */
static void expect(struct profile *p, const struct snapshot *s, const char *const *line) {
    const struct method_table *t = profile_methods(p);
    for (uint32_t i = 0; i < s->node_count; i++) {
        char text[256], via[64] = "";
        const struct snapshot_node *n = &s->nodes[i];
        const struct method *m = method_table_get(t, n->method);
        if (s->via[i] != METHOD_NONE)
            snprintf(via, sizeof via, " via %s", method_table_get(t, s->via[i])->name);
        snprintf(text, sizeof text, "%u %s%s %u %u%s", n->depth, m->class_name, m->name,
                 (unsigned)n->total_samples, (unsigned)n->self_samples, via);
        assert_int_equal(n->total, 10 * n->total_samples);
        assert_int_equal(n->tier[TIER_C2] + n->tier[TIER_NONE], n->total_samples);
        if (!line[i] || strcmp(line[i], text) != 0)
            fail_msg("node %u: %s, not %s", i, text, line[i] ? line[i] : "(none)");
    }
    assert_null(line[s->node_count]);
}

#define EXPECT(p, s, ...) expect(p, s, (const char *const[]){__VA_ARGS__, NULL})

static struct snapshot *sites(struct profile *p) {
    return take(p, (struct query){.inverted = true, .sites = true});
}

static void test_ways_become_one(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    ALLOCATE(p, 3, "[B", "java/A.copy", "java/A.grow", "app/Cart.add", "app/Main.main");
    ALLOCATE(p, 4, "[B", "java/A.copy", "app/Cart.add", "app/Main.main");
    ALLOCATE(p, 2, "[B", "app/Cart.add", "java/Thread.run");
    ALLOCATE(p, 1, "[I", "javax/B.f", "jdk/C.f", "app/Main.main");
    struct snapshot *s = sites(p);
    EXPECT(p, s, "0 [B 9 0", "1 app/Cartadd 9 0 via copy", "2 app/Mainmain 7 7",
           "2 java/Threadrun 2 2", "0 [I 1 0", "1 app/Mainmain 1 1 via f");
    assert_int_equal(s->max_depth, 3);
    assert_true(s->by_site);
    snapshot_free(s);
    s = take(p, (struct query){.sites = true}); /* only inverted trees have sites */
    assert_false(s->by_site);
    assert_null(s->via);
    snapshot_free(s);
    profile_free(p);
}

/* Without a frame outside the JDK its first one is the site, as in the terminal; without any Java
 * frame there is none. */
static void test_only_the_jdk(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    ALLOCATE(p, 5, "[B", "sun/A.f", "java/Thread.run");
    ALLOCATE(p, 2, "[B", "sun/A.f");
    ALLOCATE(p, 1, "[B", "com/sun/B.f", "native_code");
    ALLOCATE(p, 4, "[I");
    ALLOCATE(p, 3, "[I", "native_code", "start_thread");
    struct snapshot *s = sites(p);
    EXPECT(p, s, "0 [B 8 0", "1 sun/Af 7 7", "1 com/sun/Bf 1 1", "0 [I 7 7");
    snapshot_free(s);
    profile_free(p);
}

/* Many small ways by one method are more than a larger one by another. */
static void test_way_of_most(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    ALLOCATE(p, 4, "[B", "java/D.copy", "app/Cart.add");
    ALLOCATE(p, 3, "[B", "java/A.a", "java/C.grow", "app/Cart.add");
    ALLOCATE(p, 3, "[B", "java/A.b", "java/C.grow", "app/Cart.add");
    ALLOCATE(p, 3, "[B", "java/A.c", "java/C.grow", "app/Cart.add");
    ALLOCATE(p, 4, "[B", "java/A.a", "java/A.b", "java/E.f", "app/Cart.add");
    ALLOCATE(p, 3, "[B", "java/A.d", "java/C.grow", "app/Cart.add");
    struct snapshot *s = sites(p);
    EXPECT(p, s, "0 [B 20 0", "1 app/Cartadd 20 20 via grow");
    snapshot_free(s);
    profile_free(p);
}

/* A site may call itself by way of the JDK. */
static void test_recursion(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    ALLOCATE(p, 3, "[B", "app/A.f", "java/B.g", "app/A.f", "app/Main.main");
    ALLOCATE(p, 3, "[B", "java/B.g", "app/A.f", "app/Main.main");
    struct snapshot *s = sites(p);
    EXPECT(p, s, "0 [B 6 0", "1 app/Af 6 0 via g", "2 app/Mainmain 3 3", "2 java/Bg 3 0",
           "3 app/Af 3 0", "4 app/Mainmain 3 3");
    struct snapshot *plain = take(p, (struct query){.inverted = true});
    struct diff *d = diff_new(plain, s); /* another kind of tree */
    assert_non_null(d);
    assert_true(diff_node(d, 0).chance);
    assert_true(diff_node(d, 0).percent == 0);
    diff_free(d);
    snapshot_free(plain);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_become_one),
        cmocka_unit_test(test_only_the_jdk),
        cmocka_unit_test(test_way_of_most),
        cmocka_unit_test(test_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
