/* Themes: the shipped ones can be read by everybody, files are found, and mistakes are named. */
#include "tui/terminal/colour.h"
#include "tui/terminal/theme.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void shipped_ones_pass(void **unused) {
    (void)unused;
    int count = 0, wrong = 0;
    for (; theme_names[count]; count++) {
        struct text out = {0};
        struct err e = {0};
        int complaints = theme_check(theme_names[count], &out, &e);
        if (complaints < 0)
            fail_msg("%s", e.message);
        if (complaints)
            print_message("%s:\n%s", theme_names[count], out.data);
        wrong += complaints;
        text_free(&out);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(count, 8);
}

static char directory[] = "/tmp/theme_test.XXXXXX";

static void write_theme(const char *name, const char *text, char *path, size_t size) {
    snprintf(path, size, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Each of these is one thing that somebody could not read or tell apart. */
static void complaints(void **unused) {
    (void)unused;
    static const struct {
        const char *theme, *says;
    } cases[] = {
        {"text #404040 #000000 - -", "text: contrast"},
        {"background light\ncursor white default reverse reverse", "text: contrast"},
        {"cursor #ffffff #000000 - reverse\ntext #ffffff #000000 - -",
         "cursor and text look alike\n"},
        {"flame-java #000000 #e8a060 - reverse\nflame-native #000000 #b0b050 - reverse",
         "flame-java and flame-native look alike with deuteranopia"},
        {"flame-java #000000 #50b8c8 - reverse\nflame-native #000000 #50c0a8 - reverse",
         "flame-java and flame-native look alike"},
        {"cursor black cyan - -", "cursor and text look alike without colour"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[256];
        struct text out = {0};
        struct err e = {0};
        write_theme("bad.theme", cases[i].theme, path, sizeof path);
        int n = theme_check(path, &out, &e);
        if (i == 1) { /* on a light background, most of the default theme cannot be read */
            assert_true(n > 5);
        } else if (n < 1 || !strstr(out.data, cases[i].says)) {
            fail_msg("%s: not '%s' but %s", cases[i].theme, cases[i].says,
                     out.data ? out.data : e.message);
        }
        text_free(&out);
    }
}

static void found_by_name_and_path(void **unused) {
    (void)unused;
    char path[256], themes[128], config[64];
    struct theme t;
    struct err e = {0};
    assert_int_equal(theme_load("", &t, &e), 0);
    assert_false(t.light);
    int32_t text = t.style[ROLE_TEXT].foreground;
    assert_int_equal(text, THEME_DEFAULT_COLOUR);
    assert_int_equal(theme_load("light", &t, &e), 0);
    assert_true(t.light);
    assert_int_equal(theme_load("no-such", &t, &e), -ENOENT);
    assert_non_null(strstr(e.message, "no-such"));
    assert_non_null(strstr(e.message, "high-contrast"));
    write_theme("mine.theme", "hot #Ff0080 bright-blue bold bold # mine\n# and\n#not a colour\n",
                path, sizeof path);
    assert_int_equal(theme_load(path, &t, &e), 0);
    assert_int_equal(t.style[ROLE_HOT].foreground, THEME_RGB | 0xff0080);
    assert_int_equal(t.style[ROLE_HOT].background, 12);
    write_theme("bad.theme", "\n\nhot #ff00 default - -", path, sizeof path);
    assert_int_equal(theme_load(path, &t, &e), -EINVAL);
    assert_non_null(strstr(e.message, "bad.theme:3: "));
    assert_int_equal(theme_load(directory, &t, &e), -EISDIR);
    /* a person's own, by name */
    setenv("XDG_CONFIG_HOME", directory, 1);
    snprintf(config, sizeof config, "%s/jtop-prof", directory);
    snprintf(themes, sizeof themes, "%s/themes", config);
    mkdir(config, 0700);
    mkdir(themes, 0700);
    write_theme("jtop-prof/themes/own.theme", "background light\n", path, sizeof path);
    assert_int_equal(theme_load("own", &t, &e), 0);
    assert_true(t.light);
    unlink(path);
    rmdir(themes);
    rmdir(config);
}

static void fewer_colours(void **unused) {
    (void)unused;
    assert_int_equal(colour_nearest(THEME_DEFAULT_COLOUR, 8), THEME_DEFAULT_COLOUR);
    assert_int_equal(colour_nearest(THEME_RGB | 0xff0000, 256), 196);
    assert_int_equal(colour_nearest(THEME_RGB | 0x808080, 256), 244);
    assert_int_equal(colour_nearest(THEME_RGB | 0xfe0101, 16), 9);
    assert_int_equal(colour_nearest(196, 8), 1);
    assert_int_equal(colour_nearest(9, 8), 1);
    assert_int_equal(colour_nearest(9, 16), 9);
    assert_int_equal(colour_nearest(8, 8), 7);
    assert_int_equal(colour_rgb(231), 0xffffff);
    assert_int_equal(colour_rgb(232), 0x080808);
    assert_true(colour_contrast(0, 0xffffff) > 20.99);
    assert_true(colour_distance(0x123456, 0x123456) == 0);
    /* grey stays grey for everybody */
    for (int i = 0; i < SIGHTS; i++) {
        uint32_t seen = colour_seen(0x808080, (enum colour_sight)i);
        assert_true(colour_distance(seen, 0x808080) < 2);
    }
}

static int make_directory(void **unused) {
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused) {
    (void)unused;
    char path[256];
    static const char *const names[] = {"bad.theme", "mine.theme"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_ones_pass),
        cmocka_unit_test(complaints),
        cmocka_unit_test(found_by_name_and_path),
        cmocka_unit_test(fewer_colours),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
