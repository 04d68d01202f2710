#include "tui/model/thread_pools.h"

#include "core/base/hash.h"
#include "core/base/id_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX

/* Threads with the same folded name: two or more are a pool. Or threads of the VM of one kind: even
 * a single one is a pool, so that the row always means the same. */
struct group {
    uint64_t item;
    size_t name;
    uint32_t threads, pool;
    bool of_vm;
};

struct groups {
    struct group *group;
    uint32_t count;
    struct id_map known; /* group by item */
    uint32_t *of;        /* group by thread; NO_GROUP: the thread is a row of its own */
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

bool thread_pools_takes(const char *pool, const char *thread) {
    enum thread_kind kind = thread_kind(thread);
    char folded[MODEL_NAME_SIZE];
    if (kind != THREAD_APPLICATION)
        return !strcmp(pool, thread_kind_title[kind]);
    return !strcmp(pool, thread_pools_fold_name(thread, folded, sizeof folded));
}

/* Returns the identity of a folded name. The hash has a seed that the JVM cannot know, so the JVM
 * cannot choose two names with one identity. No thread's key has both high bits set, see
 * model_thread_key. */
static uint64_t item_of(const struct thread_pools *p, const char *folded) {
    return hash_bytes((uintptr_t)p, folded, strlen(folded)) | UINT64_C(3) << 62;
}

/* Writes the name of the pool to which a thread can belong, and returns its identity. 0: none. In a
 * profile of one thread, that thread is the row, of the VM or not. */
static uint64_t pool_of(const struct thread_pools *p, const struct model *m,
                        const struct model_thread *t, char pool[MODEL_NAME_SIZE]) {
    char name[MODEL_NAME_SIZE];
    enum thread_kind kind = model_thread_kind(t);
    if (kind != THREAD_APPLICATION) {
        snprintf(pool, MODEL_NAME_SIZE, "%s", thread_kind_title[kind]);
        return model_zoomed(&m->asked) ? 0 : UINT64_C(3) << 62 | kind;
    }
    if (!p->on)
        return 0;
    model_thread_name(t, name, sizeof name);
    return item_of(p, thread_pools_fold_name(name, pool, MODEL_NAME_SIZE));
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
                      bool of_vm, uint32_t *out) {
    if (id_map_get(&g->known, item, out))
        return 0;
    g->group[g->count] =
        (struct group){.item = item, .name = names->len, .pool = THREAD_NO_POOL, .of_vm = of_vm};
    text_add_n(names, name, strlen(name) + 1);
    *out = g->count++;
    return names->failed ? -ENOMEM : id_map_put(&g->known, item, *out);
}

static int group_threads(struct thread_pools *p, const struct model *m, struct groups *g) {
    char name[MODEL_NAME_SIZE];
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        uint64_t item = pool_of(p, m, t, name);
        g->of[i] = NO_GROUP;
        if (!item)
            continue;
        bool of_vm = model_thread_kind(t) != THREAD_APPLICATION;
        int err = find_group(g, &p->names, name, item, of_vm, &g->of[i]);
        if (err)
            return err;
        g->group[g->of[i]].threads++;
    }
    for (uint32_t i = 0; i < g->count; i++)
        if (g->group[i].threads > 1 || g->group[i].of_vm)
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
    pool->in_java[t->java_state]++;
    bool most = *threads > pool->in_state[pool->state & 127];
    if (t->state == 'R' || (pool->state != 'R' && (most || pool->sum.threads == 1)))
        pool->state = t->state;
}

static void add_rows(struct thread_pools *p, const struct model *m, const struct groups *g) {
    for (uint32_t i = 0; i < m->thread_count; i++) {
        static const struct group none = {.pool = THREAD_NO_POOL};
        const struct group *group = g->of[i] == NO_GROUP ? &none : &g->group[g->of[i]];
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

static int make_rows(struct thread_pools *p, const struct model *m, const struct groups *g) {
    p->row = calloc(m->thread_count + (size_t)p->pools, sizeof *p->row);
    p->pool = calloc(p->pools + (size_t)1, sizeof *p->pool);
    if (!p->row || !p->pool)
        return -ENOMEM;
    add_rows(p, m, g);
    return 0;
}

int thread_pools_update(struct thread_pools *p, const struct model *m) {
    struct groups g = {0};
    int err = 0;
    forget(p);
    if (m->thread_count) {
        err = groups_new(&g, m->thread_count);
        if (!err)
            err = group_threads(p, m, &g);
        if (!err && p->pools)
            err = make_rows(p, m, &g);
        if (err)
            forget(p);
        groups_free(&g);
    }
    if (!p->row)
        p->count = m->thread_count;
    return err;
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
    char name[MODEL_NAME_SIZE];
    uint64_t item = pool_of(p, m, &m->threads[thread], name);
    for (uint32_t i = 0; i < p->pools; i++)
        if (p->pool[i].item == item)
            return i;
    return THREAD_NO_POOL;
}
