#include "symbols/elf/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct maps parse(const char *text) {
    struct maps m;
    assert_int_equal(maps_parse(text, strlen(text), &m), 0);
    return m;
}

static void test_fields(void **state) {
    (void)state;
    struct maps m = parse("00400000-00452000 r-xp 00001000 fd:1b 2097151      /usr/bin/a b\n"
                          "7f00-8000 rw-p 00000000 00:00 0 \n"
                          "9000-a000 r--s 00000000 00:01 7\n"
                          "7ffd1000-7ffd3000 r-xp 00000000 00:00 0       [vdso]\n"
                          "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]");
    assert_int_equal(m.count, 5);
    const struct mapping *a = maps_find(&m, 0x451fff);
    assert_non_null(a);
    assert_int_equal(a->start, 0x400000);
    assert_int_equal(a->end, 0x452000);
    assert_int_equal(a->offset, 0x1000);
    assert_int_equal(a->major, 0xfd);
    assert_int_equal(a->minor, 0x1b);
    assert_int_equal(a->inode, 2097151);
    assert_true(a->executable);
    assert_false(a->deleted);
    assert_string_equal(a->path, "/usr/bin/a b");
    assert_string_equal(mapping_base_name(a), "a b");
    assert_string_equal(maps_find(&m, 0x7f00)->path, "");
    assert_int_equal(maps_find(&m, 0x9000)->inode, 7);
    assert_string_equal(maps_find(&m, 0x7ffd1000)->path, "[vdso]");
    assert_true(maps_find(&m, UINT64_C(0xffffffffff600fff))->executable);
    maps_free(&m);
}

