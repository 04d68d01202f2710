/* What the wall clock engine knows of threads: whether they sleep and in what, how their time adds
 * up while they do not move, and when they are looked at. */
#include "core/agent/engine/engine_wall.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define RING (64u << 10)

/* A thread that does one thing until it is told to end. */
struct fellow {
    pthread_t thread;
    _Atomic uint32_t tid;
    _Atomic uint32_t end;
    int pipe[2];
    void (*body)(struct fellow *);
};

static void reads(struct fellow *f) {
    char c;
    assert_int_equal(1, read(f->pipe[0], &c, 1));
}

static void polls(struct fellow *f) {
    struct pollfd p = {.fd = f->pipe[0], .events = POLLIN};
    poll(&p, 1, -1);
}

static void runs(struct fellow *f) {
    while (!atomic_load(&f->end))
        continue;
}

static void locks(struct fellow *f) {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&m);
    while (!atomic_load(&f->end)) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec++;
        pthread_cond_timedwait(&c, &m, &t);
    }
    pthread_mutex_unlock(&m);
}

static void sleeps(struct fellow *f) {
    while (!atomic_load(&f->end))
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

static void *fellow_main(void *arg) {
    struct fellow *f = arg;
    atomic_store(&f->tid, (uint32_t)syscall(SYS_gettid));
    f->body(f);
    return NULL;
}

static void fellow_start(struct fellow *f, void (*body)(struct fellow *)) {
    *f = (struct fellow){.body = body};
    assert_int_equal(0, pipe(f->pipe));
    assert_int_equal(0, pthread_create(&f->thread, NULL, fellow_main, f));
    while (!atomic_load(&f->tid))
        continue;
}

static void fellow_end(struct fellow *f) {
    atomic_store(&f->end, 1);
    assert_int_equal(1, write(f->pipe[1], "x", 1));
    pthread_join(f->thread, NULL);
    close(f->pipe[0]);
    close(f->pipe[1]);
}

static void look_until(struct thread_states *s, const struct fellow *f, enum thread_look wanted,
                       struct thread_sleep *sleep) {
    enum thread_look seen = THREAD_GONE;
    for (int tries = 0; tries < 5000 && seen != wanted; tries++) {
        seen = thread_state_look(s, f->tid, sleep);
        if (seen != wanted)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(wanted, seen);
}

static void test_states(void **state) {
    (void)state;
    static const struct {
        void (*body)(struct fellow *);
        enum wire_thread_state wanted;
    } cases[] = {{reads, WIRE_THREAD_IO},
                 {polls, WIRE_THREAD_POLL},
                 {locks, WIRE_THREAD_FUTEX},
                 {sleeps, WIRE_THREAD_SLEEPING}};
    struct vm vm = {0};
    struct thread_states s;
    assert_int_equal(0, thread_states_open(&s));
    assert_false(s.hidden);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fellow f;
        struct thread_sleep sleep;
        fellow_start(&f, cases[i].body);
        look_until(&s, &f, THREAD_SLEEPS, &sleep);
        assert_int_equal(cases[i].wanted, thread_state_of_sleep(&s, &vm, 0, &sleep, 0));
        /* Where it sleeps is in its own stack and in code. */
        assert_int_not_equal(0, sleep.sp);
        assert_int_not_equal(0, sleep.pc);
        /* Where the kernel does not tell, it sleeps all the same. */
        s.hidden = true;
        look_until(&s, &f, THREAD_HIDDEN, &sleep);
        assert_int_equal(-1, sleep.syscall);
        s.hidden = false;
        fellow_end(&f);
        assert_int_equal(THREAD_GONE, thread_state_look(&s, f.tid, &sleep));
        assert_false(s.hidden); /* a thread that is gone tells nothing of the others */
    }
    struct fellow f;
    struct thread_sleep sleep;
    fellow_start(&f, runs);
    look_until(&s, &f, THREAD_RUNS, &sleep);
    fellow_end(&f);
    thread_states_close(&s);
}

/* The agent's parts that an engine needs, without a JVM: threads are what the test says. */
struct world {
    struct wall wall;
    struct engine_run run;
    struct sampler sampler;
    struct threads threads;
    struct wire_engine_status status;
    struct wire_mapping *mapping;
    struct vm vm;
    uint32_t tids[8];
    uint64_t read; /* of the ring */
};

static int world_open(void **state) {
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->mapping = mmap(NULL, wire_mapping_bytes(RING), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(MAP_FAILED, w->mapping);
    ring_writer_init(&w->sampler.ring, w->mapping, RING);
    pthread_mutex_init(&w->threads.lock, NULL);
    w->sampler.walker.vm = &w->vm;
    w->threads.tid = w->tids;
    w->run =
        (struct engine_run){.sampler = &w->sampler, .threads = &w->threads, .status = &w->status};
    w->run.request.interval = WALL_INTERVAL;
    w->wall.run = &w->run;
    w->wall.random = 1;
    assert_int_equal(0, wall_threads_map(&w->wall));
    *state = w;
    return 0;
}

static int world_close(void **state) {
    struct world *w = *state;
    wall_threads_unmap(&w->wall);
    munmap(w->mapping, wire_mapping_bytes(RING));
    free(w);
    return 0;
}

static struct wall_thread *enter(struct world *w, uint32_t tid, uint64_t now) {
    w->tids[w->threads.count++] = tid;
    wall_threads_list(&w->wall, now);
    assert_int_not_equal(0, w->wall.index_of_tid[tid]);
    return &w->wall.entry[w->wall.index_of_tid[tid] - 1];
}

/* The next record, which must be a repeat; NULL: there is none. */
static const struct wire_repeat *next_repeat(struct world *w) {
    if (w->read >= atomic_load(&w->mapping->control.positions.head))
        return NULL;
    const struct wire_repeat *r = (const void *)(w->mapping->ring + w->read);
    assert_int_equal(WIRE_REPEAT, wire_header_type(r->header));
    w->read += wire_header_length(r->header);
    return r;
}

/* A thread that does not move: its sample stands for all its time, once a second, to the end. */
static void test_repeats_add_up(void **state) {
    struct world *w = *state;
    struct fellow f;
    struct thread_states states;
    struct thread_sleep sleep;
    assert_int_equal(0, thread_states_open(&states));
    fellow_start(&f, reads);
    look_until(&states, &f, THREAD_SLEEPS, &sleep);
    thread_states_close(&states);
    struct timespec cpu;
    assert_int_equal(0, clock_gettime((clockid_t)(~f.tid << 3 | 6), &cpu));
    struct wall_thread *t = enter(w, f.tid, 1000);
    assert_int_equal(1000, t->since_ns);
    t->sampled = true; /* as if its sample were in the ring */
    t->state = WIRE_THREAD_IO;
    t->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    uint64_t now = 1000;
    uint64_t pause = WALL_INTERVAL;
    int looks = 0;
    for (; now < UINT64_C(5000000000); now += pause, looks++)
        pause = wall_look(&w->wall, t, now);
    assert_in_range(looks, 20, 60); /* the longer it stays, the fewer */
    wall_close(&w->wall, t, now);
    uint64_t sum = 0;
    uint64_t count = 0;
    int records = 0;
    for (const struct wire_repeat *r; (r = next_repeat(w)); records++) {
        assert_int_equal(f.tid, r->tid);
        assert_int_equal(WIRE_THREAD_IO, r->state);
        assert_int_equal(WIRE_EVENT_WALL, r->event);
        sum += r->weight;
        count += r->count;
        assert_true(r->time_ns <= now && r->time_ns >= sum);
    }
    assert_int_equal(now - 1000, sum);
    assert_in_range(records, 4, 7);
    assert_in_range(count, 95, 105); /* as many as of a thread that is looked at all the time */
    assert_int_equal(w->wall.expected_ns, atomic_load(&w->wall.covered_ns));
    assert_int_equal(now - 1000, w->wall.expected_ns);
    fellow_end(&f);
    /* Gone: the entry is free, and the next thread's. */
    wall_look(&w->wall, t, now);
    assert_int_equal(0, t->tid);
    w->threads.count = 0;
    assert_ptr_equal(t, enter(w, 4711, now));
    assert_false(t->sampled);
}

/* A thread that a signal is on its way to keeps its entry until the list says it is gone, and one
 * whose handler is at work keeps it longer. */
static void test_entries(void **state) {
    struct world *w = *state;
    struct wall_thread *a = enter(w, 100, 5);
    struct wall_thread *b = enter(w, 200, 5);
    assert_ptr_not_equal(a, b);
    atomic_store(&a->turn, WALL_ITS);
    atomic_store(&b->turn, WALL_SENT);
    w->threads.count = 0;
    wall_threads_list(&w->wall, 6);
    assert_int_equal(100, a->tid);
    assert_int_equal(0, b->tid);
    assert_int_equal(1, w->status.threads);
    atomic_store(&a->turn, WALL_OURS);
    wall_threads_list(&w->wall, 7);
    assert_int_equal(0, a->tid);
    assert_int_equal(0, w->status.threads);
    /* Who may not be sampled is not looked at. */
    uint8_t *allowed = calloc(1, WIRE_THREADS_BYTES);
    allowed[300 / 8] |= 1 << 300 % 8;
    w->sampler.allowed = allowed;
    w->tids[0] = 300;
    w->tids[1] = 301;
    w->threads.count = 2;
    wall_threads_list(&w->wall, 8);
    assert_int_not_equal(0, w->wall.index_of_tid[300]);
    assert_int_equal(0, w->wall.index_of_tid[301]);
    free(allowed);
}

/* Looks come at random times, an interval apart on average, never much sooner or later. */
static void test_pauses(void **state) {
    struct world *w = *state;
    uint64_t sum = 0;
    uint32_t early = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t pause = wall_pause(&w->wall, 1000);
        assert_in_range(pause, 500, 1499);
        sum += pause;
        early += pause < 750;
    }
    assert_in_range(sum / 10000, 980, 1020);
    assert_in_range(early, 2300, 2700);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test_setup_teardown(test_repeats_add_up, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_entries, world_open, world_close),
        cmocka_unit_test_setup_teardown(test_pauses, world_open, world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
