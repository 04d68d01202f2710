/* Waits for locks: by class, by owner and by the owner's stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

static uint32_t intern_class(struct profile *p, const char *name) {
    return method_table_intern(profile_methods(p), METHOD_CLASS, name, "", "", "");
}

static void wait_for(struct profile *p, struct profile_lock l) {
    l.time_ns = l.time_ns ? l.time_ns : 10 * SECOND;
    assert_int_equal(profile_lock_wait(p, &l), 0);
}

/* Class rows are the sums of those behind them, and in order. Only the locks are looked at. */
static struct snapshot *take_locks_of(struct profile *p, struct query q, uint64_t waits,
                                      uint64_t waited_ns) {
    q.locks = true;
    struct snapshot *s = snapshot_take(p, &q);
    uint64_t all = 0, all_ns = 0;
    assert_non_null(s);
    for (uint32_t i = 0, end; i < s->lock_count; i = end) {
        const struct snapshot_lock *class = &s->locks[i];
        uint64_t sum = 0, ns = 0, longest = 0;
        uint32_t flags = 0;
        assert_true(class->is_class);
        for (end = i + 1; end < s->lock_count && !s->locks[end].is_class; end++) {
            const struct snapshot_lock *l = &s->locks[end];
            assert_int_equal(l->class_id, class->class_id);
            assert_true(l->waits > 0);
            assert_true(end == i + 1 || l[-1].waited_ns >= l->waited_ns);
            sum += l->waits;
            ns += l->waited_ns;
            flags |= l->flags;
            longest = l->longest_ns > longest ? l->longest_ns : longest;
        }
        assert_int_equal(class->waits, sum);
        assert_int_equal(class->waited_ns, ns);
        assert_int_equal(class->flags, flags);
        assert_int_equal(class->longest_ns, longest);
        assert_true(end == s->lock_count || class->waited_ns >= s->locks[end].waited_ns);
        all += sum;
        all_ns += ns;
    }
    assert_int_equal(all, waits);
    assert_int_equal(all_ns, waited_ns);
    return s;
}

static struct snapshot *take_locks(struct profile *p, uint64_t waits, uint64_t waited_ns) {
    return take_locks_of(p, (struct query){.event = -1}, waits, waited_ns);
}

static void test_classes_and_owners(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), b = intern_class(p, "p/B");
    struct profile_frame f[2] = {{.method = intern(p, "leaf"), .line = 7, .tier = TIER_C2},
                                 {.method = intern(p, "root")}};
    assert_int_equal(profile_thread_name(p, 3, 30, "holder"), 0);
    wait_for(p, (struct profile_lock){.waited_ns = 5, .class_id = a, .tid = 1, .flags = 1});
    for (uint64_t i = 0; i < 3; i++) {
        f[0].line = (uint16_t)i; /* where in it does not tell stacks apart */
        wait_for(p, (struct profile_lock){.waited_ns = 100 - i,
                                          .class_id = b,
                                          .flags = 2,
                                          .tid = 1 + (uint32_t)i % 2,
                                          .lock_id = 77 + i,
                                          .owner_tid = 3,
                                          .owner_frames = 2,
                                          .owner_frame = f});
    }
    wait_for(p, (struct profile_lock){.waited_ns = 1,
                                      .class_id = b,
                                      .tid = 1,
                                      .lock_id = 77,
                                      .owner_tid = 3,
                                      .virtual_id = 9,
                                      .flags = 4});
    wait_for(
        p, (struct profile_lock){.waited_ns = 2, .class_id = b, .tid = 1, .owner_virtual_id = 50});
    struct snapshot *s = take_locks(p, 6, 5 + 100 + 99 + 98 + 1 + 2);
    assert_int_equal(s->lock_count, 4 + 2);
    const struct snapshot_lock *l = s->locks;
    assert_int_equal(l[0].class_id, b);
    assert_int_equal(l[0].locks, 3);
    assert_int_equal(l[0].waiters, 3); /* 1, 2 and the virtual thread */
    assert_int_equal(l[0].flags, 6);
    assert_int_equal(l[0].longest_ns, 100);
    assert_int_equal(l[1].waits, 3);
    assert_string_equal(l[1].owner, "holder");
    assert_int_equal(l[1].owner_java_id, 30);
    assert_int_equal(l[1].owner_method, f[0].method);
    uint32_t stack[4];
    assert_int_equal(snapshot_owner_stack(p, l[1].owner_node, stack, 4), 2);
    assert_int_equal(stack[0], f[0].method);
    assert_int_equal(stack[1], f[1].method);
    assert_int_equal(snapshot_owner_stack(p, l[1].owner_node, stack, 1), 1);
    assert_string_equal(l[2].owner, "VirtualThread[#50]");
    assert_true(l[2].owner_is_virtual && l[2].owner_tid == 0);
    assert_int_equal(l[2].owner_node, CALL_ROOT);
    assert_int_equal(l[2].owner_method, METHOD_NONE);
    assert_int_equal(snapshot_owner_stack(p, l[2].owner_node, stack, 4), 0);
    assert_int_equal(l[3].owner_tid, 3);
    assert_int_equal(l[3].owner_node, CALL_ROOT);
    assert_int_equal(l[4].class_id, a);
    assert_int_equal(l[4].locks, 0);
    assert_int_equal(l[4].waiters, 1);
    assert_string_equal(l[5].owner, "");
    assert_int_equal(l[5].owner_tid, 0);
    snapshot_free(s);
    assert_int_equal(profile_node_count(p), 0); /* nothing was sampled */
    assert_int_equal(profile_samples(p, 0), 0);
    s = snapshot_take(p, &(struct query){.tree = true});
    assert_int_equal(s->lock_count + s->method_count + s->node_count + s->thread_count, 0);
    snapshot_free(s);
    profile_free(p);
}

