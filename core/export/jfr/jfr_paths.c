#include "core/export/jfr/jfr_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct jfr_path path_of(uint32_t size) {
    return (struct jfr_path){size >> JFR_PATH_BITS, size & ((1u << JFR_PATH_BITS) - 1)};
}

/* Makes room for all nodes if this one has none; `nodes`: how many the tree has. */
static bool reserve(struct jfr_paths *s, uint32_t node, uint32_t nodes) {
    if (node < s->nodes || node >= nodes)
        return true;
    uint32_t *size = realloc(s->size, nodes * sizeof *size);
    if (!size)
        return false;
    memset(size + s->nodes, 0, (nodes - s->nodes) * sizeof *size);
    s->size = size;
    s->nodes = nodes;
    return true;
}

int jfr_path_measure(struct jfr_paths *s, const struct call_tree *t, uint32_t node,
                     int (*learn)(void *arg, uint32_t method), void *arg, struct jfr_path *out) {
    uint32_t new = 0, at = node;
    if (!reserve(s, node, t->nodes))
        return -ENOMEM;
    if (node < s->nodes && !s->size[node])
        s->frames = 0; /* s->node has the new nodes meanwhile */
    for (; at < s->nodes && !s->size[at]; at = t->node[at].parent) {
        if (new == PROFILE_STACK_MAX)
            return -E2BIG;
        s->node[new ++] = at;
    }
    uint32_t size = at < s->nodes ? s->size[at] : 0;
    if (path_of(size).frames + new > PROFILE_STACK_MAX)
        return -E2BIG;
    while (new > 0) {
        const struct call_node *n = &t->node[s->node[--new]];
        int rc = learn(arg, n->method);
        if (rc != 0)
            return rc;
        size += (1u << JFR_PATH_BITS) + (uint32_t)jfr_frame_size(n->method, n->line);
        s->size[s->node[new]] = size;
    }
    *out = path_of(size);
    return 0;
}

const char *jfr_path_put(struct jfr_paths *s, const struct call_tree *t, uint32_t node,
                         const uint8_t *kind, uint8_t (*type)[TIERS]) {
    char *end = s->bytes + sizeof s->bytes;
    uint32_t last = s->frames;
    if (node >= s->nodes || !s->size[node])
        return end;
    s->frames = path_of(s->size[node]).frames;
    for (uint32_t at = node; at < s->nodes; at = t->node[at].parent) {
        const struct call_node *n = &t->node[at];
        struct jfr_path path = path_of(s->size[at]);
        if (path.frames <= last && s->node[path.frames] == at)
            break; /* the last path had the same frames from here on */
        s->node[path.frames] = at;
        jfr_put_frame(end - path.bytes, n->method, n->line,
                      (char)type[kind[n->method]][n->tier < TIERS ? n->tier : TIER_NONE]);
    }
    return end - path_of(s->size[node]).bytes;
}

void jfr_paths_free(struct jfr_paths *s) {
    free(s->size);
    s->size = NULL;
    s->nodes = s->frames = 0;
}
