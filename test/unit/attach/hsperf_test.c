/* The performance data parser over good and hostile buffers, and the rules for reading the file. */
#include "attach/find/hsperf.h"
#include "attach/find/perf_file.h"
#include "attach/find/perf_values.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CAP 8192

struct file {
    uint8_t bytes[CAP];
    uint32_t size, entries;
};

static void put32(uint8_t *to, uint32_t v) {
    memcpy(to, &v, sizeof v);
}

static void finish(struct file *f) {
    static const uint8_t start[8] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
    memcpy(f->bytes, start, sizeof start);
    put32(f->bytes + 8, f->size);
    put32(f->bytes + 24, 32);
    put32(f->bytes + 28, f->entries);
}

static struct file start(void) {
    return (struct file){.size = 32};
}

/* Adds an entry of `len` bytes of data; vector 0 makes it a number. */
static void add(struct file *f, const char *name, char type, uint32_t vector, const void *data,
                uint32_t len) {
    uint32_t name_len = (uint32_t)strlen(name) + 1, at = (20 + name_len + 7) & ~7U;
    uint32_t length = (at + len + 7) & ~7U;
    uint8_t *p = f->bytes + f->size;
    assert_true(f->size + length <= CAP);
    put32(p, length);
    put32(p + 4, 20);
    put32(p + 8, vector);
    p[12] = (uint8_t)type;
    put32(p + 16, at);
    memcpy(p + 20, name, name_len);
    memcpy(p + at, data, len);
    f->size += length;
    f->entries++;
}

static void add_number(struct file *f, const char *name, int64_t n) {
    add(f, name, 'J', 0, &n, sizeof n);
}

static void add_text(struct file *f, const char *name, const char *text) {
    add(f, name, 'B', (uint32_t)strlen(text) + 1, text, (uint32_t)strlen(text) + 1);
}

static struct perf_values values_of(struct file *f) {
    struct perf_values v;
    finish(f);
    assert_int_equal(perf_values_read(&v, f->bytes, f->size), 0);
    return v;
}

/* Two generations of 100 and 200 with 2 + 1 spaces, as Serial and Parallel have them. */
static struct file generations(const char *collector) {
    struct file f = start();
    add_text(&f, "sun.gc.collector.0.name", collector);
    add_number(&f, "sun.gc.generation.0.capacity", 50);
    add_number(&f, "sun.gc.generation.0.maxCapacity", 200);
    add_number(&f, "sun.gc.generation.0.space.0.used", 7);
    add_number(&f, "sun.gc.generation.0.space.0.capacity", 4000);
    add_number(&f, "sun.gc.generation.0.space.1.used", 8);
    add_number(&f, "sun.gc.generation.1.capacity", 60);
    add_number(&f, "sun.gc.generation.1.maxCapacity", 200);
    add_number(&f, "sun.gc.generation.1.space.0.used", 9);
    add_number(&f, "sun.gc.generation.2.space.0.used", 1000);
    return f;
}

static void test_heap(void **state) {
    (void)state;
    struct file serial = generations("Copy"), g1 = generations("G1 young collection pauses");
    struct perf_values v = values_of(&serial);
    assert_int_equal(v.heap_used, 24);
    assert_int_equal(v.heap_capacity, 110);
    assert_int_equal(v.heap_max, 400);
    v = values_of(&g1); /* regions move between the generations: the maximum is shared */
    assert_int_equal(v.heap_used, 24);
    assert_int_equal(v.heap_max, 200);
}

