/* The config file, the keys it binds, and the JVMs looked at before. */
#include "core/base/home.h"
#include "tui/config/config.h"
#include "tui/terminal/press_name.h"
#include "tui/view/view.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct config good(const char *text) {
    struct config c;
    struct err e = {0};
    if (config_parse(&c, "conf", text, &e) != 0)
        fail_msg("%s\n%s", text, e.message);
    return c;
}

static void bad(const char *text, const char *says) {
    struct config c;
    struct err e = {0};
    if (config_parse(&c, "conf", text, &e) >= 0)
        fail_msg("accepted: %s", text);
    if (strncmp(e.message, says, strlen(says)) != 0)
        fail_msg("%s\nsays \"%s\", not \"%s\"", text, e.message, says);
    assert_null(strchr(e.message, '\n'));
}

static void settings(void **unused) {
    (void)unused;
    struct config c = good("");
    assert_int_equal(c.view, -1);
    assert_true(!c.refresh_ms && !c.history_seconds && !c.theme[0] && !c.no_mouse && !c.mono);
    c = good("\xef\xbb\xbf# mine\n[display]\n  theme = solarized ; dark\nrefresh=500\n"
             "history = 1h\nview = flame\nascii = yes\nmono = on\nmouse = no\nsimple = 1\n"
             "idle = yes\n"
             "fold-native = yes\n"
             "pane = no\n"
             "[columns]\nmethods = self, total,  name\nthreads =\n"
             "[source]\npath = /a:/b/x-sources.jar\n   path = /c d\n");
    assert_string_equal(c.theme, "solarized");
    assert_int_equal(c.refresh_ms, 500);
    assert_int_equal(c.history_seconds, 3600);
    assert_int_equal(c.view, LIVE_FLAME);
    assert_true(c.ascii && c.mono && c.no_mouse && c.simple && c.idle && c.fold_natives);
    assert_string_equal(c.method_columns, "self,total,name");
    assert_string_equal(c.thread_columns, "");
    assert_string_equal(c.source_path, "/a:/b/x-sources.jar:/c d");
    c = good("[columns]\nmethods = self  total,name ,\tspark\nthreads = , tid name,\n");
    assert_string_equal(c.method_columns, "self,total,name,spark");
    assert_string_equal(c.thread_columns, "tid,name");
    assert_false(good("[display]\r\nmouse = yes\r\n").no_mouse); /* written elsewhere */
}

static void mistakes_name_their_line(void **unused) {
    (void)unused;
    char text[2000];
    bad("theme = x\n", "conf:1: a section must come first: [display]");
    bad("[display]\n\ncolour = x\n", "conf:3: there is no colour in [display]; there are: theme, ");
    bad("\n[dsplay]\ntheme = x\n", "conf:3: there is no section [dsplay]; there are: display, ");
    bad("[display]\nview = graph\n", "conf:2: unknown view \"graph\"; there are: methods, ");
    bad("[display]\nmono = perhaps\n", "conf:2: mono = perhaps: must be yes or no");
    bad("[display]\nrefresh = 1ms\n",
        "conf:2: refresh = 1ms: a time between refreshes must be from 50ms");
    bad("[display]\nrefresh = soon\n", "conf:2: refresh = soon: not a time between refreshes (");
    bad("[columns]\n# one\nmethods = self,selv\n", "conf:3: unknown column \"selv\"; there are: ");
    bad("[columns]\nmethods = name selv\n", "conf:2: unknown column \"selv\"; there are: ");
    bad("[display]\nwhat is this\ntheme = x\n", "conf:2: neither [section] nor NAME = VALUE");
    bad("[display\ntheme = x\n", "conf:1: neither [section] nor NAME = VALUE");
    /* the first one counts, also behind lines that begin with blanks */
    bad("[display]\n   theme = x\n   y = z\nview = q\n", "conf:3: there is no y in [display]");
    snprintf(text, sizeof text, "[source]\npath = /%0300d\n", 0);
    bad(text, "conf:2: a line may have at most 198 bytes");
    size_t n = (size_t)snprintf(text, sizeof text, "[source]\n");
    for (int i = 0; i < 8; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "path = /%0150d\n", i);
    bad(text, "conf:8: path is longer than 1023 bytes");
}

