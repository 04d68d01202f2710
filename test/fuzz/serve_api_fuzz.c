/* The input's first line is a URL's question about a profile; the words behind it are names in
 * it, of classes, methods and threads. Whatever comes out is JSON, and lines for Prometheus. */
#include "core/http/serve/api/api_findings.h"
#include "core/http/serve/api/api_view.h"
#include "core/report/metrics.h"

#include "test/unit/http/serve_api_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECOND_NS UINT64_C(1000000000)
#define WORDS 40

/* Each word is a method, called by the one before; every second thread is virtual. */
static void fill(struct profile *p, char *words) {
    char *rest = NULL;
    uint32_t caller = 0, n = 0;
    for (char *word = strtok_r(words, "\n", &rest); word && n < WORDS;
         word = strtok_r(NULL, "\n", &rest), n++) {
        const uint32_t leaf = method_table_intern(
            profile_methods(p), (enum method_kind)(n % METHOD_KINDS), word, word, "(I)V", word);
        const struct profile_frame f[2] = {{.method = leaf, .tier = (uint8_t)(n % TIERS)},
                                           {.method = n ? caller : leaf}};
        profile_thread_name(p, n, n, word);
        profile_virtual_name(p, n + 1, word);
        profile_add(p, &(struct profile_sample){.time_ns = (1 + n / 4) * SECOND_NS,
                                                .weight = n,
                                                .count = 1,
                                                .tid = n,
                                                .virtual_id = n & 1 ? n + 1 : 0,
                                                .frames = (uint16_t)(1 + (n & 2) / 2),
                                                .frame = f});
        caller = leaf;
    }
}

static void check_view(struct profile *p, const struct api_question *q) {
    struct api_view v = {.status = {.phase = SESSION_RUNNING}};
    struct text out = {0};
    snprintf(v.jvm.name, sizeof v.jvm.name, "%.255s", q->filter);
    if (api_view_read(&v, p, q, 12) == 0 && api_view_write(&v, &out) == 0 &&
        !json_is_good(out.data))
        abort();
    api_view_free(&v);
    text_free(&out);
}

static void check_findings(struct profile *p, const struct api_question *q) {
    const struct session_status st = {.phase = SESSION_RUNNING, .samples = 10, .dropped = 1};
    const struct jvm jvm = {.pid = 1};
    struct text out = {0};
    if (api_findings_write(&out, p, &st, &jvm, q, 12) == 0 && !json_is_good(out.data))
        abort();
    text_free(&out);
}

/* A line is a comment, or ends in a number behind labels that end where they should. */
static void check_line(const char *p, const char *end) {
    bool quoted = false;
    if (*p == '#')
        return;
    if (strncmp(p, "jtop_prof_", 10) != 0)
        abort();
    for (; p < end && (quoted || *p != ' '); p++) {
        if (quoted && *p == '\\')
            p++;
        else if (*p == '"')
            quoted = !quoted;
    }
    char *behind = NULL;
    strtod(p, &behind);
    if (quoted || behind != end)
        abort();
}

static void check_metrics(struct profile *p, const char *name) {
    struct session_status st = {.phase = SESSION_RUNNING};
    struct jvm jvm = {.pid = 1};
    struct metrics_top top;
    struct text out = {0};
    snprintf(jvm.name, sizeof jvm.name, "%s", name);
    metrics_take_top(&top, p, &st, 11);
    metrics_write_all(&out, &(struct metrics_jvm){&st, &jvm, &top}, 1, 1, 1);
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1)
        check_line(line, strchr(line, '\n'));
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct params params = {0};
    struct api_question q;
    struct err e;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char *words = strchr(text, '\n');
    if (words)
        *words++ = '\0';
    struct profile *p = profile_new(0);
    if (p && words)
        fill(p, words);
    if (p && params_read(&params, text, &e) == 0 && api_question_read(&q, &params, &e) == 0) {
        if (q.filter[API_FILTER_MAX] || q.rows > API_ROWS_MAX || q.nodes > API_NODES_MAX)
            abort();
        check_view(p, &q);
        check_findings(p, &q);
    }
    if (p)
        check_metrics(p, words ? words : "");
    profile_free(p);
    free(text);
    return 0;
}
