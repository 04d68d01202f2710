/* Unwind tables on disk: what was stored comes back, and nothing that others may have written. */
#include "symbols/unwind/unwind_cache.h"

#include "symbols/unwind/unwind_files.h"
#include "test/unit/symbols/cache_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 5000 };

static const struct unwind_identity id = {
    .device = 8, .inode = 77, .size = 4096, .second = 12, .nanosecond = 34};
static char path[200]; /* the file of `id` */

static void run(const char *format) {
    char command[1000];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, format, path);
#pragma GCC diagnostic pop
    assert_int_equal(system(command), 0);
}

static int begin(void **state) {
    if (make_base(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/jtop-prof/unwind/unwind-8-4d", base);
    return 0;
}

static void make_table(struct unwind_table *t, size_t count) {
    *t = (struct unwind_table){.count = count, .address = 4096, .covered = 99, .segment_count = 1};
    t->segments[0].size = 1 << 20;
    t->rows = calloc(count, sizeof *t->rows);
    assert_non_null(t->rows);
    for (size_t i = 0; i < count; i++)
        t->rows[i] = (struct unwind_row){
            .pc = (uint32_t)i * 4, .cfa_offset = (int32_t)i, .cfa = UNWIND_CFA_SP};
    t->rows[count - 1].cfa = UNWIND_CFA_NONE;
}

static void store(const struct unwind_identity *as, size_t count) {
    struct unwind_table t;
    make_table(&t, count);
    unwind_cache_store(as, &t);
    unwind_table_free(&t);
}

static bool loads(void) {
    struct unwind_table t;
    bool loaded = unwind_cache_load(&id, &t);
    assert_true(loaded == (t.rows != NULL));
    unwind_table_free(&t);
    return loaded;
}

static void test_comes_back(void **state) {
    (void)state;
    struct unwind_table t, back;
    struct stat st;
    assert_false(loads());
    make_table(&t, ROWS);
    unwind_cache_store(&id, &t);
    assert_true(unwind_cache_load(&id, &back));
    assert_int_equal(back.count, ROWS);
    assert_int_equal(back.address, t.address);
    assert_int_equal(back.covered, t.covered);
    assert_int_equal(back.segment_count, 1);
    assert_int_equal(back.segments[0].size, 1 << 20);
    assert_memory_equal(back.rows, t.rows, ROWS * sizeof *t.rows);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unwind_table_free(&t);
    unwind_table_free(&back);
    remove(path);
    store(&id, UNWIND_CACHE_ROWS - 1); /* it is built as fast */
    assert_false(loads());
    store(&id, UNWIND_CACHE_ROWS);
    assert_true(loads());
}

/* A file that was replaced, or written to, has another identity. */
static void test_other_file(void **state) {
    (void)state;
    struct unwind_table t;
    store(&id, ROWS);
    for (int i = 0; i < 5; i++) {
        struct unwind_identity other = id;
        other.device += i == 0;
        other.inode += i == 1;
        other.size += i == 2;
        other.second += i == 3;
        other.nanosecond += i == 4;
        assert_false(unwind_cache_load(&other, &t));
    }
    struct unwind_identity newer = id;
    newer.second++;
    store(&newer, ROWS); /* takes the place of the old one */
    assert_false(loads());
    assert_true(unwind_cache_load(&newer, &t));
    unwind_table_free(&t);
}

/* What others may write to, or have written, is not read. */
static void test_trust(void **state) {
    (void)state;
    store(&id, ROWS);
    assert_true(loads());
    run("chmod 0620 %s");
    assert_false(loads());
    run("chmod 0602 %s");
    assert_false(loads());
    run("chmod 0600 %s");
    assert_true(loads());
    run("chmod 0777 $(dirname %s)");
    assert_false(loads());
    run("chmod 0700 $(dirname %s)");
    run("f=%s; mv $f $f.real; ln -s $f.real $f");
    assert_false(loads());
    run("f=%s; rm $f; mkfifo $f");
    assert_false(loads());
    run("f=%s; rm $f; mv $f.real $f");
    assert_true(loads());
    if (geteuid() == 0) {
        run("chown 12345 %s");
        assert_false(loads());
        run("f=%s; chown 0 $f; chown 12345 $(dirname $f)");
        assert_false(loads());
        run("chown 0 $(dirname %s)");
        assert_true(loads());
    }
}

/* Puts `bytes` into the file at `offset`, reads, and restores it. */
static bool loads_with(off_t offset, const void *bytes, size_t count) {
    char before[16];
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && count <= sizeof before);
    assert_int_equal(pread(fd, before, count, offset), (ssize_t)count);
    assert_int_equal(pwrite(fd, bytes, count, offset), (ssize_t)count);
    bool loaded = loads();
    assert_int_equal(pwrite(fd, before, count, offset), (ssize_t)count);
    close(fd);
    assert_true(loads());
    return loaded;
}

static void test_damaged(void **state) {
    (void)state;
    struct stat st;
    store(&id, ROWS);
    assert_int_equal(stat(path, &st), 0);
    off_t rows = st.st_size - ROWS * (off_t)sizeof(struct unwind_row);
    off_t shape = rows - (off_t)sizeof(struct unwind_table);
    const uint64_t count[] = {0,          ROWS - 1,
                              ROWS + 1,   UNWIND_ROWS_LIMIT + 1,
                              UINT64_MAX, UINT64_MAX / sizeof(struct unwind_row) + 1 + ROWS};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        assert_false(loads_with(shape + (off_t)offsetof(struct unwind_table, count), &count[i], 8));
    const unsigned segments = UNWIND_SEGMENTS + 1;
    assert_false(loads_with(shape + (off_t)offsetof(struct unwind_table, segment_count), &segments,
                            sizeof segments));
    assert_false(loads_with(0, "x", 1));
    assert_false(loads_with(16, "\1", 1)); /* another layout */
    assert_false(loads_with(20, "\1", 1));
    struct unwind_row row = {.pc = UINT32_MAX, .cfa = UNWIND_CFA_SP}; /* not sorted */
    assert_false(loads_with(rows + 10 * (off_t)sizeof row, &row, sizeof row));
    row = (struct unwind_row){.pc = 40, .cfa = UNWIND_CFAS};
    assert_false(loads_with(rows + 10 * (off_t)sizeof row, &row, sizeof row));
    row.cfa = UNWIND_CFA_SP; /* the last one must say that nothing is known */
    row.pc = (ROWS - 1) * 4;
    assert_false(loads_with(st.st_size - (off_t)sizeof row, &row, sizeof row));
    const off_t sizes[] = {0, 3, rows - 1, rows, st.st_size - 1, st.st_size + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        store(&id, ROWS);
        assert_true(loads());
        assert_int_equal(truncate(path, sizes[i]), 0);
        assert_false(loads());
    }
    store(&id, ROWS); /* a damaged one is replaced */
    assert_true(loads());
}

static void test_nowhere(void **state) {
    (void)state;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    store(&id, ROWS);
    assert_false(loads());
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1); /* cannot be made */
    store(&id, ROWS);
    assert_false(loads());
    setenv("XDG_CACHE_HOME", base, 1);
    if (geteuid() != 0)
        return;
    unsetenv("XDG_CACHE_HOME"); /* another user's home */
    setenv("HOME", base, 1);
    assert_int_equal(chown(base, 12345, 0), 0);
    store(&id, ROWS);
    assert_false(loads());
    char made[200];
    snprintf(made, sizeof made, "%s/.cache", base);
    assert_int_not_equal(access(made, F_OK), 0);
    assert_int_equal(chown(base, 0, 0), 0);
    store(&id, ROWS);
    assert_true(loads());
    setenv("XDG_CACHE_HOME", base, 1);
}

