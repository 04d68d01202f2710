/* The locks view: chains, a deadlock, waiters, and folds. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

/* As waited() of the fixture, `begin` and `end` in milliseconds from the first second on. */
static void wait_between(struct fixture *f, const char *class_name, uint64_t begin, uint64_t end,
                         uint32_t tid, uint32_t owner, const char *stack) {
    uint64_t now_ns = f->now_ns;
    f->now_ns = 101 * FIXTURE_SECOND + end * MS;
    waited(f, class_name, WIRE_LOCK_MONITOR, 9, tid, (end - begin) * MS, owner, stack);
    f->now_ns = now_ns;
}

/* http-worker-1 waits for -2, which waits for the third; two others are in a deadlock. */
static void open_chain(struct fixture *f, int rows, int cols, bool ascii) {
    open_busy(f, LIVE_LOCKS, rows, cols, ascii);
    profile_thread_name(f->profile, 4741, 41, "transfer-a");
    profile_thread_name(f->profile, 4742, 42, "transfer-b");
    wait_between(f, "shop/db/Row", 60, 900, 4713, 4720, "");
    wait_between(f, "shop/db/Pool", 50, 950, 4712, 4713, RUN "2 shop.db.Pool.take");
    wait_between(f, "shop/Cache", 0, 1000, 4711, 4712, RUN "2 shop.cart.Cart.total");
    wait_between(f, "shop/Account", 100, 700, 4742, 4741, RUN "2 shop.Account.move");
    wait_between(f, "shop/Account", 90, 800, 4741, 4742, RUN "2 shop.Account.move");
    fixture_second(f);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{50, 160}, {24, 80}, {10, 40}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        open_chain(&f, size[i / 2].rows, size[i / 2].cols, i % 2);
        snprintf(name, sizeof name, "locks-chain-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_screen(&f, name);
        fixture_close(&f);
    }
    struct fixture f;
    open_chain(&f, 24, 80, false);
    compare_mono(&f, "locks-chain-mono");
    fixture_close(&f);
}

static void folds(void **unused) {
    (void)unused;
    struct fixture f;
    open_chain(&f, 50, 100, false);
    compare_screen(&f, "locks-folds");
    fixture_press(&f, "*");
    compare_screen(&f, "locks-folds-class");
    fixture_press(&f, "{");
    compare_screen(&f, "locks-folds-none");
    fixture_press(&f, "}");
    compare_screen(&f, "locks-folds"); /* as it was */
    fixture_press(&f, "+j+");          /* into the class, and its first owner */
    compare_screen(&f, "locks-folds-owner");
    fixture_press(&f, "---");
    compare_screen(&f, "locks-folds-shut");
    fixture_press(&f, "}/transfer-b\n");
    compare_screen(&f, "locks-found");
    fixture_close(&f);
}

/* More waiters than there is room for, all of them counted. */
static void many_waiters(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_LOCKS, 50, 100, false);
    for (uint32_t i = 0; i < 25; i++)
        waited(&f, "shop/Gate", WIRE_LOCK_MONITOR, 1, 5000 + i, (i + 1) * 100 * MS, 4711,
               RUN "2 shop.Gate.pass");
    fixture_second(&f);
    fixture_press(&f, "j+");
    compare_screen(&f, "locks-waiters");
    fixture_close(&f);
}

#define HAS(text) assert_true(fixture_has(&f, (text)))
#define HAS_NOT(text) assert_false(fixture_has(&f, (text)))

/* The locks of the time shown, of a thread and of a method, and those that are no longer kept. */
static void narrowed(void **unused) {
    (void)unused;
    struct fixture f;
    open_chain(&f, 50, 160, false);
    HAS("shop.Account");
    for (int i = 0; i < 30; i++)
        fixture_second(&f);
    waited(&f, "shop/Late", WIRE_LOCK_MONITOR, 1, 4711, 100 * MS, 4712, RUN "2 shop.Gate.pass");
    fixture_second(&f);
    HAS("shop.Late");
    HAS("shop.Account");
    fixture_press(&f, "www"); /* ten seconds */
    HAS("last 10s");
    HAS("shop.Late");
    HAS_NOT("shop.Account");
    HAS_NOT("only waits of");
    fixture_press(&f, "ww");
    HAS("shop.Account");
    fixture_press(&f, "\\Gate\n");
    HAS("shop.Late");
    HAS_NOT("shop.Account");
    fixture_press(&f, "\x1b");
    HAS("shop.Account");
    fixture_press(&f, "\\nothing like this\n");
    HAS("no thread waited for a lock in this selection");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(folds),
        cmocka_unit_test(many_waiters),
        cmocka_unit_test(narrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
