#include "core/http/serve/api/api_tree.h"

#include "core/export/frame_change.h"
#include "core/export/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_total(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x > y ? -1 : x < y;
}

/* Which nodes are shown: those with a total above `least`, and the first `ties` of those equal to
 * it. A node's total is never above its parent's, which comes first, so the shown nodes form a
 * tree. */
struct cut {
    bool on;
    uint64_t least;
    uint32_t ties;
};

static int find_cut(const struct snapshot *s, uint32_t most, struct cut *out) {
    *out = (struct cut){.on = s->node_count > most};
    if (!out->on)
        return 0;
    uint64_t *total = malloc((size_t)s->node_count * sizeof *total);
    if (!total)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->node_count; i++)
        total[i] = s->nodes[i].total;
    qsort(total, s->node_count, sizeof *total, by_total);
    out->least = total[most];
    while (out->ties < most && total[most - 1 - out->ties] == out->least)
        out->ties++;
    free(total);
    return 0;
}

/* Must be called in preorder, for nodes whose parent is shown. */
static bool is_shown(struct cut *cut, const struct snapshot_node *n) {
    if (!cut->on || n->total > cut->least)
        return true;
    if (n->total < cut->least || cut->ties == 0)
        return false;
    cut->ties--;
    return true;
}

struct placed {
    struct api_name **name; /* in the order of their places */
    uint32_t count;
};

static void place_name(struct json *j, struct placed *shown, struct api_names *names,
                       uint32_t method) {
    struct api_name *n = api_names_find(names, method);
    if (!n || n->place != UINT32_MAX)
        return;
    n->place = shown->count;
    shown->name[shown->count++] = n;
    json_string(j, NULL, n->text);
}

/* Writes names and kinds, and gives the names their places, in the order of the nodes. */
static void place_names(struct json *j, const struct snapshot *s, struct api_names *names,
                        struct placed *shown, struct cut cut) {
    json_begin(j, "names", '[');
    for (uint32_t i = 0; i < s->node_count;) {
        if (!is_shown(&cut, &s->nodes[i])) {
            i = s->nodes[i].next;
            continue;
        }
        place_name(j, shown, names, s->nodes[i].method);
        if (s->via)
            place_name(j, shown, names, s->via[i]);
        i++;
    }
    json_end(j, ']');
    json_begin(j, "kinds", '[');
    for (uint32_t i = 0; i < shown->count; i++)
        json_string(j, NULL, api_names_kind(shown->name[i]->is.kind));
    json_end(j, ']');
}

static void add(struct text *out, char before, uint64_t n) {
    text_add_n(out, &before, 1);
    json_text_number(out, n);
}

/* Before and now are shares of all samples of their time. */
static void write_change(struct json *j, const struct snapshot *s, const struct snapshot_node *n,
                         const struct diff *diff) {
    const struct diff_change c = diff_node(diff, (uint32_t)(n - s->nodes));
    const double now = s->weight ? 100 * (double)n->total / (double)s->weight : 0;
    json_real(j, NULL, now > c.percent ? now - c.percent : 0);
    json_real(j, NULL, c.percent);
    add(j->out, ',', (c.chance ? API_TREE_CHANCE : 0u) | (c.is_new ? API_TREE_NEW : 0u));
    add(j->out, ',', frame_change_shade(c));
}

static void write_via(struct json *j, const struct snapshot *s, const struct snapshot_node *n,
                      const struct api_names *names) {
    const struct api_name *via = api_names_find(names, s->via[n - s->nodes]);
    if (via)
        add(j->out, ',', via->place);
    else
        text_add_n(j->out, ",null", 5);
}

static void write_node(struct json *j, const struct snapshot *s, const struct snapshot_node *n,
                       const struct diff *diff, const struct api_names *names, uint32_t place) {
    if (j->more)
        text_add_n(j->out, ",", 1);
    j->more = true;
    add(j->out, '[', place);
    add(j->out, ',', n->depth);
    add(j->out, ',', n->total);
    add(j->out, ',', n->self);
    add(j->out, ',', n->total_samples);
    add(j->out, ',', snapshot_main_tier(n->tier));
    if (diff)
        write_change(j, s, n, diff);
    if (s->via)
        write_via(j, s, n, names);
    text_add_n(j->out, "]", 1);
}

static void write_nodes(struct json *j, const struct snapshot *s, const struct diff *diff,
                        const struct api_names *names, struct cut cut) {
    json_begin(j, "nodes", '[');
    for (uint32_t i = 0; i < s->node_count;) {
        const struct api_name *n = NULL;
        if (is_shown(&cut, &s->nodes[i]))
            n = api_names_find(names, s->nodes[i].method);
        if (n)
            write_node(j, s, &s->nodes[i], diff, names, n->place);
        i = n ? i + 1 : s->nodes[i].next;
    }
    json_end(j, ']');
}

int api_tree_write(struct json *j, const struct snapshot *s, const struct diff *diff,
                   struct api_names *names, uint32_t nodes) {
    struct cut cut;
    struct placed shown = {.name = malloc(((size_t)names->count + 1) * sizeof(void *))};
    if (!shown.name || find_cut(s, nodes, &cut) < 0) {
        free(shown.name);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < names->count; i++)
        names->name[i].place = UINT32_MAX;
    json_begin(j, "tree", '{');
    place_names(j, s, names, &shown, cut);
    write_nodes(j, s, diff, names, cut);
    json_bool(j, "cut", cut.on || s->least > 0);
    json_end(j, '}');
    free(shown.name);
    return 0;
}