static void test_values(void **state) {
    (void)state;
    struct file f = start();
    add_number(&f, "sun.os.hrt.frequency", 1000000);
    add_number(&f, "sun.gc.collector.0.invocations", 3);
    add_number(&f, "sun.gc.collector.0.time", 2000000);
    add_number(&f, "sun.gc.collector.1.invocations", 4);
    add_number(&f, "sun.gc.collector.1.time", 500000);
    add_number(&f, "sun.rt.safepoints", 11);
    add_number(&f, "sun.rt.safepointTime", 70000);
    add_number(&f, "java.threads.live", -1);
    add_number(&f, "java.cls.loadedClasses", 10);
    add_number(&f, "java.cls.sharedLoadedClasses", 400);
    add_number(&f, "java.cls.unloadedClasses", 1);
    add_text(&f, "sun.rt.javaCommand", "org.example.Main \033[31mred\a");
    add_text(&f, "java.property.java.vm.version", "17.0.15+6");
    struct perf_values v = values_of(&f);
    assert_int_equal(v.gc_count, 7);
    assert_int_equal(v.gc_ms, 2500);
    assert_int_equal(v.safepoints, 11);
    assert_int_equal(v.safepoint_ms, 70);
    assert_int_equal(v.threads, 0);
    assert_int_equal(v.classes, 409);
    assert_string_equal(v.command, "org.example.Main ?[31mred?");
    assert_string_equal(v.vm_version, "17.0.15+6");
}

/* Sums and quotients of the largest numbers stay numbers. */
static void test_overflow(void **state) {
    (void)state;
    struct file f = start();
    add_number(&f, "sun.os.hrt.frequency", 1);
    add_number(&f, "sun.gc.collector.0.time", INT64_MAX);
    add_number(&f, "sun.gc.collector.1.time", INT64_MAX);
    add_number(&f, "sun.gc.generation.0.space.0.used", INT64_MAX);
    add_number(&f, "sun.gc.generation.1.space.0.used", INT64_MAX);
    add_number(&f, "sun.gc.generation.1.capacity", INT64_MIN);
    struct perf_values v = values_of(&f);
    assert_true(v.gc_ms == INT64_MAX);
    assert_true(v.heap_used == INT64_MAX);
    assert_int_equal(v.heap_capacity, 0);
}

static void test_prologue(void **state) {
    (void)state;
    struct hsperf h;
    struct file good = generations("Copy");
    finish(&good);
    static const struct {
        size_t at;
        uint8_t value;
        int expected;
    } wrong[] = {
        {0, 0, -EINVAL},     /* magic */
        {4, 0, -EINVAL},     /* big endian */
        {5, 1, -EINVAL},     /* version 1 */
        {7, 0, -EAGAIN},     /* not accessible yet */
        {27, 0x80, -EINVAL}, /* first entry far outside */
        {24, 8, -EINVAL},    /* first entry in the prologue */
    };
    assert_int_equal(hsperf_open(&h, good.bytes, good.size), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct file f = good;
        f.bytes[wrong[i].at] = wrong[i].value;
        assert_int_equal(hsperf_open(&h, f.bytes, f.size), wrong[i].expected);
    }
}

/* Counts the entries; each must lie inside the buffer. Reads all of them, for ASan to see. */
static unsigned walk(const uint8_t *data, size_t size) {
    struct hsperf h;
    struct hsperf_entry e;
    unsigned n = 0;
    if (hsperf_open(&h, data, size) != 0)
        return 0;
    while (hsperf_next(&h, &e)) {
        n++;
        assert_true(n <= size / 20);
        assert_true((const uint8_t *)e.name + strlen(e.name) < data + size);
        if (e.is_text)
            assert_true((const uint8_t *)e.text + e.text_len <= data + size);
    }
    struct perf_values v;
    perf_values_read(&v, data, size);
    return n;
}

/* One field of the first entry at a time; what follows must stay readable or the list must end. */
static void test_bad_entries(void **state) {
    (void)state;
    struct file good = generations("Copy");
    finish(&good);
    assert_int_equal(walk(good.bytes, good.size), 10);
    static const struct {
        uint32_t at, value;
        unsigned expected;
    } wrong[] = {
        {32, 0, 0},           {32, 0xffffffff, 0}, {32, 19, 0},         {36, 0xfffffff0, 9},
        {36, 4, 9},           {40, 0x7fffffff, 9}, {48, 0xfffffffc, 9}, {48, 0, 9},
        {28, 0xffffffff, 10}, {8, 64, 0},          {8, 0xffffffff, 10},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct file f = good;
        put32(f.bytes + wrong[i].at, wrong[i].value);
        assert_int_equal(walk(f.bytes, f.size), wrong[i].expected);
    }
}

