#include "symbols/kallsyms.h"

#include "test/unit/symbols/cache_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void read_text(const char *text, size_t length, struct kallsyms *k) {
    char path[] = "/tmp/kallsyms_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    *k = (struct kallsyms){0};
    kallsyms_read_once(k, path);
    unlink(path);
}

static const char *find(const struct kallsyms *k, uint64_t address, const char *module) {
    const char *in = "";
    const char *name = kallsyms_find(k, address, &in);
    if (name)
        assert_string_equal(in, module);
    return name ? name : "none";
}

static void test_names_and_modules(void **state) {
    (void)state;
    static const char text[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81000000 T startup_64\n"
                               "ffffffff81000100 t helper.isra.0\n"
                               "ffffffff81000180 D some_data\n"
                               "ffffffff81000200 W weak_one\n"
                               "not a line\n"
                               "ffffffff8100zzzz T broken\n"
                               "fffffffffffffffff T too_long\n"
                               "ffffffff81000300 T \n"
                               "ffffffffc0203000 t ext4_read\t[ext4]\n"
                               "ffffffffc0203100 w ext4_weak\t[ext4]\n"
                               "ffffffffc0203180 t no_newline_is_left_out";
    struct kallsyms k;
    read_text(text, sizeof text - 1, &k);
    assert_string_equal(k.trouble, "");
    assert_string_equal(find(&k, 0xffffffff80ffffff, ""), "none");
    assert_string_equal(find(&k, 0xffffffff81000000, "kernel"), "startup_64");
    assert_string_equal(find(&k, 0xffffffff810001ff, "kernel"), "helper.isra.0");
    assert_string_equal(find(&k, 0xffffffff81000200, "kernel"), "weak_one");
    assert_string_equal(find(&k, 0xffffffff820fffff, ""), "none"); /* 16 MiB behind any function */
    assert_string_equal(find(&k, 0xffffffffc0203000, "[ext4]"), "ext4_read");
    assert_string_equal(find(&k, 0xffffffffc0203190, "[ext4]"), "ext4_weak");
    kallsyms_free(&k);
}

static void test_hidden_addresses(void **state) {
    (void)state;
    static const char text[] = "0000000000000000 T _stext\n0000000000000000 t helper\n"
                               "0000000000000000 t ext4_read\t[ext4]\n";
    struct kallsyms k;
    read_text(text, sizeof text - 1, &k);
    assert_non_null(strstr(k.trouble, "/proc/sys/kernel/kptr_restrict is "));
    assert_non_null(strstr(k.trouble, "perf_event_paranoid is "));
    assert_non_null(strstr(k.trouble, "sysctl kernel.kptr_restrict=0"));
    assert_null(strchr(k.trouble, '\n'));
    assert_string_equal(find(&k, 0, ""), "none");
    kallsyms_free(&k);
    read_text("", 0, &k);
    assert_string_not_equal(k.trouble, "");
    kallsyms_free(&k);
}

static void test_no_file(void **state) {
    (void)state;
    struct kallsyms k = {0};
    kallsyms_read_once(&k, "/proc/no such file");
    assert_non_null(strstr(k.trouble, "cannot read /proc/no such file: No such file"));
    assert_string_equal(find(&k, 0xffffffff81000000, ""), "none");
    kallsyms_free(&k);
}

/* ---- what is kept for later processes ---- */

enum { MANY = 1500 };

static char path[160]; /* of the text that is read */

static int begin(void **state) {
    if (make_base(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/kallsyms", base);
    return 0;
}

/* Writes a file of `count` functions in two modules. */
static void write_many(int count) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < count; i++)
        fprintf(f, "ffffffff8%07x t function_%d%s\n", i * 256, i, i % 2 ? "\t[odd]" : "");
    assert_int_equal(fclose(f), 0);
}

static uint64_t address_of(int i) {
    return UINT64_C(0xffffffff80000000) + (uint64_t)i * 256 + 9;
}

/* Reads the file, and checks all names. Returns whether they came from what was kept. */
static bool reads_kept(int count) {
    struct kallsyms k = {0};
    char name[32];
    kallsyms_read_once(&k, path);
    assert_string_equal(k.trouble, "");
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        assert_string_equal(find(&k, address_of(i), i % 2 ? "[odd]" : "kernel"), name);
    }
    bool kept = k.is_kept;
    kallsyms_free(&k);
    return kept;
}

static void test_a_second_process_reads_what_was_kept(void **state) {
    (void)state;
    write_many(MANY);
    assert_false(reads_kept(MANY));
    assert_true(reads_kept(MANY));
    write_many(MANY + 1); /* another file */
    assert_false(reads_kept(MANY + 1));
    assert_true(reads_kept(MANY + 1));
    write_many(10); /* it is read as fast */
    assert_false(reads_kept(10));
    assert_false(reads_kept(10));
}

