/* Small files, read whole. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int file_of(size_t bytes) {
    char path[] = "/tmp/jtop-prof-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(pwrite(fd, i % 7 ? "x" : "\n", 1, (off_t)i), 1);
    return fd;
}

/* One byte below the limit, at it and above it; below, at and above the first piece of memory. */
static void read_all_stops_at_its_limit(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 99, 100, 101, 65535, 65536, 65537, 140000};
    static const size_t limits[] = {100, 65536, 65537, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = file_of(sizes[i]);
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            char *text = NULL;
            size_t length = 1;
            assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
            assert_int_equal(file_read_all(fd, limits[k], &text, &length), 0);
            assert_int_equal(length, sizes[i] < limits[k] ? sizes[i] : limits[k]);
            assert_int_equal(text[length], 0);
            assert_true(length < 2 || (text[0] == '\n' && text[1] == 'x'));
            free(text);
        }
        close(fd);
    }
}

static void a_buffer_ends_with_a_nul(void **state) {
    (void)state;
    char text[8] = "?";
    int fd = file_of(100);
    assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
    assert_int_equal(file_read(fd, text, sizeof text), 7);
    assert_string_equal(text, "xxxxxx\n");
    assert_int_equal(lseek(fd, 97, SEEK_SET), 97);
    assert_int_equal(file_read(fd, text, sizeof text), 3);
    assert_int_equal(strlen(text), 3);
    close(fd);
}

/* A packet a read. */
static void pieces_are_put_together(void **state) {
    (void)state;
    int fd[2];
    char text[16];
    assert_int_equal(pipe2(fd, O_DIRECT | O_CLOEXEC), 0);
    assert_int_equal(write(fd[1], "abc", 3), 3);
    assert_int_equal(write(fd[1], "de", 2), 2);
    close(fd[1]);
    assert_int_equal(file_read(fd[0], text, sizeof text), 5);
    assert_string_equal(text, "abcde");
    close(fd[0]);
}

static void the_first_line(void **state) {
    (void)state;
    char text[64] = "?", none[64] = "?";
    assert_int_equal(file_line("/proc/self/status", text, sizeof text), 0);
    assert_int_equal(strncmp(text, "Name:", 5), 0);
    assert_null(strchr(text, '\n'));
    assert_int_equal(file_line("/nosuch", none, sizeof none), -ENOENT);
    assert_string_equal(none, "");
    assert_int_equal(file_line("/", none, sizeof none), -EISDIR);
    assert_string_equal(none, "");
}

/* NULL and an error, not half a file. */
static void what_cannot_be_read(void **state) {
    (void)state;
    char small[4], *text = small;
    size_t length = 1;
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(file_read_all(fd, 100, &text, &length), -EISDIR);
    assert_null(text);
    close(fd);
    assert_int_equal(file_read_at(AT_FDCWD, "/proc/self/exe", O_NOFOLLOW, small, sizeof small),
                     -ELOOP);
    assert_string_equal(small, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_all_stops_at_its_limit), cmocka_unit_test(a_buffer_ends_with_a_nul),
        cmocka_unit_test(pieces_are_put_together),     cmocka_unit_test(the_first_line),
        cmocka_unit_test(what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
