/* The source beside a method's lines: found where the server may look, and nowhere else. */
#include "core/http/serve/api/api_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test/unit/http/serve_api_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/jtop-sources-XXXXXX";

static FILE *open_file(const char *path) {
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
    return f;
}

static void write_file(const char *path, const char *text) {
    FILE *f = open_file(path);
    fputs(text, f);
    fclose(f);
}

/* What is written for these lines, as text that the caller frees; checked to be JSON. */
static char *written(struct api_sources *s, const char *class_name,
                     const struct snapshot_line *line, uint32_t lines, uint32_t context) {
    struct text out = {0};
    struct json j = {.out = &out};
    json_begin(&j, NULL, '{');
    api_sources_write(&j, s, 0, class_name, line, lines, context);
    json_end(&j, '}');
    if (!json_is_good(out.data))
        fail_msg("no JSON: %.400s", out.data);
    return out.data;
}

static struct api_sources *sources(char places[512]) {
    snprintf(places, 512, "%s/src", root);
    struct api_sources *s = api_sources_new(places);
    assert_non_null(s);
    return s;
}

static void lines_around_samples(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 0}, {.line = 4}, {.line = 30}};
    char places[512], expected[1024];
    struct api_sources *s = sources(places);
    write_file("src/p/A.java", "one\ntwo\nthree\n\"</script>\"\x1b\n\tfive\nsix\nseven\n");
    char *text = written(s, "p/A$Inner", line, 3, 1);
    snprintf(expected, sizeof expected,
             "{\"source\":{\"origin\":\"%s/p/A.java\",\"lines\":7,\"rows\":["
             "{\"line\":0,\"text\":\"\"},{\"line\":1,\"hidden\":2},{\"line\":3,\"text\":\"three\"},"
             "{\"line\":4,\"text\":\"\\u0022\\u003c/script\\u003e\\u0022?\"},"
             "{\"line\":5,\"text\":\"    five\"},{\"line\":6,\"hidden\":2},"
             "{\"line\":30,\"text\":\"\"}],\"cut\":false}}",
             places);
    assert_string_equal(text, expected);
    free(text);
    api_sources_free(s);
}

/* Class names come from the JVM: none of them leads out of the place, or to a large file. */
static void hostile_names(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 1}};
    char places[512], absolute[600], longest[5000];
    struct api_sources *s = sources(places);
    write_file("secret.java", "secret");
    write_file("src/p/Ok.java", "ok");
    FILE *large = open_file("src/p/Large.java");
    assert_int_equal(ftruncate(fileno(large), 3 << 20), 0);
    fclose(large);
    snprintf(absolute, sizeof absolute, "%s/secret", root);
    memset(longest, 'p', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const names[] = {
        "../secret",
        "p/../../secret",
        absolute,
        "p/./../../secret",
        "",
        "p/",
        "..",
        "p/Large",
        longest,
        "p/Ok.java",
        "p/Ok\n",
        "p\\Ok",
        "%2e%2e/secret",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *text = written(s, names[i], line, 1, 4);
        if (strcmp(text, "{\"source\":null}") != 0)
            fail_msg("%.100s: %.200s", names[i], text);
        free(text);
    }
    char *text = written(s, "p/Ok", line, 1, 4);
    assert_non_null(strstr(text, "\"text\":\"ok\""));
    free(text);
    api_sources_free(s);
}

/* An answer has a limited number of rows, however many lines there are. */
static void cut(void **unused) {
    (void)unused;
    enum { LINES = 5000 };
    static struct snapshot_line line[LINES];
    char places[512];
    struct api_sources *s = sources(places);
    FILE *f = open_file("src/p/Long.java");
    for (uint32_t i = 0; i < LINES; i++) {
        fprintf(f, "line %u\n", i + 1);
        line[i].line = i + 1;
    }
    fclose(f);
    char *text = written(s, "p/Long", line, LINES, 4);
    assert_non_null(strstr(text, "\"text\":\"line 1000\"}],\"cut\":true}}"));
    assert_null(strstr(text, "line 1001"));
    free(text);
    text = written(s, "p/Long", line, 1, API_SOURCES_CONTEXT_MAX - 2);
    assert_non_null(
        strstr(text, "\"text\":\"line 999\"},{\"line\":1000,\"hidden\":4001}],\"cut\":false}}"));
    free(text);
    api_sources_free(s);
}

static void no_place(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 1}};
    struct api_sources *s = api_sources_new(NULL);
    char *text = written(s, "p/Ok", line, 1, 4);
    assert_string_equal(text, "{\"source\":null}");
    free(text);
    api_sources_free(s);
    text = written(NULL, "p/Ok", line, 1, 4);
    assert_string_equal(text, "{\"source\":null}");
    free(text);
    api_sources_free(NULL);
}

/* The fixture lies below /tmp: nothing else is removed. */
static int remove_all(void **unused) {
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return strncmp(root, "/tmp/jtop-sources-", 18) == 0 ? system(command) : -1;
}

static int make_root(void **unused) {
    (void)unused;
    return mkdtemp(root) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around_samples),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(cut),
        cmocka_unit_test(no_place),
    };
    return cmocka_run_group_tests(tests, make_root, remove_all);
}
