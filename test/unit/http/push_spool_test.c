#include "core/http/push/protocol/message.h"
#include "core/http/push/spool/spool.h"
#include "core/http/push/spool/spool_dir.h"
#include "core/http/push/spool/spool_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64];

static void at(char out[256], const char *name) {
    snprintf(out, 256, "%.60s/%.180s", dir, name);
}

/* Names in the directory, its lock left out. */
static unsigned files(char first[256]) {
    unsigned n = 0;
    DIR *d = opendir(dir);
    struct dirent *e;
    first[0] = '\0';
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.' && strcmp(e->d_name, "lock") != 0) {
            if (!first[0] || strcmp(e->d_name, first) < 0)
                snprintf(first, 256, "%s", e->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

static struct push_message *message(int number, size_t bytes) {
    struct push_message m = {.path = "/v1/p", .query = "a=b", .type = "application/x-protobuf"};
    snprintf(m.subject, sizeof m.subject, "Main (pid %d)", number);
    m.from_ns = 1000u * (unsigned)number;
    m.to_ns = m.from_ns + 1000;
    text_addf(&m.body, "%d ", number);
    while (m.body.len < bytes)
        text_add_n(&m.body, "x", 1);
    struct push_message *own = message_take(&m);
    assert_non_null(own);
    return own;
}

static struct spool *open_of(uint64_t bytes, const char *protocol, bool on_disk) {
    struct spool_options o = {.dir = on_disk ? dir : NULL, .bytes = bytes, .protocol = protocol};
    struct spool *s = NULL;
    struct err e = {0};
    if (spool_open(&o, &s, &e) != 0)
        fail_msg("%s", e.message);
    return s;
}

static struct spool *open_spool(uint64_t bytes) {
    return open_of(bytes, "otlp", true);
}

static void expect(struct spool *s, int number) {
    const struct push_message *m = spool_head(s);
    assert_non_null(m);
    assert_int_equal(strtol(m->body.data, NULL, 10), number);
    assert_string_equal(m->path, "/v1/p");
    assert_string_equal(m->query, "a=b");
    assert_int_equal(m->from_ns, 1000 * number);
    assert_int_equal(m->to_ns, 1000 * number + 1000);
    spool_pop(s);
}

static void expect_empty(struct spool *s) {
    struct spool_counts c;
    assert_null(spool_head(s));
    spool_counts(s, &c);
    assert_int_equal(c.messages, 0);
    assert_int_equal(c.bytes, 0);
    assert_int_equal(c.memory, 0);
    assert_int_equal(c.unsaved, 0);
}

static void test_an_open_receiver_costs_no_disk(void **state) {
    (void)state;
    char first[256];
    struct spool *s = open_spool(0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(spool_put(s, message(i, 100)), 0);
    assert_int_equal(files(first), 0);
    for (int i = 0; i < 50; i++)
        expect(s, i);
    expect_empty(s);
    spool_free(s);
}

static void test_what_is_saved_is_there_after_a_restart_in_order(void **state) {
    (void)state;
    char first[256], path[256];
    struct stat st;
    struct spool *s = open_spool(0);
    for (int i = 0; i < 20; i++)
        spool_put(s, message(i, 100));
    expect(s, 0);
    assert_non_null(spool_head(s)); /* under way */
    assert_int_equal(spool_save(s), 0);
    spool_put(s, message(20, 100)); /* in memory only: dies with us */
    expect(s, 1);
    spool_free(s);
    assert_int_equal(files(first), 18);
    at(path, first);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);

    s = open_spool(0);
    spool_put(s, message(100, 100));
    for (int i = 2; i < 20; i++)
        expect(s, i);
    expect(s, 100);
    expect_empty(s);
    assert_int_equal(files(first), 0);
    spool_free(s);
}

static void test_what_is_given_back_stays_first(void **state) {
    (void)state;
    for (int disk = 0; disk < 2; disk++) {
        struct spool *s = open_of(0, "otlp", disk);
        spool_put(s, message(1, 10));
        spool_put(s, message(2, 10));
        for (int i = 0; i < 3; i++) {
            assert_non_null(spool_head(s));
            spool_release(s);
            assert_int_equal(spool_save(s), 0);
        }
        expect(s, 1);
        expect(s, 2);
        expect_empty(s);
        spool_free(s);
    }
}

static void test_the_oldest_is_given_up_first(void **state) {
    (void)state;
    for (int disk = 0; disk < 2; disk++) {
        struct spool *s = open_of(100000, "otlp", disk);
        struct spool_counts c;
        const struct push_message *under_way = NULL;
        for (int i = 0; i < 100; i++) {
            assert_int_equal(spool_put(s, message(i, 5000)), 0);
            if (i == 0)
                under_way = spool_head(s);
            spool_save(s);
            spool_counts(s, &c);
            assert_true(c.bytes <= 100000);
        }
        assert_true(c.lost >= 80 && c.lost + c.messages == 100);
        assert_ptr_equal(spool_head(s), under_way); /* not pulled away from under the sender */
        expect(s, 0);
        for (int i = (int)c.lost + 1; i < 100; i++)
            expect(s, i);
        expect_empty(s);
        /* One that can never fit takes nothing else with it. */
        spool_put(s, message(1, 10));
        assert_int_equal(spool_put(s, message(2, 200000)), -ENOSPC);
        expect(s, 1);
        spool_free(s);
    }
}

static void test_files_count_against_the_bounds_after_a_restart(void **state) {
    (void)state;
    struct spool *s = open_spool(0);
    struct spool_counts c;
    for (int i = 0; i < 40; i++)
        spool_put(s, message(i, 5000));
    spool_save(s);
    spool_free(s);
    s = open_spool(50000);
    spool_counts(s, &c);
    assert_true(c.bytes <= 50000 && c.bytes > 40000);
    assert_int_equal(c.lost + c.messages, 40);
    for (uint64_t i = c.lost; i < 40; i++)
        expect(s, (int)i);
    spool_free(s);
}

static void damage(const char *name, long offset, int how) {
    char path[256];
    at(path, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char byte;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte = (unsigned char)(byte ^ how);
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

static void test_a_damaged_file_is_removed_and_the_next_one_goes(void **state) {
    (void)state;
    for (long offset = 0; offset < 150; offset++) {
        char first[256];
        struct spool *s = open_spool(0);
        struct spool_counts c;
        spool_put(s, message(1, 200));
        spool_put(s, message(2, 200));
        spool_save(s);
        spool_free(s);
        assert_int_equal(files(first), 2);
        damage(first, offset, 0x41);
        s = open_spool(0);
        expect(s, 2);
        spool_counts(s, &c);
        assert_int_equal(c.broken + c.aside, 1);
        assert_true(offset / 4 == 2 ? c.aside == 1 : c.broken == 1); /* the version */
        expect_empty(s);
        spool_free(s);
        if (files(first))
            damage(first, offset, 0x41), s = open_spool(0), expect(s, 1), spool_free(s);
    }
}

static void test_another_protocols_stay_where_they_are(void **state) {
    (void)state;
    char first[256];
    struct spool_counts c;
    struct spool *s = open_spool(0);
    spool_put(s, message(1, 200));
    spool_save(s);
    spool_free(s);
    s = open_of(0, "parca", true);
    spool_put(s, message(2, 200));
    expect(s, 2);
    spool_counts(s, &c);
    assert_int_equal(c.aside, 1);
    spool_free(s);
    assert_int_equal(files(first), 1);
    s = open_spool(0);
    expect(s, 1);
    spool_free(s);
}

/* What somebody plants who could write there. */
static void test_what_is_planted_is_not_followed(void **state) {
    (void)state;
    char link[256], other[256], outside[96], first[256];
    struct spool *s = open_spool(0);
    spool_put(s, message(1, 10));
    spool_save(s);
    spool_free(s);
    snprintf(outside, sizeof outside, "%s-outside", dir);
    FILE *f = fopen(outside, "w");
    assert_non_null(f);
    fputs("private", f);
    fclose(f);
    at(link, "00000000000000000001-00000000.profile");
    assert_int_equal(symlink(outside, link), 0);
    at(link, "message.tmp");
    assert_int_equal(symlink(outside, link), 0);
    at(other, "00000000000000000002-00000000.profile");
    assert_int_equal(mkfifo(other, 0600), 0);
    at(other, "00000000000000000003-00000000.profile");
    f = fopen(other, "w");
    fclose(f);
    at(other, "99999999999999999999-00000000.profile");
    f = fopen(other, "w");
    fclose(f);
    s = open_spool(0);
    expect(s, 1);
    spool_put(s, message(2, 10));
    assert_int_equal(spool_save(s), 0);
    expect(s, 2);
    expect_empty(s);
    spool_free(s);
    char text[16] = "";
    f = fopen(outside, "r");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text, f), 7);
    fclose(f);
    unlink(outside);
    assert_int_equal(files(first), 1); /* a name that is none of ours */
    unlink(other);
}

static void refused(const char *path, const char *why) {
    struct spool *s = NULL;
    struct err e = {0};
    assert_true(spool_open(&(struct spool_options){.dir = path, .protocol = "otlp"}, &s, &e) < 0);
    assert_null(s);
    if (!strstr(e.message, why) || !strstr(e.message, path))
        fail_msg("%s", e.message);
}

static void test_a_directory_that_is_not_ours_alone_is_refused(void **state) {
    (void)state;
    char link[96];
    struct spool *s = open_spool(0);
    refused(dir, "another push uses it");
    spool_free(s);
    s = open_spool(0); /* the lock goes with its holder */
    spool_free(s);
    chmod(dir, 0755);
    refused(dir, "chmod 700");
    chmod(dir, 0700);
    snprintf(link, sizeof link, "%s-link", dir);
    assert_int_equal(symlink(dir, link), 0);
    refused(link, "not a directory");
    unlink(link);
    refused("/proc/self/exe", "not a directory");
    refused("/nonexistent/spool", "parent directory");
    if (geteuid() == 0) {
        assert_int_equal(chown(dir, 12345, 12345), 0);
        refused(dir, "belongs to uid 12345");
        assert_int_equal(chown(dir, 0, 0), 0);
    }
}

static void test_killed_at_any_time_nothing_saved_is_lost(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        int pipe_fd[2], saved = 0, n;
        assert_int_equal(pipe(pipe_fd), 0);
        pid_t child = fork();
        if (child == 0) {
            struct spool *s = open_spool(0);
            for (int i = 0;; i++) {
                spool_put(s, message(i, 3000));
                if (spool_save(s) != 0 || write(pipe_fd[1], &i, sizeof i) != sizeof i)
                    _exit(1);
            }
        }
        close(pipe_fd[1]);
        for (int i = 0; i <= round; i++)
            assert_int_equal(read(pipe_fd[0], &saved, sizeof saved), sizeof saved);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(pipe_fd[0], &n, sizeof n) == sizeof n)
            saved = n;
        close(pipe_fd[0]);
        struct spool *s = open_spool(0);
        struct spool_counts c;
        spool_counts(s, &c);
        for (int i = 0; i <= saved; i++)
            expect(s, i);
        while (spool_head(s)) /* one more, saved but not told */
            spool_pop(s);
        spool_counts(s, &c);
        assert_int_equal(c.broken, 0);
        spool_free(s);
    }
}

