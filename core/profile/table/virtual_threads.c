#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_id(struct thread_table *t, uint64_t java_id) {
    return (uint32_t)hash_pair(index_seed(&t->virtual_index), java_id, 1);
}

static int place_others(struct thread_table *t) {
    uint32_t others;
    if (t->others_virtual)
        return 0;
    if (thread_table_open(t) != 0 || thread_table_place(t, 0, "", &others) != 0)
        return -ENOMEM;
    t->thread[others].is_virtual = true;
    t->others_virtual = others;
    return 0;
}

static int begin(struct thread_table *t, uint64_t java_id, uint32_t *thread) {
    if (place_others(t) != 0)
        return -ENOMEM;
    *thread = t->others_virtual;
    if (t->virtuals >= t->max_virtual)
        return 0;
    if (index_reserve(&t->virtual_index) != 0 || thread_table_place(t, 0, "", thread) != 0)
        return -ENOMEM;
    t->thread[*thread].is_virtual = true;
    t->thread[*thread].java_id = java_id;
    index_put(&t->virtual_index, hash_id(t, java_id), *thread);
    t->virtuals++;
    return 0;
}

int virtual_threads_find(struct thread_table *t, uint64_t java_id, uint32_t *thread) {
    uint32_t hash = hash_id(t, java_id), pos = hash;
    while ((*thread = index_next(&t->virtual_index, hash, &pos)) != INDEX_NONE)
        if (t->thread[*thread].java_id == java_id)
            return 0;
    return begin(t, java_id, thread);
}

int virtual_threads_name(struct thread_table *t, uint64_t java_id, const char *name, uint64_t now) {
    uint32_t thread;
    int rc = virtual_threads_find(t, java_id, &thread);
    if (rc != 0 || thread == t->others_virtual)
        return rc;
    struct thread *n = &t->thread[thread];
    if (!n->sampled || n->last_second < now)
        n->last_second = now;
    if (strcmp(n->virtual_name ? n->virtual_name : "", name) == 0)
        return 0;
    char *kept = *name ? strdup(name) : NULL;
    if (*name && !kept)
        return -ENOMEM;
    free(n->virtual_name);
    n->virtual_name = kept;
    return 0;
}

const char *virtual_threads_shown(const char *name, uint64_t java_id,
                                  char room[VIRTUAL_NAME_SIZE]) {
    if (name)
        return name;
    if (java_id == 0)
        return "[other virtual threads]";
    snprintf(room, VIRTUAL_NAME_SIZE, "VirtualThread[#%" PRIu64 "]", java_id);
    return room;
}

bool virtual_threads_crowded(const struct thread_table *t) {
    return t->virtuals >= t->max_virtual;
}

struct candidate {
    uint64_t last_second;
    bool sampled; /* otherwise only its name is known */
    uint32_t thread;
};

static int by_age(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->last_second != y->last_second)
        return x->last_second < y->last_second ? -1 : 1;
    if (x->sampled != y->sampled)
        return x->sampled ? 1 : -1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

uint32_t virtual_threads_mark(struct thread_table *t, uint32_t count, uint64_t since) {
    struct candidate *c = malloc(((size_t)t->virtuals + 1) * sizeof *c);
    uint32_t n = 0;
    for (uint32_t i = 0; c && i < t->count; i++) {
        const struct thread *v = &t->thread[i];
        if (v->is_virtual && i != t->others_virtual && v->last_second < since)
            c[n++] = (struct candidate){v->last_second, v->sampled, i};
    }
    if (n > count) {
        qsort(c, n, sizeof *c, by_age);
        n = count;
    }
    for (uint32_t i = 0; i < n; i++)
        t->thread[c[i].thread].free = true;
    free(c);
    return n;
}

void virtual_threads_forget(struct thread_table *t) {
    t->virtuals = 0;
    index_clear(&t->virtual_index);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct thread *n = &t->thread[i];
        if (!n->is_virtual || n->free || i == t->others_virtual)
            continue;
        index_put(&t->virtual_index, hash_id(t, n->java_id), i);
        t->virtuals++;
    }
}