/* Sets are counted up to a limit; ids and classes nobody gave out are no harm. */
static void test_many_ids(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A");
    for (uint32_t i = 0; i < 5000; i++)
        wait_for(p, (struct profile_lock){
                        .waited_ns = 1, .class_id = a, .virtual_id = 1 + i / 10, .lock_id = i + 1});
    wait_for(p, (struct profile_lock){.waited_ns = UINT64_MAX / 2, .class_id = METHOD_NONE});
    struct snapshot *s = take_locks(p, 5001, UINT64_MAX / 2 + 5000);
    assert_string_equal(method_table_get(profile_methods(p), s->locks[0].class_id)->name,
                        "[other locks]");
    assert_int_equal(s->locks[2].locks, LOCK_IDS_MAX);
    assert_int_equal(s->locks[2].waiters, 500);
    snapshot_free(s);
    profile_free(p);
}

/* First the owners' stacks are left out, then the owners, then the classes. */
static void test_limits(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    uint32_t class[200];
    uint64_t waits = 0;
    struct profile_frame f = {0};
    for (uint32_t i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "p/C%u", i);
        class[i] = intern_class(p, name);
    }
    for (uint32_t classes = 1; classes <= 200; classes += 33) {
        for (uint32_t i = 0; i < 4000; i++, waits++) {
            f.method = i % 67;
            wait_for(p, (struct profile_lock){.waited_ns = i,
                                              .class_id = class[i % classes],
                                              .flags = i,
                                              .tid = 1,
                                              .lock_id = i + 1,
                                              .owner_tid = 2 + i % 13,
                                              .owner_frames = 1,
                                              .owner_frame = &f});
        }
    }
    assert_true(p->locks.rows <= limits.lock_rows + 1);
    assert_true(p->locks.classes <= limits.lock_rows + 1);
    assert_true(p->locks.owners.nodes <= limits.owner_nodes);
    assert_true(p->locks.ids <= limits.lock_rows * 16 + 1);
    snapshot_free(take_locks(p, waits, waits / 4000 * (4000 * 3999 / 2)));
    profile_free(p);
}

