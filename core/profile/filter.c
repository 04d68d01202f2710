#include "core/profile/filter.h"

#include "core/profile/frame_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0, MATCH, NO_MATCH };

struct filter {
    char *text; /* lower case */
    char *name; /* scratch */
    size_t size;
};

/* ASCII only, whatever the locale: a filter must not mean different things on two machines. */
static void lower(char *s) {
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}

static int match_method(struct filter *f, const struct method *m, uint8_t *verdict) {
    size_t size = frame_name(m, NAME_DOTTED, f->name, f->size) + 1;
    if (size > f->size) {
        char *bigger = realloc(f->name, size);
        if (!bigger)
            return -ENOMEM;
        f->name = bigger;
        f->size = size;
        frame_name(m, NAME_DOTTED, f->name, f->size);
    }
    lower(f->name);
    *verdict = strstr(f->name, f->text) ? MATCH : NO_MATCH;
    return 0;
}

/* From the roots down: a stack matches where its leaf does or the stack above it did. */
static int match_nodes(const struct profile *p, struct filter *f, uint8_t *verdict,
                       uint8_t *match) {
    for (uint32_t i = 0; i < p->tree.nodes; i++) {
        const struct call_node *n = &p->tree.node[i];
        if (n->parent != CALL_ROOT && match[n->parent]) {
            match[i] = 1;
            continue;
        }
        if (verdict[n->method] == UNKNOWN) {
            int rc = match_method(f, method_table_get(p->methods, n->method), &verdict[n->method]);
            if (rc != 0)
                return rc;
        }
        match[i] = verdict[n->method] == MATCH;
    }
    return 0;
}

int filter_nodes(const struct profile *p, const char *filter, uint8_t **drop) {
    bool keep_matches = !filter || filter[0] != '!';
    *drop = NULL;
    if (filter && !keep_matches)
        filter++;
    if (!filter || !*filter)
        return 0;
    struct filter f = {.text = strdup(filter), .name = malloc(256), .size = 256};
    uint8_t *verdict = calloc((size_t)method_table_count(p->methods) + 1, 1);
    uint8_t *match = calloc((size_t)p->tree.nodes + 1, 1);
    int rc = f.text && f.name && verdict && match ? 0 : -ENOMEM;
    if (rc == 0) {
        lower(f.text);
        rc = match_nodes(p, &f, verdict, match);
    }
    for (uint32_t i = 0; rc == 0 && keep_matches && i < p->tree.nodes; i++)
        match[i] = !match[i];
    if (rc == 0) {
        *drop = match;
        match = NULL;
    }
    free(match);
    free(verdict);
    free(f.name);
    free(f.text);
    return rc;
}
