#include "core/wire/ring_reader.h"
#include "core/wire/ring_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING ((uint64_t)WIRE_RING_BYTES_MIN)

static _Alignas(8) uint8_t record[WIRE_RECORD_BYTES_MAX];

/* A page nobody may touch follows the ring: one step beyond its end shows. */
static struct wire_mapping *map_ring(void) {
    uint8_t *p = mmap(NULL, WIRE_RING_OFFSET + RING + 4096, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + WIRE_RING_OFFSET + RING, 4096, PROT_NONE), 0);
    return (void *)p;
}

static void unmap_ring(struct wire_mapping *m) {
    munmap(m, WIRE_RING_OFFSET + RING + 4096);
}

/* What the tests write: who, the how manieth, and a pattern that shows any torn byte. */
struct note {
    uint64_t header;
    uint64_t writer;
    uint64_t number;
    uint64_t pattern[];
};

static uint32_t note_words(uint64_t writer, uint64_t number) {
    return (uint32_t)((writer * 7 + number * 13) % 61);
}

static uint64_t pattern_of(const struct note *n, uint64_t i) {
    return n->writer * UINT64_C(0x9e3779b97f4a7c15) ^ n->number << 20 ^ i;
}

static bool write_note(struct ring_writer *w, uint64_t writer, uint64_t number) {
    uint32_t words = note_words(writer, number);
    struct note *n = ring_reserve(w, WIRE_LOG, (uint32_t)sizeof *n + 8 * words);
    if (!n)
        return false;
    n->writer = writer;
    n->number = number;
    for (uint32_t i = 0; i < words; i++)
        n->pattern[i] = pattern_of(n, i);
    ring_commit(n, WIRE_LOG);
    return true;
}

static void check_note(uint32_t length) {
    const struct note *n = (const void *)record;
    assert_int_equal(wire_header_type(n->header), WIRE_LOG);
    assert_int_equal(n->header & WIRE_HEADER_BUSY, 0);
    uint32_t words = note_words(n->writer, n->number);
    assert_int_equal(length, sizeof *n + 8 * words);
    for (uint32_t i = 0; i < words; i++)
        assert_int_equal(n->pattern[i], pattern_of(n, i));
}

static void test_wraps_at_every_alignment(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    for (uint32_t words = 1; words <= 64; words += 3) {
        /* one lap for each distance of the first record from the end of the ring */
        for (uint64_t start = 0; start <= 8 * (words + 3); start += 8) {
            memset(m, 0, WIRE_RING_OFFSET + RING);
            uint64_t at = 5 * RING - start;
            atomic_store(&m->control.positions.head, at);
            atomic_store(&m->control.positions.tail, at);
            atomic_store(&m->control.positions.wiping, at);
            struct ring_writer w;
            struct ring_reader r;
            ring_writer_init(&w, m, RING);
            ring_reader_init(&r, m, RING);
            for (uint64_t i = 0; i < 3; i++) {
                uint64_t *p = ring_reserve(&w, WIRE_SAMPLE, 8 * words);
                assert_non_null(p);
                assert_true((uint8_t *)(p + words) <= m->ring + RING);
                for (uint32_t k = 1; k < words; k++)
                    p[k] = UINT64_MAX - i; /* bad lengths, were they ever taken for a header */
                ring_commit(p, WIRE_SAMPLE);
            }
            for (uint64_t i = 0; i < 3; i++) {
                assert_int_equal(ring_read(&r, record, sizeof record, false), 8 * words);
                if (words > 1)
                    assert_int_equal(((uint64_t *)(void *)record)[words - 1], UINT64_MAX - i);
            }
            assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
            assert_int_equal(r.corrupt, 0);
            for (uint64_t i = 0; i < RING; i += 8)
                assert_int_equal(*(uint64_t *)(void *)(m->ring + i), 0);
        }
    }
    unmap_ring(m);
}

