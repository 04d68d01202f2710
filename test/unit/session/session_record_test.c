/* Recordings that begin and end in the middle of a session: what is in them, and what is not. */
#include "test/unit/session/session_fixture.h"

#include "core/record/recording.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define BEFORE 100u
#define DURING 50u
#define AFTER 30u
#define WALL_TID 4242u
#define VIRTUAL UINT64_C(77)

/* The agent, in steps that the test lets it take. */

static _Atomic unsigned *allowed; /* shared with it */

static void agent_await(unsigned step) {
    while (atomic_load(allowed) < step)
        usleep(500);
}

static void agent_thread(struct ring_writer *w, uint64_t java_id, uint32_t tid, unsigned flags,
                         const char *name) {
    struct wire_thread *t = reserve(w, WIRE_THREAD, (uint32_t)(sizeof *t + strlen(name)));
    t->java_id = java_id;
    t->tid = tid;
    t->flags = (uint16_t)flags;
    t->name_bytes = (uint16_t)strlen(name);
    memcpy(t->bytes, name, strlen(name));
    ring_commit(t, WIRE_THREAD);
}

static void agent_class(struct ring_writer *w, uint32_t id, const char *name) {
    struct wire_class *c = reserve(w, WIRE_CLASS, (uint32_t)(sizeof *c + strlen(name)));
    c->class_id = id;
    c->name_bytes = (uint32_t)strlen(name);
    memcpy(c->bytes, name, strlen(name));
    ring_commit(c, WIRE_CLASS);
}

static void agent_stub(struct ring_writer *w, uint64_t begin, const char *name) {
    struct wire_stub *s = reserve(w, WIRE_STUB, (uint32_t)(sizeof *s + strlen(name)));
    s->begin = begin;
    s->code_bytes = 64;
    s->name_bytes = (uint32_t)strlen(name);
    memcpy(s->bytes, name, strlen(name));
    ring_commit(s, WIRE_STUB);
}

/* With lines: bci 0 is line 10, bci 8 line 20. */
static void agent_lined_method(struct ring_writer *w, uint32_t id, const char *name) {
    static const uint16_t lines[] = {0, 10, 8, 20};
    struct wire_method *m = reserve(w, WIRE_METHOD, (uint32_t)(sizeof *m + 8 + 5 + 3 + 8));
    m->method_id = id;
    m->class_bytes = 8;
    m->name_bytes = 5;
    m->signature_bytes = 3;
    m->line_bytes = sizeof lines;
    memcpy(m->bytes, "app/Main", 8);
    memcpy(m->bytes + 8, name, 5);
    memcpy(m->bytes + 13, "()V", 3);
    memcpy(m->bytes + 16, lines, sizeof lines);
    ring_commit(m, WIRE_METHOD);
}

static void agent_stack(struct ring_writer *w, enum wire_event event, uint32_t tid,
                        uint64_t virtual_id, const uint64_t *frame, uint16_t frames) {
    struct wire_sample *s = reserve(w, WIRE_SAMPLE, (uint32_t)(sizeof *s + frames * 8u));
    s->time_ns = clock_ns();
    s->weight = 1000;
    s->tid = tid;
    s->virtual_id = virtual_id;
    s->live_id = 0;
    s->count = 1;
    s->frames = frames;
    s->event = (uint8_t)event;
    s->state = WIRE_THREAD_WAITING;
    s->cpu = WIRE_CPU_NONE;
    s->flags = 0;
    memcpy(s->frame, frame, frames * sizeof *frame);
    ring_commit(s, WIRE_SAMPLE);
}

static void agent_repeat(struct ring_writer *w, uint32_t count) {
    struct wire_repeat *r = reserve(w, WIRE_REPEAT, sizeof *r);
    r->time_ns = clock_ns();
    r->weight = 1000u * count;
    r->tid = WALL_TID;
    r->count = count;
    r->event = WIRE_EVENT_WALL;
    r->state = WIRE_THREAD_PARKED;
    ring_commit(r, WIRE_REPEAT);
}

static const uint64_t wall_stack[] = {
    (uint64_t)WIRE_FRAME_INTERPRETED << 56 | UINT64_C(9) << 32 | 2, /* line 20 of "parks" */
    (uint64_t)WIRE_FRAME_C1 << 56 | 1,
};

