#include "core/profile/snapshot/filter.h"

#include "core/base/grow.h"
#include "core/profile/profile_state.h"
#include "core/profile/snapshot/frame_pattern.h"
#include "core/profile/snapshot/pattern.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <stdio.h>

/* The text of the query's filter that is to be searched on a stack. */
static const char *text_of(const struct query *q) {
    const char *text = q->filter ? q->filter : "";
    return *text == '!' ? text + 1 : text;
}

static bool keeps_all(const struct query *q) {
    return !*text_of(q) && !q->with_method && !q->with_also && !(q->package && *q->package) &&
           !q->includes && !q->excludes;
}

static size_t list(char *out, size_t at, const char *const *pattern, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        size_t n = strlen(pattern[i]) + 1;
        if (out)
            memcpy(out + at, pattern[i], n);
        at += n;
    }
    return at;
}

/* Writes everything that defines the patterns of a query, to be compared with another query:
 * the numbers of patterns, and the texts, each followed by a NUL. If `out` is NULL, only counts
 * the bytes. */
static size_t list_patterns(char *out, const struct query *q) {
    const uint32_t head[] = {q->includes, q->excludes, q->simple_names};
    if (out)
        memcpy(out, head, sizeof head);
    return list(out, list(out, sizeof head, q->include, q->includes), q->exclude, q->excludes);
}

static bool has_patterns_of(const struct filter *f, const struct query *q) {
    size_t at = 0;
    uint32_t head[3];
    memcpy(head, f->patterns, sizeof head);
    if (head[0] != q->includes || head[1] != q->excludes || head[2] != q->simple_names)
        return false;
    at = sizeof head;
    for (uint32_t i = 0; i < q->includes + q->excludes; i++) {
        const char *p = i < q->includes ? q->include[i] : q->exclude[i - q->includes];
        if (strcmp(p, f->patterns + at) != 0)
            return false;
        at += strlen(p) + 1;
    }
    return true;
}

static bool is_of(const struct filter *f, const struct query *q) {
    return f->text && !strcmp(f->text, text_of(q)) && f->with_method == q->with_method &&
           (!f->with_method || f->method == q->method) && f->with_also == q->with_also &&
           (!f->with_also || f->also == q->also) &&
           !strcmp(f->package, q->package ? q->package : "") && has_patterns_of(f, q);
}

/* Returns the package in the form that class names have: with slashes, and one at the end. */
static char *package_prefix(const char *package) {
    size_t n = strlen(package);
    char *prefix = malloc(n + 2);
    if (!prefix)
        return NULL;
    for (size_t i = 0; i < n; i++)
        prefix[i] = package[i];
    if (n > 0 && prefix[n - 1] != '.' && prefix[n - 1] != '/')
        prefix[n++] = '/';
    prefix[n] = '\0';
    for (char *dot = prefix; (dot = strchr(dot, '.'));)
        *dot = '/';
    return prefix;
}

struct judge {
    struct pattern pattern;
    const struct query *q;
    struct frame_names names;
    char *prefix;
    char *name; /* scratch */
    size_t size;
};

static int judge_text(struct judge *j, const struct method *m) {
    size_t size = frame_name(m, NAME_DOTTED, j->name, j->size) + 1;
    if (size > j->size) {
        char *bigger = realloc(j->name, size);
        if (!bigger)
            return -ENOMEM;
        j->name = bigger;
        j->size = size;
        frame_name(m, NAME_DOTTED, j->name, j->size);
    }
    return pattern_matches(&j->pattern, j->name);
}

static int judge_patterns(struct judge *j, const struct method *m, uint8_t *verdict) {
    const struct query *q = j->q;
    int in = frame_pattern_any(&j->names, m, q->simple_names, q->include, q->includes);
    int out =
        in < 0 ? in : frame_pattern_any(&j->names, m, q->simple_names, q->exclude, q->excludes);
    if (out < 0)
        return out;
    *verdict |= (uint8_t)((in ? FILTER_INCLUDED : 0) | (out ? FILTER_EXCLUDED : 0));
    return 0;
}

static int judge_method(struct judge *j, struct filter *f, const struct method *m, uint32_t id) {
    int match = *f->text ? judge_text(j, m) : 0;
    if (match < 0)
        return match;
    f->verdict[id] = match ? FILTER_TEXT : 0;
    if (f->with_method && id == f->method)
        f->verdict[id] |= FILTER_METHOD;
    if (f->with_also && id == f->also)
        f->verdict[id] |= FILTER_ALSO;
    if (*f->package && m->kind == METHOD_JAVA &&
        strncmp(m->class_name, j->prefix, strlen(j->prefix)) == 0)
        f->verdict[id] |= FILTER_PACKAGE;
    return judge_patterns(j, m, &f->verdict[id]);
}

