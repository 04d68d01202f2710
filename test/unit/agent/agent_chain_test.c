/* Handlers that go on to one another: ours in front of others, others in front of ours. */
#include "core/agent/process/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdint.h>

#define SIGNO SIGTRAP /* one that a test may raise at will */

static volatile int ours, vm, last; /* raise() is said not to change them */
static bool is_ours;

static bool handle(siginfo_t *info, void *context) {
    (void)info, (void)context;
    ours++;
    return is_ours;
}

static int vm_handle(int signo, siginfo_t *info, void *context, int abort) {
    (void)info, (void)context;
    assert_int_equal(signo, SIGNO);
    assert_int_equal(abort, 1);
    vm++;
    return 1;
}

/* Others, who keep what they found. */
static struct {
    volatile int seen;
    struct sigaction before;
} other[CHAIN_PLACES + 1];

static void go_on(int i, siginfo_t *info, void *context) {
    other[i].seen++;
    if (other[i].before.sa_flags & SA_SIGINFO)
        other[i].before.sa_sigaction(SIGNO, info, context);
    else if (other[i].before.sa_handler != SIG_DFL)
        other[i].before.sa_handler(SIGNO);
}

static void other_0(int signo, siginfo_t *info, void *context) {
    (void)signo;
    go_on(0, info, context);
}

static void other_1(int signo, siginfo_t *info, void *context) {
    (void)signo;
    go_on(1, info, context);
}

static void the_last(int signo) {
    assert_int_equal(signo, SIGNO);
    last++;
}