static void keys(void **unused) {
    (void)unused;
    struct config c = good("[keys]\nsave-svg = F5 \xc3\xa9\nwindow = ^W\nclose-tab =\nquit = Q\n"
                           "pipe = Semicolon\n");
    const struct keymap *k = &c.keys;
    assert_int_equal(keymap_command(k, PRESS_F1 + 4, SCOPE_METHODS), COMMAND_SAVE_SVG);
    assert_int_equal(keymap_command(k, 0xe9, SCOPE_TREE), COMMAND_SAVE_SVG);
    assert_int_equal(keymap_command(k, 's', SCOPE_METHODS), COMMAND_NONE);
    assert_int_equal(keymap_command(k, PRESS_CTRL('W'), SCOPE_METHODS), COMMAND_WINDOW);
    assert_int_equal(keymap_command(k, ';', SCOPE_METHODS), COMMAND_PIPE);
    /* in all places where it is heard; and the way out that is not printed stays */
    assert_int_equal(keymap_command(k, 'Q', SCOPE_METHODS), COMMAND_QUIT);
    assert_int_equal(keymap_command(k, 'Q', SCOPE_PICKER), COMMAND_QUIT);
    assert_int_equal(keymap_command(k, 'q', SCOPE_METHODS), COMMAND_NONE);
    assert_int_equal(keymap_command(k, PRESS_CTRL('C'), SCOPE_METHODS), COMMAND_QUIT);
    char key[KEY_TEXT];
    assert_string_equal(keymap_key(k, COMMAND_SAVE_SVG, SCOPE_TREE, key), "F5");
    assert_string_equal(keymap_key(k, COMMAND_CLOSE_TAB, SCOPE_TREE, key), "");
    assert_string_equal(keymap_key(NULL, COMMAND_CLOSE_TAB, SCOPE_TREE, key), "^W");
    /* two that change places */
    c = good("[keys]\nsearch = \\\nfilter = /\n");
    assert_int_equal(keymap_command(&c.keys, '/', SCOPE_LOCKS), COMMAND_FILTER);
    assert_int_equal(keymap_command(&c.keys, '\\', SCOPE_LOCKS), COMMAND_SEARCH);

    bad("[keys]\nsav = x\n", "conf:2: unknown command \"sav\"");
    bad("[keys]\npause = Pause\n", "conf:2: there is no key \"Pause\"; there are: a character");
    bad("[keys]\npause = ^S\n", "conf:2: there is no key \"^S\"");
    bad("[keys]\npause = F13\n", "conf:2: there is no key \"F13\"");
    bad("[keys]\npause = \xc3\n", "conf:2: there is no key");
    bad("[keys]\npause = a b c d e\n", "conf:2: pause has too many keys");
    bad("[keys]\nwindow = s\n\npause = s\n", "conf:4: the key s would mean both pause and window");
    bad("[keys]\nup = j\ndown = j\n", "conf:3: the key j would mean both up and down");
}

/* What is bound is taken from the defaults, and from nothing else. */
static void bound_keys_come_first(void **unused) {
    (void)unused;
    struct config c = good("[keys]\npause = s F2 q\nmethods = x\n");
    const struct keymap *k = &c.keys;
    char key[KEY_TEXT];
    assert_int_equal(keymap_command(k, 's', SCOPE_METHODS), COMMAND_PAUSE);
    assert_int_equal(keymap_command(k, PRESS_F2, SCOPE_METHODS), COMMAND_PAUSE);
    assert_int_equal(keymap_command(k, 'o', SCOPE_METHODS), COMMAND_EVENTS);
    assert_int_equal(keymap_command(k, 'x', SCOPE_METHODS), COMMAND_METHODS);
    assert_int_equal(keymap_command(k, 'x', SCOPE_PICKER), COMMAND_SORT); /* it is free there */
    assert_string_equal(keymap_key(k, COMMAND_EVENTS, SCOPE_METHODS, key), "o");
    assert_string_equal(keymap_key(k, COMMAND_SAVE_SVG, SCOPE_METHODS, key), "");
    assert_int_equal(keymap_command(k, PRESS_F10, SCOPE_METHODS), COMMAND_QUIT);
    assert_int_equal(keymap_command(k, PRESS_CTRL('C'), SCOPE_METHODS), COMMAND_QUIT);
    assert_int_equal(keymap_command(k, 'p', SCOPE_METHODS), COMMAND_NONE);
}

