/* Source files: their lines, whatever they are made of, and where they are looked for. */
#include "core/source/archive_list.h"
#include "core/source/line_rows.h"
#include "core/source/source_finder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>
#include <cmocka.h>

static void lines(void **unused) {
    (void)unused;
    static const char text[] = "a\tb\r\n\n\tc\0d\nlast";
    struct source_file f;
    assert_int_equal(source_file_set(&f, text, sizeof text - 1, "X.java"), 0);
    assert_int_equal(f.lines, 4);
    assert_string_equal(source_file_line(&f, 1), "a   b");
    assert_string_equal(source_file_line(&f, 2), "");
    assert_string_equal(source_file_line(&f, 3), "    c?d");
    assert_string_equal(source_file_line(&f, 4), "last");
    assert_null(source_file_line(&f, 0));
    assert_null(source_file_line(&f, 5));
    source_file_free(&f);
    assert_int_equal(source_file_set(&f, "", 0, ""), 0);
    assert_int_equal(f.lines, 0);
    assert_null(source_file_line(&f, 1));
    source_file_free(&f);
}

/* A file cannot speak to the terminal it is shown or copied on: every byte alone, and around it. */
static void control_characters(void **unused) {
    (void)unused;
    static const char text[] = "a\x1b[2Jb\x07\x7f"
                               "c\n"
                               "\xc2\x9b"
                               "2J\xc2\x85"
                               "d\n"
                               "\x9b"
                               "2J\xff\xc3(\xe2\x82\n"
                               "\xc0\x9b\xe0\x80\x9b\xed\xa0\x80\n"
                               "x\ry\xe4\xbe\xa1\n";
    struct source_file f;
    assert_int_equal(source_file_set(&f, text, sizeof text - 1, ""), 0);
    assert_string_equal(source_file_line(&f, 1), "a?[2Jb??c");
    assert_string_equal(source_file_line(&f, 2), "?2J?d");
    assert_string_equal(source_file_line(&f, 3), "?2J?\?(??");
    assert_null(strpbrk(source_file_line(&f, 4), "\x9b\xc0\xed"));
    assert_string_equal(source_file_line(&f, 5), "x?y\xe4\xbe\xa1");
    source_file_free(&f);
    for (int i = 0; i < 256; i++) {
        char one[] = {'<', (char)i, '>'};
        assert_int_equal(source_file_set(&f, one, sizeof one, ""), 0);
        const char *line = source_file_line(&f, 1);
        if (i != '\t' && i != '\n')
            assert_int_equal(line[1], i >= 0x20 && i < 0x7f ? i : '?');
        source_file_free(&f);
    }
}

/* A line is cut between characters; tabs do not make it longer than its room. */
static void long_lines(void **unused) {
    (void)unused;
    char text[8192];
    struct source_file f;
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "ä", 2);
    assert_int_equal(source_file_set(&f, text, sizeof text, ""), 0);
    assert_int_equal(strlen(source_file_line(&f, 1)), SOURCE_LINE_BYTES);
    source_file_free(&f);
    for (size_t i = 1; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "ä", 2);
    text[0] = 'x';
    assert_int_equal(source_file_set(&f, text, sizeof text, ""), 0);
    assert_int_equal(strlen(source_file_line(&f, 1)), SOURCE_LINE_BYTES - 1);
    assert_null(strchr(source_file_line(&f, 1), '?'));
    source_file_free(&f);
    memset(text, '\t', sizeof text);
    assert_int_equal(source_file_set(&f, text, sizeof text, ""), 0);
    assert_int_equal(strlen(source_file_line(&f, 1)), SOURCE_LINE_BYTES);
    source_file_free(&f);
    assert_int_equal(source_file_set(&f, text, SOURCE_BYTES_MAX + 1, ""), -EFBIG);
}