static void agent_names(struct ring_writer *w) {
    agent_method(w, 1, "run");
    agent_lined_method(w, 2, "parks");
    agent_class(w, 5, "app/Thing");
    agent_stub(w, 0x7f0000001000, "call_stub");
    agent_thread(w, 3, WALL_TID, 0, "waiter \xc3\xa9");
    agent_thread(w, VIRTUAL, WALL_TID, WIRE_THREAD_VIRTUAL, "tail");
}

static void agent_main(struct wire_mapping *m) {
    struct ring_writer w;
    uint64_t alloc[] = {wire_frame_java(WIRE_FRAME_CLASS, 5, WIRE_BCI_NONE),
                        wire_frame_address(WIRE_FRAME_STUB, 0x7f0000001000),
                        wire_frame_java(WIRE_FRAME_C2, 2, 3)};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    struct wire_status *s = &m->control.status;
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){
        .event = WIRE_EVENT_CPU, .mechanism = WIRE_MECHANISM_CTIMER, .interval = 1000000};
    atomic_store(&s->dropped, 3);
    atomic_store(&s->failed[WIRE_FAILURE_LOOP], 9);
    atomic_store(&s->state, WIRE_STATE_RUNNING);
    agent_names(&w);
    agent_stack(&w, WIRE_EVENT_WALL, WALL_TID, 0, wall_stack, 2);
    agent_repeat(&w, 5);
    for (uint32_t i = 0; i < BEFORE; i++)
        agent_event(&w, WIRE_EVENT_CPU, 1);
    agent_await(1);
    agent_repeat(&w, 2);
    agent_repeat(&w, 4);
    agent_stack(&w, WIRE_EVENT_ALLOC, WALL_TID, VIRTUAL, alloc, 3);
    agent_method(&w, 9, "late");
    for (uint32_t i = 0; i < DURING; i++)
        agent_event(&w, WIRE_EVENT_CPU, i % 2 ? 1 : 9);
    atomic_store(&s->dropped, 4);
    agent_await(2);
    agent_repeat(&w, 7);
    for (uint32_t i = 0; i < AFTER; i++)
        agent_event(&w, WIRE_EVENT_CPU, 9);
    agent_await(3);
    _exit(0);
}

/* The reader's side. */

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
    char path[64];
};

static void begin(struct stage *st) {
    struct err e = {0};
    struct session_options o = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    allowed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(allowed != MAP_FAILED);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, &o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
    snprintf(st->path, sizeof st->path, "/tmp/jtop-record-%d", (int)getpid());
    await_samples(st->session, BEFORE);
}

static void end(struct stage *st) {
    kill(st->agent, SIGKILL);
    session_close(st->session);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
    munmap(allowed, 4096);
    unlink(st->path);
}

static struct session *replay(const char *path, struct session_status *status) {
    struct session *s;
    struct session_options o = {0};
    struct err e;
    if (session_replay(path, &o, &s, &e) != 0)
        fail_msg("replay: %s", e.message);
    session_status(s, status);
    return s;
}

/* The stacks of an event, one line each: "leaf:line;…;root thread". */
static void stacks(struct session *s, int event, char *out, size_t size) {
    struct profile *p = session_lock(s);
    struct query q = {.event = event};
    struct snapshot *snap = snapshot_take(p, &q);
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < snap->method_count; i++) {
        const struct method *m = method_table_get(profile_methods(p), snap->methods[i].method);
        n += (size_t)snprintf(out + n, size - n, "%s.%s ", m->class_name, m->name);
    }
    for (uint32_t i = 0; i < snap->thread_count; i++)
        n += (size_t)snprintf(out + n, size - n, "<%s> ", snap->threads[i].name);
    snapshot_free(snap);
    session_unlock(s);
}

static void has(struct session *s, int event, const char *what) {
    char text[1024];
    stacks(s, event, text, sizeof text);
    if (!strstr(text, what))
        fail_msg("no %s among %s", what, text);
}

static uint64_t count(struct session *s, int event) {
    struct profile *p = session_lock(s);
    uint64_t n = profile_samples(p, event);
    session_unlock(s);
    return n;
}

