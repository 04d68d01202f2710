/*
 * The threads view: which threads run, by the samples and by the kernel's count. If the wall clock
 * is sampled, also what each thread does all the time; and what it allocates, and how long it
 * waits; and the Java state of each thread at this moment. Threads of the VM are three rows, and the threads of a pool can be one row. Enter zooms
 * every view into a thread, or opens a pool.
 */
#include "tui/view/threads_table.h"

#include <stdlib.h>

/* Opens the pool of the thread to which the cursor has to go. */
static void open_sought(struct thread_table *v) {
    for (uint32_t i = 0; v->pools.row && i < v->model->thread_count; i++) {
        if (thread_table_item(&v->model->threads[i]) != v->table.sought)
            continue;
        uint32_t pool = thread_pools_find(&v->pools, v->model, i);
        if (pool == THREAD_NO_POOL || v->pools.pool[pool].open)
            return;
        thread_pools_fold(&v->pools, v->pools.pool[pool].item);
        (void)thread_pools_update(&v->pools, v->model);
        return;
    }
}

static void make_rows(struct thread_table *v) {
    (void)thread_pools_update(&v->pools, v->model); /* no memory: threads, as without pools */
    if (v->table.seeks)
        open_sought(v);
    v->spark_most = v->model->snapshot ? table_scale(thread_table_highest_cell(v)) : 0;
    const struct table_rows rows = thread_table_rows(v);
    table_sort(&v->table, &rows);
}

/* Makes the rows of a new answer. All functions below call this first. */
static void look(struct thread_table *v, const struct model *m) {
    v->model = m;
    if (v->generation == m->generation)
        return;
    v->generation = m->generation;
    make_rows(v);
}

static void *open_threads(const struct model *m) {
    struct thread_table *v = calloc(1, sizeof *v);
    if (v)
        table_init(&v->table, &threads_table, m->settings.thread_columns);
    return v;
}

static void close_threads(void *state) {
    struct thread_table *v = state;
    if (!v)
        return;
    table_free(&v->table);
    thread_pools_free(&v->pools);
    name_order_free(&v->methods);
    free(v->rank);
    free(v);
}

static void want(void *state, struct model_question *q) {
    (void)state;
    q->living = q->others = q->sparks = true;
}

static void update(void *state, const struct model *m) {
    look(state, m);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct thread_table *v = state;
    look(v, m);
    const struct table_rows rows = thread_table_rows(v);
    return table_draw(&v->table, c, a, &rows);
}

/* Returns the row at a place on screen; TABLE_NONE: there is none. */
static uint32_t row_at(const struct thread_table *v, const struct model *m, uint32_t place) {
    bool current = v->model == m && m->snapshot && v->generation == m->generation;
    return current ? table_row(&v->table, place == VIEW_CURSOR ? v->table.cursor.row : place)
                   : TABLE_NONE;
}

static bool has_row(const struct thread_table *v, const struct model *m) {
    return row_at(v, m, VIEW_CURSOR) != TABLE_NONE;
}

/* Switches pools on or off. The cursor stays on its row; if that is gone, it goes to the thread's
 * pool, or from a pool to its first thread. */
static void toggle_pools(struct thread_table *v, const struct model *m) {
    bool there = has_row(v, m) && v->table.cursor.held;
    uint32_t row = there ? table_selected(&v->table) : 0;
    const struct thread_row at = there ? thread_pools_row(&v->pools, row) : (struct thread_row){0};
    v->pools.on = !v->pools.on;
    (void)thread_pools_update(&v->pools, m);
    if (there) {
        uint32_t pool = thread_pools_find(&v->pools, m, at.thread);
        table_seek(&v->table, pool == THREAD_NO_POOL || (v->pools.pool[pool].open && !at.is_pool)
                                  ? thread_table_item(&m->threads[at.thread])
                                  : v->pools.pool[pool].item);
    }
    make_rows(v);
}

static enum view_outcome enter(struct thread_table *v, struct model *m) {
    if (!has_row(v, m))
        return VIEW_IGNORED;
    uint32_t row = table_selected(&v->table);
    const struct thread_pool *pool = thread_table_pool(v, row);
    if (pool) {
        thread_pools_fold(&v->pools, pool->item);
        make_rows(v);
        return VIEW_DONE;
    }
    return model_zoom(m, thread_table_thread(v, row)) ? view_go(LIVE_METHODS) : VIEW_IGNORED;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    struct thread_table *v = state;
    look(v, m);
    if (cmd == COMMAND_ENTER)
        return enter(v, m);
    if (cmd == COMMAND_POOLS) {
        toggle_pools(v, m);
        return VIEW_DONE;
    }
    const struct table_rows rows = thread_table_rows(v);
    return table_command(&v->table, cmd, &rows) ? VIEW_DONE : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    struct thread_table *v = state;
    look(v, m);
    const struct table_rows rows = thread_table_rows(v);
    enum view_outcome outcome = table_mouse(&v->table, a, press, &rows);
    return outcome == VIEW_GO ? enter(v, m) : outcome;
}