/* Owners whose rows are given to others are the others from then on, in one row. */
static void test_owners_are_folded(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(5, &limits);
    uint32_t a = intern_class(p, "p/A"), m = intern(p, "m");
    enum { OWNERS = 200 };
    for (uint32_t i = 1; i <= OWNERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "owner %u", i);
        assert_int_equal(profile_thread_name(p, 10 + i, i, name), 0);
        struct profile_lock l = {.time_ns = (100 + i) * SECOND,
                                 .waited_ns = 1,
                                 .class_id = a,
                                 .flags = 1,
                                 .tid = 1,
                                 .owner_tid = i % 2 ? 10 + i : 0,
                                 .owner_virtual_id = i % 2 ? 0 : i};
        wait_for(p, l);
        add(p, (100 + i) * SECOND, 1, m);
        profile_thread_end(p, 10 + i);
    }
    struct snapshot *s = take_locks(p, OWNERS, OWNERS);
    uint64_t others = 0, virtual_others = 0;
    uint32_t named = 0;
    for (uint32_t i = 1; i < s->lock_count; i++) {
        const struct snapshot_lock *l = &s->locks[i];
        if (strcmp(l->owner, "[other threads]") == 0)
            others += l->waits;
        else if (strcmp(l->owner, "[other virtual threads]") == 0)
            virtual_others += l->waits;
        else
            named++;
    }
    assert_in_range(others, 50, OWNERS / 2);
    assert_in_range(virtual_others, 50, OWNERS / 2);
    assert_int_equal(others + virtual_others + named, OWNERS);
    assert_int_equal(s->lock_count, 1 + 2 + named);
    snapshot_free(s);
    profile_free(p);
}

/* The link of that class and owner with the other one; NULL: none. `next` METHOD_NONE: a waiter. */
static const struct snapshot_lock_link *find_link(const struct snapshot *s, uint32_t class,
                                                  const struct snapshot_lock *owner, uint32_t next,
                                                  uint32_t other_tid) {
    for (uint32_t i = 0; i < s->lock_link_count; i++) {
        const struct snapshot_lock_link *l = &s->lock_links[i];
        if (l->class_id == class && l->owner_id == owner->owner_id && l->next_class == next &&
            l->other_tid == other_tid)
            return l;
    }
    return NULL;
}

static const struct snapshot_lock *find_owner(const struct snapshot *s, uint32_t class,
                                              uint32_t tid) {
    for (uint32_t i = 0; i < s->lock_count; i++)
        if (!s->locks[i].is_class && s->locks[i].class_id == class && s->locks[i].owner_tid == tid)
            return &s->locks[i];
    fail_msg("no row of owner %u", tid);
    return NULL;
}

#define WAIT(class_, from, to, who, whom)                                                          \
    wait_for(p, (struct profile_lock){.class_id = (class_),                                        \
                                      .time_ns = (to)*SECOND,                                      \
                                      .waited_ns = ((to) - (from)) * SECOND,                       \
                                      .tid = (who),                                                \
                                      .owner_tid = (whom)})

/* 1 waits for 2, which meanwhile waits for 3: only the time in common is the chain's. */
static void test_chains(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), b = intern_class(p, "p/B");
    WAIT(b, 5, 9, 2, 3);   /* before 1 waited: no part of it */
    WAIT(b, 12, 14, 2, 3); /* within */
    WAIT(b, 18, 21, 2, 3); /* within, but for … */
    WAIT(a, 10, 20, 1, 2);
    WAIT(a, 30, 31, 4, 2); /* nothing to do with it */
    WAIT(a, 30, 33, 4, 0); /* nobody knows whom for */
    struct snapshot *s = take_locks(p, 6, (4 + 2 + 3 + 10 + 1 + 3) * SECOND);
    const struct snapshot_lock *two = find_owner(s, a, 2), *three = find_owner(s, b, 3);
    const struct snapshot_lock_link *step = find_link(s, a, two, b, 3);
    assert_non_null(step);
    assert_int_equal(step->waits, 2);
    assert_int_equal(step->waited_ns, (2 + 2) * SECOND);
    assert_int_equal(step->other_id, three->owner_id);
    assert_null(find_link(s, b, three, a, 1));
    const struct snapshot_lock_link *waiter = find_link(s, a, two, METHOD_NONE, 1);
    assert_non_null(waiter);
    assert_int_equal(waiter->waited_ns, 10 * SECOND);
    assert_int_equal(find_link(s, a, two, METHOD_NONE, 4)->waits, 1);
    assert_int_equal(find_link(s, a, find_owner(s, a, 0), METHOD_NONE, 4)->waited_ns, 3 * SECOND);
    assert_int_equal(find_link(s, b, three, METHOD_NONE, 2)->waits, 3);
    assert_int_equal(s->lock_link_count, 5);
    for (uint32_t i = 1; i < s->lock_link_count; i++) /* steps come before waiters */
        assert_true(s->lock_links[i - 1].class_id <= s->lock_links[i].class_id);
    assert_true(step < waiter);
    snapshot_free(s);
    profile_free(p);
}