static void test_exactly_what_was_taken_meanwhile(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st);
    assert_int_equal(session_record(st.session, NULL, &e), 0); /* there is none: fine */
    assert_int_equal(session_record(st.session, st.path, &e), 0);
    session_status(st.session, &status);
    assert_string_equal(status.recording, st.path);
    assert_int_equal(session_record(st.session, "/tmp/other", &e), -EBUSY);
    assert_non_null(strstr(e.message, st.path));
    atomic_store(allowed, 1);
    await_samples(st.session, BEFORE + DURING);
    assert_int_equal(session_record(st.session, NULL, &e), 0);
    session_status(st.session, &status);
    assert_string_equal(status.recording, "");
    atomic_store(allowed, 2);
    await_samples(st.session, BEFORE + DURING + AFTER);

    struct session *r = replay(st.path, &status);
    assert_int_equal(count(r, WIRE_EVENT_CPU), DURING);
    assert_int_equal(count(r, WIRE_EVENT_ALLOC), 1);
    assert_int_equal(count(r, WIRE_EVENT_WALL), 6); /* repeats of a sample from before */
    assert_string_equal(status.message, "");
    assert_true(status.dropped <= 1); /* since then, not since the attach */
    assert_int_equal(status.failed[WIRE_FAILURE_LOOP], 0);
    assert_string_equal(status.engine[WIRE_EVENT_CPU].mechanism, "ctimer");
    has(r, WIRE_EVENT_CPU, "app/Main.run");
    has(r, WIRE_EVENT_CPU, "app/Main.late");
    has(r, WIRE_EVENT_CPU, ".agent_event");
    has(r, WIRE_EVENT_WALL, "app/Main.parks");
    has(r, WIRE_EVENT_WALL, "app/Main.run");
    has(r, WIRE_EVENT_WALL, "<waiter \xc3\xa9>");
    has(r, WIRE_EVENT_ALLOC, ".app/Thing");
    has(r, WIRE_EVENT_ALLOC, ".call_stub");
    has(r, WIRE_EVENT_ALLOC, "<tail>");
    session_close(r);
    end(&st);
}

/* Whatever ends us: what is in the file reads, and so does every beginning of it. */
static void test_cut_anywhere(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    struct stat file = {0};
    begin(&st);
    assert_int_equal(session_record(st.session, st.path, &e), 0);
    atomic_store(allowed, 1);
    await_samples(st.session, BEFORE + DURING);
    /* not ended: as after kill -9, once a second has gone by */
    for (int i = 0; i < 5000; i++) {
        struct session *r = replay(st.path, &status);
        uint64_t n = count(r, WIRE_EVENT_CPU);
        session_close(r);
        if (n == DURING)
            break;
        assert_true(n <= DURING);
        usleep(2000);
    }
    assert_int_equal(status.engine[WIRE_EVENT_CPU].samples, DURING);
    assert_int_equal(session_record(st.session, NULL, &e), 0);
    assert_int_equal(stat(st.path, &file), 0);
    for (off_t length = file.st_size; length >= 16; length -= 1 + file.st_size / 97) {
        assert_int_equal(truncate(st.path, length), 0);
        session_close(replay(st.path, &status));
        assert_true(status.engine[WIRE_EVENT_CPU].samples <= DURING);
    }
    end(&st);
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* What it begins with. */
static void holds(const char *path, const void *bytes, size_t n) {
    char got[64];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, n, f), n);
    assert_memory_equal(got, bytes, n);
    fclose(f);
}

static void test_what_cannot_be_written_is_told(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st);
    assert_true(session_record(st.session, "/nowhere/at/all", &e) < 0);
    assert_non_null(strstr(e.message, "/nowhere/at/all"));
    struct rlimit before, small = {.rlim_cur = 64};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(session_record(st.session, st.path, &e), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    unlink(st.path);
    session_status(st.session, &status);
    assert_string_equal(status.recording, "");
    /* and the next one is not troubled by it */
    assert_int_equal(session_record(st.session, st.path, &e), 0);
    assert_int_equal(session_record(st.session, NULL, &e), 0);
    session_close(replay(st.path, &status));
    assert_int_equal(status.samples, 0);
    end(&st);
}

static void test_a_recording_is_none(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st);
    assert_int_equal(session_record(st.session, st.path, &e), 0);
    assert_int_equal(session_record(st.session, NULL, &e), 0);
    struct session *r = replay(st.path, &status);
    assert_int_equal(session_record(r, "/tmp/again", &e), -EINVAL);
    session_close(r);
    kill(st.agent, SIGKILL);
    await_phase(st.session, SESSION_JVM_GONE, &status);
    assert_int_equal(session_record(st.session, "/tmp/again", &e), -ESRCH);
    end(&st);
}

