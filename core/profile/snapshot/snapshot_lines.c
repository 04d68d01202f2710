#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

/*
 * A sample counts once for a line, however often the line is on its stack, and stacks may be deep
 * and fully recursive. So the method's nodes are walked as a tree of their own, with a counter per
 * line for the frames above. Here a node is represented by the index of its touch.
 */
struct line_walk {
    const struct call_node *node;
    uint32_t method;
    uint32_t *near; /* by node of the call tree: 1 + the touch of the method's nearest node towards
                       the root, NOWHERE if there is none; 0: not known yet */
    uint32_t *up, *first, *next; /* parent, child and sibling */
    uint32_t roots;
    uint32_t lines; /* the greatest line number + 1 */
    uint32_t *above;
    struct snapshot_line *line;
};

/* Passes every node only once, because the result is stored for all nodes on the way. */
static uint32_t find_nearest(struct line_walk *w, uint32_t node) {
    uint32_t at = node, found = NOWHERE;
    while (at != CALL_ROOT && !w->near[at])
        at = w->node[at].parent;
    if (at != CALL_ROOT)
        found = w->near[at];
    for (uint32_t n = node; n != at; n = w->node[n].parent)
        w->near[n] = found;
    return found == NOWHERE ? NOWHERE : found - 1;
}

static void link_touches(const struct build *b, struct line_walk *w) {
    for (uint32_t i = 0; i < b->touches; i++) {
        const struct call_node *n = &w->node[b->touch[i].node];
        if (n->method != w->method)
            continue;
        w->up[i] = find_nearest(w, n->parent);
        w->near[b->touch[i].node] = i + 1;
    }
    w->roots = NOWHERE;
    for (uint32_t i = b->touches; i-- > 0;) {
        if (w->node[b->touch[i].node].method != w->method)
            continue;
        uint32_t *list = w->up[i] == NOWHERE ? &w->roots : &w->first[w->up[i]];
        w->next[i] = *list;
        *list = i;
    }
}

/* Counts the nodes that are the outermost of their line on a stack. */
static void walk(const struct build *b, struct line_walk *w) {
    uint32_t i = w->roots;
    while (i != NOWHERE) {
        uint32_t line = w->node[b->touch[i].node].line;
        if (w->above[line]++ == 0) {
            w->line[line].total += b->touch[i].weight;
            w->line[line].total_samples += b->touch[i].count;
        }
        if (w->first[i] != NOWHERE) {
            i = w->first[i];
            continue;
        }
        for (;;) { /* go back up to a node with a sibling */
            w->above[w->node[b->touch[i].node].line]--;
            if (w->next[i] != NOWHERE || w->up[i] == NOWHERE)
                break;
            i = w->up[i];
        }
        i = w->next[i];
    }
}

static void count_selves(const struct build *b, struct line_walk *w) {
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
    for (uint32_t i = 0; i < w->lines; i++) {
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

/* Every frame of the method has a touch, also that of a leaf. */
static uint32_t count_lines(const struct build *b) {
    uint32_t lines = 1;
    for (uint32_t i = 0; i < b->touches; i++) {
        const struct call_node *n = &b->p->tree.node[b->touch[i].node];
        if (n->method == b->q->lines_of && n->line >= lines)
            lines = n->line + 1u;
    }
    return lines;
}

int build_lines(struct build *b) {
    size_t touches = (size_t)b->touches + 1;
    struct line_walk w = {
        .node = b->p->tree.node, .method = b->q->lines_of, .lines = count_lines(b)};
    uint32_t *links = malloc(3 * touches * sizeof *links);
    w.near = calloc((size_t)b->p->tree.nodes + 1, sizeof *w.near);
    w.above = calloc(w.lines, sizeof *w.above);
    w.line = calloc(w.lines, sizeof *w.line);
    int rc = links && w.near && w.above && w.line ? 0 : -ENOMEM;
    if (rc == 0) {
        memset(links, 0xff, 3 * touches * sizeof *links); /* NOWHERE */
        w.up = links;
        w.first = links + touches;
        w.next = w.first + touches;
        link_touches(b, &w);
        walk(b, &w);
        count_selves(b, &w);
        rc = write_lines(b, &w);
    }
    free(links);
    free(w.near);
    free(w.above);
    free(w.line);
    return rc;
}