/* Two, then three that wait for each other, until one gives up. Waits one after the other are no
 * deadlock, whoever waits for whom. */
static void test_deadlocks(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), b = intern_class(p, "p/B"), c = intern_class(p, "p/C");
    WAIT(a, 1, 2, 1, 2);
    WAIT(b, 3, 4, 2, 1);
    struct snapshot *s = take_locks(p, 2, 2 * SECOND);
    for (uint32_t i = 0; i < s->lock_link_count; i++)
        assert_int_equal(s->lock_links[i].next_class, METHOD_NONE);
    snapshot_free(s);
    wait_for(p, (struct profile_lock){.time_ns = 7 * SECOND - 1,
                                      .waited_ns = SECOND / 11,
                                      .class_id = b,
                                      .tid = 2,
                                      .owner_tid = 1}); /* too short to tell */
    WAIT(a, 6, 7, 1, 2);
    s = take_locks(p, 4, 3 * SECOND + SECOND / 11);
    assert_int_equal(find_link(s, a, find_owner(s, a, 2), b, 1)->deadlock_ns, 0);
    snapshot_free(s);
    WAIT(b, 11, 15, 2, 1); /* gives up first */
    WAIT(a, 10, 16, 1, 2);
    s = take_locks(p, 6, 13 * SECOND + SECOND / 11);
    const struct snapshot_lock_link *l = find_link(s, a, find_owner(s, a, 2), b, 1);
    assert_non_null(l);
    assert_int_equal(l->deadlock_ns, 4 * SECOND);
    snapshot_free(s);
    WAIT(c, 22, 25, 5, 3);
    WAIT(b, 21, 26, 4, 5);
    WAIT(a, 20, 30, 3, 4);
    s = take_locks(p, 9, (13 + 3 + 5 + 10) * SECOND + SECOND / 11);
    l = find_link(s, a, find_owner(s, a, 4), b, 5);
    assert_non_null(l);
    assert_int_equal(l->waited_ns, 5 * SECOND);
    assert_int_equal(l->deadlock_ns, 3 * SECOND);
    l = find_link(s, b, find_owner(s, b, 5), c, 3);
    assert_non_null(l);
    assert_int_equal(l->deadlock_ns, 0); /* it is counted once */
    snapshot_free(s);
    profile_free(p);
}

/* Links of threads whose rows are given to others are the others'; there are never too many. */
static void test_links_are_folded(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(5, &limits);
    uint32_t a = intern_class(p, "p/A"), m = intern(p, "m");
    for (uint32_t i = 1; i <= 300; i++) {
        assert_int_equal(profile_thread_name(p, 10 + i, i, "waiter"), 0);
        WAIT(a, 100 + i - 1, 100 + i, 10 + i, 9 + i);
        add(p, (100 + i) * SECOND, 1, m);
        profile_thread_end(p, 10 + i);
    }
    struct snapshot *s = take_locks(p, 300, 300 * SECOND);
    uint64_t others = 0;
    assert_true(s->lock_link_count <= limits.lock_rows);
    for (uint32_t i = 0; i < s->lock_link_count; i++) {
        const struct snapshot_lock_link *l = &s->lock_links[i];
        assert_non_null(l->other);
        if (strcmp(l->other, "[other threads]") == 0)
            others += l->waits;
    }
    assert_true(others > 50);
    snapshot_free(s);
    profile_free(p);
}

