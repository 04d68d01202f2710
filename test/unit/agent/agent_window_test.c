#include "core/agent/window.h"

#include "core/agent/process/guarded.h"
#include "test/unit/agent/trap_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define RING_BYTES WIRE_RING_BYTES_MIN
#define MAPPING_BYTES (WIRE_RING_OFFSET + RING_BYTES)

/* A sampler with as much in it as windows need. */
static struct sampler sampler;
static struct wire_mapping *mapping;
static struct window window;

static int open_window(function *begin, function *end, bool marks, char *why) {
    struct wire_request q = {.window_begin = address_of(begin),
                             .window_end = end ? address_of(end) : 0,
                             .window_marks = marks};
    return window_open(&window, &sampler, &q, why, 160);
}

static void begin(function *begins, function *ends, bool marks) {
    char why[160] = "";
    assert_int_equal(guarded_install(), 0);
    mapping = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mapping != MAP_FAILED);
    sampler.status = &mapping->control.status;
    ring_writer_init(&sampler.ring, mapping, RING_BYTES);
    int r = open_window(begins, ends, marks, why);
    if (r < 0)
        print_error("%s\n", why);
    assert_int_equal(r, 0);
}

/* Closes it; returns how many windows were told. Of many threads those come in any order. */
static uint32_t end(void) {
    uint32_t told = 0;
    window_close(&window);
    window_close(&window);
    assert_int_equal(sampler.window, SAMPLER_ALWAYS);
    for (uint64_t at = 0; at < mapping->control.positions.head; at += sizeof(struct wire_window)) {
        struct wire_window w;
        memcpy(&w, mapping->ring + at, sizeof w);
        assert_int_equal(w.header, wire_header_word(WIRE_WINDOW, sizeof w));
        assert_true(w.begin_ns && w.end_ns >= w.begin_ns);
        told++;
    }
    munmap(mapping, MAPPING_BYTES);
    guarded_remove();
    return told;
}

static void call(function *f) {
    long result = f(1, 0, 0, 0, 0);
    assert_true(f == empty || result == 2);
}

static void opens_and_closes(function *begins, function *ends, bool marks) {
    uint32_t outside = marks ? SAMPLER_MARKED_OUTSIDE : SAMPLER_OUTSIDE;
    begin(begins, ends, marks);
    for (uint32_t i = 1; i <= 5; i++) {
        assert_int_equal(sampler.window, outside);
        call(ends);
        assert_int_equal(sampler.window, outside);
        call(begins);
        assert_int_equal(sampler.window, SAMPLER_INSIDE);
        assert_int_equal(sampler.status->windows, i);
        call(begins);
        assert_int_equal(sampler.window, SAMPLER_INSIDE);
        assert_int_equal(sampler.status->windows, i);
        call(ends);
    }
    assert_int_equal(sampler.window, outside);
    call(begins);
    assert_int_equal(end(), 6); /* what is open when it is closed is told, too */
    call(begins);
    assert_int_equal(sampler.window, SAMPLER_ALWAYS);
}

static void windows_of_any_functions(void **state) {
    (void)state;
    opens_and_closes(with_push, with_room, false);
    opens_and_closes(with_mark, with_push, true);
    opens_and_closes(with_room, empty, false);
    opens_and_closes(without_step, with_push, false);
    opens_and_closes(with_push, without_step, false);
    opens_and_closes(without_step, other_without_step, true);
}

static void without_an_end(void **state) {
    (void)state;
    static function *const begins[] = {with_push, without_step};
    for (int i = 0; i < 2; i++) {
        begin(begins[i], NULL, false);
        assert_int_equal(sampler.window, SAMPLER_OUTSIDE);
        call(begins[i]);
        call(begins[i]);
        assert_int_equal(sampler.window, SAMPLER_INSIDE);
        assert_int_equal(sampler.status->windows, 1);
        assert_int_equal(end(), 1);
    }
}

static void from_call_to_call(void **state) {
    (void)state;
    begin(with_push, with_push, false);
    for (int i = 0; i < 4; i++)
        call(with_push);
    assert_int_equal(sampler.status->windows, 4);
    assert_int_equal(end(), 4);
}

static void no_window(void **state) {
    (void)state;
    char why[160] = "";
    struct wire_request none = {.window_begin = 0};
    assert_int_equal(guarded_install(), 0);
    assert_int_equal(window_open(&window, &sampler, &none, why, sizeof why), 0);
    assert_int_equal(sampler.window, SAMPLER_ALWAYS);
    window_close(&window);
    none.window_begin = 8;
    none.window_end = address_of(with_push);
    assert_int_equal(window_open(&window, &sampler, &none, why, sizeof why), -EFAULT);
    assert_non_null(strstr(why, "no code"));
    assert_int_equal(sampler.window, SAMPLER_ALWAYS);
    assert_int_equal(open_window(without_step, without_step, false, why), -ENOTSUP);
    guarded_remove();
}

static function *many[2];

static void *call_many(void *arg) {
    (void)arg;
    for (int i = 0; i < 20000; i++) {
        many[0](1, 0, 0, 0, 0);
        many[1](1, 0, 0, 0, 0);
    }
    return NULL;
}

/* Each window that was entered is told, once. */
static void by_many_threads(function *begins, function *ends) {
    pthread_t thread[4];
    many[0] = begins;
    many[1] = ends;
    begin(begins, ends, false);
    uint64_t read = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    /* Nobody is in between. */
    call(begins);
    assert_int_equal(sampler.window, SAMPLER_INSIDE);
    call(ends);
    assert_int_equal(sampler.window, SAMPLER_OUTSIDE);
    read = sampler.status->windows;
    assert_true(read > 100);
    uint32_t room = (uint32_t)(RING_BYTES / sizeof(struct wire_window));
    assert_int_equal(end(), read < room ? read : room);
}

static void windows_of_many_threads(void **state) {
    (void)state;
    by_many_threads(with_push, with_room);
    by_many_threads(without_step, other_without_step);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_any_functions), cmocka_unit_test(without_an_end),
        cmocka_unit_test(from_call_to_call),        cmocka_unit_test(no_window),
        cmocka_unit_test(windows_of_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
