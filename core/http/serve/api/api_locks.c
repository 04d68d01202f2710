#include "core/http/serve/api/api_locks.h"

#include "core/wire/record.h"

#include <errno.h>
#include <stdlib.h>

#define OWNERS_MAX 200 /* rows written of one class */
#define LINKS_MAX 500  /* the same */

/* Taking. */

static uint32_t rows_of(const struct snapshot *s, uint32_t classes) {
    uint32_t rows = 0;
    for (uint32_t seen = 0; rows < s->lock_count; rows++) {
        seen += s->locks[rows].is_class;
        if (seen > classes)
            break;
    }
    return rows;
}

int api_locks_take(struct api_locks *l, const struct snapshot *s, const struct profile *p,
                   uint32_t classes) {
    uint32_t at = 0, owners = 0;
    *l = (struct api_locks){.rows = rows_of(s, classes)};
    for (uint32_t i = 0; i < l->rows; i++)
        owners += !s->locks[i].is_class;
    l->begin = malloc(((size_t)l->rows + 1) * sizeof *l->begin);
    l->method =
        malloc(((size_t)l->rows + (size_t)owners * API_LOCKS_FRAMES + s->lock_link_count + 1) *
               sizeof *l->method);
    if (!l->begin || !l->method)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->rows; i++) {
        const struct snapshot_lock *row = &s->locks[i];
        l->begin[i] = at;
        l->method[at++] = row->class_id;
        if (!row->is_class)
            at += snapshot_owner_stack(p, row->owner_node, &l->method[at], API_LOCKS_FRAMES);
    }
    l->begin[l->rows] = at;
    for (uint32_t i = 0; i < s->lock_link_count; i++) /* a link may lead to a class without a row */
        if (s->lock_links[i].next_class != METHOD_NONE)
            l->method[at++] = s->lock_links[i].next_class;
    l->ids = at;
    return 0;
}

void api_locks_free(struct api_locks *l) {
    free(l->method);
    free(l->begin);
    *l = (struct api_locks){0};
}

/* Writing. */

static void write_sums(struct json *j, const struct snapshot_lock *row) {
    json_number(j, "waits", row->waits);
    json_number(j, "waitedNs", row->waited_ns);
    json_number(j, "longestNs", row->longest_ns);
}

/* A number for a thread, null if it is not known. */
static void write_thread(struct json *j, const char *key, uint32_t id) {
    if (id == UINT32_MAX)
        json_null(j, key);
    else
        json_number(j, key, id);
}

static void write_owner(struct json *j, const struct api_locks *l, uint32_t i,
                        const struct snapshot_lock *row, const struct api_names *names) {
    json_begin(j, NULL, '{');
    write_thread(j, "id", row->owner_id);
    json_string(j, "name", row->owner ? row->owner : "");
    json_number(j, "tid", row->owner_tid);
    write_sums(j, row);
    json_begin(j, "stack", '[');
    for (uint32_t k = l->begin[i] + 1; k < l->begin[i + 1]; k++)
        json_string(j, NULL, api_names_text(names, l->method[k]));
    json_end(j, ']');
    json_end(j, '}');
}

static void write_link(struct json *j, const struct snapshot_lock_link *link,
                       const struct api_names *names) {
    const struct api_name *next = api_names_find(names, link->next_class);
    json_begin(j, NULL, '{');
    write_thread(j, "owner", link->owner_id);
    if (link->next_class == METHOD_NONE)
        json_null(j, "lock");
    else
        json_string(j, "lock", next ? next->text : "");
    json_string(j, "name", link->other ? link->other : "");
    json_number(j, "tid", link->other_tid);
    json_number(j, "waits", link->waits);
    json_number(j, "waitedNs", link->waited_ns);
    json_number(j, "deadlockNs", link->deadlock_ns);
    json_end(j, '}');
}

/* The links of a class are together, because links are sorted by class. */
static void write_links(struct json *j, const struct snapshot *s, uint32_t class_id,
                        const struct api_names *names) {
    uint32_t written = 0;
    json_begin(j, "links", '[');
    for (uint32_t i = 0; i < s->lock_link_count && written < LINKS_MAX; i++) {
        if (s->lock_links[i].class_id != class_id)
            continue;
        write_link(j, &s->lock_links[i], names);
        written++;
    }
    json_end(j, ']');
}

static const char *kind_of(uint32_t flags) {
    return flags & WIRE_LOCK_MONITOR ? "monitor" : flags & WIRE_LOCK_SHARED ? "shared" : "lock";
}

/* Writes the class of row `i` and its owners. Returns the row that follows them. */
static uint32_t write_class(struct json *j, const struct api_locks *l, uint32_t i,
                            const struct snapshot *s, const struct api_names *names) {
    const struct snapshot_lock *row = &s->locks[i];
    uint32_t at = i + 1;
    json_begin(j, NULL, '{');
    json_string(j, "name", api_names_text(names, row->class_id));
    json_string(j, "kind", kind_of(row->flags));
    write_sums(j, row);
    json_number(j, "locks", row->locks);
    json_number(j, "waiters", row->waiters);
    json_begin(j, "owners", '[');
    for (; at < l->rows && !s->locks[at].is_class; at++)
        if (at - i <= OWNERS_MAX)
            write_owner(j, l, at, &s->locks[at], names);
    json_end(j, ']');
    write_links(j, s, row->class_id, names);
    json_end(j, '}');
    return at;
}

void api_locks_write(struct json *j, const struct api_locks *l, const struct snapshot *s,
                     const struct api_names *names) {
    json_begin(j, "locks", '{');
    json_number(j, "from", s->locks_from);
    json_number(j, "sampledNs", s->locks_sampled_ns);
    json_begin(j, "classes", '[');
    for (uint32_t i = 0; i < l->rows;)
        i = write_class(j, l, i, s, names);
    json_end(j, ']');
    json_end(j, '}');
}
