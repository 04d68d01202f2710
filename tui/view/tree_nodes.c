#include "tui/view/tree_nodes.h"

#include <stdlib.h>
#include <string.h>

uint64_t tree_seed(const struct model *m) {
    const struct model_question *q = &m->asked;
    uint64_t kind = (q->inverted ? 1u : 0u) | (q->by_thread ? 2u : 0u);
    return q->from_method ? kind | 4u | (uint64_t)q->method << 8 : kind;
}

/* Finds a thread by its name as a frame: "[name tid=N]", "[name virtual=N]" (core/profile). */
static const struct model_thread *find_thread(const struct model *m, const char *name) {
    const char *mark = NULL;
    for (const char *s = name; (s = strchr(s, ' ')); s++)
        mark = s + 1; /* the name itself may contain blanks */
    if (!mark)
        return NULL;
    bool is_virtual = !strncmp(mark, "virtual=", 8);
    if (!is_virtual && strncmp(mark, "tid=", 4) != 0)
        return NULL;
    uint64_t id = strtoull(mark + (is_virtual ? 8 : 4), NULL, 10);
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        if (t->is_virtual == is_virtual && (is_virtual ? t->java_id : t->tid) == id)
            return t;
    }
    return NULL;
}

/* Whether the node is a thread above its stacks. The rows that stand for threads of the VM when
 * native frames are folded are of the same kind, but on no thread's place. */
static bool is_thread_root(const struct model *m, const struct snapshot *s, uint32_t node) {
    return s->by_thread && s->nodes[node].depth == 0 &&
           model_method(m, s->nodes[node].method)->kind == METHOD_THREAD;
}

bool tree_subject(const struct model *m, const struct snapshot *s, uint32_t node,
                  struct view_subject *out) {
    if (!s || node >= s->node_count)
        return false;
    *out = (struct view_subject){.method = s->nodes[node].method};
    const struct method *method = model_method(m, out->method);
    if (!is_thread_root(m, s, node))
        return true;
    *out = (struct view_subject){.method = METHOD_NONE, .thread = find_thread(m, method->name)};
    return out->thread != NULL;
}

bool tree_tag(const struct model *m, const struct snapshot *s, uint32_t node, struct tag *out) {
    struct view_subject on;
    *out = (struct tag){TAG_NONE, 0};
    if (!s || node >= s->node_count)
        return false;
    if (!tree_subject(m, s, node, &on))
        return true; /* a thread that is gone */
    if (!on.thread)
        *out = (struct tag){TAG_METHOD, on.method};
    else
        *out = (struct tag){TAG_THREAD, model_thread_key(on.thread->is_virtual, on.thread->java_id,
                                                         on.thread->tid, on.thread->state == 'X')};
    return true;
}

static void copy_line(const struct model *m, uint32_t method, struct text *out) {
    char name[1024];
    text_addf(out, "%s\n", model_method_name(m, method, name, sizeof name));
}

void tree_copy(const struct model *m, const struct snapshot *s, uint32_t node, struct text *out) {
    if (!s || node >= s->node_count)
        return;
    if (!m->asked.inverted) {
        for (uint32_t i = node; i != SNAPSHOT_ROOT; i = s->nodes[i].parent)
            copy_line(m, s->nodes[i].method, out);
        return;
    }
    /* In a bottom-up tree, the root is the leaf frame. The path to the node is found from the root
     * on. */
    for (uint32_t i = 0; i <= node;) {
        if (node >= s->nodes[i].next) {
            i = s->nodes[i].next;
            continue;
        }
        copy_line(m, s->nodes[i].method, out);
        i++;
    }
}

int tree_name_order(const void *arg, uint32_t method, uint32_t other) {
    const struct method *a = model_method(arg, method), *b = model_method(arg, other);
    int order = strcmp(a->class_name, b->class_name);
    if (!order)
        order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->signature, b->signature);
}

uint32_t tree_hottest_of(const struct snapshot *s, uint32_t method) {
    uint32_t best = SNAPSHOT_ROOT;
    for (uint32_t i = 0; s && i < s->node_count; i++)
        if (s->nodes[i].method == method &&
            (best == SNAPSHOT_ROOT || s->nodes[i].total > s->nodes[best].total))
            best = i;
    return best;
}

void tree_matches_update(struct tree_matches *t, const struct model *m) {
    if (strcmp(t->of, m->search) != 0) {
        memcpy(t->of, m->search, sizeof t->of);
        t->count = 0;
    }
    if (!t->of[0] || t->count == m->method_count)
        return;
    uint8_t *is = realloc(t->is, m->method_count);
    if (!is)
        return;
    t->is = is;
    for (char name[1024]; t->count < m->method_count; t->count++)
        is[t->count] = view_matches(m, model_method_name(m, t->count, name, sizeof name));
}

bool tree_matches_has(const struct tree_matches *t, uint32_t method) {
    return t->of[0] && method < t->count && t->is[method];
}

void tree_matches_free(struct tree_matches *t) {
    free(t->is);
    *t = (struct tree_matches){0};
}

uint64_t tree_matches_weight(const struct tree_matches *t, const struct snapshot *s) {
    uint64_t sum = 0;
    if (!t->of[0])
        return 0;
    for (uint32_t i = 0; i < s->node_count;) {
        bool has = tree_matches_has(t, s->nodes[i].method);
        sum += has ? s->nodes[i].total : 0;
        i = has ? s->nodes[i].next : i + 1;
    }
    return sum;
}

const char *tree_short_name(const struct canvas *c, const char *name, enum method_kind kind,
                            int cols) {
    if (kind != METHOD_JAVA)
        return name;
    size_t end = strcspn(name, "(");
    size_t method = end;
    while (method && name[method - 1] != '.')
        method--;
    size_t class_name = method ? method - 1 : 0;
    while (class_name && name[class_name - 1] != '.' && name[class_name - 1] != '/')
        class_name--;
    if (canvas_width(c, name) <= cols)
        return name;
    return canvas_width(c, name + class_name) <= cols ? name + class_name : name + method;
}