/* Space tags rows in tables. Who binds it to another command has that command everywhere. */
static void space_can_be_bound(void **unused) {
    (void)unused;
    char key[KEY_TEXT];
    assert_int_equal(keymap_command(NULL, ' ', SCOPE_METHODS), COMMAND_TAG);
    assert_int_equal(keymap_command(NULL, ' ', SCOPE_TREE), COMMAND_TAG);
    assert_int_equal(keymap_command(NULL, ' ', SCOPE_FLAME), COMMAND_PAUSE);
    assert_int_equal(keymap_command(NULL, 'p', SCOPE_METHODS), COMMAND_PAUSE);
    assert_int_equal(keymap_command(NULL, PRESS_ENTER, SCOPE_TREE), COMMAND_ENTER);
    struct config c = good("[keys]\npause = p Space\n");
    assert_int_equal(keymap_command(&c.keys, ' ', SCOPE_METHODS), COMMAND_PAUSE);
    assert_int_equal(keymap_command(&c.keys, ' ', SCOPE_TREE), COMMAND_PAUSE);
    assert_int_equal(keymap_command(&c.keys, ' ', SCOPE_STATUS), COMMAND_PAUSE);
    assert_string_equal(keymap_key(&c.keys, COMMAND_TAG, SCOPE_METHODS, key), "");
    c = good("[keys]\nenter = Enter Space\n");
    assert_int_equal(keymap_command(&c.keys, ' ', SCOPE_TREE), COMMAND_ENTER);
    c = good("[keys]\ntag = c\n");
    assert_int_equal(keymap_command(&c.keys, 'c', SCOPE_TREE), COMMAND_TAG);
    assert_int_equal(keymap_command(&c.keys, ' ', SCOPE_TREE), COMMAND_NONE);
}

/* As somebody would do who edits it: every line without its '#'. */
static void what_is_printed_can_be_read(void **unused) {
    (void)unused;
    struct text t = {0};
    struct config c;
    struct err e = {0};
    config_print(&t);
    assert_false(t.failed);
    assert_int_equal(config_parse(&c, "conf", t.data, &e), 0);
    for (const struct key_binding *b = key_bindings; b->help; b++)
        assert_string_equal(keymap_keys(&c.keys, b), b->keys);
    for (char *p = t.data; *p; p += strcspn(p, "\n") + 1)
        if (p[0] == '#' && p[1] >= 'a' && p[1] <= 'z')
            *p = ' ';
    if (config_parse(&c, "conf", t.data, &e) != 0)
        fail_msg("%s", e.message);
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        char name[64];
        snprintf(name, sizeof name, "\n %s =", b->name);
        if (!strstr(t.data, name))
            fail_msg("--print-config says nothing of %s", b->name);
    }
    /* Everything that worked still does, where it says so. */
    assert_int_equal(keymap_command(&c.keys, PRESS_ENTER, SCOPE_TREE), COMMAND_ENTER);
    assert_int_equal(keymap_command(&c.keys, 'p', SCOPE_METHODS), COMMAND_PAUSE);
    assert_int_equal(keymap_command(&c.keys, 'q', SCOPE_METHODS), COMMAND_QUIT);
    text_free(&t);
}

static void every_row_can_be_bound(void **unused) {
    (void)unused;
    int rows = 0;
    for (const struct key_binding *b = key_bindings; b->help; b++, rows++) {
        char keys[KEY_TEXT], *rest = keys, name[PRESS_NAME_SIZE];
        assert_true(strlen(b->keys) < sizeof keys);
        snprintf(keys, sizeof keys, "%s", b->keys);
        for (const char *key; b->keys[0] && (key = strsep(&rest, " "));) {
            int32_t press = press_parse(key);
            bool found = false;
            for (int i = 0; i < KEY_PRESSES; i++)
                found |= b->press[i] == press;
            if (!found)
                fail_msg("%s: %s is printed, but not pressed", b->name, key);
            assert_string_equal(press_name(press, name), key);
        }
        assert_true(keymap_section(b) >= 0 || b->scope == SCOPE_HELP);
    }
    assert_true(rows <= KEY_ROWS_MAX);
    const struct key_binding *a, *b;
    int32_t press;
    assert_false(keymap_clash(NULL, &a, &b, &press));
}