static void names(void **unused) {
    (void)unused;
    static const struct {
        const char *class_name;
        unsigned nested;
        const char *base; /* NULL: there is none */
    } cases[] = {
        {"shop/cart/Cart", 0, "shop/cart/Cart"},
        {"shop/cart/Cart$Item$1", 0, "shop/cart/Cart"},
        {"shop/cart/Cart$Item$1", 1, "shop/cart/Cart$Item"},
        {"shop/cart/Cart$Item$1", 3, NULL},
        {"shop/Cart", 1, NULL},
        {"$Proxy12", 0, "$Proxy12"},
        {"p/$Gen$Inner", 0, "p/$Gen"},
        {"p/C$$Lambda/0x0000700001001000", 0, "p/C"},
        {"p/C+0x0000700001001000", 0, "p/C"},
        {"Scala$", 0, "Scala"},
        {"../etc/passwd", 0, NULL},
        {"p/../../C", 0, NULL},
        {"/etc/passwd", 0, NULL},
        {"p//C", 0, NULL},
        {"p/./C", 0, NULL},
        {"p/", 0, NULL},
        {"", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char base[64];
        bool is = source_file_base(cases[i].class_name, cases[i].nested, base, sizeof base);
        if (is != (cases[i].base != NULL) || (is && strcmp(base, cases[i].base) != 0))
            fail_msg("%s: %s", cases[i].class_name, is ? base : "none");
    }
    char small[8];
    assert_false(source_file_base("shop/cart/Cart", 0, small, sizeof small));
}

static char root[] = "/tmp/jtop-source-XXXXXX";

static void write_file(const char *path, const char *text) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *s = name + sizeof root; *s; s++) {
        if (*s != '/')
            continue;
        *s = '\0';
        mkdir(name, 0700);
        *s = '/';
    }
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void write_zip(const char *path, const char *const *entry, size_t entries) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s", root, path);
    zip_t *z = zip_open(name, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(z);
    for (size_t i = 0; i < entries; i++) {
        zip_source_t *s = zip_source_buffer(z, entry[i], strlen(entry[i]), 0);
        assert_true(zip_file_add(z, entry[i], s, 0) >= 0);
    }
    assert_int_equal(zip_close(z), 0);
}

/* The first line of the class's source; "" where there is none. */
static const char *first_line(struct source_finder *f, const char *places, const char *class_name) {
    const struct source_file *file = source_finder_find(f, places, 0, class_name);
    const char *line = file ? source_file_line(file, 1) : NULL;
    return line ? line : "";
}

static void finder(void **unused) {
    (void)unused;
    char places[1024];
    struct source_finder *f = source_finder_new();
    assert_non_null(f);
    static const char *const entry[] = {"META-INF/x.java", "far/away/p/Zip.java", "p/Zip.java",
                                        "java.base/java/util/HashMap.java", "p/Zip.class"};
    write_file("one/p/A.java", "A");
    write_file("one/p/Odd$Name.java", "Odd");
    write_file("one/src/main/java/q/B.java", "B");
    write_file("one/module/src/main/kotlin/r/C.kt", "C");
    write_file("one/p/Several.java", "first\nfinal class Hidden {}\nclass HiddenNot {}\n");
    write_file("two/p/A.java", "A of two");
    write_file("two/Top.java", "Top");
    write_zip("lib-sources.jar", entry, sizeof entry / sizeof entry[0]);
    write_file("no.jar", "this is no archive");
    snprintf(places, sizeof places, "%s/none:%s/no.jar:%s/one:%s/two:%s/lib-sources.jar", root,
             root, root, root, root);
    assert_string_equal(first_line(f, places, "p/A"), "A");
    assert_string_equal(first_line(f, places, "p/A$Inner$2"), "A");
    assert_string_equal(first_line(f, places, "p/Odd$Name$1"), "Odd");
    assert_string_equal(first_line(f, places, "q/B"), "B");
    assert_string_equal(first_line(f, places, "r/C"), "C");
    assert_string_equal(first_line(f, places, "p/Hidden$1"), "first");
    assert_string_equal(first_line(f, places, "p/Hid"), "");
    assert_string_equal(first_line(f, places, "Top"), "Top");
    assert_string_equal(first_line(f, places, "p/Zip$1"), "p/Zip.java"); /* not the one far away */
    assert_string_equal(first_line(f, places, "java/util/HashMap$Node"),
                        "java.base/java/util/HashMap.java");
    assert_string_equal(first_line(f, places, "../two/p/A"), "");
    assert_string_equal(first_line(f, "", "p/A"), "");
    /* What was found is kept, and so is what was not; another place is another question. */
    write_file("one/p/A.java", "changed");
    assert_string_equal(first_line(f, places, "Top"), "Top");
    assert_string_equal(first_line(f, places, "../two/p/A"), "");
    snprintf(places, sizeof places, "%s/two", root);
    assert_string_equal(first_line(f, places, "p/A"), "A of two");
    source_finder_free(f);
    source_finder_free(NULL);
}

/* Puts a number of this many bytes there. */
static void put(unsigned char *to, uint64_t n, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(n >> 8 * i);
}

/* Whether the list that this end of an archive declares would be read. `size64` 0: the end has no
 * record for large archives. */
