#include "tui/model/lock_rows.h"

#include "core/base/hash.h"
#include "core/profile/table/call_tree.h"

#include <stdlib.h>
#include <string.h>

/* Returns the identity of a row; never 0. */
static uint64_t identity(const struct snapshot_lock *l, uint32_t method) {
    uint64_t h = hash_more(hash_more(1, l->class_id), l->is_class);
    if (!l->is_class)
        h = hash_more(hash_more(hash_more(h, l->owner_tid), l->owner_java_id), method);
    return h | 1;
}

static int find_fold(const struct lock_rows *r, uint64_t id) {
    for (uint32_t i = 0; i < r->folds; i++)
        if (r->fold[i] == id)
            return (int)i;
    return -1;
}

static struct lock_stack *find_stack(struct lock_rows *r, uint64_t id) {
    for (uint32_t i = 0; i < LOCK_STACKS_MAX; i++)
        if (r->stack[i].id == id)
            return &r->stack[i];
    return NULL;
}

static bool add(struct lock_rows *r, const struct lock_row *row) {
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity * 2 : 64;
        struct lock_row *more = realloc(r->row, capacity * sizeof *more);
        if (!more)
            return false;
        r->row = more;
        r->capacity = capacity;
    }
    r->row[r->count++] = *row;
    return true;
}

static bool add_frames(struct lock_rows *r, const struct lock_row *owner,
                       const struct lock_stack *stack) {
    for (uint32_t i = 0; i < stack->count; i++) {
        struct lock_row row = {.id = hash_more(owner->id, i + 1),
                               .kind = LOCK_ROW_FRAME,
                               .lock = owner->lock,
                               .leaf = true,
                               .method = stack->method[i]};
        if (!add(r, &row))
            return false;
    }
    return true;
}