static void put(int i) {
    static void (*const handler[])(int, siginfo_t *, void *) = {other_0, other_1};
    struct sigaction action = {.sa_sigaction = handler[i], .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction now;
    assert_int_equal(sigaction(SIGNO, &action, &now), 0);
    other[i].before = now;
}

static void begin(struct chain *c, bool with_vm) {
    struct sigaction first = {.sa_handler = the_last, .sa_flags = SA_NODEFER};
    static struct chain_place places[CHAIN_PLACES];
    for (int i = 0; i < CHAIN_PLACES; i++)
        places[i] = (struct chain_place){0};
    *c = (struct chain){.signo = SIGNO,
                        .place = places,
                        .handle = handle,
                        .flags = SA_NODEFER,
                        .ends_by_raise = true,
                        .vm = with_vm ? vm_handle : NULL};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        other[i].seen = 0;
    ours = vm = last = 0;
    is_ours = false;
    assert_int_equal(sigaction(SIGNO, &first, NULL), 0);
}

static void meet(int by_us, int by_0, int by_1, int by_last, int by_vm) {
    ours = vm = last = other[0].seen = other[1].seen = 0;
    raise(SIGNO);
    assert_int_equal(ours, by_us);
    assert_int_equal(other[0].seen, by_0);
    assert_int_equal(other[1].seen, by_1);
    assert_int_equal(last, by_last);
    assert_int_equal(vm, by_vm);
}

static bool is_there(void (*handler)(int)) {
    struct sigaction now;
    return sigaction(SIGNO, NULL, &now) == 0 && now.sa_handler == handler;
}

/* Static, since entries find it for ever. */
static struct chain chain;

static void in_front_and_back(void **state) {
    (void)state;
    begin(&chain, false);
    assert_false(chain_is_front(&chain));
    assert_int_equal(chain_enter(&chain), 0);
    assert_int_equal(chain_enter(&chain), 0); /* once is enough */
    assert_true(chain_is_front(&chain));
    meet(1, 0, 0, 1, 0);
    is_ours = true;
    meet(1, 0, 0, 0, 0);
    chain_leave(&chain);
    assert_true(is_there(the_last));
    meet(0, 0, 0, 1, 0);
}

/* Somebody was there before, comes while we are there, stays when we go, and is there when we come
 * again: everybody is asked, in the order they came, and the last one once. */
static void others_come_and_stay(void **state) {
    (void)state;
    begin(&chain, false);
    put(0);
    assert_int_equal(chain_enter(&chain), 0);
    meet(1, 1, 0, 1, 0);
    put(1);
    assert_false(chain_is_front(&chain));
    meet(1, 1, 1, 1, 0);
    chain_leave(&chain); /* not ours to change */
    meet(1, 1, 1, 1, 0);
    assert_int_equal(chain_enter(&chain), 0);
    meet(2, 1, 1, 1, 0); /* two entries of ours, with the other one in between */
    is_ours = true;
    meet(1, 0, 0, 0, 0);
    is_ours = false;
    chain_leave(&chain);
    meet(1, 1, 1, 1, 0);
    assert_int_equal(sigaction(SIGNO, &other[1].before, NULL), 0); /* the other one goes */
    assert_true(chain_is_front(&chain));
    chain_leave(&chain);
    meet(0, 1, 0, 1, 0);
}

/* Somebody takes his place once more and forgets who was there first: he finds us, and we him. */
static void no_circle(void **state) {
    (void)state;
    for (int with_vm = 0; with_vm <= 1; with_vm++) {
        begin(&chain, with_vm);
        put(0);
        assert_int_equal(chain_enter(&chain), 0);
        put(0); /* which makes ours what was before it, and the last one is forgotten */
        ours = vm = last = other[0].seen = 0;
        if (with_vm) {
            raise(SIGNO);
            assert_int_equal(vm, 1);
            assert_int_equal(last, 0);
            assert_in_range(other[0].seen, 1, 3);
        }
        assert_int_equal(sigaction(SIGNO, &other[0].before, NULL), 0);
        chain_leave(&chain);
    }
}

static sigjmp_buf back;

static void jump(int signo) {
    assert_int_equal(signo, SIGNO);
    siglongjmp(back, 1);
}

/* A library that reads where it may not, and jumps out of its handler: every time, and no circle. */
static void others_jump_away(void **state) {
    (void)state;
    struct sigaction jumper = {.sa_handler = jump, .sa_flags = SA_NODEFER};
    volatile int jumped = 0;
    begin(&chain, true);
    assert_int_equal(sigaction(SIGNO, &jumper, NULL), 0);
    assert_int_equal(chain_enter(&chain), 0);
    for (volatile int i = 0; i < 5; i++) {
        if (sigsetjmp(back, 1) == 0)
            raise(SIGNO);
        else
            jumped++;
    }
    assert_int_equal(jumped, 5);
    assert_int_equal(vm, 0);
    chain_leave(&chain);
}

/* A circle behind the first handler there was ends there. */
static void a_circle_has_the_first_one(void **state) {
    (void)state;
    begin(&chain, false);
    assert_int_equal(chain_enter(&chain), 0);
    put(0);
    assert_int_equal(chain_enter(&chain), 0);
    put(0); /* the_last is known to our first entry only */
    meet(2, 2, 0, 1, 0);
}

static void there_is_an_end(void **state) {
    (void)state;
    begin(&chain, false);
    int n = 0;
    while (chain_enter(&chain) == 0 && n <= CHAIN_PLACES) {
        n++;
        put(n % 2);
    }
    assert_int_equal(n, CHAIN_PLACES);
    assert_int_equal(chain_enter(&chain), -EBUSY);
}

/* As the VM does when it reports a fatal error. */
static void a_handler_put_behind_is_called_after_ours(void **state) {
    (void)state;
    struct chain c;
    struct sigaction action = {.sa_sigaction = other_0, .sa_flags = SA_SIGINFO}, old, now;
    begin(&c, false);
    assert_false(chain_put_behind(SIGNO, &action, &old)); /* ours is not there */
    assert_int_equal(chain_enter(&c), 0);
    other[0].before = (struct sigaction){.sa_handler = SIG_DFL};
    assert_true(chain_put_behind(SIGNO, &action, &old));
    assert_ptr_equal(old.sa_handler, the_last);
    assert_true(chain_is_front(&c));
    meet(1, 1, 0, 0, 0);
    is_ours = true;
    meet(1, 0, 0, 0, 0);
    is_ours = false;
    assert_true(chain_put_behind(SIGNO, &old, &now));
    assert_ptr_equal(now.sa_sigaction, other_0);
    meet(1, 0, 0, 1, 0);
    /* As the VM does it: with the flag of another kind of handler. */
    const struct sigaction none = {.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO};
    assert_true(chain_put_behind(SIGNO, &none, NULL));
    meet(1, 0, 0, 0, 0);
    put(1); /* another tool comes in front */
    assert_false(chain_put_behind(SIGNO, &action, NULL));
    assert_int_equal(sigaction(SIGNO, &other[1].before, NULL), 0);
    assert_true(chain_put_behind(SIGNO, &action, NULL));
    chain_leave(&c);
    assert_int_equal(sigaction(SIGNO, NULL, &now), 0);
    assert_ptr_equal(now.sa_sigaction, other_0);
    signal(SIGNO, SIG_DFL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_front_and_back),
        cmocka_unit_test(others_come_and_stay),
        cmocka_unit_test(no_circle),
        cmocka_unit_test(a_circle_has_the_first_one),
        cmocka_unit_test(a_handler_put_behind_is_called_after_ours),
        cmocka_unit_test(others_jump_away),
        cmocka_unit_test(there_is_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