static void test_limited(void **state) {
    (void)state;
    struct unwind_identity many = id;
    for (many.inode = 1000; many.inode < 1000 + UNWIND_CACHE_FILES + 9; many.inode++)
        store(&many, UNWIND_CACHE_ROWS);
    char directory[200];
    snprintf(directory, sizeof directory, "%s/jtop-prof/unwind", base);
    DIR *d = opendir(directory);
    assert_non_null(d);
    int count = 0;
    const struct dirent *entry;
    while ((entry = readdir(d)))
        count += entry->d_name[0] != '.';
    closedir(d);
    assert_int_equal(count, UNWIND_CACHE_FILES);
}

/* The tables of this process: what the first one builds, the second one finds. */
static uint32_t count_built(bool keep, const struct unwind_row **libc, size_t *libc_rows) {
    struct unwind_files *u;
    struct err e;
    const struct unwind_mapping *list;
    size_t count;
    uint32_t large = 0;
    assert_int_equal(unwind_files_open(getpid(), &u, &e), 0);
    assert_int_equal(unwind_files_list(u, &list, &count), 0);
    for (size_t i = 0; i < count; i++) {
        struct unwind_table t;
        bool built;
        if (unwind_files_table(u, &list[i], &t, &built) != 0)
            continue;
        large += built && t.count >= UNWIND_CACHE_ROWS && t.covered >= unwind_table_code(&t) / 2;
        uintptr_t function = (uintptr_t)&gnu_get_libc_version;
        if (function >= list[i].begin && function < list[i].end) {
            struct unwind_row *copy = malloc(t.count * sizeof *copy);
            assert_non_null(copy);
            memcpy(copy, t.rows, t.count * sizeof *copy);
            *libc = copy;
            *libc_rows = t.count;
        }
        if (built && keep)
            unwind_files_keep(u, &list[i], &t);
        unwind_table_free(&t);
    }
    while (keep && unwind_files_store(u))
        ;
    unwind_files_close(u);
    return large;
}

static void test_second_reader(void **state) {
    (void)state;
    const struct unwind_row *first = NULL, *second = NULL;
    size_t first_rows = 0, second_rows = 0;
    uint32_t built = count_built(true, &first, &first_rows);
    assert_true(built > 0);
    assert_int_equal(count_built(false, &second, &second_rows), 0);
    assert_true(first_rows > UNWIND_CACHE_ROWS);
    assert_int_equal(second_rows, first_rows);
    for (size_t i = 0; i < first_rows; i++) {
        assert_int_equal(second[i].pc, first[i].pc);
        assert_int_equal(second[i].cfa, first[i].cfa);
        assert_int_equal(second[i].cfa_offset, first[i].cfa_offset);
        assert_int_equal(second[i].fp_offset, first[i].fp_offset);
        assert_int_equal(second[i].ra_offset, first[i].ra_offset);
    }
    free((void *)first);
    free((void *)second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_back, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_other_file, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_trust, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_damaged, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_nowhere, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_limited, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_second_reader, begin, remove_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
