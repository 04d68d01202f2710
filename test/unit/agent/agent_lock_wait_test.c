#include "core/agent/lock/lock_wait.h"
#include "core/agent/lock/lock_wait_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void a_wait_is_found_by_who_waits(void **state) {
    (void)state;
    struct lock_waits w;
    struct lock_wait out;
    assert_int_equal(lock_waits_open(&w), 0);
    uint64_t monitor = lock_wait_key(7, false, LOCK_WAIT_MONITOR);
    uint64_t park = lock_wait_key(7, false, LOCK_WAIT_PARK);
    uint64_t other = lock_wait_key(7, true, LOCK_WAIT_MONITOR);
    lock_waits_begin(&w, monitor)->begin_ns = 1;
    lock_waits_begin(&w, park)->begin_ns = 2;
    lock_waits_begin(&w, other)->begin_ns = 3;
    assert_true(lock_waits_end(&w, park, &out));
    assert_int_equal(out.begin_ns, 2);
    assert_false(lock_waits_end(&w, park, &out)); /* it was taken out */
    assert_true(lock_waits_end(&w, other, &out));
    assert_int_equal(out.begin_ns, 3);
    assert_true(lock_waits_end(&w, monitor, &out));
    assert_int_equal(out.begin_ns, 1);
    assert_false(lock_waits_any(&w));
    lock_waits_close(&w);
}

static void a_wait_whose_end_was_missed_is_begun_anew(void **state) {
    (void)state;
    struct lock_waits w;
    struct lock_wait out;
    assert_int_equal(lock_waits_open(&w), 0);
    uint64_t key = lock_wait_key(12, true, LOCK_WAIT_PARK);
    struct lock_wait *first = lock_waits_begin(&w, key);
    first->begin_ns = 1;
    first->ticket = 5;
    struct lock_wait *second = lock_waits_begin(&w, key);
    assert_ptr_equal(first, second);
    assert_true(lock_waits_any(&w));
    assert_int_equal(second->ticket, 0);
    second->begin_ns = 2;
    assert_true(lock_waits_end(&w, key, &out));
    assert_int_equal(out.begin_ns, 2);
    assert_false(lock_waits_end(&w, key, &out));
    assert_false(lock_waits_any(&w));
    lock_waits_close(&w);
}

static void many_wait_at_once(void **state) {
    (void)state;
    struct lock_waits w;
    struct lock_wait out;
    uint64_t places = (uint64_t)LOCK_WAIT_ROWS * LOCK_WAIT_WAYS;
    uint64_t kept = 0;
    assert_int_equal(lock_waits_open(&w), 0);
    for (uint64_t i = 1; i <= places * 2; i++) {
        struct lock_wait *e = lock_waits_begin(&w, lock_wait_key(i, true, LOCK_WAIT_PARK));
        if (e)
            e->begin_ns = i;
        kept += e != NULL;
    }
    assert_true(kept > places * 3 / 4 && kept <= places);
    for (uint64_t i = 1; i <= places * 2; i++) {
        if (!lock_waits_end(&w, lock_wait_key(i, true, LOCK_WAIT_PARK), &out))
            continue;
        assert_int_equal(out.begin_ns, i);
        kept--;
    }
    assert_int_equal(kept, 0);
    lock_waits_close(&w);
}

static void weights_add_up_to_what_was_waited(void **state) {
    (void)state;
    static const uint64_t interval[] = {0, 1, 1000, 10000, 10000000};
    for (size_t k = 0; k < sizeof interval / sizeof interval[0]; k++) {
        struct lock_waits w = {0};
        uint64_t waited = 0;
        uint64_t weight = 0;
        uint64_t of_short[2] = {0}; /* waited and weight of every second wait, a short one */
        for (uint64_t i = 0; i < 200000; i++) {
            uint64_t ns = i % 2 ? 300 + i % 977 : 4000 + i % 7919;
            uint64_t due = lock_waits_due(&w, interval[k], ns);
            waited += ns;
            weight += due;
            of_short[0] += i % 2 ? ns : 0;
            of_short[1] += i % 2 ? due : 0;
        }
        assert_true(weight <= waited && waited - weight <= interval[k]);
        if (interval[k] > 10000) /* too few to tell */
            continue;
        assert_true(of_short[1] > of_short[0] * 9 / 10 && of_short[1] < of_short[0] * 11 / 10);
    }
}

