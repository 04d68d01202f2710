#include "tui/model/thread_pools.h"

#include "core/base/hash.h"
#include "core/base/id_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads with the same folded name. Two or more are a pool. */
struct group {
    uint64_t item;
    size_t name;
    uint32_t threads, pool;
};

struct groups {
    struct group *group;
    uint32_t count;
    struct id_map known; /* group by item */
    uint32_t *of;        /* group by thread */
};

/* In "C1 " and "G1 " at the beginning of a longer name, the digit belongs to the word. */
static bool is_word(const char *start, const char *digits, size_t length) {
    return digits == start + 1 && length == 1 && digits[length] == ' ';
}

const char *thread_pools_fold_name(const char *name, char *out, size_t size) {
    size_t n = 0;
    const char *start = name;
    while (*name && n + 1 < size) {
        const char *digits = name + (*name == '#');
        size_t length = strspn(digits, "0123456789");
        if (is_word(start, digits, length))
            length = 0;
        out[n++] = length ? '#' : *name;
        name = length ? digits + length : name + 1;
    }
    if (size)
        out[n] = '\0';
    return out;
}

/* Returns the identity of a folded name. The hash has a seed that the JVM cannot know, so the JVM
 * cannot choose two names with one identity. No thread's key has both high bits set, see
 * model_thread_key. */
static uint64_t item_of(const struct thread_pools *p, const char *folded) {
    return hash_bytes((uintptr_t)p, folded, strlen(folded)) | UINT64_C(3) << 62;
}

static void groups_free(struct groups *g) {
    free(g->group);
    free(g->of);
    id_map_free(&g->known);
}

static int groups_new(struct groups *g, uint32_t threads) {
    *g = (struct groups){.group = calloc(threads + (size_t)1, sizeof *g->group),
                         .of = calloc(threads + (size_t)1, sizeof *g->of)};
    id_map_init(&g->known, threads);
    return g->group && g->of ? 0 : -ENOMEM;
}

static int find_group(struct groups *g, struct text *names, const char *name, uint64_t item,
                      uint32_t *out) {
    if (id_map_get(&g->known, item, out))
        return 0;
    g->group[g->count] = (struct group){.item = item, .name = names->len, .pool = THREAD_NO_POOL};
    text_add_n(names, name, strlen(name) + 1);
    *out = g->count++;
    return names->failed ? -ENOMEM : id_map_put(&g->known, item, *out);
}

static int group_threads(struct thread_pools *p, const struct model *m, struct groups *g) {
    char name[MODEL_NAME_SIZE], folded[MODEL_NAME_SIZE];
    for (uint32_t i = 0; i < m->thread_count; i++) {
        model_thread_name(&m->threads[i], name, sizeof name);
        thread_pools_fold_name(name, folded, sizeof folded);
        int err = find_group(g, &p->names, folded, item_of(p, folded), &g->of[i]);
        if (err)
            return err;
        g->group[g->of[i]].threads++;
    }
    for (uint32_t i = 0; i < g->count; i++)
        if (g->group[i].threads > 1)
            g->group[i].pool = p->pools++;
    return 0;
}

static bool is_open(const struct thread_pools *p, uint64_t item) {
    for (int i = 0; i < p->opens; i++)
        if (p->open[i] == item)
            return true;
    return false;
}

static void start_pool(struct thread_pools *p, const struct group *group, uint32_t thread) {
    struct thread_pool *pool = &p->pool[group->pool];
    pool->item = group->item;
    pool->name = group->name;
    pool->heaviest = thread; /* threads are sorted by weight */
    pool->row = p->count;
    pool->open = is_open(p, pool->item);
    p->row[p->count++] =
        (struct thread_row){.thread = thread, .pool = group->pool, .is_pool = true};
}

static void add_thread(struct thread_pool *pool, const struct model *m,
                       const struct model_thread *t) {
    thread_figures_add(&pool->sum, m, t);
    uint32_t *threads = &pool->in_state[t->state & 127];
    ++*threads;
    bool most = *threads > pool->in_state[pool->state & 127];
    if (t->state == 'R' || (pool->state != 'R' && (most || pool->sum.threads == 1)))
        pool->state = t->state;
}

static void add_rows(struct thread_pools *p, const struct model *m, const struct groups *g) {
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct group *group = &g->group[g->of[i]];
        if (group->pool != THREAD_NO_POOL) {
            if (!p->pool[group->pool].sum.threads)
                start_pool(p, group, i);
            add_thread(&p->pool[group->pool], m, &m->threads[i]);
        }
        if (group->pool == THREAD_NO_POOL || p->pool[group->pool].open)
            p->row[p->count++] = (struct thread_row){.thread = i, .pool = group->pool};
    }
}

static void forget(struct thread_pools *p) {
    free(p->row);
    free(p->pool);
    p->row = NULL;
    p->pool = NULL;
    p->count = p->pools = 0;
    text_free(&p->names);
}

int thread_pools_update(struct thread_pools *p, const struct model *m) {
    struct groups g = {0};
    forget(p);
    if (p->on && m->thread_count) {
        int err = groups_new(&g, m->thread_count);
        if (!err)
            err = group_threads(p, m, &g);
        p->row = err ? NULL : calloc(m->thread_count + (size_t)p->pools, sizeof *p->row);
        p->pool = err ? NULL : calloc(p->pools + (size_t)1, sizeof *p->pool);
        if (p->row && p->pool)
            add_rows(p, m, &g);
        else
            forget(p);
        groups_free(&g);
    }
    if (!p->row)
        p->count = m->thread_count;
    return p->on && !p->row && m->thread_count ? -ENOMEM : 0;
}

void thread_pools_free(struct thread_pools *p) {
    forget(p);
}

struct thread_row thread_pools_row(const struct thread_pools *p, uint32_t row) {
    return p->row ? p->row[row] : (struct thread_row){.thread = row, .pool = THREAD_NO_POOL};
}

const char *thread_pools_name(const struct thread_pools *p, uint32_t pool) {
    return p->names.data + p->pool[pool].name;
}

void thread_pools_fold(struct thread_pools *p, uint64_t item) {
    for (int i = 0; i < p->opens; i++) {
        if (p->open[i] == item) {
            memmove(&p->open[i], &p->open[i + 1], (size_t)(p->opens - i - 1) * sizeof *p->open);
            p->opens--;
            return;
        }
    }
    if (p->opens == THREAD_POOLS_OPEN) {
        memmove(p->open, p->open + 1, sizeof p->open - sizeof *p->open);
        p->opens--;
    }
    p->open[p->opens++] = item;
}

uint32_t thread_pools_find(const struct thread_pools *p, const struct model *m, uint32_t thread) {
    char name[MODEL_NAME_SIZE], folded[MODEL_NAME_SIZE];
    model_thread_name(&m->threads[thread], name, sizeof name);
    thread_pools_fold_name(name, folded, sizeof folded);
    uint64_t item = item_of(p, folded);
    for (uint32_t i = 0; i < p->pools; i++)
        if (p->pool[i].item == item)
            return i;
    return THREAD_NO_POOL;
}
