/* Unwind tables on their way to the agent: the protocol of the shared lists, and the tables of
 * this very process, followed through the loading and unloading of a library. */
#include "core/session/drain/unwind.h"

#include "core/session/control.h"
#include "core/session/drain/unwind_area.h"
#include "core/session/mapping.h"
#include "core/session/session.h"
#include "core/wire/ring_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "test/unit/symbols/symbols_fixture.h"

#define GRACE_NS (WIRE_UNWIND_GRACE_MS * UINT64_C(1000000))
#define PATIENCE_MS 20000

static struct wire_unwind *make_area(void) {
    void *p = mmap(NULL, WIRE_UNWIND_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static void free_area(struct wire_unwind *w) {
    munmap(w, WIRE_UNWIND_BYTES);
}

/* The list that is not in force is written, and not before handlers have left it. */
static void test_two_lists(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind_area a;
    struct wire_unwind_module m[2] = {{.begin = 1, .end = 2}, {.begin = 3, .end = 4}};
    uint64_t now = 1000;
    unwind_area_init(&a, w, now);
    assert_int_equal(unwind_area_publish(&a, m, 1, now), 0);
    assert_int_equal(w->current, 1);
    assert_int_equal(w->generation, 1);
    assert_int_equal(w->modules[1], 1);
    assert_memory_equal(&w->module[1][0], &m[0], sizeof m[0]);
    assert_int_equal(unwind_area_publish(&a, m, 2, now + GRACE_NS - 1), -EAGAIN);
    assert_int_equal(w->modules[0], 0);
    assert_int_equal(w->generation, 1);
    assert_int_equal(unwind_area_publish(&a, m, 2, now + GRACE_NS), 0);
    assert_int_equal(w->current, 0);
    assert_int_equal(w->generation, 2);
    assert_int_equal(w->modules[0], 2);
    assert_int_equal(w->modules[1], 1);
    assert_memory_equal(&w->module[0][1], &m[1], sizeof m[1]);
    free_area(w);
}

/* Rows go through the file to where it is mapped; if it cannot be written, straight there. */
static void test_rows_through_the_file(void **state) {
    (void)state;
    enum { ROWS = 5000, AT = 8192 };
    int fd = memfd_create("rows", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, AT + WIRE_UNWIND_BYTES), 0);
    char *p = mmap(NULL, AT + WIRE_UNWIND_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    struct wire_unwind *w = (void *)(p + AT);
    struct unwind_area a;
    struct unwind_row *rows = calloc(ROWS, sizeof *rows);
    uint32_t first;
    assert_non_null(rows);
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = (struct unwind_row){
            .pc = i, .cfa_offset = (int32_t)(7 * i), .fp_offset = -2, .ra_offset = 3, .cfa = 1};
    unwind_area_init(&a, w, 0);
    a.fd = fd;
    a.offset = AT;
    for (int round = 0; round < 3; round++) {
        if (round == 2) /* Linux 5.1 */
            (void)fcntl(fd, F_ADD_SEALS, 0x10 /* F_SEAL_FUTURE_WRITE */);
        assert_int_equal(unwind_area_add(&a, rows, ROWS - (size_t)round, &first), 0);
        for (uint32_t i = 0; i < ROWS - (uint32_t)round; i++) {
            assert_int_equal(w->row[first + i].pc, i);
            assert_int_equal(w->row[first + i].cfa_offset, 7 * i);
            assert_int_equal(w->row[first + i].fp_offset, -2);
            assert_int_equal(w->row[first + i].ra_offset, 3);
            assert_int_equal(w->row[first + i].cfa, 1);
        }
    }
    assert_int_equal(w->rows, 3 * ROWS - 3);
    assert_int_equal(w->row[3 * ROWS - 3].pc, 0);
    free(rows);
    munmap(p, AT + WIRE_UNWIND_BYTES);
    close(fd);
}

static void test_rows_run_out(void **state) {
    (void)state;
    enum { MANY = 1 << 20 };
    struct wire_unwind *w = make_area();
    struct unwind_area a;
    struct unwind_row row = {
        .pc = 7, .cfa_offset = -8, .fp_offset = 16, .ra_offset = -24, .cfa = UNWIND_CFA_FP_DEREF};
    struct unwind_row *rows = calloc(MANY, sizeof *rows);
    assert_non_null(rows);
    uint32_t first;
    unwind_area_init(&a, w, 0);
    assert_int_equal(unwind_area_add(&a, rows, 5, &first), 0);
    assert_int_equal(first, 0);
    assert_int_equal(unwind_area_add(&a, &row, 1, &first), 0);
    assert_int_equal(first, 5);
    assert_int_equal(w->rows, 6);
    assert_int_equal(w->row[5].pc, 7);
    assert_int_equal(w->row[5].cfa_offset, -8);
    assert_int_equal(w->row[5].fp_offset, 16);
    assert_int_equal(w->row[5].ra_offset, -24);
    assert_int_equal(w->row[5].cfa, WIRE_CFA_FP_DEREF);
    while (unwind_area_add(&a, rows, MANY, &first) == 0)
        assert_true(first < WIRE_UNWIND_ROWS_MAX);
    uint32_t used = w->rows;
    assert_true(used > WIRE_UNWIND_ROWS_MAX - MANY);
    assert_int_equal(unwind_area_add(&a, rows, WIRE_UNWIND_ROWS_MAX - used, &first), 0);
    assert_int_equal(unwind_area_add(&a, &row, 1, &first), -ENOSPC);
    assert_int_equal(w->rows, WIRE_UNWIND_ROWS_MAX);
    free(rows);
    free_area(w);
}

/* What another reader left stays as it is, whatever it says. */
static void test_after_another_writer(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind_area a;
    struct unwind_row row = {.pc = 1};
    struct wire_unwind_module m = {.begin = 1, .end = 2};
    uint32_t first;
    w->rows = 10;
    w->current = 1;
    w->generation = 5;
    unwind_area_init(&a, w, 1000);
    assert_int_equal(unwind_area_add(&a, &row, 1, &first), 0);
    assert_int_equal(first, 10);
    assert_int_equal(unwind_area_publish(&a, &m, 1, 1000), -EAGAIN);
    assert_int_equal(unwind_area_publish(&a, &m, 1, 1000 + GRACE_NS), 0);
    assert_int_equal(w->current, 0);
    assert_int_equal(w->generation, 6);
    w->rows = UINT32_MAX;
    w->current = 77;
    unwind_area_init(&a, w, 1000);
    assert_int_equal(unwind_area_add(&a, &row, 1, &first), -ENOSPC);
    assert_int_equal(unwind_area_publish(&a, &m, 1, 1000 + GRACE_NS), 0);
    assert_int_equal(w->current, 0);
    free_area(w);
}

/* Only what is sampled an interval later may start before the tables are complete. */
static void test_needs_all(void **state) {
    (void)state;
    struct wire_engine_request engine[2] = {{.event = WIRE_EVENT_CPU}, {.event = WIRE_EVENT_WALL}};
    assert_false(unwind_needs_all(engine, 2));
    engine[1].interval = 10000000;
    assert_false(unwind_needs_all(engine, 2));
    engine[1].interval = 9999999;
    assert_true(unwind_needs_all(engine, 2));
    assert_false(unwind_needs_all(engine, 1));
    engine[0].event = WIRE_EVENT_NATIVEMEM;
    assert_true(unwind_needs_all(engine, 1));
}

/* This process. */

/* The module of an address, as a handler finds it; checks the whole list on the way. */
static const struct wire_unwind_module *find_module(const struct wire_unwind *w, uintptr_t pc) {
    const struct wire_unwind_module *found = NULL;
    uint32_t current = w->current;
    assert_true(current < 2 && w->modules[current] <= WIRE_UNWIND_MODULES_MAX);
    for (uint32_t i = 0; i < w->modules[current]; i++) {
        const struct wire_unwind_module *m = &w->module[current][i];
        assert_true(m->begin < m->end && (i == 0 || m[-1].end <= m->begin));
        assert_true(m->rows > 0 &&
                    m->first_row + m->rows <= __atomic_load_n(&w->rows, __ATOMIC_ACQUIRE));
        if (pc >= m->begin && pc < m->end)
            found = m;
    }
    return found;
}

/* How the caller is found at the entry of a function. */
static void check_entry(const struct wire_unwind *w, uintptr_t function) {
    const struct wire_unwind_module *m = find_module(w, function);
    assert_non_null(m);
    const struct wire_unwind_row *row = w->row + m->first_row;
    assert_true(function - m->base < UINT32_MAX);
    uint32_t i = 0;
    while (i + 1 < m->rows && row[i + 1].pc <= function - m->base)
        i++;
    assert_true(row[i].pc <= function - m->base);
    assert_int_equal(row[i].cfa, WIRE_CFA_SP);
#if defined(__x86_64__)
    assert_int_equal(row[i].cfa_offset, 8);
    assert_int_equal(row[i].ra_offset, -8);
#endif
}

/* Maps a library's code; `where`: there, or NULL. */
static void *map_code(const char *name, void *where) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", fixture_dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    void *p = mmap(where, (size_t)st.st_size, PROT_READ | PROT_EXEC,
                   MAP_PRIVATE | (where ? MAP_FIXED : 0), fd, 0x1000);
    assert_true(p != MAP_FAILED);
    close(fd);
    return p;
}