/* Checks the new methods. */
static int judge_methods(struct filter *f, const struct query *q, const struct method_table *t) {
    uint32_t count = method_table_count(t);
    struct judge j = {.q = q, .size = 256};
    if (f->methods == count)
        return 0;
    j.name = malloc(j.size);
    j.prefix = package_prefix(f->package);
    int rc = j.name && j.prefix ? pattern_open(&j.pattern, f->text, NULL, 0) : -ENOMEM;
    if (rc == 0 && !grow_array(&f->verdict, &f->method_cap, count, sizeof *f->verdict))
        rc = -ENOMEM;
    for (; rc == 0 && f->methods < count; f->methods += rc == 0)
        rc = judge_method(&j, f, method_table_get(t, f->methods), f->methods);
    f->gave_up |= j.pattern.expression.gave_up;
    pattern_close(&j.pattern);
    free(j.names.text);
    free(j.name);
    free(j.prefix);
    return rc;
}

/* A parent's id is smaller than its children's, so one pass is enough. */
static int judge_nodes(struct filter *f, const struct call_tree *t) {
    if (!grow_array(&f->flags, &f->node_cap, t->nodes, sizeof *f->flags))
        return -ENOMEM;
    for (uint32_t i = f->nodes; i < t->nodes; i++) {
        const struct call_node *n = &t->node[i];
        uint8_t above = n->parent == CALL_ROOT ? 0 : f->flags[n->parent];
        f->flags[i] = above | f->verdict[n->method];
    }
    f->nodes = t->nodes;
    return 0;
}

/* Starts with a new filter: the flags of nodes become invalid, but their memory is kept. */
static int start(struct filter *f, const struct query *q) {
    char *text = strdup(text_of(q)), *package = strdup(q->package ? q->package : "");
    char *patterns = malloc(list_patterns(NULL, q));
    if (!text || !package || !patterns) {
        free(text);
        free(package);
        free(patterns);
        return -ENOMEM;
    }
    free(f->text);
    free(f->package);
    free(f->patterns);
    list_patterns(patterns, q);
    f->text = text;
    f->package = package;
    f->patterns = patterns;
    f->with_method = q->with_method;
    f->method = q->method;
    f->with_also = q->with_also;
    f->also = q->also;
    f->nodes = f->methods = 0;
    f->serial++;
    f->gave_up = false;
    return 0;
}

int filter_nodes(struct filter *f, const struct profile *p, const struct call_tree *t,
                 const struct query *q, const struct filter **out) {
    *out = NULL;
    if (keeps_all(q))
        return 0;
    int rc = is_of(f, q) ? 0 : start(f, q);
    if (rc == 0)
        rc = judge_methods(f, q, p->methods);
    if (rc == 0)
        rc = judge_nodes(f, t);
    if (rc != 0)
        return rc;
    bool invert = q->filter && q->filter[0] == '!';
    f->mask = f->want =
        (uint8_t)((q->with_method ? FILTER_METHOD : 0) | (q->with_also ? FILTER_ALSO : 0));
    f->mask |= *f->package ? FILTER_PACKAGE : 0;
    f->want |= *f->package ? FILTER_PACKAGE : 0;
    f->mask |= (uint8_t)((q->includes ? FILTER_INCLUDED : 0) | (q->excludes ? FILTER_EXCLUDED : 0));
    f->want |= q->includes ? FILTER_INCLUDED : 0;
    f->mask |= *f->text ? FILTER_TEXT : 0;
    f->want |= *f->text && !invert ? FILTER_TEXT : 0;
    *out = f;
    return 0;
}

int filter_of_tree(struct profile *p, const struct query *q, const struct filter **out) {
    struct filter *f = &p->filter[0];
    uint64_t last = 0;
    bool found = false;
    *out = NULL;
    if (keeps_all(q))
        return 0;
    for (int i = 0; i < FILTERS; i++) {
        struct filter *other = &p->filter[i];
        last = other->used > last ? other->used : last;
        if (found || (!is_of(other, q) && other->used >= f->used))
            continue;
        found = is_of(other, q);
        f = other;
    }
    f->used = last + 1;
    return filter_nodes(f, p, &p->tree, q, out);
}

void filter_free(struct filter *f) {
    free(f->text);
    free(f->package);
    free(f->patterns);
    free(f->verdict);
    free(f->flags);
    *f = (struct filter){0};
}

int snapshot_check_filter(const char *filter, char *why, size_t size) {
    struct pattern pattern;
    char reason[128];
    const char *text = filter ? filter + (*filter == '!') : "";
    int rc = pattern_open(&pattern, text, reason, sizeof reason);
    bool good = rc == 0 && pattern.is_expression;
    snprintf(why, size, "%s", rc == 0 ? reason : strerror(-rc));
    if (rc == 0)
        pattern_close(&pattern);
    return good ? 0 : -EINVAL;
}