static bool column(void *state, const struct model *m, const struct canvas *c, int at,
                   char head[32], bool *on) {
    struct thread_table *v = state;
    look(v, m);
    const struct table_rows rows = thread_table_rows(v);
    return table_column(&v->table, &rows, c, at, head, on);
}

static bool sort(void *state, const struct model *m, int at) {
    struct thread_table *v = state;
    look(v, m);
    const struct table_rows rows = thread_table_rows(v);
    return table_sort_by(&v->table, &rows, at);
}

/* Finds a thread in a closed pool, and opens the pool. */
static bool find_folded(struct thread_table *v) {
    char name[MODEL_NAME_SIZE];
    for (uint32_t i = 0; v->pools.row && i < v->model->thread_count; i++) {
        const struct model_thread *t = &v->model->threads[i];
        if (!view_matches(v->model, model_thread_name(t, name, sizeof name)))
            continue;
        table_seek(&v->table, thread_table_item(t));
        make_rows(v);
        return true;
    }
    return false;
}

static bool find(void *state, int by, const struct model *m) {
    struct thread_table *v = state;
    look(v, m);
    const struct table_rows rows = thread_table_rows(v);
    return table_find(&v->table, by, &rows) || find_folded(v);
}

static bool subject(const void *state, const struct model *m, struct view_subject *out) {
    const struct thread_table *v = state;
    if (!has_row(v, m))
        return false;
    uint32_t row = table_selected(&v->table);
    if (thread_table_pool(v, row)) /* the other views cannot show several threads */
        return false;
    *out = (struct view_subject){.method = METHOD_NONE, .thread = thread_table_thread(v, row)};
    return true;
}

static const char *pool(const void *state, const struct model *m) {
    const struct thread_table *v = state;
    if (!has_row(v, m))
        return NULL;
    const struct thread_pool *on = thread_table_pool(v, table_selected(&v->table));
    return on ? thread_pools_name(&v->pools, (uint32_t)(on - v->pools.pool)) : NULL;
}

static void seek(void *state, const struct view_subject *s) {
    struct thread_table *v = state;
    if (!s->thread)
        return;
    table_seek(&v->table, thread_table_item(s->thread));
    v->generation = 0; /* so that the current answer is searched too */
}

static void leave(const void *state, const struct model *m, struct view_place *out) {
    const struct thread_table *v = state;
    (void)m;
    *out = (struct view_place){.cursor = v->table.cursor, .method = METHOD_NONE};
}

static void come_back(void *state, const struct view_place *p) {
    struct thread_table *v = state;
    v->table.cursor = p->cursor;
    v->table.seeks = false;
    v->generation = 0; /* so that the cursor's item is searched in the next answer */
}

static bool tag(const void *state, const struct model *m, uint32_t at, struct tag *out) {
    const struct thread_table *v = state;
    uint32_t row = row_at(v, m, at);
    if (row == TABLE_NONE)
        return false;
    *out = (struct tag){TAG_THREAD, threads_table.item(v, row)};
    return true;
}

/* A thread counts once, even if its pool is tagged too. */
static void tagged(const void *state, const struct model *m, struct tag_sum *out) {
    const struct thread_table *v = state;
    bool of_pools = false;
    *out = (struct tag_sum){.all = m->snapshot ? m->snapshot->weight : 0};
    if (row_at(v, m, 0) == TABLE_NONE)
        return;
    for (uint32_t i = 0; i < v->pools.pools; i++)
        of_pools |= tags_add(&m->tags, out, (struct tag){TAG_THREAD, v->pools.pool[i].item}, 0);
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        if (tags_add(&m->tags, out, (struct tag){TAG_THREAD, thread_table_item(t)}, t->weight) ||
            !of_pools)
            continue;
        uint32_t in = thread_pools_find(&v->pools, m, i);
        if (in != THREAD_NO_POOL)
            tags_add(&m->tags, out, (struct tag){TAG_THREAD, v->pools.pool[in].item}, t->weight);
    }
}

static void copy(const void *state, const struct model *m, uint32_t at, struct text *out) {
    const struct thread_table *v = state;
    char name[MODEL_NAME_SIZE];
    uint32_t row = row_at(v, m, at);
    if (row == TABLE_NONE)
        return;
    const struct thread_pool *pool = thread_table_pool(v, row);
    text_addf(out, pool ? "%s (%u)\n" : "%s tid=%u\n",
              threads_table.text(v, row, name, sizeof name),
              pool ? pool->sum.threads : thread_table_thread(v, row)->tid);
}

const struct view_type view_threads = {
    .title = "threads",
    .key = '2',
    .scope = SCOPE_THREADS,
    .name = "threads",
    .event = -1,
    .want = want,
    .open = open_threads,
    .close = close_threads,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .column = column,
    .sort = sort,
    .subject = subject,
    .pool = pool,
    .seek = seek,
    .leave = leave,
    .come_back = come_back,
    .copy = copy,
    .tag = tag,
    .tagged = tagged,
    .tagged_of = "",
};
