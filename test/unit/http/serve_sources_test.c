/* The source beside a method's lines: found where the server may look, and nowhere else. */
#include "core/http/serve/api/api_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test/unit/http/serve_api_json.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether other searches hold the lock all the time. */
static bool busy;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until) {
    (void)until;
    return busy ? ETIMEDOUT : pthread_mutex_lock(lock);
}

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
             "{\"source\":{\"origin\":\"%s/p/A.java\",\"lines\":7,\"context\":1,\"rows\":["
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
        if (strcmp(text, "{\"source\":null,\"reason\":\"not found\"}") != 0)
            fail_msg("%.100s: %.200s", names[i], text);
        free(text);
    }
    char *text = written(s, "p/Ok", line, 1, 4);
    assert_non_null(strstr(text, "\"text\":\"ok\""));
    free(text);
    api_sources_free(s);
}

static void write_long(uint32_t lines) {
    FILE *f = open_file("src/p/Long.java");
    for (uint32_t i = 0; i < lines; i++)
        fprintf(f, "line %u\n", i + 1);
    fclose(f);
}

static uint32_t count_of(const char *text, const char *part) {
    uint32_t n = 0;
    for (const char *s = text; (s = strstr(s, part)) != NULL; s += strlen(part))
        n++;
    return n;
}

/* An answer has a limited number of rows. If the context does not fit, there is less of it, and as
 * much as fits: no line with samples is lost. */
static void lowered_context(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 1500}, {.line = 3500}};
    char places[512];
    struct api_sources *s = sources(places);
    write_long(5000);
    char *text = written(s, "p/Long", line, 2, API_SOURCES_CONTEXT_MAX);
    assert_non_null(strstr(text, "\"text\":\"line 1500\"}"));
    assert_non_null(strstr(text, "\"text\":\"line 3500\"}"));
    assert_non_null(strstr(text, "\"context\":248,"));
    assert_non_null(strstr(text, "\"cut\":false"));
    assert_in_range(count_of(text, "{\"line\":"), 997, API_SOURCES_ROWS_MAX);
    free(text);
    text = written(s, "p/Long", line, 1, 498); /* exactly as many as fit, with both folds */
    assert_non_null(strstr(text, "\"context\":498,"));
    free(text);
    api_sources_free(s);
}

/* If not even the lines with samples fit, the hottest ones are there, in the file's order. */
static void cut(void **unused) {
    (void)unused;
    enum { LINES = 5000 };
    static struct snapshot_line line[LINES];
    char places[512];
    struct api_sources *s = sources(places);
    write_long(LINES);
    for (uint32_t i = 0; i < LINES; i++)
        line[i] = (struct snapshot_line){.line = i + 1, .total = 1};
    line[4321].self = 7;
    line[4700].total = 2;
    char *text = written(s, "p/Long", line, LINES, 4);
    const char *first = strstr(text, "\"text\":\"line 4322\"}");
    assert_non_null(first);
    assert_non_null(strstr(first, "\"text\":\"line 4701\"}"));
    assert_non_null(strstr(text, "\"context\":0,"));
    assert_non_null(strstr(text, "],\"cut\":true}}"));
    assert_in_range(count_of(text, "{\"line\":"), 990, API_SOURCES_ROWS_MAX);
    free(text);
    text = written(s, "p/Long", line, API_SOURCES_ROWS_MAX - 1, 4); /* they fit, with one fold */
    assert_non_null(strstr(text, "\"text\":\"line 999\"}"));
    assert_non_null(strstr(text, "\"cut\":false"));
    free(text);
    api_sources_free(s);
}

/* "Not now" is another answer than "nowhere". */
static void others_search(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 1}};
    char places[512];
    struct api_sources *s = sources(places);
    busy = true;
    char *text = written(s, "p/Ok", line, 1, 4);
    assert_string_equal(text, "{\"source\":null,\"reason\":\"busy\"}");
    free(text);
    text = written(s, "", line, 1, 4);
    assert_string_equal(text, "{\"source\":null,\"reason\":\"not found\"}");
    free(text);
    busy = false;
    api_sources_free(s);
}

static void no_place(void **unused) {
    (void)unused;
    static const struct snapshot_line line[] = {{.line = 1}};
    struct api_sources *s = api_sources_new(NULL);
    char *text = written(s, "p/Ok", line, 1, 4);
    assert_string_equal(text, "{\"source\":null,\"reason\":\"not found\"}");
    free(text);
    api_sources_free(s);
    text = written(NULL, "p/Ok", line, 1, 4);
    assert_string_equal(text, "{\"source\":null,\"reason\":\"not found\"}");
    free(text);
    api_sources_free(NULL);
}

/* The fixture lies below /tmp: nothing else is removed. */
static int remove_all(void **unused) {
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    const bool ours = strncmp(root, "/tmp/jtop-sources-", 18) == 0;
    return ours ? system(command) : -1; /* NOLINT(cert-env33-c): a path of our own making */
}

static int make_root(void **unused) {
    (void)unused;
    return mkdtemp(root) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around_samples), cmocka_unit_test(hostile_names),
        cmocka_unit_test(lowered_context),      cmocka_unit_test(cut),
        cmocka_unit_test(others_search),        cmocka_unit_test(no_place),
    };
    return cmocka_run_group_tests(tests, make_root, remove_all);
}