static bool is_read(uint32_t size, uint64_t entries64, uint64_t size64) {
    unsigned char end[56 + 20 + 22] = {0}, *last = end + 56 + 20;
    char path[512];
    snprintf(path, sizeof path, "%s/list.zip", root);
    memcpy(last, "PK\5\6", 4);
    put(last + 10, 0xffff, 2);
    put(last + 12, size, 4);
    if (size64) {
        memcpy(end, "PK\6\6", 4);
        put(end + 32, entries64, 8);
        put(end + 40, size64, 8);
        memcpy(end + 56, "PK\6\7", 4);
    }
    FILE *f = fopen(path, "w+");
    assert_non_null(f);
    assert_int_equal(fwrite(end, 1, sizeof end, f), sizeof end);
    fflush(f);
    bool read = archive_list_is_short(fileno(f), sizeof end);
    fclose(f);
    return read;
}

/* A small archive may name millions of entries: it is refused before its list is read. */
static void long_lists(void **unused) {
    (void)unused;
    assert_true(is_read(ARCHIVE_LIST_BYTES_MAX, 0, 0));
    assert_false(is_read(ARCHIVE_LIST_BYTES_MAX + 1, 0, 0));
    assert_true(is_read(UINT32_MAX, ARCHIVE_ENTRIES_MAX, ARCHIVE_LIST_BYTES_MAX));
    assert_false(is_read(UINT32_MAX, ARCHIVE_ENTRIES_MAX + 1, 1));
    assert_false(is_read(UINT32_MAX, 1, ARCHIVE_LIST_BYTES_MAX + 1));
    assert_false(is_read(100, UINT64_MAX, 1)); /* either record may be used */
}

static void hostile_files(void **unused) {
    (void)unused;
    char places[1024], path[512];
    struct source_finder *f = source_finder_new();
    assert_non_null(f);
    snprintf(places, sizeof places, "%s/bad", root);
    write_file("bad/p/Other.java", "x");
    snprintf(path, sizeof path, "%s/bad/p/Fifo.java", root);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_string_equal(first_line(f, places, "p/Fifo"), ""); /* and does not wait for a writer */
    snprintf(path, sizeof path, "%s/bad/p/Large.java", root);
    FILE *large = fopen(path, "w");
    assert_non_null(large);
    assert_int_equal(ftruncate(fileno(large), (off_t)SOURCE_BYTES_MAX + 1), 0);
    fclose(large);
    assert_string_equal(first_line(f, places, "p/Large"), "");
    snprintf(path, sizeof path, "%s/bad/p/Dir.java", root);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_string_equal(first_line(f, places, "p/Dir"), "");
    source_finder_free(f);
}

/* The fixture lies below /tmp: nothing else is removed. */
static int remove_all(void **unused) {
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return strncmp(root, "/tmp/jtop-source-", 17) == 0 ? system(command) : -1;
}

static int make_root(void **unused) {
    (void)unused;
    return mkdtemp(root) ? 0 : -1;
}

static void check_rows(struct line_rows *r, uint32_t source_lines, const char *expected) {
    static const struct snapshot_line line[] = {
        {.line = 0}, {.line = 10}, {.line = 19}, {.line = 60}};
    char text[512];
    size_t n = 0;
    line_rows_build(r, line, 4, source_lines, 4);
    for (uint32_t i = 0; i < r->count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u%s", i ? " " : "", r->row[i].line,
                              r->row[i].hidden                ? "+"
                              : r->row[i].at != LINE_ROW_NONE ? "*"
                                                              : "");
    assert_string_equal(text, expected);
}

static void folds(void **unused) {
    (void)unused;
    struct line_rows r = {0};
    check_rows(&r, 0, "0* 10* 19* 60*");
    check_rows(&r, 50, "0* 1+ 6 7 8 9 10* 11 12 13 14 15 16 17 18 19* 20 21 22 23 24+ 60*");
    line_rows_open(&r, 0); /* no fold: nothing happens */
    line_rows_open(&r, 1);
    check_rows(&r, 26, "0* 1 2 3 4 5 6 7 8 9 10* 11 12 13 14 15 16 17 18 19* 20 21 22 23 24+ 60*");
    check_rows(&r, 24, "0* 1 2 3 4 5 6 7 8 9 10* 11 12 13 14 15 16 17 18 19* 20 21 22 23 24 60*");
    line_rows_close_all(&r);
    check_rows(&r, 12, "0* 1+ 6 7 8 9 10* 11 12 19* 60*");
    line_rows_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),         cmocka_unit_test(control_characters),
        cmocka_unit_test(long_lines),    cmocka_unit_test(names),
        cmocka_unit_test(finder),        cmocka_unit_test(long_lists),
        cmocka_unit_test(hostile_files), cmocka_unit_test(folds),
    };
    return cmocka_run_group_tests(tests, make_root, remove_all);
}