/* A name that was made up: whatever is there already stays as it is. */
static void test_what_is_there_is_not_recorded_over(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    char other[80];
    begin(&st);
    snprintf(other, sizeof other, "%s-other", st.path);
    write_text(other, "precious");
    assert_int_equal(session_record(st.session, other, &e), -EEXIST);
    assert_non_null(strstr(e.message, other));
    assert_int_equal(symlink(other, st.path), 0);
    assert_int_equal(session_record(st.session, st.path, &e), -EEXIST);
    holds(other, "precious", 8);
    unlink(other);
    assert_int_equal(session_record(st.session, st.path, &e), -EEXIST); /* it dangles now */
    assert_int_equal(access(other, F_OK), -1);
    end(&st);
}

struct folder {
    char path[32], file[48], link[48];
};

static void make_folder(struct folder *f, mode_t mode) {
    strcpy(f->path, "/tmp/jtop-record-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_int_equal(chmod(f->path, mode), 0);
    snprintf(f->file, sizeof f->file, "%s/file", f->path);
    snprintf(f->link, sizeof f->link, "%s/link", f->path);
}

static void remove_folder(struct folder *f) {
    unlink(f->file);
    unlink(f->link);
    rmdir(f->path);
}

static int create(const char *path, struct err *e) {
    struct recording_writer *w = NULL;
    int result = recording_create(path, &w, e);
    return result ? result : recording_finish(w, e);
}

/* A name that was given: a file is written over, a link of ours is followed. */
static void test_given_names(void **state) {
    (void)state;
    static const uint64_t magic = WIRE_FILE_MAGIC;
    struct folder f;
    struct err e;
    char through[48];
    make_folder(&f, 01777);
    assert_int_equal(create(f.file, &e), 0);
    write_text(f.file, "something longer than the header of a recording is");
    assert_int_equal(create(f.file, &e), 0);
    holds(f.file, &magic, sizeof magic);
    struct stat st;
    assert_int_equal(stat(f.file, &st), 0);
    assert_in_range(st.st_size, sizeof(struct wire_file_header), 40); /* nothing is left of it */
    unlink(f.file);
    assert_int_equal(symlink("file", f.link), 0); /* dangles: the file it names is made */
    assert_int_equal(create(f.link, &e), 0);
    holds(f.file, &magic, sizeof magic);
    write_text(f.file, "x");
    int fd = open(f.file, O_WRONLY | O_APPEND);
    snprintf(through, sizeof through, "/dev/fd/%d", fd);
    assert_int_equal(create(through, &e), 0);
    close(fd);
    holds(f.file, "x", 1); /* goes on where it was */
    unlink(f.link);
    assert_int_equal(symlink("link", f.link), 0);
    assert_int_equal(create(f.link, &e), -ELOOP);
    assert_int_equal(create(f.path, &e), -EISDIR);
    assert_int_equal(create("", &e), -ENOENT);
    remove_folder(&f);
}

/* As another user on this machine may lay them out in /tmp. */
static void test_traps_of_others(void **state) {
    (void)state;
    enum { OTHER = 65534 };
    static const mode_t mode[] = {01777, 0755};
    struct err e;
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof mode / sizeof mode[0]; i++) {
        struct folder f;
        make_folder(&f, mode[i]);
        if (mode[i] == 0755)
            assert_int_equal(chown(f.path, OTHER, OTHER), 0);
        write_text(f.file, "precious");
        assert_int_equal(symlink(f.file, f.link), 0);
        assert_int_equal(lchown(f.link, OTHER, OTHER), 0);
        assert_int_equal(create(f.link, &e), -EPERM);
        assert_non_null(strstr(e.message, "another user's symbolic link"));
        assert_non_null(strstr(e.message, f.link));
        holds(f.file, "precious", 8);
        remove_folder(&f);
    }
    struct folder f;
    make_folder(&f, 01777);
    assert_int_equal(chown(f.path, OTHER, OTHER), 0);
    write_text(f.file, "theirs");
    assert_int_equal(chown(f.file, OTHER, OTHER), 0);
    assert_int_equal(create(f.file, &e), -EPERM);
    assert_non_null(strstr(e.message, "sticky"));
    holds(f.file, "theirs", 6);
    remove_folder(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exactly_what_was_taken_meanwhile),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_what_cannot_be_written_is_told),
        cmocka_unit_test(test_a_recording_is_none),
        cmocka_unit_test(test_what_is_there_is_not_recorded_over),
        cmocka_unit_test(test_given_names),
        cmocka_unit_test(test_traps_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
