/* What the shells are told; that they understand it is tested with the shells (e2e/completion). */
#include "tui/cli/command/command.h"
#include "tui/cli/option/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_option_is_there(void **unused) {
    (void)unused;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (int s = 0; s < 3; s++) {
        struct text t = {0};
        struct err e;
        assert_int_equal(completion_script(shells[s], &t, &e), 0);
        for (int i = 0; i < option_row_count; i++) {
            const struct option_row *row = &option_rows[i];
            for (int n = 0; n < 2 && row->group != GROUP_READER; n++) {
                char what[64];
                if (!row->name[n] || row->when == WHEN_BATCH || row->when == WHEN_PUSH)
                    continue;
                bool is_long = row->name[n][1] == '-';
                if (s == 2)
                    snprintf(what, sizeof what, " -%s %s ", is_long ? "l" : "s",
                             row->name[n] + (is_long ? 2 : 1));
                else
                    snprintf(what, sizeof what, "%s", row->name[n]);
                if (!strstr(t.data, what))
                    fail_msg("%s: no %s", shells[s], row->name[n]);
            }
        }
        assert_null(strstr(t.data, "--reader"));
        text_free(&t);
    }
    struct err e;
    assert_int_equal(completion_script("csh", &(struct text){0}, &e), -EINVAL);
}

/* A word list of a row, with a blank at both ends. */
static void has_word(const char *option, const char *word) {
    struct text t = {0};
    text_add(&t, " ");
    for (int i = 0; i < option_row_count; i++)
        for (int n = 0; n < 2; n++)
            if (option_rows[i].name[n] && strcmp(option_rows[i].name[n], option) == 0)
                option_words(&option_rows[i], &t);
    char padded[64];
    snprintf(padded, sizeof padded, " %s ", word);
    if (!strstr(t.data, padded))
        fail_msg("%s: no %s in%s", option, word, t.data);
    text_free(&t);
}

static void values(void **unused) {
    (void)unused;
    has_word("-e", "cache-misses");
    has_word("-o", "pprof");
    has_word("-o", "flat");
    has_word("--cstack", "dwarf");
    has_word("--theme", "high-contrast");
    has_word("--check-theme", "default");
    has_word("--view", "flame");
    has_word("--completion", "fish");
}

/* A JVM's main class is whatever somebody else calls it. */
static void names_of_others(void **unused) {
    (void)unused;
    static const char *const names[] = {"shop.Demo", "a.B$C", "$(reboot)", "a b", "-rf", "x;y", ""};
    struct jvm jvms[7];
    struct text t = {0};
    memset(jvms, 0, sizeof jvms);
    for (int i = 0; i < 7; i++) {
        jvms[i].pid = 100 + i;
        snprintf(jvms[i].name, sizeof jvms[i].name, "%s", names[i]);
    }
    completion_names(&t, jvms, 7);
    assert_string_equal(t.data, "100 shop.Demo\n101 a.B$C\n102\n103\n104\n105\n106\n");
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_there),
        cmocka_unit_test(values),
        cmocka_unit_test(names_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
