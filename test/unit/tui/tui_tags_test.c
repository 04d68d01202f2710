/* Tags of rows: the set, the marks, the sum, and what is done with all tagged rows. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

#include "tui/screen/plain_page.h"
#include "tui/view/view.h"

#define HAS(part) assert_true(fixture_has(&f, (part)))
#define HAS_NOT(part) assert_false(fixture_has(&f, (part)))

static struct tag method(uint64_t id) {
    return (struct tag){TAG_METHOD, id};
}

static void the_set(void **unused) {
    (void)unused;
    struct tags t = {.count = 0};
    struct tag_sum sum = {0};
    assert_int_equal(tags_find(&t, method(7)), -1);
    assert_int_equal(tags_toggle(&t, (struct tag){TAG_NONE, 7}), -EINVAL);
    for (uint64_t i = 0; i < TAGS_MAX; i++)
        assert_int_equal(tags_toggle(&t, method(i * i)), 0);
    assert_int_equal(tags_toggle(&t, method(2)), -ENOSPC);
    assert_int_equal(t.count, TAGS_MAX);
    for (uint64_t i = 0; i < TAGS_MAX; i++)
        assert_int_equal(tags_find(&t, method(i * i)), (int)i);
    assert_int_equal(tags_find(&t, (struct tag){TAG_THREAD, 4}), -1);
    assert_int_equal(tags_toggle(&t, method(4)), 0);
    assert_int_equal(tags_find(&t, method(4)), -1);
    assert_int_equal(tags_find(&t, method(9)), 2);
    assert_int_equal(tags_find(&t, method(63 * 63)), TAGS_MAX - 2);
    assert_true(tags_add(&t, &sum, method(9), 5) && tags_add(&t, &sum, method(9), 6));
    assert_false(tags_add(&t, &sum, method(4), 7));
    assert_true(sum.seen == 4 && sum.weight == 11);
    tags_clear(&t);
    assert_int_equal(tags_find(&t, method(9)), -1);
    assert_int_equal(tags_toggle(&t, method(9)), 0);
    assert_int_equal(tags_find(&t, method(9)), 0);
}

/* Space marks the row and goes down; again, it takes the mark away. U clears, Esc does not. */
static void space(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    HAS_NOT("tagged");
    fixture_press(&f, " ");
    HAS("\n * 31.0 ");
    HAS("\n>  19.0 ");
    HAS(" 1 tagged: 31.0% self\n");
    fixture_press(&f, "j ");
    HAS("\n * 14.0 ");
    HAS("\n>  12.0 ");
    HAS("2 tagged: 45.0% self");
    fixture_press(&f, "k");
    HAS("\n>* 14.0 ");
    fixture_press(&f, " ");
    HAS("\n   14.0 ");
    HAS("1 tagged: 31.0% self");
    fixture_press(&f, "\x1b");
    HAS("1 tagged: 31.0% self");
    fixture_press(&f, "U");
    HAS_NOT("tagged");
    HAS("\n   31.0 ");
    fixture_press(&f, "G "); /* the last row */
    HAS("\n>*  0.0 ");
    fixture_press(&f, " ");
    HAS("\n>   0.0 ");
    fixture_close(&f);
}

static void follows_its_method(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "jj  "); /* multiply, total */
    for (int i = 0; i < 5; i++)
        fixture_sample(&f, 9000, 500, i % 2 ? "2 new.Hot.work" : "2 new.Hot.run");
    fixture_second(&f);
    HAS("2 tagged: 7.4% self");
    HAS("\n *  4.0 ");
    fixture_press(&f, "x"); /* by another column */
    HAS("2 tagged: 7.4% self");
    HAS("\n *  4.0 ");
    fixture_press(&f, "r");
    HAS("2 tagged: 7.4% self");
    fixture_press(&f, "3*"); /* in the tree, every row of the method */
    HAS("2 tagged: 7.4% self");
    fixture_press(&f, "}/Cart.total\n");
    HAS("\n>* ");
    fixture_press(&f, "2");
    HAS_NOT("tagged"); /* this view has none of them */
    fixture_press(&f, "1");
    HAS("2 tagged: 7.4% self");
    fixture_close(&f);
}

static void threads(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    fixture_press(&f, " j ");
    HAS("\n *   4711 ");
    HAS("\n *   4713 ");
    HAS("2 tagged: 57.0%\n");
    f.thread_count--; /* others come and go */
    fixture_sample(&f, 4712, 1000, "2 java.lang.Thread.run");
    fixture_second(&f);
    HAS("\n *   4711 ");
    HAS("2 tagged: 28.5%\n");
    fixture_press(&f, "1"); /* a method may have the number of a thread */
    HAS_NOT("tagged");
    fixture_press(&f, "2d");
    HAS("2 tagged: 28.5%\n");
    fixture_press(&f, "g "); /* the pool of both workers, one of which is tagged too */
    HAS("http-worker-#");
    HAS("3 tagged: 94.8%\n");
    fixture_press(&f, "3T");
    HAS("\n *  "); /* the trees of the tagged threads */
    HAS("2 tagged: 28.5%");
    fixture_close(&f);
}