static void refresh(struct unwind *u) {
    unwind_refresh(u);
    assert_true(unwind_wait(u, PATIENCE_MS, true));
}

static void test_a_library_comes_and_goes(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind *u;
    struct err e = {0};
    char trouble[256];
    const uintptr_t *lib;
    assert_int_equal(unwind_start(getpid(), w, -1, 0, &u, &e), 0);
    assert_true(unwind_wait(u, PATIENCE_MS, true));
    uint32_t generation = w->generation; /* on a slow machine there are several */
    assert_true(generation > 0);
    check_entry(w, (uintptr_t)&gnu_get_libc_version);
    check_entry(w, (uintptr_t)&check_entry);
    uint32_t rows = w->rows;
    size_t bytes = rows * sizeof w->row[0];
    struct wire_unwind_row *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, w->row, bytes);
    refresh(u); /* nothing has changed, nothing is written */
    assert_int_equal(w->generation, generation);

    fixture_build("unwound.so", "");
    void *library = fixture_load("unwound.so", &lib);
    uintptr_t function = lib[LIB_EXPORTED];
    assert_null(find_module(w, function));
    refresh(u);
    assert_true(w->generation > generation);
    check_entry(w, function);
    check_entry(w, (uintptr_t)&gnu_get_libc_version);
    assert_true(w->rows > rows);
    assert_memory_equal(w->row, before, bytes);
    rows = w->rows;
    /* The same file in another place is not read again. */
    uintptr_t again = (uintptr_t)map_code("unwound.so", NULL);
    refresh(u);
    assert_int_equal(w->rows, rows);
    assert_non_null(find_module(w, again));
    assert_int_equal(find_module(w, again)->first_row, find_module(w, function)->first_row);
    assert_int_equal(find_module(w, again)->base - again,
                     find_module(w, function)->base - find_module(w, function)->begin);
    dlclose(library);
    refresh(u);
    assert_null(find_module(w, function));
    assert_non_null(find_module(w, again));
    library = fixture_load("unwound.so", &lib);
    refresh(u);
    check_entry(w, lib[LIB_EXPORTED]);
    assert_int_equal(w->rows, rows);
    assert_false(unwind_trouble(u, trouble, sizeof trouble));
    dlclose(library);
    free(before);
    unwind_stop(u);
    free_area(w);
}

