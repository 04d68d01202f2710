/* The way from an object to the thread that owns its monitor, in a VM made of structs. */
#include "core/agent/lock/monitor.h"

#include "core/agent/process/guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#define THREADS 5

struct fake_os_thread {
    uint32_t tid;
};

struct fake_thread {
    const void *vtable;
    uint64_t stack_base, stack_size;
    struct fake_os_thread *os;
    uint64_t id;
    uint32_t lock_top; /* from the thread's begin */
    uint64_t locked[8];
    struct fake_thread *next;
};

struct fake_monitor {
    uint64_t object, owner;
};

struct fake_object {
    uint64_t mark;
};

static const int vtable, other_vtable;
static struct fake_os_thread os[THREADS];
static struct fake_thread thread[THREADS];
static struct fake_thread *array[THREADS];
static struct {
    uint32_t length;
    struct fake_thread **threads;
} list;
static void *list_at;
static struct fake_monitor monitor;
static struct fake_object object;
static uint64_t handle;
static struct vm vm;
static struct monitors m;

static uint64_t stack_of(int i) {
    return (uint64_t)(i + 1) << 24;
}

static void make_threads(void) {
    for (int i = 0; i < THREADS; i++) {
        os[i].tid = 100 + (uint32_t)i;
        thread[i] = (struct fake_thread){
            .vtable = &vtable,
            .stack_base = stack_of(i),
            .stack_size = 1 << 20,
            .os = &os[i],
            .id = 40 + (uint64_t)i,
            .lock_top = offsetof(struct fake_thread, locked),
            .next = i + 1 < THREADS ? &thread[i + 1] : NULL,
        };
        array[i] = &thread[i];
    }
    list.length = THREADS;
    list.threads = array;
    list_at = &list;
}

static jobject make(void) {
    make_threads();
    memset(&vm, 0, sizeof vm);
    vm.heaps = 1;
    vm.java_vtable[0] = (uintptr_t)&vtable;
    vm.java_vtables = 1;
    vm.at.thread_stack_base = offsetof(struct fake_thread, stack_base);
    vm.at.thread_stack_size = offsetof(struct fake_thread, stack_size);
    vm.at.thread_osthread = offsetof(struct fake_thread, os);
    vm.at.osthread_tid = offsetof(struct fake_os_thread, tid);
    memset(&m, 0, sizeof m);
    m.vm = &vm;
    m.known = true;
    m.object = offsetof(struct fake_monitor, object);
    m.owner = offsetof(struct fake_monitor, owner);
    m.list = (uintptr_t)&list_at;
    m.list_length = 0;
    m.list_threads = 8;
    m.next = -1;
    m.thread_id = -1;
    m.lock_stack = offsetof(struct fake_thread, lock_top);
    m.lock_top = 0;
    m.lock_base = offsetof(struct fake_thread, locked) - offsetof(struct fake_thread, lock_top);
    monitor = (struct fake_monitor){.object = (uintptr_t)&object};
    object.mark = (uintptr_t)&monitor | 2;
    handle = (uintptr_t)&object;
    assert_int_equal(guarded_install(), 0);
    return (jobject)&handle;
}

/* The tid that is found; 0: none. */
static uint32_t owner(jobject o, uint64_t word) {
    struct lock_owner out = {0};
    monitor.owner = word;
    uint64_t got = monitors_owner_word(&m, o);
    return monitors_find_owner(&m, o, got, &out) ? out.tid : 0;
}

static void a_thread_or_its_stack(void **state) {
    (void)state;
    jobject o = make();
    assert_int_equal(owner(o, (uintptr_t)&thread[3]), 103);
    assert_int_equal(owner(o, (uintptr_t)&thread[3]), 103); /* from the cache */
    assert_int_equal(owner(o, stack_of(2) - 64), 102);
    assert_int_equal(owner(o, stack_of(2) + 64), 0);
    assert_int_equal(owner(o, 0), 0);
    thread[3].vtable = &other_vtable; /* it has ended, and its memory is another's */
    assert_int_equal(owner(o, (uintptr_t)&thread[3]), 0);
    guarded_remove();
}

static void a_linked_list(void **state) {
    (void)state;
    jobject o = make();
    list_at = &thread[0];
    m.next = offsetof(struct fake_thread, next);
    assert_int_equal(owner(o, (uintptr_t)&thread[4]), 104);
    thread[4].next = &thread[0]; /* torn: it must end all the same */
    assert_int_equal(owner(o, 0x7000), 0);
    guarded_remove();
}

static void an_id(void **state) {
    (void)state;
    struct lock_owner out;
    jobject o = make();
    m.thread_id = offsetof(struct fake_thread, id);
    assert_int_equal(owner(o, 42), 102);
    /* Nobody's at this moment: a virtual thread's that is not mounted. */
    monitor.owner = 77;
    assert_true(monitors_find_owner(&m, o, monitors_owner_word(&m, o), &out));
    assert_int_equal(out.tid, 0);
    assert_int_equal(out.virtual_id, 77);
    assert_int_equal(owner(o, 2), 0); /* it is being deflated */
    guarded_remove();
}

static void whoever_has_it_in_its_lock_stack(void **state) {
    (void)state;
    jobject o = make();
    m.thread_id = offsetof(struct fake_thread, id);
    assert_int_equal(owner(o, 1), 0);
    thread[1].locked[0] = 0x1230;
    thread[1].locked[1] = (uintptr_t)&object;
    assert_int_equal(owner(o, 1), 0); /* above its top */
    thread[1].lock_top += 16;
    assert_int_equal(owner(o, 1), 101);
    thread[1].lock_top = UINT32_MAX;
    thread[1].locked[1] = 0;
    assert_int_equal(owner(o, 1), 0);
    guarded_remove();
}

static void nothing_is_believed(void **state) {
    (void)state;
    jobject o = make();
    monitor.owner = (uintptr_t)&thread[0];
    assert_int_equal(monitors_owner_word(&m, o), (uintptr_t)&thread[0]);
    monitor.object = 0x1230; /* another object's */
    assert_int_equal(monitors_owner_word(&m, o), 0);
    monitor.object = (uintptr_t)&object;
    static const uint64_t marks[] = {0, 1, 3, 2, 0x5002, ~UINT64_C(1), UINT64_C(1) << 62 | 2};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        object.mark = marks[i];
        assert_int_equal(monitors_owner_word(&m, o), 0);
    }
    handle = 0x1008; /* no object there */
    assert_int_equal(monitors_owner_word(&m, o), 0);
    list.length = UINT32_MAX;
    list.threads = (struct fake_thread **)0x2000;
    struct lock_owner out;
    assert_false(monitors_find_owner(&m, o, 0x7000, &out));
    m.known = false;
    assert_false(monitors_find_owner(&m, o, (uintptr_t)&thread[0], &out));
    guarded_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_or_its_stack),
        cmocka_unit_test(a_linked_list),
        cmocka_unit_test(an_id),
        cmocka_unit_test(whoever_has_it_in_its_lock_stack),
        cmocka_unit_test(nothing_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