/* The waits of a query. The sums are checked. */
static void expect(struct profile *p, struct query q, uint64_t waits, uint64_t waited_ns) {
    q.event = -1;
    snapshot_free(take_locks_of(p, q, waits, waited_ns));
    q.event = 0; /* with samples, too */
    snapshot_free(take_locks_of(p, q, waits, waited_ns));
}

static void test_time_spans(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), b = intern_class(p, "p/B");
    WAIT(a, 5, 10, 1, 2);
    WAIT(b, 19, 20, 1, 2);
    WAIT(b, 19, 20, 1, 2);
    WAIT(b, 17, 20, 3, 2);
    WAIT(a, 2, 12, 1, 2); /* late */
    WAIT(b, 29, 30, 1, 0);
    expect(p, (struct query){.from_second = 0}, 6, (5 + 1 + 1 + 3 + 10 + 1) * SECOND);
    expect(p, (struct query){.from_second = 11, .to_second = 20}, 4, 15 * SECOND);
    expect(p, (struct query){.from_second = 20, .to_second = 20}, 3, 5 * SECOND);
    expect(p, (struct query){.to_second = 12}, 2, 15 * SECOND);
    expect(p, (struct query){.from_second = 21, .to_second = UINT64_MAX}, 1, SECOND);
    expect(p, (struct query){.from_second = 31, .to_second = UINT64_MAX}, 0, 0);
    struct snapshot *s = take_locks_of(
        p, (struct query){.from_second = 20, .to_second = 20, .event = -1}, 3, 5 * SECOND);
    assert_int_equal(s->lock_count, 2); /* classes without waits are left out */
    assert_int_equal(s->locks[0].waiters, 2);
    assert_int_equal(s->locks[0].longest_ns, 3 * SECOND);
    assert_int_equal(s->locks_from, 0);
    assert_int_equal(s->lock_link_count, 2);
    assert_int_equal(find_link(s, b, find_owner(s, b, 2), METHOD_NONE, 1)->waits, 2);
    snapshot_free(s);
    profile_free(p);
}

/* A chain that began before the span belongs to the wait that ended in it. */
static void test_chains_in_time_spans(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), b = intern_class(p, "p/B");
    WAIT(b, 11, 15, 2, 1);
    WAIT(a, 10, 20, 1, 2);
    struct query q = {.event = -1, .from_second = 16, .to_second = 20};
    struct snapshot *s = take_locks_of(p, q, 1, 10 * SECOND);
    const struct snapshot_lock_link *l = find_link(s, a, find_owner(s, a, 2), b, 1);
    assert_non_null(l);
    assert_int_equal(l->waited_ns, 4 * SECOND);
    assert_int_equal(l->deadlock_ns, 4 * SECOND);
    snapshot_free(s);
    q = (struct query){.event = -1, .from_second = 15, .to_second = 15};
    s = take_locks_of(p, q, 1, 4 * SECOND);
    assert_int_equal(s->lock_link_count, 1);
    snapshot_free(s);
    profile_free(p);
}

/* Samples `class` above `caller`, then a wait with this stack. */
static void wait_in(struct profile *p, uint32_t class, uint32_t caller, uint32_t tid,
                    uint64_t virtual_id) {
    const struct profile_frame f[2] = {{.method = class}, {.method = caller}};
    const struct profile_sample sample = {.time_ns = 10 * SECOND,
                                          .weight = 1,
                                          .count = 1,
                                          .tid = tid,
                                          .virtual_id = virtual_id,
                                          .frames = 2,
                                          .frame = f};
    struct profile_place at;
    assert_int_equal(profile_add_at(p, &sample, &at), 0);
    wait_for(p, (struct profile_lock){.waited_ns = tid,
                                      .class_id = class,
                                      .tid = tid,
                                      .virtual_id = virtual_id,
                                      .owner_tid = 77,
                                      .at = &at});
    /* Another lock's stack is not that of the wait. */
    wait_for(p, (struct profile_lock){.waited_ns = 1000 * tid,
                                      .class_id = caller,
                                      .tid = tid,
                                      .virtual_id = virtual_id,
                                      .at = &at});
}