static void test_names_are_in_order(void **state) {
    (void)state;
    struct spool_name a = {0}, b;
    char x[SPOOL_NAME_SIZE], y[SPOOL_NAME_SIZE];
    for (uint64_t i = 0; i < 1000; i++) {
        b = spool_name_after(a, i % 7 ? i * 1000000007 : 5); /* the clock is set back */
        assert_true(spool_name_compare(a, b) < 0);
        spool_name_format(a, x);
        spool_name_format(b, y);
        assert_true(strcmp(x, y) < 0);
        assert_int_equal(spool_name_parse(y, &a), 0);
        assert_int_equal(spool_name_compare(a, b), 0);
    }
    static const char *const bad[] = {"",
                                      "lock",
                                      "message.tmp",
                                      "../x",
                                      "1-1.profile",
                                      "00000000000000000001-00000000.profilex",
                                      "00000000000000000001-0000000a.profile",
                                      "00000000000000000001-000000000.profile",
                                      "99999999999999999999-00000000.profile",
                                      "18446744073709551615-00000000.profile"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(spool_name_parse(bad[i], &a), -EINVAL);
}

static void test_messages_that_could_break_a_request_are_not_sound(void **state) {
    (void)state;
    struct push_message *good = message(1, 10), bad;
    assert_true(message_is_sound(good));
    bad = *good, strcpy(bad.path, "no/slash");
    assert_false(message_is_sound(&bad));
    bad = *good, strcpy(bad.path, "/x\r\nHost: y");
    assert_false(message_is_sound(&bad));
    bad = *good, strcpy(bad.path, "/x?y");
    assert_false(message_is_sound(&bad));
    bad = *good, strcpy(bad.query, "a=b c");
    assert_false(message_is_sound(&bad));
    bad = *good, strcpy(bad.type, "text/plain\nX: y");
    assert_false(message_is_sound(&bad));
    bad = *good, bad.type[0] = '\0';
    assert_false(message_is_sound(&bad));
    bad = *good, strcpy(bad.subject, "a\033[31m");
    assert_false(message_is_sound(&bad));
    bad = *good, memset(bad.query, 'a', sizeof bad.query);
    assert_false(message_is_sound(&bad));
    bad = *good, bad.from_ns = bad.to_ns + 1;
    assert_false(message_is_sound(&bad));
    message_free(good);
}

static int begin(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/push-spool-%d", (int)getpid());
    return 0;
}

static int end(void **state) {
    (void)state;
    char path[256], first[256];
    while (files(first)) {
        at(path, first);
        if (unlink(path) != 0)
            return -1;
    }
    at(path, "lock");
    unlink(path);
    return rmdir(dir) == 0 || errno == ENOENT ? 0 : -1;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_an_open_receiver_costs_no_disk),
        CASE(test_what_is_saved_is_there_after_a_restart_in_order),
        CASE(test_what_is_given_back_stays_first),
        CASE(test_the_oldest_is_given_up_first),
        CASE(test_files_count_against_the_bounds_after_a_restart),
        CASE(test_a_damaged_file_is_removed_and_the_next_one_goes),
        CASE(test_another_protocols_stay_where_they_are),
        CASE(test_what_is_planted_is_not_followed),
        CASE(test_a_directory_that_is_not_ours_alone_is_refused),
        CASE(test_killed_at_any_time_nothing_saved_is_lost),
        CASE(test_names_are_in_order),
        CASE(test_messages_that_could_break_a_request_are_not_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
