/* What tagged methods weigh in the answer, and the filter that matches them. */
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

static struct tag method_tag(uint32_t method) {
    return (struct tag){TAG_METHOD, method};
}

void model_tagged_methods(const struct model *m, struct tag_sum *out) {
    const struct snapshot *s = m->snapshot;
    *out = (struct tag_sum){.all = s ? s->weight : 0};
    for (int i = 0; i < m->tags.count; i++) {
        const struct tag *t = &m->tags.of[i];
        if (t->kind == TAG_METHOD && model_method(m, (uint32_t)t->id)->kind != METHOD_CLASS)
            out->seen |= UINT64_C(1) << i; /* also if it has no samples in this time */
    }
    for (uint32_t i = 0; s && i < s->method_count; i++)
        tags_add(&m->tags, out, method_tag(s->methods[i].method), s->methods[i].self);
}

void model_tagged_stacks(const struct model *m, struct tag_sum *out) {
    const struct snapshot *s = m->snapshot;
    *out = (struct tag_sum){.all = s ? s->weight : 0};
    for (uint32_t i = 0, counted = 0; s && i < s->node_count; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        bool has = tags_add(&m->tags, out, method_tag(n->method), i < counted ? 0 : n->total);
        if (has && i >= counted)
            counted = n->next; /* what is below it is part of its total */
    }
}

/* Writes the name that a filter is compared with, escaped. Returns its length without the limit. */
static size_t escaped_name(const struct method *method, char *out, size_t size) {
    char name[LINE_EDITOR_BYTES];
    size_t n = 0;
    if (frame_name(method, NAME_DOTTED, name, sizeof name) >= sizeof name)
        return size;
    for (const char *at = name; *at && n + 2 < size; at++) {
        if (strchr("\\.+*?()[]{}^|", *at))
            out[n++] = '\\';
        out[n++] = *at;
    }
    out[n] = '\0';
    return n + 2 < size ? n : size;
}

/* True for methods that a filter can find on stacks of the current event. Rows of the VM's threads
 * are on no stack. */
static bool can_match(const struct model *m, const struct tag *t) {
    if (t->kind != TAG_METHOD)
        return false;
    enum method_kind kind = model_method(m, (uint32_t)t->id)->kind;
    return kind != METHOD_THREAD &&
           (kind != METHOD_CLASS || !model_ends_in_code(m->question.event));
}

/* True if an older tag has the same name: overloads differ only in their signatures. */
static bool is_repeated(const struct model *m, int at) {
    const struct method *a = model_method(m, (uint32_t)m->tags.of[at].id);
    for (int i = 0; i < at; i++) {
        const struct method *b = model_method(m, (uint32_t)m->tags.of[i].id);
        if (m->tags.of[i].kind == TAG_METHOD && a->kind == b->kind && !strcmp(a->name, b->name) &&
            !strcmp(a->class_name, b->class_name))
            return true;
    }
    return false;
}

int model_tags_filter(const struct model *m, char *out, size_t size, int *fit) {
    char names[LINE_EDITOR_BYTES] = "", name[LINE_EDITOR_BYTES];
    size_t length = 0, most = size < sizeof names ? size : sizeof names;
    int count = 0;
    *fit = 0;
    out[0] = '\0';
    for (int i = 0; i < m->tags.count; i++) {
        const struct tag *t = &m->tags.of[i];
        if (!can_match(m, t) || is_repeated(m, i))
            continue;
        size_t n = escaped_name(model_method(m, (uint32_t)t->id), name, sizeof name);
        bool fits = *fit == count && length + 1 + n + sizeof "^()$" <= most;
        count++;
        if (!fits)
            continue;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? "|" : "",
                                   name);
        *fit = count;
    }
    if (count && *fit == count)
        snprintf(out, size, count > 1 ? "^(%s)$" : "^%s$", names);
    return count;
}