/* Returns the index of the first link of a class and owner. Steps come before waiters. */
static uint32_t find_links(const struct snapshot *s, uint32_t class_id, uint32_t owner_id) {
    uint32_t low = 0, high = s->lock_link_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct snapshot_lock_link *l = &s->lock_links[middle];
        if (l->class_id < class_id || (l->class_id == class_id && l->owner_id < owner_id))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_link_of(const struct snapshot *s, uint32_t at, uint32_t class_id,
                       uint32_t owner_id) {
    return at < s->lock_link_count && s->lock_links[at].class_id == class_id &&
           s->lock_links[at].owner_id == owner_id;
}

/* True for a deadlock, or if the wait is at least a twentieth of the wait before it. A shorter wait
 * explains nothing: threads that all want one lock often wait for a moment at the same time. */
static bool is_step(const struct snapshot_lock_link *l, uint64_t before_ns) {
    return l->next_class != METHOD_NONE && (l->deadlock_ns || l->waited_ns >= before_ns / 20);
}

/* Adds a step, and then the longest step that follows each. The chain ends when it reaches a thread
 * that is already in it. */
static bool add_chain(struct lock_rows *r, const struct snapshot *s, const struct lock_row *owner,
                      uint32_t at) {
    uint32_t met[LOCK_CHAIN_MAX + 1] = {owner->lock.owner_id};
    for (uint8_t depth = 0; depth < LOCK_CHAIN_MAX; depth++) {
        const struct snapshot_lock_link *l = &s->lock_links[at];
        struct lock_row row = {
            .id = hash_more(hash_more(hash_more(owner->id, depth), l->next_class), l->other_id),
            .kind = LOCK_ROW_STEP,
            .lock = owner->lock,
            .link = l,
            .depth = depth,
            .leaf = true};
        if (!add(r, &row))
            return false;
        for (int i = 0; i <= depth; i++)
            if (met[i] == l->other_id)
                return true;
        met[depth + 1] = l->other_id;
        at = find_links(s, l->next_class, l->other_id);
        if (l->deadlock_ns || !is_link_of(s, at, l->next_class, l->other_id) ||
            !is_step(&s->lock_links[at], l->waited_ns))
            return true;
    }
    return true;
}

/* Adds the steps of the owner in row[i]. If the owner has several rows, one per method, the steps
 * are added below the first. */
static bool add_steps(struct lock_rows *r, const struct snapshot *s, const struct lock_row *row,
                      uint32_t i) {
    uint32_t class_id = row[i].lock.class_id, id = row[i].lock.owner_id;
    uint32_t at = find_links(s, class_id, id);
    if (!is_link_of(s, at, class_id, id) || s->lock_links[at].next_class == METHOD_NONE)
        return true;
    for (uint32_t k = 0; k < i; k++)
        if (row[k].lock.owner_id == id)
            return true;
    for (int n = 0; n < LOCK_STEPS_MAX && is_link_of(s, at, class_id, id) &&
                    is_step(&s->lock_links[at], row[i].lock.waited_ns);
         n++, at++)
        if (!add_chain(r, s, &row[i], at))
            return false;
    return true;
}

static bool add_waiters(struct lock_rows *r, const struct snapshot *s,
                        const struct lock_row *owner) {
    uint32_t class_id = owner->lock.class_id, id = owner->lock.owner_id, n = 0;
    struct lock_row row = {.lock = owner->lock, .leaf = true};
    for (uint32_t at = find_links(s, class_id, id); is_link_of(s, at, class_id, id); at++) {
        const struct snapshot_lock_link *l = &s->lock_links[at];
        if (l->next_class != METHOD_NONE || n++ >= LOCK_WAITERS_MAX)
            continue;
        row.kind = LOCK_ROW_WAITER;
        row.id = hash_more(hash_more(owner->id, 77), l->other_id);
        row.link = l;
        if (!add(r, &row))
            return false;
    }
    if (n <= LOCK_WAITERS_MAX)
        return true;
    row.kind = LOCK_ROW_MORE;
    row.link = NULL;
    row.id = hash_more(owner->id, 78);
    row.lock.waiters = n - LOCK_WAITERS_MAX;
    return add(r, &row);
}

static bool add_below(struct lock_rows *r, const struct snapshot *s, const struct lock_row *row,
                      uint32_t i) {
    const struct lock_stack *stack = find_stack(r, row[i].id);
    if (row[i].lock.owner_id != UINT32_MAX && !add_steps(r, s, row, i))
        return false;
    return !stack || (add_frames(r, &row[i], stack) && add_waiters(r, s, &row[i]));
}

static int compare_owners(const void *a, const void *b) {
    const struct lock_row *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->lock.waited_ns < y->lock.waited_ns   ? 1
           : x->lock.waited_ns > y->lock.waited_ns ? -1
                                                   : 0;
}

static int compare_waits(const void *a, const void *b) {
    const struct lock_row *x = a, *y = b;
    if (x->lock.waited_ns != y->lock.waited_ns)
        return x->lock.waited_ns < y->lock.waited_ns ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Merges the rows of an owner whose stacks differ only below the method it was in. The row with the
 * longest waits comes first, and its stack is kept. */
static void merge_owners(struct lock_row *row, uint32_t *count) {
    uint32_t n = 0;
    qsort(row, *count, sizeof *row, compare_owners);
    for (uint32_t i = 0; i < *count; i++) {
        struct snapshot_lock *sum = n ? &row[n - 1].lock : NULL;
        const struct snapshot_lock *l = &row[i].lock;
        if (!sum || row[n - 1].id != row[i].id) {
            row[n++] = row[i];
            continue;
        }
        sum->waits += l->waits;
        sum->waited_ns += l->waited_ns;
        sum->longest_ns = l->longest_ns > sum->longest_ns ? l->longest_ns : sum->longest_ns;
    }
    qsort(row, n, sizeof *row, compare_waits);
    *count = n;
}

/* Adds the owners of the class whose rows begin at `from`. Returns where they end. */
static uint32_t add_owners(struct lock_rows *r, const struct snapshot *s, uint32_t from,
                           const uint32_t *method) {
    uint32_t end = from;
    while (end < s->lock_count && !s->locks[end].is_class)
        end++;
    uint32_t n = end - from;
    struct lock_row *row = n ? calloc(n, sizeof *row) : NULL;
    for (uint32_t i = 0; row && i < n; i++)
        row[i] = (struct lock_row){.kind = LOCK_ROW_OWNER,
                                   .id = identity(&s->locks[from + i], method[from + i]),
                                   .lock = s->locks[from + i],
                                   .method = method[from + i]};
    if (row)
        merge_owners(row, &n);
    for (uint32_t i = 0; row && i < n; i++) {
        row[i].open = find_stack(r, row[i].id) != NULL;
        if (!add(r, &row[i]) || !add_below(r, s, row, i))
            break;
    }
    free(row);
    return end;
}

void lock_rows_build(struct lock_rows *r, const struct snapshot *s, const uint32_t *method) {
    r->count = 0;
    for (uint32_t i = 0; i < s->lock_count;) {
        struct lock_row row = {.id = identity(&s->locks[i], 0), .lock = s->locks[i]};
        row.leaf = i + 1 == s->lock_count || s->locks[i + 1].is_class;
        row.open = (find_fold(r, row.id) < 0) != r->closed;
        if (!add(r, &row))
            return;
        if (row.open)
            i = add_owners(r, s, i + 1, method);
        else
            do
                i++;
            while (i < s->lock_count && !s->locks[i].is_class);
    }
}

void lock_rows_free(struct lock_rows *r) {
    free(r->row);
    *r = (struct lock_rows){0};
}

static void close_stack(struct lock_rows *r, uint64_t id) {
    struct lock_stack *stack = find_stack(r, id);
    if (stack)
        *stack = (struct lock_stack){0};
}

void lock_rows_fold(struct lock_rows *r, uint32_t at) {
    const struct lock_row *row = &r->row[at];
    int fold = find_fold(r, row->id);
    if (row->kind == LOCK_ROW_OWNER)
        close_stack(r, row->id);
    else if (row->kind != LOCK_ROW_CLASS)
        return;
    else if (fold >= 0)
        r->fold[fold] = r->fold[--r->folds];
    else if (r->folds < LOCK_FOLDS_MAX)
        r->fold[r->folds++] = row->id;
}

void lock_rows_fold_all(struct lock_rows *r, bool closed) {
    r->closed = closed;
    r->folds = 0;
    memset(r->stack, 0, sizeof r->stack);
}

uint32_t lock_rows_parent(const struct lock_rows *r, uint32_t at) {
    enum lock_row_kind above = r->row[at].kind == LOCK_ROW_OWNER ? LOCK_ROW_CLASS : LOCK_ROW_OWNER;
    uint32_t row = at;
    if (r->row[at].kind == LOCK_ROW_CLASS)
        return at;
    while (row && r->row[row].kind != above)
        row--;
    return row;
}

void lock_rows_open_stack(struct lock_rows *r, uint32_t at, const uint32_t *method,
                          uint32_t count) {
    if (find_stack(r, r->row[at].id))
        return;
    struct lock_stack *stack = &r->stack[r->stack_turn++ % LOCK_STACKS_MAX];
    stack->id = r->row[at].id;
    stack->count = count < LOCK_STACK_MAX ? count : LOCK_STACK_MAX;
    memcpy(stack->method, method, stack->count * sizeof *method);
}