/* A row of the VM's threads is the same item in the methods and the tree. */
static void folded_rows(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 100, false);
    profile_thread_name(f.profile, 4720, 40, "GC Thread#7");
    fixture_second(&f);
    fixture_press(&f, "J/GC threads\n ");
    HAS("1 tagged: 9.0% self");
    fixture_press(&f, "3");
    HAS("1 tagged: 9.0% self");
    HAS(" *   9.0 ");
    fixture_close(&f);
}

static void locks_and_alloc(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_LOCKS, 24, 100, false);
    sample_as(&f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 900,
              "2 java.lang.Thread.run|2 shop.cart.Cart.total|o java.lang.Object[]");
    f.event = WIRE_EVENT_CPU;
    fixture_second(&f);
    fixture_press(&f, " "); /* a class; its owner is part of it */
    HAS("\n *");
    HAS("1 tagged: 99.5% of waits");
    fixture_press(&f, " ");
    HAS("2 tagged: 99.5% of waits");
    fixture_press(&f, "G "); /* an owner that is not known */
    HAS("this row cannot be tagged");
    HAS("2 tagged: 99.5% of waits");
    fixture_press(&f, "g\n"); /* Enter still opens and closes */
    HAS("\n>*");
    fixture_press(&f, "U6");
    HAS_NOT("tagged");
    fixture_press(&f, "g ");
    HAS("\n *");
    HAS("\n *  69.2 ");
    HAS("1 tagged: 69.2% of bytes");
    fixture_press(&f, "g\nj "); /* what allocates it is on the same stacks, and on others */
    HAS("2 tagged: 92.3% of bytes");
    fixture_press(&f, "\\");
    assert_string_equal(f.model.question.filter,
                        "^(java\\.lang\\.Object\\[\\]|shop\\.cart\\.Cart\\.total)$");
    fixture_press(&f, "\x1b"
                      "1");
    HAS("1 tagged: 12.0% self"); /* classes are no rows here, and on no stack */
    fixture_press(&f, "\\");
    assert_string_equal(f.model.question.filter, "^shop\\.cart\\.Cart\\.total$");
    fixture_close(&f);
}

/* A waiter is below every stack of the owner, but its waits count once. */
static void waiter_below_two_stacks(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_LOCKS, 24, 100, false);
    fixture_engine(&f, WIRE_EVENT_LOCK, "lock", "jvmti", 10000);
    waited(&f, "java.util.HashMap", 0, 1, 4711, 60 * MS, 4712, "2 shop.A.one");
    waited(&f, "java.util.HashMap", 0, 1, 4711, 40 * MS, 4712, "2 shop.A.two");
    waited(&f, "java.util.HashMap", 0, 1, 4713, 100 * MS, 4712, "2 shop.A.one");
    fixture_second(&f);
    fixture_press(&f, "g*"); /* opens all */
    fixture_press(&f, "/waited: http-worker-1\n ");
    HAS("1 tagged: 50.0% of waits");
    fixture_close(&f);
}

static const char *copied(struct fixture *f) {
    assert_int_equal(screen_press(f->screen, 'y'), SCREEN_COPY);
    return screen_text(f->screen);
}

static void copies_all(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    assert_string_equal(copied(&f), "shop.price.Rounding.halfUp\n");
    fixture_press(&f, "jj g ");
    fixture_press(&f, "G");
    assert_string_equal(copied(&f), "shop.price.Rounding.halfUp\njava.math.BigDecimal.multiply\n");
    fixture_press(&f, "2"); /* no thread is tagged: the row at the cursor */
    assert_string_equal(copied(&f), "http-worker-1 tid=4711\n");
    fixture_press(&f, "gjj ");
    assert_string_equal(copied(&f), "価格-更新 tid=4713\n");
    fixture_press(&f, "U3g");
    fixture_press(&f, "  ");
    const char *both = copied(&f);
    assert_non_null(strstr(both, "\n\n")); /* between two stacks */
    fixture_close(&f);
}

static void fills_the_filter(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 160, false);
    fixture_press(&f, " \\");
    HAS("excludes): ^shop\\.price\\.Rounding\\.halfUp$");
    HAS("31.0% of all"); /* at once, as if it was typed */
    fixture_press(&f, "\x1b");
    HAS_NOT("of all");
    fixture_press(&f, "Ug /memmove\n ");
    fixture_press(&f, "g/tcp_\n \\"); /* the kernel's mark is not in the name */
    assert_string_equal(f.model.question.filter,
                        "^(shop\\.price\\.Rounding\\.halfUp|__memmove_avx_unaligned_erms|"
                        "tcp_sendmsg)$");
    fixture_press(&f, "\n");
    HAS("44.5% of all");
    HAS("3 tagged: 100.0% self");
    fixture_press(&f, "\\\x15shop\n"); /* an own one stays */
    fixture_press(&f, "\\");
    assert_string_equal(f.model.question.filter, "shop");
    fixture_close(&f);
}