static void test_threads_and_filters(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t a = intern_class(p, "p/A"), cart = intern(p, "cart"), pool = intern(p, "pool");
    wait_in(p, a, cart, 1, 0);
    wait_in(p, a, pool, 2, 0);
    wait_in(p, a, pool, 3, 9);
    wait_for(p, (struct profile_lock){.waited_ns = 1 << 20, .class_id = a, .tid = 4});
    const uint64_t all = 6006 + (1 << 20);
    expect(p, (struct query){.tid = QUERY_ALL_THREADS}, 7, all);
    expect(p, (struct query){.tid = 1}, 2, 1001);
    expect(p, (struct query){.tid = 77}, 3, 6); /* it held the lock */
    expect(p, (struct query){.tid = 3}, 0, 0);
    expect(p, (struct query){.tid = 3, .carriers = true}, 2, 3003);
    expect(p, (struct query){.virtual_id = 9}, 2, 3003);
    expect(p, (struct query){.filter = "cart"}, 1, 1);
    expect(p, (struct query){.filter = "!cart"}, 2, 5);
    expect(p, (struct query){.with_method = true, .method = pool}, 2, 5);
    expect(p, (struct query){.with_method = true, .method = pool, .tid = 2}, 1, 2);
    /* The owner's stack counts as well as the waiter's. */
    const struct profile_frame held = {.method = intern(p, "holds")};
    wait_for(p, (struct profile_lock){.waited_ns = 1 << 21,
                                      .class_id = a,
                                      .tid = 5,
                                      .owner_tid = 78,
                                      .owner_frames = 1,
                                      .owner_frame = &held});
    expect(p, (struct query){.filter = "holds"}, 1, 1 << 21);
    expect(p, (struct query){.filter = "holds", .tid = 78}, 1, 1 << 21);
    expect(p, (struct query){.filter = "holds", .tid = 5}, 0, 0);
    expect(p, (struct query){.filter = "holds|cart"}, 2, (1 << 21) + 1);
    expect(p, (struct query){.filter = "!holds"}, 3, 6);
    expect(p, (struct query){.filter = "!cart"}, 3, (1 << 21) + 5);
    /* Both stacks are known: without a name means that neither has it. */
    const struct profile_frame stack[2] = {{.method = a}, {.method = pool}};
    const struct profile_sample sample = {
        .time_ns = 10 * SECOND, .weight = 1, .count = 1, .tid = 2, .frames = 2, .frame = stack};
    struct profile_place at;
    assert_int_equal(profile_add_at(p, &sample, &at), 0);
    wait_for(p, (struct profile_lock){.waited_ns = 1 << 22,
                                      .class_id = a,
                                      .tid = 2,
                                      .owner_tid = 78,
                                      .owner_frames = 1,
                                      .owner_frame = &held,
                                      .at = &at});
    expect(p, (struct query){.filter = "!holds"}, 3, 6);
    expect(p, (struct query){.filter = "!pool"}, 2, (1 << 21) + 1);
    expect(p, (struct query){.filter = "cart", .from_second = 11, .to_second = 12}, 0, 0);
    profile_free(p);
}

/* Above the limit, the oldest seconds are dropped, and snapshots say so. A second that alone is
 * above the limit loses detail, then waits. The table of everything loses nothing. */