static void test_cut_and_mutated(void **state) {
    (void)state;
    struct file good = generations("Copy");
    add_text(&good, "sun.rt.javaCommand", "Main a b");
    finish(&good);
    for (size_t size = 0; size <= good.size; size++) {
        uint8_t *exact = malloc(size + !size); /* ASan guards its end */
        memcpy(exact, good.bytes, size);
        walk(exact, size);
        free(exact);
    }
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        struct file f = good;
        for (int i = 0; i < 4; i++) {
            random = random * 1664525 + 1013904223;
            f.bytes[8 + (random >> 8) % (good.size - 8)] = (uint8_t)(random >> 24);
        }
        f.bytes[7] = 1;
        walk(f.bytes, f.size);
    }
}

static void test_printable(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"a\tb\nc\x7f", "a?b?c?"},
        {"exe.\xe2\x80\xae"
         "fdp\xe2\x80\xa8\xe2\x81\xa9",
         "exe.???fdp??????"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "??31m"},                         /* CSI as one C1 control */
        {"\xc0\xaf\xed\xa0\x80", "?????"}, /* overlong, surrogate */
        {"cut \xe2\x82", "cut ??"},
        {"\xff\xf8z", "??z"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", pairs[i][0]);
        utf8_clean(text);
        assert_string_equal(text, pairs[i][1]);
    }
}

static ssize_t read_own(const char *user, void **data) {
    *data = NULL;
    return perf_file_read(getpid(), getpid(), geteuid(), user, false, false, data);
}

/* Nothing but a regular file is even opened: who waits to write to a FIFO goes on waiting. */
static void check_fifo(const char *user, const char *path) {
    void *data;
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t writer = fork();
    if (writer == 0)
        _exit(open(path, O_WRONLY) < 0);
    poll(NULL, 0, 50);
    assert_true(read_own(user, &data) < 0);
    poll(NULL, 0, 50);
    assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
    kill(writer, SIGKILL);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    unlink(path);
}

/* A regular file of a sane size is read; a link, a FIFO, a huge one and a foreign one are not. */
static void test_file(void **state) {
    (void)state;
    char user[32], dir[64], path[96], other[96];
    void *data;
    snprintf(user, sizeof user, "jtoptest%d", (int)getpid());
    snprintf(dir, sizeof dir, "/tmp/hsperfdata_%s", user);
    snprintf(path, sizeof path, "%s/%d", dir, (int)getpid());
    snprintf(other, sizeof other, "%s/other", dir);
    assert_int_equal(mkdir(dir, 0755), 0);

    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, "hello", 5), 5);
    assert_int_equal(read_own(user, &data), 5);
    assert_memory_equal(data, "hello", 5);
    free(data);
    assert_int_equal(ftruncate(fd, 1 << 30), 0);
    assert_true(read_own(user, &data) < 0);
    assert_int_equal(ftruncate(fd, 5), 0);
    close(fd);

    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_true(read_own(user, &data) < 0);
    unlink(path);
    check_fifo(user, path);
    assert_int_equal(rename(other, path), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_true(read_own(user, &data) < 0);
    }
    unlink(path);
    assert_true(read_own("../etc", &data) < 0);
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap),        cmocka_unit_test(test_values),
        cmocka_unit_test(test_overflow),    cmocka_unit_test(test_prologue),
        cmocka_unit_test(test_bad_entries), cmocka_unit_test(test_cut_and_mutated),
        cmocka_unit_test(test_printable),   cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