/* The owners' slots, without a VM: the handler finds no Java thread and leaves the slot empty. */
static struct lock_owners owners;
static struct sampler sampler;
static const struct vm no_vm = {.thread_key = -1};
static struct signals signals;

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo;
    lock_owners_handle(&owners, info, context);
}

static struct lock_owner self(void) {
    return (struct lock_owner){.java = 8, .tid = (uint32_t)syscall(SYS_gettid)};
}

static void open_owners(void) {
    memset(&owners, 0, sizeof owners);
    sampler.walker.vm = &no_vm;
    assert_int_equal(lock_owners_open(&owners, &sampler, &signals, on_signal), 0);
    assert_true(owners.signo > 0);
}

static void an_owner_answers(void **state) {
    (void)state;
    open_owners();
    struct lock_owner me = self();
    for (int i = 0; i < 3 * (int)OWNER_SLOTS; i++) { /* slots are used again */
        uint32_t ticket = lock_owners_ask(&owners, &me);
        assert_true(ticket);
        struct owner_slot *slot = lock_owners_take(&owners, ticket);
        assert_non_null(slot); /* to itself, the signal comes before the call is back */
        assert_int_equal(slot->frames, 0);
        assert_null(lock_owners_take(&owners, ticket));
        lock_owners_give_back(slot);
        assert_null(lock_owners_take(&owners, ticket));
    }
    lock_owners_close(&owners, &signals);
}

static void an_answer_too_late_is_nobodys(void **state) {
    (void)state;
    open_owners();
    struct lock_owner me = self();
    sigset_t set;
    sigset_t before;
    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    uint32_t late = lock_owners_ask(&owners, &me);
    assert_true(late);
    assert_null(lock_owners_take(&owners, late));
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* now it answers */
    assert_null(lock_owners_take(&owners, late));
    uint32_t next = lock_owners_ask(&owners, &me);
    struct owner_slot *slot = lock_owners_take(&owners, next);
    assert_non_null(slot);
    lock_owners_give_back(slot);
    lock_owners_close(&owners, &signals);
}

static void old_answers_make_room(void **state) {
    (void)state;
    open_owners();
    struct lock_owner me = self();
    uint32_t first = lock_owners_ask(&owners, &me);
    uint32_t last = 0;
    for (uint32_t i = 0; i < 2 * OWNER_SLOTS; i++) {
        last = lock_owners_ask(&owners, &me);
        assert_true(last);
    }
    assert_null(lock_owners_take(&owners, first)); /* its slot is another wait's now */
    struct owner_slot *slot = lock_owners_take(&owners, last);
    assert_non_null(slot);
    lock_owners_give_back(slot);
    lock_owners_close(&owners, &signals);
}

static void few_are_asked(void **state) {
    (void)state;
    open_owners();
    uint32_t asked = 0;
    for (uint64_t ns = 1; ns < 2000000000; ns += 1000000)
        asked += lock_owners_may_ask(&owners, ns);
    assert_int_equal(asked, 2 * OWNERS_PER_SECOND);
    lock_owners_close(&owners, &signals);
}

static void the_signal_is_given_back(void **state) {
    (void)state;
    struct sigaction now;
    open_owners();
    int signo = owners.signo;
    sigaction(signo, NULL, &now);
    assert_true(now.sa_sigaction == on_signal);
    lock_owners_close(&owners, &signals);
    sigaction(signo, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

static void nobody_is_asked_without_a_thread(void **state) {
    (void)state;
    open_owners();
    struct lock_owner gone = self();
    gone.tid = (1u << 22) - 1; /* no such thread */
    assert_int_equal(lock_owners_ask(&owners, &gone), 0);
    struct lock_owner unknown = {0};
    assert_int_equal(lock_owners_ask(&owners, &unknown), 0);
    assert_null(lock_owners_take(&owners, 0));
    assert_null(lock_owners_take(&owners, UINT32_MAX));
    lock_owners_close(&owners, &signals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_found_by_who_waits),
        cmocka_unit_test(a_wait_whose_end_was_missed_is_begun_anew),
        cmocka_unit_test(many_wait_at_once),
        cmocka_unit_test(weights_add_up_to_what_was_waited),
        cmocka_unit_test(an_owner_answers),
        cmocka_unit_test(an_answer_too_late_is_nobodys),
        cmocka_unit_test(old_answers_make_room),
        cmocka_unit_test(few_are_asked),
        cmocka_unit_test(the_signal_is_given_back),
        cmocka_unit_test(nobody_is_asked_without_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