/* Names with all that means something in an expression. */
static void escapes(void **unused) {
    (void)unused;
    static const char *const name[] = {"+ operator*(std::vector<int>&, char*)", "2 a.$Proxy1.f$",
                                       "+ x::y[abi:cxx11]", "+ f^{}?"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct fixture f;
        fixture_open(&f, LIVE_METHODS, 24, 160, false);
        fixture_sample(&f, 4711, 1000, name[i]);
        fixture_sample(&f, 4711, 1, "2 a.Proxy1.f");
        fixture_second(&f);
        fixture_press(&f, "g \\\n");
        HAS("50.0% of all");
        HAS_NOT("regular expression");
        fixture_close(&f);
    }
}

static void overloads_once(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_sample(&f, 4711, 3000, "2 a.B.f(I)V");
    fixture_sample(&f, 4711, 2000, "2 a.B.f(J)V");
    fixture_second(&f);
    fixture_press(&f, "g  \\");
    assert_string_equal(f.model.question.filter, "^a\\.B\\.f$");
    fixture_close(&f);
}

/* Nothing is cut in silence, and one can still type. */
static void too_long(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    for (int i = 0; i < 6; i++) {
        char stack[160];
        snprintf(stack, sizeof stack, "2 %0*d.C.f", 120, i);
        fixture_sample(&f, 4711, 1000, stack);
    }
    fixture_second(&f);
    fixture_press(&f, "g    \\");
    HAS("^(0000");
    fixture_press(&f, "\x1bUg      \\");
    HAS("too long: only 4 of the 6 tagged names fit");
    assert_string_equal(f.model.question.filter, "");
    fixture_press(&f, "C");
    HAS("excludes): C\n");
    fixture_close(&f);
}

static void limits(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    for (int i = 0; i < TAGS_MAX + 1; i++) {
        char stack[64];
        snprintf(stack, sizeof stack, "2 a.B.m%d", i);
        fixture_sample(&f, 4711, 1000, stack);
    }
    fixture_second(&f);
    fixture_press(&f, "g");
    for (int i = 0; i < TAGS_MAX; i++)
        fixture_press(&f, " ");
    HAS("64 tagged: ");
    fixture_press(&f, " ");
    HAS("the limit is 64 tags: Space on a tagged row");
    HAS("\n>   ");        /* it stays, untagged */
    HAS_NOT("64 tagged"); /* the message needs the room */
    fixture_press(&f, "k j ");
    HAS("64 tagged: ");
    HAS_NOT("the limit is");
    fixture_press(&f, "4");
    fixture_press(&f, " ");
    HAS("no row is selected");
    fixture_close(&f);
}

static void read_aloud(void **unused) {
    (void)unused;
    struct fixture f;
    struct text t = {0};
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, " j k");
    screen_draw(f.screen, &f.canvas, NULL);
    plain_page(&f.canvas, 7, false, &t);
    assert_non_null(strstr(t.data, "1. tagged, shop.price.Rounding.halfUp, self 31.0 %"));
    assert_non_null(strstr(t.data, "2. java.util.HashMap.getNode, self 19.0 %"));
    assert_non_null(strstr(t.data, "3. selected, tagged, java.math.BigDecimal.multiply, self 14"));
    assert_null(strchr(t.data, '*'));
    text_free(&t);
    fixture_close(&f);
}

static void looks(void **unused) {
    (void)unused;
    struct fixture f;
    for (int ascii = 0; ascii < 2; ascii++) {
        fixture_open(&f, LIVE_METHODS, 24, 80, ascii);
        fixture_press(&f, "j  k");
        compare_screen(&f, ascii ? "tags-methods-80x24-ascii" : "tags-methods-80x24");
        fixture_press(&f, "3}");
        compare_screen(&f, ascii ? "tags-tree-80x24-ascii" : "tags-tree-80x24");
        fixture_close(&f);
    }
    fixture_open(&f, LIVE_METHODS, 24, 80, true);
    fixture_press(&f, "j  k");
    compare_mono(&f, "tags-methods-mono");
    fixture_close(&f);
    fixture_open(&f, LIVE_METHODS, 10, 40, false);
    fixture_press(&f, " ");
    compare_screen(&f, "tags-methods-40x10");
    fixture_close(&f);
    open_busy(&f, LIVE_LOCKS, 24, 80, false);
    fixture_press(&f, "j k\nj ");
    compare_screen(&f, "tags-locks-80x24");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_set),
        cmocka_unit_test(space),
        cmocka_unit_test(follows_its_method),
        cmocka_unit_test(threads),
        cmocka_unit_test(folded_rows),
        cmocka_unit_test(locks_and_alloc),
        cmocka_unit_test(waiter_below_two_stacks),
        cmocka_unit_test(copies_all),
        cmocka_unit_test(fills_the_filter),
        cmocka_unit_test(escapes),
        cmocka_unit_test(overloads_once),
        cmocka_unit_test(too_long),
        cmocka_unit_test(limits),
        cmocka_unit_test(read_aloud),
        cmocka_unit_test(looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