static void test_full_ring_refuses_and_recovers(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, RING);
    ring_reader_init(&r, m, RING);
    uint64_t written = 0;
    while (write_note(&w, 1, written))
        written++;
    uint64_t head = atomic_load(&m->control.positions.head);
    assert_true(RING - head < 8 * 64);
    assert_null(ring_reserve(&w, WIRE_LOG, (uint32_t)RING / 2));
    assert_int_equal(atomic_load(&m->control.positions.head), head);
    for (uint64_t i = 0; i < written; i++) {
        uint32_t length = ring_read(&r, record, sizeof record, false);
        check_note(length);
        assert_int_equal(((struct note *)(void *)record)->number, i);
    }
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
    assert_true(write_note(&w, 1, written));
    check_note(ring_read(&r, record, sizeof record, false));
    /* more than half the ring never fits; nothing and everything must not wrap around */
    assert_null(ring_reserve(&w, WIRE_LOG, (uint32_t)RING / 2 + 8));
    assert_null(ring_reserve(&w, WIRE_LOG, UINT32_MAX));
    assert_null(ring_reserve(&w, WIRE_LOG, 0));
    unmap_ring(m);
}

static void test_pads_and_long_records_are_skipped(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, RING);
    ring_reader_init(&r, m, RING);
    ring_commit(ring_reserve(&w, WIRE_SAMPLE, 256), WIRE_PAD);
    ring_commit(ring_reserve(&w, WIRE_SAMPLE, 4096), WIRE_SAMPLE);
    assert_true(write_note(&w, 3, 9));
    uint32_t length = ring_read(&r, record, 1024, false);
    check_note(length);
    assert_int_equal(((struct note *)(void *)record)->writer, 3);
    assert_int_equal(r.records, 1);
    unmap_ring(m);
}

/* Many writers, one reader: every record arrives whole, once, and in its writer's order. */

#define WRITERS 4

struct load {
    struct wire_mapping *mapping;
    uint64_t notes;
    uint64_t writer;
    uint64_t refused;
};

static void *write_load(void *arg) {
    struct load *l = arg;
    struct ring_writer w;
    ring_writer_init(&w, l->mapping, RING);
    for (uint64_t i = 0; i < l->notes;) {
        if (write_note(&w, l->writer, i)) {
            i++;
        } else {
            l->refused++;
            sched_yield();
        }
    }
    return NULL;
}

static void read_load(struct wire_mapping *m, uint64_t notes) {
    struct ring_reader r;
    uint64_t next[WRITERS] = {0};
    ring_reader_init(&r, m, RING);
    while (r.records < WRITERS * notes) {
        uint32_t length = ring_read(&r, record, sizeof record, false);
        assert_int_equal(r.corrupt, 0);
        if (length == 0) {
            sched_yield();
            continue;
        }
        check_note(length);
        const struct note *n = (const void *)record;
        assert_true(n->writer < WRITERS);
        assert_int_equal(n->number, next[n->writer]);
        next[n->writer]++;
    }
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
}

static void test_threads_write_while_one_reads(void **state) {
    (void)state;
    struct load load[WRITERS];
    pthread_t thread[WRITERS];
    struct wire_mapping *m = map_ring();
    for (uint64_t i = 0; i < WRITERS; i++) {
        load[i] = (struct load){m, 50000, i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, write_load, &load[i]), 0);
    }
    read_load(m, load[0].notes);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(thread[i], NULL);
    unmap_ring(m);
}

static void test_processes_write_while_one_reads(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    pid_t child[WRITERS];
    for (uint64_t i = 0; i < WRITERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct load load = {m, 20000, i, 0};
            write_load(&load);
            _exit(0);
        }
        assert_true(child[i] > 0);
    }
    read_load(m, 20000);
    for (int i = 0; i < WRITERS; i++)
        waitpid(child[i], NULL, 0);
    unmap_ring(m);
}