/* A JVM that says all the time that libraries changed does not keep us looking. */
static void test_looks_are_apart(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind *u;
    struct err e = {0};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(unwind_start(getpid(), w, -1, 0, &u, &e), 0);
    assert_true(unwind_wait(u, PATIENCE_MS, true));
    for (int i = 0; i < 3; i++) {
        unwind_refresh(u);
        unwind_refresh(u);
        assert_true(unwind_wait(u, PATIENCE_MS, true));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
    assert_true(ms >= 3 * UNWIND_PAUSE_MS);
    unwind_stop(u);
    free_area(w);
}

static void test_no_room(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind *u;
    struct err e = {0};
    char trouble[256];
    w->rows = (uint32_t)WIRE_UNWIND_ROWS_MAX - 100;
    assert_int_equal(unwind_start(getpid(), w, -1, 0, &u, &e), 0);
    assert_true(unwind_wait(u, PATIENCE_MS, true));
    assert_true(w->generation > 0 && w->rows <= WIRE_UNWIND_ROWS_MAX);
    assert_null(find_module(w, (uintptr_t)&gnu_get_libc_version));
    assert_true(unwind_trouble(u, trouble, sizeof trouble));
    assert_non_null(strstr(trouble, "frame pointers"));
    assert_false(unwind_trouble(u, trouble, sizeof trouble));
    unwind_stop(u);
    free_area(w);
}

/* A library whose tables are in its debug file only, as some C libraries are built. */
static void test_tables_of_the_debug_file(void **state) {
    (void)state;
    struct wire_unwind *w = make_area();
    struct unwind *u;
    struct err e = {0};
    const uintptr_t *lib;
    fixture_build("split.so", "-g -fno-asynchronous-unwind-tables");
    assert_true(fixture_run("objcopy --only-keep-debug split.so split.debug && strip split.so && "
                            "objcopy --add-gnu-debuglink=split.debug split.so"));
    void *library = fixture_load("split.so", &lib);
    assert_int_equal(unwind_start(getpid(), w, -1, 0, &u, &e), 0);
    assert_true(unwind_wait(u, PATIENCE_MS, true));
    check_entry(w, lib[LIB_EXPORTED]);
    unwind_stop(u);
    dlclose(library);
    free_area(w);
}

/* A whole session. */

#define RING ((uint64_t)WIRE_RING_BYTES_MIN)
#define PLACE_BYTES ((size_t)1 << 20)

struct stage {
    struct mapping mapping;
    struct session *session;
    pid_t agent; /* a child of ours, so that our functions are where they are here */
    int go;      /* a byte written to it makes it load its library */
    void *place; /* where it does */
};

/* Answers what it is asked; loads a library when told to, and says so. */
static void agent_main(struct wire_mapping *m, int go, void *place) {
    struct wire_control *c = &m->control;
    struct ring_writer w;
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    for (;; usleep(1000)) {
        uint32_t generation = atomic_load(&c->request.generation);
        if (generation != atomic_load(&c->status.generation)) {
            bool detach = c->request.command == WIRE_COMMAND_DETACH;
            atomic_store(&c->status.state, detach ? WIRE_STATE_DETACHED : WIRE_STATE_IDLE);
            atomic_store(&c->status.generation, generation);
        }
        if (read(go, &byte, 1) != 1)
            continue;
        map_code("unwound.so", place);
        void *record = ring_reserve(&w, WIRE_LIBRARY, 8);
        if (record)
            ring_commit(record, WIRE_LIBRARY);
    }
}

static void begin(struct stage *st, const char *walker) {
    struct err e = {0};
    int pipe_fd[2];
    int fd = mapping_make_fd(RING, &e);
    struct wire_header h = {.magic = WIRE_MAGIC, .abi_major = WIRE_ABI_MAJOR, .ring_bytes = RING};
    assert_true(fd >= 0 && pwrite(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    assert_int_equal(mapping_of_fd(fd, 0, &st->mapping, &e), 0);
    struct wire_status *s = &st->mapping.wire->control.status;
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){.mechanism = WIRE_MECHANISM_CTIMER};
    strcpy(s->walker, walker);
    atomic_store(&s->state, WIRE_STATE_RUNNING);
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK), 0);
    st->place = mmap(NULL, PLACE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(st->place != MAP_FAILED);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping.wire, pipe_fd[0], st->place);
    close(pipe_fd[0]);
    st->go = pipe_fd[1];
    assert_int_equal(session_adopt(fd, st->agent, &(struct session_options){0}, &st->session, &e),
                     0);
}