static void test_find_knows_the_gaps(void **state) {
    (void)state;
    struct maps m = parse("1000-2000 r-xp 0 00:00 0\n2000-3000 r-xp 0 00:00 0\n"
                          "5000-6000 r-xp 0 00:00 0\n");
    static const struct {
        uint64_t address, start; /* 0: none */
    } cases[] = {{0, 0},           {0xfff, 0},  {0x1000, 0x1000}, {0x1fff, 0x1000},
                 {0x2000, 0x2000}, {0x3000, 0}, {0x4fff, 0},      {0x5000, 0x5000},
                 {0x5fff, 0x5000}, {0x6000, 0}, {~0ull, 0},       {0x2fff, 0x2000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mapping *found = maps_find(&m, cases[i].address);
        assert_int_equal(found ? found->start : 0, cases[i].start);
    }
    maps_free(&m);
}

static void test_paths(void **state) {
    (void)state;
    static const struct {
        const char *text, *path;
        bool deleted;
    } cases[] = {
        {"/tmp/two\\012lines.so", "/tmp/two\nlines.so", false},
        {"/tmp/gone.so (deleted)", "/tmp/gone.so", true},
        {"/tmp/a (deleted) (deleted)", "/tmp/a (deleted)", true},
        {" (deleted)", "(deleted)", false},
        {"/tmp/back\\slash\\01", "/tmp/back\\slash\\01", false},
        {"/tmp/\\012\\012", "/tmp/\n\n", false},
        {"/memfd:jit (deleted)", "/memfd:jit", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "1000-2000 r-xp 00000000 08:01 5   %s", cases[i].text);
        struct maps m = parse(line);
        assert_int_equal(m.count, 1);
        assert_string_equal(m.list[0].path, cases[i].path);
        assert_int_equal(m.list[0].deleted, cases[i].deleted);
        maps_free(&m);
    }
}

static void test_lines_that_make_no_sense(void **state) {
    (void)state;
    static const char *const lines[] = {
        "",
        "\n\n\n",
        "nonsense",
        "1000",
        "1000-",
        "-2000 r-xp 0 00:00 0",
        "2000-1000 r-xp 0 00:00 0",
        "1000-1000 r-xp 0 00:00 0",
        "1000-2000",
        "1000-2000 ",
        "1000-2000 r-x",
        "1000-2000 r-xp",
        "1000-2000 r-xp 0",
        "1000-2000 r-xp 0 00",
        "1000-2000 r-xp 0 00:00",
        "1000-2000 r-xp 0 00:00 ",
        "1000-2000 r-xp 0 00:00 x",
        "10000000000000000-20000000000000000 r-xp 0 00:00 0",
        "1000-2000 r-xp 0 00:00 99999999999999999999999",
        "1000 2000 r-xp 0 00:00 0",
        "1g00-2000 r-xp 0 00:00 0",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct maps m = parse(lines[i]);
        assert_int_equal(m.count, 0);
        assert_null(maps_find(&m, 0x1000));
        maps_free(&m);
    }
    struct maps m = parse("junk\n1000-2000 r-xp 0 00:00 0\njunk\n3000-4000 r-xp 0 00:00 0\njunk");
    assert_int_equal(m.count, 2);
    maps_free(&m);
    static const char nul[] = "1000-2000 r-xp 0 00:00 1 /a\0b\n2000-3000 r-xp 0 00:00 2 /c";
    assert_int_equal(maps_parse(nul, sizeof nul - 1, &m), 0);
    assert_string_equal(m.list[0].path, "/a");
    assert_string_equal(maps_find(&m, 0x2000)->path, "/c");
    maps_free(&m);
}

/* Two reads of a file that changed in between can show a mapping twice, or out of order. */
static void test_overlaps_are_dropped(void **state) {
    (void)state;
    struct maps m = parse("5000-6000 r-xp 0 00:00 0 /b\n1000-3000 r-xp 0 00:00 0 /a\n"
                          "2000-4000 r-xp 0 00:00 0 /x\n5000-6000 r-xp 0 00:00 0 /b\n");
    assert_int_equal(m.count, 2);
    assert_string_equal(maps_find(&m, 0x2800)->path, "/a");
    assert_string_equal(maps_find(&m, 0x5000)->path, "/b");
    assert_null(maps_find(&m, 0x3800));
    maps_free(&m);
}

static void test_same_at(void **state) {
    (void)state;
    struct maps m = parse("1000-3000 r-xp 00001000 08:01 5 /a\n");
    static const struct {
        const char *line;
        bool same;
    } cases[] = {
        {"1000-3000 r-xp 00001000 08:01 5 /a", true},
        {"2000-3000 r-xp 00002000 08:01 5 /a", true}, /* was split */
        {"1000-3000 r-xp 00002000 08:01 5 /a", false},
        {"1000-3000 r-xp 00001000 08:01 6 /a", false},
        {"1000-3000 r-xp 00001000 08:02 5 /a", false},
        {"1000-3000 r--p 00001000 08:01 5 /a", false},
        {"1000-3000 r-xp 00001000 08:01 5 /b", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maps other = parse(cases[i].line);
        assert_int_equal(mapping_same_at(&m.list[0], &other.list[0], 0x2100), cases[i].same);
        maps_free(&other);
    }
    assert_false(mapping_same_at(&m.list[0], NULL, 0x2100));
    assert_true(mapping_same_at(NULL, NULL, 0x2100));
    maps_free(&m);
}

static void test_own_maps(void **state) {
    (void)state;
    struct maps m;
    int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);
    assert_int_equal(maps_read(proc, &m), 0);
    const struct mapping *code = maps_find(&m, (uintptr_t)test_own_maps);
    assert_non_null(code);
    assert_true(code->executable);
    assert_string_equal(mapping_base_name(code), "maps_test");
    maps_free(&m);
    close(proc);
}

static void test_ended_process(void **state) {
    (void)state;
    struct maps m;
    char path[32];
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    snprintf(path, sizeof path, "/proc/%d", child);
    int proc = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(maps_read(proc, &m), -ESRCH); /* a zombie */
    waitpid(child, NULL, 0);
    assert_int_equal(maps_read(proc, &m), -ESRCH);
    close(proc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_find_knows_the_gaps),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_lines_that_make_no_sense),
        cmocka_unit_test(test_overlaps_are_dropped),
        cmocka_unit_test(test_same_at),
        cmocka_unit_test(test_own_maps),
        cmocka_unit_test(test_ended_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
