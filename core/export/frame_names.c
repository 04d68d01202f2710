#include "core/export/frame_names.h"

#include "core/profile/table/frame_name.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct name_entry {
    struct frame_printed printed; /* its text points to `bytes` */
    UT_hash_handle hh;
    char bytes[];
};

struct frame_names {
    const struct method_table *methods;
    unsigned style;
    bool annotate;
    void (*escape)(struct text *, const char *);
    struct name_entry *by_text;
    struct name_entry **by_id;
    uint32_t count, cap;
    uint32_t known;          /* number of methods in the table, plus one row for unknown ids */
    struct name_entry **got; /* [known][annotate ? TIERS : 1]; NULL: not requested yet */
    struct text scratch, escaped;
};

struct frame_names *frame_names_new(const struct method_table *methods, unsigned style,
                                    bool annotate, void (*escape)(struct text *, const char *)) {
    struct frame_names *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->methods = methods;
    n->style = style;
    n->annotate = annotate;
    n->escape = escape;
    n->known = method_table_count(methods) + 1;
    n->got = calloc((size_t)n->known * (annotate ? TIERS : 1), sizeof(void *));
    if (!n->got) {
        frame_names_free(n);
        return NULL;
    }
    return n;
}

void frame_names_free(struct frame_names *n) {
    if (!n)
        return;
    HASH_CLEAR(hh, n->by_text);
    for (uint32_t i = 0; i < n->count; i++)
        free(n->by_id[i]);
    free(n->by_id);
    free(n->got);
    text_free(&n->scratch);
    text_free(&n->escaped);
    free(n);
}

/* Returns the name as it will be printed, in n->scratch or n->escaped. NULL: no memory. */
static const struct text *print_name(struct frame_names *n, uint32_t method, enum frame_tier tier) {
    static const char *const suffix[TIERS] = {"", "_[0]", "_[1]", "_[j]", "_[i]"};
    const struct method *m = method_table_get(n->methods, method);
    unsigned style = n->style;
    if (m->kind == METHOD_CLASS && style & NAME_DOTTED)
        style &= ~(unsigned)NAME_MARKS; /* in plain text a class has no mark */
    char small[512];
    size_t len = frame_name(m, style, small, sizeof(small));

    text_clear(&n->scratch);
    if (len < sizeof(small)) {
        text_add_n(&n->scratch, small, len);
    } else {
        char *big = malloc(len + 1);
        if (!big)
            return NULL;
        frame_name(m, style, big, len + 1);
        text_add_n(&n->scratch, big, len);
        free(big);
    }
    if (n->annotate && m->kind == METHOD_JAVA)
        text_add(&n->scratch, suffix[tier]);
    if (!n->escape || n->scratch.failed)
        return n->scratch.failed ? NULL : &n->scratch;
    text_clear(&n->escaped);
    text_add(&n->escaped, ""); /* makes sure that there is data even if `escape` adds nothing */
    n->escape(&n->escaped, n->scratch.data);
    return n->escaped.failed ? NULL : &n->escaped;
}

static struct name_entry *intern(struct frame_names *n, const char *text, size_t len) {
    struct name_entry *e = NULL;
    HASH_FIND(hh, n->by_text, text, len, e);
    if (e)
        return e;
    if (n->count == n->cap) {
        uint32_t cap = n->cap ? n->cap * 2 : 256;
        struct name_entry **by_id = realloc(n->by_id, cap * sizeof(void *));
        if (!by_id)
            return NULL;
        n->by_id = by_id;
        n->cap = cap;
    }
    e = calloc(1, sizeof(*e) + len + 1);
    if (!e)
        return NULL;
    memcpy(e->bytes, text, len);
    e->printed = (struct frame_printed){.id = n->count, .len = (uint32_t)len, .text = e->bytes};
    HASH_ADD_KEYPTR(hh, n->by_text, e->bytes, len, e);
    if (!e->hh.tbl) { /* the state that uthash leaves when it had no memory */
        free(e);
        return NULL;
    }
    n->by_id[n->count++] = e;
    return e;
}

const struct frame_printed *frame_names_get(struct frame_names *n, uint32_t method,
                                            const uint64_t tier[TIERS]) {
    uint32_t row = method < n->known - 1 ? method : n->known - 1;
    enum frame_tier main_tier = n->annotate ? snapshot_main_tier(tier) : TIER_NONE;
    size_t slot = n->annotate ? (size_t)row * TIERS + main_tier : row;
    if (!n->got[slot]) {
        const struct text *t = print_name(n, method, main_tier);
        n->got[slot] = t ? intern(n, t->data, t->len) : NULL;
    }
    return n->got[slot] ? &n->got[slot]->printed : NULL;
}

const struct frame_printed *frame_names_by_id(const struct frame_names *n, uint32_t id) {
    return &n->by_id[id]->printed;
}

uint32_t frame_names_count(const struct frame_names *n) {
    return n->count;
}

const struct method *frame_names_method(const struct frame_names *n, uint32_t method) {
    return method_table_get(n->methods, method);
}