static void end(struct stage *st) {
    session_close(st->session);
    kill(st->agent, SIGKILL);
    waitpid(st->agent, NULL, 0);
    close(st->go);
    munmap(st->place, PLACE_BYTES);
    mapping_close(&st->mapping);
}

static void await_module(const struct wire_unwind *w, uintptr_t pc) {
    for (int i = 0; i < PATIENCE_MS; i++) {
        if (atomic_load_explicit(&w->generation, memory_order_acquire) && find_module(w, pc))
            return;
        usleep(1000);
    }
    fail_msg("no module at %#lx", (unsigned long)pc);
}

static void test_a_session_feeds_the_walker(void **state) {
    (void)state;
    static const char *const walkers[] = {"vmx", "dwarf"};
    fixture_build("unwound.so", "");
    for (size_t i = 0; i < 2; i++) {
        struct stage st;
        begin(&st, walkers[i]);
        struct wire_unwind *w = mapping_unwind(&st.mapping);
        await_module(w, (uintptr_t)&gnu_get_libc_version);
        check_entry(w, (uintptr_t)&gnu_get_libc_version);
        assert_null(find_module(w, (uintptr_t)st.place));
        assert_int_equal(write(st.go, "x", 1), 1);
        await_module(w, (uintptr_t)st.place);
        end(&st);
    }
}

