#include "core/profile/snapshot/snapshot_build.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *name_platform_root(const struct thread *t) {
    size_t size = strlen(t->name) + sizeof "[ tid=4294967295]";
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "[%s%stid=%u]", t->name, *t->name ? " " : "", t->tid);
    return name;
}

static char *name_virtual_root(const struct thread *t) {
    char room[VIRTUAL_NAME_SIZE];
    const char *shown = virtual_threads_shown(t->virtual_name, t->java_id, room);
    size_t size = strlen(shown) + sizeof "[ virtual=18446744073709551615]";
    char *name = malloc(size);
    if (name && t->java_id == 0)
        snprintf(name, size, "%s", shown);
    else if (name)
        snprintf(name, size, "[%s virtual=%" PRIu64 "]", shown, t->java_id);
    return name;
}

uint32_t branch_of_thread(struct build *b, const struct group *g) {
    const struct thread *t = &b->p->threads.thread[g->thread];
    char *name = t->is_virtual ? name_virtual_root(t) : name_platform_root(t);
    if (!name)
        return SNAPSHOT_ROOT;
    uint32_t method = method_table_intern(b->p->methods, METHOD_THREAD, "", name, "", "");
    free(name);
    return method == METHOD_NONE ? SNAPSHOT_ROOT : branch_add(b, SNAPSHOT_ROOT, method);
}

/* Groups are still in the order of the thread rows, which know their weights. */
static bool shares_root(const struct build *b, uint32_t group, bool full) {
    uint32_t thread = b->group[group].thread;
    return b->p->threads.thread[thread].is_virtual &&
           (full || thread == b->p->threads.others_virtual ||
            b->s->threads[group].weight < b->least);
}

/* Leaves the groups with a root of their own, and behind them one of all the others' items, of
 * which there are some and for which `light` has room. */
static void share_root(struct build *b, bool full, struct item *light) {
    uint32_t groups = 0, items = 0, lights = 0;
    for (uint32_t i = 0; i < b->groups; i++) {
        struct group g = b->group[i];
        uint32_t count = g.end - g.first;
        if (shares_root(b, i, full)) {
            memcpy(light + lights, b->item + g.first, count * sizeof *light);
            lights += count;
        } else {
            memmove(b->item + items, b->item + g.first, count * sizeof *light);
            b->group[groups++] = (struct group){g.thread, items, items + count};
            items += count;
        }
    }
    b->group[groups++] = (struct group){b->p->threads.others_virtual, items, items + lights};
    memcpy(b->item + items, light, lights * sizeof *light);
    b->items = items + lights;
    b->groups = groups;
}

/* The name of every root becomes a method, and methods stay for ever: threads that come and go by
 * the million must not leave one each in pictures taken every second. */
int build_threads(struct build *b) {
    bool full = method_table_count(b->p->methods) >= b->p->limits.virtual_roots;
    uint32_t lights = 0;
    if (b->least == 0 && !full)
        return 0;
    for (uint32_t i = 0; i < b->groups; i++)
        lights += shares_root(b, i, full) ? b->group[i].end - b->group[i].first : 0;
    if (lights == 0)
        return 0;
    struct item *light = big_alloc(lights, sizeof *light);
    if (!light)
        return -ENOMEM;
    share_root(b, full, light);
    free(light);
    return 0;
}
