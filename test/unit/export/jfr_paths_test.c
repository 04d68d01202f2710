/* Frames of call paths in a JFR file: whichever path comes next, its bytes are those of its frames. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/export/jfr/jfr_paths.h"

enum { NODES = 5000, METHODS = 40000, KINDS = 4 };

static uint64_t state_of_random = 7;

static uint32_t roll(uint32_t sides) {
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((state_of_random >> 33) % sides);
}

struct fixture {
    struct call_tree tree;
    struct jfr_paths paths;
    bool learned[METHODS];
    uint8_t kind[METHODS];
    uint8_t type[KINDS][TIERS];
};

static bool forgetful;

static int learn(void *arg, uint32_t method) {
    if (forgetful)
        return -ENOMEM;
    ((struct fixture *)arg)->learned[method] = true;
    return 0;
}

static struct fixture *fixture_new(uint32_t nodes) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->tree.node = calloc(nodes, sizeof *f->tree.node);
    assert_non_null(f->tree.node);
    f->tree.nodes = nodes;
    for (uint32_t i = 0; i < METHODS; i++)
        f->kind[i] = (uint8_t)roll(KINDS);
    for (int k = 0; k < KINDS; k++)
        for (int t = 0; t < TIERS; t++)
            f->type[k][t] = (uint8_t)(1 + k * TIERS + t);
    return f;
}

static void fixture_free(struct fixture *f) {
    jfr_paths_free(&f->paths);
    free(f->tree.node);
    free(f);
}

static void expect_path(struct fixture *f, uint32_t node, char *want) {
    struct jfr_path path;
    size_t bytes = 0;
    uint32_t frames = 0;
    for (uint32_t at = node; at < f->tree.nodes; at = f->tree.node[at].parent, frames++) {
        const struct call_node *n = &f->tree.node[at];
        bytes += jfr_put_frame(want + bytes, n->method, n->line,
                               (char)f->type[f->kind[n->method]][n->tier < TIERS ? n->tier : 0]);
    }
    assert_int_equal(jfr_path_measure(&f->paths, &f->tree, node, learn, f, &path), 0);
    assert_int_equal(path.frames, frames);
    assert_int_equal(path.bytes, bytes);
    for (uint32_t at = node; at < f->tree.nodes; at = f->tree.node[at].parent)
        assert_true(f->learned[f->tree.node[at].method]);
    assert_memory_equal(jfr_path_put(&f->paths, &f->tree, node, f->kind, f->type), want, bytes);
}

/* Some are measured long before they are written, others just then; some more than once. */
static void test_any_order(void **state) {
    (void)state;
    struct fixture *f = fixture_new(NODES);
    char *want = malloc((size_t)NODES * JFR_FRAME_BYTES);
    struct jfr_path path;
    assert_non_null(want);
    for (uint32_t i = 0; i < NODES; i++)
        f->tree.node[i] =
            (struct call_node){.parent = i && roll(50) ? i - 1 - roll(i < 9 ? i : 9) : CALL_ROOT,
                               .method = roll(roll(2) ? 100 : METHODS),
                               .line = (uint16_t)roll(roll(2) ? 100 : 65536),
                               .tier = (uint8_t)roll(TIERS + 2)};
    for (uint32_t i = 0; i < NODES; i++) {
        if (roll(3) == 0)
            assert_int_equal(jfr_path_measure(&f->paths, &f->tree, roll(NODES), learn, f, &path),
                             0);
        expect_path(f, roll(2) ? i : roll(NODES), want);
    }
    expect_path(f, CALL_ROOT, want); /* no frames */
    free(want);
    fixture_free(f);
}

/* What could not be learned is not measured, and nothing is written for it. */
static void test_without_memory(void **state) {
    (void)state;
    struct fixture *f = fixture_new(3);
    char want[3 * JFR_FRAME_BYTES];
    struct jfr_path path;
    for (uint32_t i = 0; i < 3; i++)
        f->tree.node[i] = (struct call_node){.parent = i ? i - 1 : CALL_ROOT, .method = 1000 + i};
    expect_path(f, 0, want);
    forgetful = true;
    assert_int_equal(jfr_path_measure(&f->paths, &f->tree, 2, learn, f, &path), -ENOMEM);
    assert_ptr_equal(jfr_path_put(&f->paths, &f->tree, 2, f->kind, f->type),
                     f->paths.bytes + sizeof f->paths.bytes);
    forgetful = false;
    expect_path(f, 2, want);
    fixture_free(f);
}

/* A path of 4,096 frames is the longest, however it is measured; a circle is not followed. */
static void test_long_paths(void **state) {
    (void)state;
    struct fixture *f = fixture_new(PROFILE_STACK_MAX + 2);
    char *want = malloc((size_t)PROFILE_STACK_MAX * JFR_FRAME_BYTES);
    struct jfr_path path;
    assert_non_null(want);
    for (uint32_t i = 0; i < f->tree.nodes; i++)
        f->tree.node[i] = (struct call_node){
            .parent = i ? i - 1 : CALL_ROOT, .method = METHODS - 1, .line = UINT16_MAX};
    assert_int_equal(jfr_path_measure(&f->paths, &f->tree, PROFILE_STACK_MAX, learn, f, &path),
                     -E2BIG);
    expect_path(f, PROFILE_STACK_MAX - 1, want);
    assert_int_equal(jfr_path_measure(&f->paths, &f->tree, PROFILE_STACK_MAX + 1, learn, f, &path),
                     -E2BIG);
    expect_path(f, 3, want);
    expect_path(f, PROFILE_STACK_MAX - 1, want);
    free(want);
    fixture_free(f);
    f = fixture_new(2);
    f->tree.node[0].parent = 1;
    assert_int_equal(jfr_path_measure(&f->paths, &f->tree, 0, learn, f, &path), -E2BIG);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_long_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