static void test_what_was_kept_may_be_old(void **state) {
    (void)state;
    struct kallsyms k = {0};
    write_many(MANY);
    assert_false(reads_kept(MANY));
    kallsyms_read_once(&k, path);
    assert_true(k.is_kept);
    write_many(2 * MANY);
    assert_string_equal(find(&k, address_of(2 * MANY - 2), ""), "none");
    assert_true(kallsyms_may_be_old(&k));
    kallsyms_read_again(&k, path);
    assert_string_equal(find(&k, address_of(2 * MANY - 2), "kernel"), "function_2998");
    assert_string_equal(find(&k, address_of(1), "[odd]"), "function_1");
    assert_false(kallsyms_may_be_old(&k));
    kallsyms_free(&k);
    assert_true(reads_kept(2 * MANY));
}

static void write_program(int version) {
    write_many(MANY);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fprintf(f,
            "ffffffffc0000000 t bpf_prog_%d\t[bpf]\n"
            "ffffffffc0100000 t kprobe_insn_page\t[__builtin__kprobes]\n",
            version);
    assert_int_equal(fclose(f), 0);
}

/* A program of BPF may be another one next time, at the same address. */
static void test_what_comes_and_goes_is_not_kept(void **state) {
    (void)state;
    struct kallsyms k = {0};
    const uint64_t program = UINT64_C(0xffffffffc0000010);
    write_program(1);
    kallsyms_read_once(&k, path);
    assert_string_equal(find(&k, program, "[bpf]"), "bpf_prog_1");
    kallsyms_free(&k);
    k = (struct kallsyms){0};
    kallsyms_read_once(&k, path);
    assert_true(k.is_kept);
    assert_string_equal(find(&k, program, ""), "none");
    assert_string_equal(find(&k, program + 0x100000, ""), "none");
    assert_string_equal(find(&k, address_of(5), "[odd]"), "function_5");
    write_program(2);
    kallsyms_read_again(&k, path);
    assert_string_equal(find(&k, program, "[bpf]"), "bpf_prog_2");
    kallsyms_free(&k);
}

/* Puts `bytes` at `offset` of the kept file, or makes it that long if there are none. */
static void damage(long offset, const void *bytes, size_t count) {
    char command[400];
    snprintf(command, sizeof command, "mv %s/jtop-prof/kernel/kallsyms-* %s/kept", base, base);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/kept", base);
    FILE *f = fopen(command, "r+");
    assert_non_null(f);
    if (count == 0)
        assert_int_equal(ftruncate(fileno(f), offset), 0);
    assert_int_equal(fseek(f, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    fclose(f);
    snprintf(command, sizeof command,
             "mv %s/kept %s/jtop-prof/kernel/kallsyms-$(cat /proc/sys/kernel/random/boot_id)", base,
             base);
    assert_int_equal(system(command), 0);
}

static void test_what_was_kept_is_checked(void **state) {
    (void)state;
    enum { HEAD = 56, ENTRIES = HEAD + 80, NAME = 12 };
    const uint32_t far = 1u << 30;
    const uint64_t many = UINT64_MAX / sizeof(struct symbol_entry);
    static const struct {
        long offset;
        size_t count;
    } places[] = {{0, 1},
                  {16, 8},
                  {24, 8},
                  {32, 8},
                  {40, 8},
                  {48, 8},
                  {HEAD, 4},
                  {HEAD + 40, 4},
                  {ENTRIES, 0},
                  {3, 0},
                  {ENTRIES + NAME, 4},
                  {-1, 1},
                  {-2, 1}};
    write_many(MANY);
    reads_kept(MANY);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_true(reads_kept(MANY));
        const void *bytes = places[i].count == 8   ? (const void *)&many
                            : places[i].count == 4 ? (const void *)&far
                                                   : "\1";
        damage(places[i].offset, bytes, places[i].count);
        assert_false(reads_kept(MANY));
    }
    uint64_t start = UINT64_MAX; /* not sorted */
    assert_true(reads_kept(MANY));
    damage(ENTRIES, &start, sizeof start);
    assert_false(reads_kept(MANY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_modules),
        cmocka_unit_test(test_hidden_addresses),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test_setup_teardown(test_a_second_process_reads_what_was_kept, begin,
                                        remove_base),
        cmocka_unit_test_setup_teardown(test_what_was_kept_may_be_old, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_what_comes_and_goes_is_not_kept, begin, remove_base),
        cmocka_unit_test_setup_teardown(test_what_was_kept_is_checked, begin, remove_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