static void test_writer_killed_before_commit(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_reader r;
    ring_reader_init(&r, m, RING);
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        struct ring_writer w;
        ring_writer_init(&w, m, RING);
        write_note(&w, 1, 0);
        uint64_t *half = ring_reserve(&w, WIRE_SAMPLE, 512);
        half[1] = UINT64_MAX;
        write_note(&w, 1, 1);
        if (write(told[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    char x;
    assert_int_equal(read(told[0], &x, 1), 1);
    check_note(ring_read(&r, record, sizeof record, false));
    /* it lives: its half record is awaited */
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    check_note(ring_read(&r, record, sizeof record, true));
    assert_int_equal(((struct note *)(void *)record)->number, 1);
    assert_int_equal(r.abandoned, 1);
    assert_int_equal(ring_read(&r, record, sizeof record, true), 0);
    assert_int_equal(r.corrupt, 0);
    close(told[0]);
    close(told[1]);
    unmap_ring(m);
}

/* Killed after the compare-and-swap, before the header: the room is zeroes. */
static void test_writer_killed_before_header(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, RING);
    ring_reader_init(&r, m, RING);
    atomic_fetch_add(&m->control.positions.head, 96);
    assert_true(write_note(&w, 2, 5));
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
    check_note(ring_read(&r, record, sizeof record, true));
    assert_int_equal(r.abandoned, 1);
    atomic_fetch_add(&m->control.positions.head, RING - 8);
    assert_int_equal(ring_read(&r, record, sizeof record, true), 0);
    assert_int_equal(r.tail, atomic_load(&m->control.positions.head));
    unmap_ring(m);
}

/* Kills readers at arbitrary moments; the next one goes on where the dead one was. What the dead
 * one had copied out and not reported is lost with it, the rest arrives whole and in order. */
static void test_next_reader_takes_over(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    ring_writer_init(&w, m, RING);
    uint64_t written = 0;
    for (int round = 0; round < 60; round++) {
        while (write_note(&w, 1, written))
            written++;
        uint64_t begin = atomic_load(&m->control.positions.tail);
        pid_t child = fork();
        if (child == 0) {
            struct ring_reader r;
            ring_reader_init(&r, m, RING);
            for (;;)
                ring_read(&r, record, sizeof record, false);
        }
        assert_true(child > 0);
        while (atomic_load(&m->control.positions.tail) - begin < RING / 60 * (uint64_t)round)
            sched_yield();
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    struct ring_reader r;
    ring_reader_init(&r, m, RING);
    assert_true(write_note(&w, 1, written));
    uint64_t last = UINT64_MAX;
    for (uint32_t length; (length = ring_read(&r, record, sizeof record, false)) > 0;) {
        check_note(length);
        uint64_t number = ((struct note *)(void *)record)->number;
        assert_true(last == UINT64_MAX || number == last + 1);
        last = number;
    }
    assert_int_equal(last, written);
    assert_int_equal(r.corrupt, 0);
    unmap_ring(m);
}

/* The moment that a kill seldom hits: in the middle of zeroing. */
static void test_unfinished_wipe_is_finished(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, RING);
    assert_true(write_note(&w, 1, 1));
    uint64_t end = atomic_load(&m->control.positions.head);
    assert_true(write_note(&w, 1, 2));
    memset(m->ring, 0, 16); /* header gone, the rest not yet, tail not moved */
    atomic_store(&m->control.positions.wiping, end);
    ring_reader_init(&r, m, RING);
    check_note(ring_read(&r, record, sizeof record, false));
    assert_int_equal(((struct note *)(void *)record)->number, 2);
    for (uint64_t i = 0; i < end; i += 8)
        assert_int_equal(*(uint64_t *)(void *)(m->ring + i), 0);
    unmap_ring(m);
}

/* Random words as positions and contents: no crash (run with ASan), every call returns, nothing
 * longer than asked comes out, and the ring works again afterwards. */
static void test_hostile_contents(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    srandom(12345);
    for (int round = 0; round < 3000; round++) {
        uint64_t tail = round % 3 ? (uint64_t)random() : UINT64_MAX - (uint64_t)random() % 64;
        uint64_t head = tail + (uint64_t)random() % (2 * RING);
        uint64_t at = (tail & (RING - 8)) % RING;
        for (uint64_t i = 0; i < 64; i++) {
            static const uint32_t length[] = {0, 1, 8, 16, 24, 4096, 65536, 0x80000000, UINT32_MAX};
            uint64_t word = (uint64_t)random() << 33 | length[random() % 9];
            memcpy(m->ring + (at + i * 8) % RING, &word, 8);
        }
        atomic_store(&m->control.positions.tail, tail);
        atomic_store(&m->control.positions.head, head);
        atomic_store(&m->control.positions.wiping, (uint64_t)random());
        struct ring_reader r;
        ring_reader_init(&r, m, RING);
        for (int i = 0; i < 20; i++) {
            uint32_t length = ring_read(&r, record, sizeof record, round % 2);
            assert_true(length <= sizeof record && length % 8 == 0);
            if (length)
                assert_int_equal(wire_header_length(*(uint64_t *)(void *)record), length);
        }
    }
    memset(m, 0, WIRE_RING_OFFSET + RING);
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, RING);
    ring_reader_init(&r, m, RING);
    m->ring[0] = 3; /* an impossible length, then honest writers */
    atomic_store(&m->control.positions.head, 8);
    assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
    assert_int_equal(r.corrupt, 1);
    assert_true(write_note(&w, 1, 1));
    check_note(ring_read(&r, record, sizeof record, false));
    unmap_ring(m);
}

/* Fills the ring with pads, faster than they can be skipped, for ever. Another process, so that
 * TSan does not look for the races that are the point of it. */
static void feed_pads(struct wire_mapping *m) {
    for (;;) {
        for (uint64_t i = 0; i < RING; i += 8)
            atomic_store_explicit((_Atomic uint64_t *)(void *)(m->ring + i),
                                  wire_header_word(WIRE_PAD, 8), memory_order_relaxed);
        atomic_store(&m->control.positions.head,
                     atomic_load(&m->control.positions.tail) + RING - 64);
    }
}

static void test_endless_pads_do_not_hold_the_reader(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    pid_t child = fork();
    if (child == 0)
        feed_pads(m);
    assert_true(child > 0);
    struct ring_reader r;
    ring_reader_init(&r, m, RING);
    while (r.tail < 20 * RING) {
        uint64_t before = r.tail;
        assert_int_equal(ring_read(&r, record, sizeof record, false), 0);
        assert_true(r.tail - before <= RING);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    unmap_ring(m);
}

/* A tail that a hostile reader set must not lead writers out of the ring. */
static void test_hostile_tail(void **state) {
    (void)state;
    struct wire_mapping *m = map_ring();
    struct ring_writer w;
    ring_writer_init(&w, m, RING);
    static const uint64_t tail[] = {1, 8, RING, RING * 3 + 5, UINT64_MAX, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) {
        atomic_store(&m->control.positions.tail, tail[i]);
        for (int k = 0; k < 3000; k++) {
            uint8_t *p = ring_reserve(&w, WIRE_SAMPLE, 104);
            if (!p)
                break;
            assert_true(p >= m->ring && p + 104 <= m->ring + RING);
            ring_commit(p, WIRE_SAMPLE);
        }
    }
    unmap_ring(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wraps_at_every_alignment),
        cmocka_unit_test(test_full_ring_refuses_and_recovers),
        cmocka_unit_test(test_pads_and_long_records_are_skipped),
        cmocka_unit_test(test_threads_write_while_one_reads),
        cmocka_unit_test(test_processes_write_while_one_reads),
        cmocka_unit_test(test_writer_killed_before_commit),
        cmocka_unit_test(test_writer_killed_before_header),
        cmocka_unit_test(test_next_reader_takes_over),
        cmocka_unit_test(test_unfinished_wipe_is_finished),
        cmocka_unit_test(test_hostile_contents),
        cmocka_unit_test(test_endless_pads_do_not_hold_the_reader),
        cmocka_unit_test(test_hostile_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