/* Files. */

static char home[64];

static void write_file(const char *name, const char *text, size_t length) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    fclose(f);
}

static void where_it_is(void **unused) {
    (void)unused;
    char path[256], expected[256];
    struct config c;
    struct err e = {0};
    setenv("HOME", home, 1);
    unsetenv("XDG_CONFIG_HOME");
    snprintf(expected, sizeof expected, "%s/.config/jtop-prof/config", home);
    assert_string_equal(config_path(path, sizeof path), expected);
    assert_int_equal(config_load(&c, &e), 0); /* no such file: as shipped */
    assert_int_equal(c.view, -1);
    write_file(".config/jtop-prof/config", "[display]\nview = tree\n", 22);
    assert_int_equal(config_load(&c, &e), 0);
    assert_int_equal(c.view, LIVE_TREE);
    setenv("XDG_CONFIG_HOME", "relative", 1); /* is to be ignored */
    assert_string_equal(config_path(path, sizeof path), expected);
    snprintf(path, sizeof path, "%s/xdg", home);
    setenv("XDG_CONFIG_HOME", path, 1);
    snprintf(expected, sizeof expected, "%s/xdg/jtop-prof/themes", home);
    assert_string_equal(home_path("XDG_CONFIG_HOME", ".config", "themes", path, sizeof path),
                        expected);
    write_file("xdg/jtop-prof/config", "[display]\nview = trees\n", 23);
    assert_int_equal(config_load(&c, &e), -EINVAL);
    snprintf(expected, sizeof expected, "%s/xdg/jtop-prof/config:2: unknown view", home);
    assert_int_equal(strncmp(e.message, expected, strlen(expected)), 0);
    write_file("xdg/jtop-prof/config", "[display]\n\0\n", 12);
    assert_int_equal(config_load(&c, &e), -EINVAL);
    assert_non_null(strstr(e.message, "zero byte"));
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    assert_string_equal(config_path(path, sizeof path), "");
    assert_int_equal(config_load(&c, &e), 0);
}

static void recent(void **unused) {
    (void)unused;
    char name[CONFIG_RECENT][CONFIG_TEXT], path[256], text[64];
    struct stat st;
    setenv("HOME", home, 1);
    snprintf(path, sizeof path, "%s/state", home);
    setenv("XDG_STATE_HOME", path, 1);
    assert_int_equal(config_recent(name), 0);
    for (int i = 0; i < CONFIG_RECENT + 3; i++) {
        snprintf(text, sizeof text, "app.Main%d", i);
        config_remember(text);
    }
    config_remember("app.Main7");
    config_remember("two\nlines");
    config_remember("");
    assert_int_equal(config_recent(name), CONFIG_RECENT);
    assert_string_equal(name[0], "app.Main7");
    assert_string_equal(name[1], "app.Main12");
    for (int i = 1; i < CONFIG_RECENT; i++)
        assert_string_not_equal(name[i], "app.Main7");
    snprintf(path, sizeof path, "%s/state/jtop-prof/recent", home);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    /* what others made of it */
    static const char noise[] = "good\n\033[2J\n\n\xff\xfe\nlast";
    write_file("state/jtop-prof/recent", noise, sizeof noise - 1);
    assert_int_equal(config_recent(name), 3);
    assert_string_equal(name[0], "good");
    assert_string_equal(name[2], "last");
    write_file("state/jtop-prof/recent", "a\0b\n", 4);
    assert_int_equal(config_recent(name), 0);
    config_remember("new");
    assert_int_equal(config_recent(name), 1);
}

static int make_home(void **unused) {
    (void)unused;
    snprintf(home, sizeof home, "/tmp/jtop-config-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int remove_home(void **unused) {
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),
        cmocka_unit_test(mistakes_name_their_line),
        cmocka_unit_test(keys),
        cmocka_unit_test(bound_keys_come_first),
        cmocka_unit_test(space_can_be_bound),
        cmocka_unit_test(what_is_printed_can_be_read),
        cmocka_unit_test(every_row_can_be_bound),
        cmocka_unit_test(where_it_is),
        cmocka_unit_test(recent),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
