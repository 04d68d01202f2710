#include "core/profile/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = UINT16_MAX + 1 };

/*
 * A sample counts once for a line however often the line is on its stack, and stacks may be deep
 * and all recursion. So the nodes are walked as a tree, with a count of how often each line is
 * among the frames above.
 */
struct line_walk {
    const struct call_node *node;
    uint32_t method;
    uint32_t *first, *next; /* by node: child and sibling, of those that were touched */
    uint32_t roots;
    uint32_t above[LINES];
    struct snapshot_line line[LINES];
};

static void link_touches(const struct build *b, struct line_walk *w) {
    w->roots = CALL_ROOT;
    for (uint32_t i = b->touches; i-- > 0;) {
        uint32_t n = b->touch[i].node, parent = w->node[n].parent;
        uint32_t *list = parent == CALL_ROOT ? &w->roots : &w->first[parent];
        w->next[n] = *list;
        *list = n;
    }
}

/* Marks the nodes that are the outermost of their line on a stack. */
static void walk(struct line_walk *w, uint8_t *outermost) {
    uint32_t n = w->roots;
    while (n != CALL_ROOT) {
        const struct call_node *at = &w->node[n];
        if (at->method == w->method)
            outermost[n] = w->above[at->line]++ == 0;
        if (w->first[n] != CALL_ROOT) {
            n = w->first[n];
            continue;
        }
        for (;;) { /* back up to where there is a sibling */
            if (w->node[n].method == w->method)
                w->above[w->node[n].line]--;
            if (w->next[n] != CALL_ROOT || w->node[n].parent == CALL_ROOT)
                break;
            n = w->node[n].parent;
        }
        n = w->next[n];
    }
}

static void count_lines(const struct build *b, struct line_walk *w, const uint8_t *outermost) {
    for (uint32_t i = 0; i < b->touches; i++) {
        const struct touch *t = &b->touch[i];
        if (!outermost[t->node])
            continue;
        w->line[w->node[t->node].line].total += t->weight;
        w->line[w->node[t->node].line].total_samples += t->count;
    }
    for (uint32_t i = 0; i < b->items; i++) {
        const struct item *it = &b->item[i];
        if (w->node[it->node].method != w->method)
            continue;
        w->line[w->node[it->node].line].self += it->weight;
        w->line[w->node[it->node].line].self_samples += it->count;
    }
}

static int write_lines(struct build *b, struct line_walk *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        if (!(w->line[i].total | w->line[i].total_samples))
            continue;
        w->line[n] = w->line[i];
        w->line[n++].line = i;
    }
    b->s->lines = malloc(((size_t)n + 1) * sizeof *b->s->lines);
    if (!b->s->lines)
        return -ENOMEM;
    memcpy(b->s->lines, w->line, n * sizeof *b->s->lines);
    b->s->line_count = n;
    return 0;
}

int build_lines(struct build *b) {
    size_t nodes = (size_t)b->p->tree.nodes + 1;
    struct line_walk *w = calloc(1, sizeof *w);
    uint32_t *links = malloc(2 * nodes * sizeof *links);
    uint8_t *outermost = calloc(nodes, 1);
    int rc = w && links && outermost ? 0 : -ENOMEM;
    if (rc == 0) {
        memset(links, 0xff, 2 * nodes * sizeof *links); /* CALL_ROOT: none */
        w->node = b->p->tree.node;
        w->method = b->q->lines_of;
        w->first = links;
        w->next = links + nodes;
        link_touches(b, w);
        walk(w, outermost);
        count_lines(b, w, outermost);
        rc = write_lines(b, w);
    }
    free(w);
    free(links);
    free(outermost);
    return rc;
}