/* Tables cost time and memory: a walker that does not use them gets none. */
static void test_other_walkers_get_none(void **state) {
    (void)state;
    struct stage st;
    struct session_status status = {0};
    begin(&st, "fp");
    for (int i = 0; i < PATIENCE_MS && !status.walker[0]; i++) {
        usleep(1000);
        session_status(st.session, &status);
    }
    assert_string_equal(status.walker, "fp");
    struct err e;
    assert_int_equal(session_stop(st.session, &e), 0);
    assert_int_equal(mapping_unwind(&st.mapping)->generation, 0);
    assert_int_equal(mapping_unwind(&st.mapping)->rows, 0);
    end(&st);
}

static void test_what_is_asked_and_told(void **state) {
    (void)state;
    static struct wire_mapping m;
    struct control c;
    struct agent_report report;
    control_init(&c, &m);
    control_request(&c, WIRE_COMMAND_START,
                    &(struct control_start){.walk = WIRE_WALK_DWARF, .precise = true});
    assert_int_equal(m.control.request.walk, WIRE_WALK_DWARF);
    assert_int_equal(m.control.request.precise, 1);
    control_request(&c, WIRE_COMMAND_START, &(struct control_start){0});
    assert_int_equal(m.control.request.walk, WIRE_WALK_VM);
    assert_int_equal(m.control.request.precise, 0);
    atomic_store(&m.control.status.recompiled, 12);
    atomic_store(&m.control.status.recompile_ns, 3456);
    control_report(&c, &report);
    assert_int_equal(report.recompiled, 12);
    assert_int_equal(report.recompile_ns, 3456);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_lists),
        cmocka_unit_test(test_rows_through_the_file),
        cmocka_unit_test(test_rows_run_out),
        cmocka_unit_test(test_needs_all),
        cmocka_unit_test(test_after_another_writer),
        cmocka_unit_test(test_a_library_comes_and_goes),
        cmocka_unit_test(test_looks_are_apart),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_tables_of_the_debug_file),
        cmocka_unit_test(test_a_session_feeds_the_walker),
        cmocka_unit_test(test_other_walkers_get_none),
        cmocka_unit_test(test_what_is_asked_and_told),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