static void test_history_is_limited(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    const uint32_t max = limits.lock_entries;
    struct profile *p = profile_new_limited(5000, &limits);
    uint32_t a = intern_class(p, "p/A");
    for (uint32_t i = 1; i <= 3 * max; i++)
        wait_for(p, (struct profile_lock){
                        .time_ns = i * SECOND, .waited_ns = 1, .class_id = a, .tid = 1});
    assert_true(p->lock_history.end - p->lock_history.first <= max);
    expect(p, (struct query){.from_second = 0}, 3 * max, 3 * max);
    struct query q = {.event = -1, .tid = 1};
    struct snapshot *s = take_locks_of(p, q, max, max);
    assert_int_equal(s->locks_from, 2 * max + 1);
    snapshot_free(s);
    q = (struct query){.event = -1, .from_second = 3 * max - 9, .to_second = UINT64_MAX};
    s = take_locks_of(p, q, 10, 10);
    assert_int_equal(s->locks_from, 0);
    snapshot_free(s);
    /* One more than the limit, all in one second. */
    const uint64_t second = 4 * (uint64_t)max;
    for (uint32_t i = 0; i < 4 * max; i++)
        wait_for(p, (struct profile_lock){.time_ns = second * SECOND + i,
                                          .waited_ns = 1,
                                          .class_id = a,
                                          .lock_id = 1 + i,
                                          .tid = 1});
    assert_true(p->lock_history.end - p->lock_history.first <= max);
    q = (struct query){.event = -1, .from_second = second, .to_second = second};
    s = take_locks_of(p, q, 4 * max, 4 * max); /* locks are no longer told apart, but counted */
    assert_in_range(s->locks[0].locks, max / 4 * 3 - 1, max);
    snapshot_free(s);
    for (uint32_t i = 0; i < 4 * max; i++)
        wait_for(p, (struct profile_lock){.time_ns = (second + 1) * SECOND,
                                          .waited_ns = 1,
                                          .class_id = a,
                                          .lock_id = 1 + i,
                                          .flags = i,
                                          .tid = 1});
    assert_true(p->lock_history.end - p->lock_history.first <= max);
    expect(p, (struct query){.from_second = 0}, 11 * max, 11 * max);
    profile_free(p);
}

/* Waits older than the history are dropped. */
static void test_history_has_a_length(void **state) {
    (void)state;
    struct profile *p = profile_new(10);
    uint32_t a = intern_class(p, "p/A");
    for (uint32_t i = 1; i <= 100; i++)
        WAIT(a, i, i + 1, 1, 2);
    struct query q = {.event = -1, .tid = 1};
    struct snapshot *s = take_locks_of(p, q, 10, 10 * SECOND);
    assert_int_equal(s->locks_from, 92);
    snapshot_free(s);
    WAIT(a, 50, 60, 1, 2); /* too late to be kept */
    expect(p, q, 10, 10 * SECOND);
    expect(p, (struct query){.from_second = 0}, 101, 110 * SECOND);
    /* Everything until the newest wait is everything. */
    expect(p, (struct query){.to_second = 101}, 101, 110 * SECOND);
    expect(p, (struct query){.to_second = 100}, 9, 9 * SECOND);
    profile_free(p);
}

/* Waits of threads whose rows are given to others are the others'. */
static void test_history_is_folded(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(500, &limits);
    uint32_t a = intern_class(p, "p/A"), m = intern(p, "m");
    for (uint32_t i = 1; i <= 300; i++) {
        wait_for(p, (struct profile_lock){.time_ns = (100 + i) * SECOND,
                                          .waited_ns = 1,
                                          .class_id = a,
                                          .tid = 1,
                                          .virtual_id = i,
                                          .owner_virtual_id = 1000 + i});
        add(p, (100 + i) * SECOND, 1, m);
    }
    struct query q = {.event = -1, .from_second = 101, .to_second = 400};
    struct snapshot *s = take_locks_of(p, q, 300, 300);
    uint64_t others = 0;
    for (uint32_t i = 0; i < s->lock_link_count; i++)
        if (!strcmp(s->lock_links[i].other, "[other virtual threads]"))
            others += s->lock_links[i].waits;
    assert_in_range(others, 50, 299);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_and_owners),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_owners_are_folded),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_links_are_folded),
        cmocka_unit_test(test_time_spans),
        cmocka_unit_test(test_chains_in_time_spans),
        cmocka_unit_test(test_threads_and_filters),
        cmocka_unit_test(test_history_is_limited),
        cmocka_unit_test(test_history_has_a_length),
        cmocka_unit_test(test_history_is_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
