#include "tui/view/threads_table.h"

#include "core/base/format.h"
#include "core/wire/wire_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TID,
    CPU,
    SHARE,
    CHANGE,
    WEIGHT,
    STATE,
    JAVA,
    STATES,
    ALLOC,
    BLOCKED,
    SPARK,
    OTHER,
    NAME,
    TOP
};

static const struct table_column columns[] = {
    [TID] = {.name = "tid", .head = "TID", .cols = 7, .ascending = true},
    [CPU] = {.name = "cpu", .head = "CPU%", .cols = 6, .from_cols = 60},
    [SHARE] = {.name = "share", .head = "SHARE%", .cols = 6},
    [CHANGE] = {.name = "delta", .head = "CHANGE", .cols = 7, .leaves = 14},
    [WEIGHT] = {.name = "weight", .cols = 7, .from_cols = 60},
    [STATE] = {.name = "state", .head = "STATE", .cols = 5, .from_cols = 60, .left = true},
    [JAVA] = {.name = "java",
              .head = "JAVA STATE",
              .cols = 10,
              .cols_wide = 23,
              .from_cols = 60,
              .leaves = 26,
              .left = true},
    [STATES] = {.name = "states",
                .head = "STATES",
                .cols = 9,
                .cols_wide = 26,
                .from_cols = 60,
                .leaves = 25,
                .left = true},
    [ALLOC] = {.name = "alloc", .head = "ALLOC/S", .cols = 7, .from_cols = 60, .leaves = 28},
    [BLOCKED] = {.name = "blocked", .head = "BLOCK%", .cols = 6, .from_cols = 60, .leaves = 28},
    [SPARK] = {.name = "spark",
               .head = "LAST MINUTE",
               .cols = MODEL_SPARKS,
               .from_cols = 120,
               .leaves = 44,
               .left = true},
    [OTHER] = {.name = "events",
               .cols = VIEW_OTHER_COLS - 1,
               .from_cols = 60,
               .leaves = 30,
               .events = true},
    [NAME] = {.name = "name",
              .head = "NAME",
              .cols = 14,
              .share = 1,
              .most = 64,
              .left = true,
              .ascending = true},
    [TOP] = {.name = "top",
             .head = "TOP METHOD",
             .cols = 12,
             .share = 1,
             .from_cols = 60,
             .left = true,
             .ascending = true},
    {0},
};

/* For narrow columns. */
static const char *const short_java[WIRE_JAVA_STATES] = {
    [WIRE_JAVA_UNKNOWN] = "",
    [WIRE_JAVA_RUNNABLE] = "RUN",
    [WIRE_JAVA_BLOCKED] = "BLOCK",
    [WIRE_JAVA_WAITING] = "WAIT",
    [WIRE_JAVA_TIMED_WAITING] = "TIMED",
};

const struct model_thread *thread_table_thread(const struct thread_table *v, uint32_t row) {
    return &v->model->threads[thread_pools_row(&v->pools, row).thread];
}

const struct thread_pool *thread_table_pool(const struct thread_table *v, uint32_t row) {
    struct thread_row r = thread_pools_row(&v->pools, row);
    return r.is_pool ? &v->pools.pool[r.pool] : NULL;
}

static struct thread_figures figures_of(const struct thread_table *v, uint32_t row) {
    const struct thread_pool *pool = thread_table_pool(v, row);
    struct thread_figures f = {.threads = 0};
    if (pool)
        return pool->sum;
    thread_figures_add(&f, v->model, thread_table_thread(v, row));
    return f;
}

struct table_rows thread_table_rows(struct thread_table *v) {
    return (struct table_rows){.rows = v,
                               .count = v->model->snapshot ? v->pools.count : 0,
                               .in_order = !v->pools.row,
                               .model = v->model};
}

static bool has_samples(const struct model *m, int event) {
    return m->asked.event == event || m->rows[event].snapshot;
}

static bool has(const void *rows, int column) {
    const struct model *m = ((const struct thread_table *)rows)->model;
    switch (column) {
    case CHANGE:
        return m->diff != NULL;
    case JAVA:
        return m->java_states;
    case STATES:
        return m->samples[WIRE_EVENT_WALL] > 0;
    case ALLOC:
        return has_samples(m, WIRE_EVENT_ALLOC);
    case BLOCKED:
        return m->samples[WIRE_EVENT_WALL] > 0 || has_samples(m, WIRE_EVENT_LOCK);
    case SPARK:
        return m->snapshot && m->snapshot->thread_spark;
    default:
        return true;
    }
}

/* False for events that have better columns here. The wall clock time is the same for each
 * thread. */
static bool has_event(const void *rows, int event) {
    (void)rows;
    return event != WIRE_EVENT_WALL && event != WIRE_EVENT_ALLOC && event != WIRE_EVENT_LOCK;
}

static const char *title(const void *rows, int column, int event, const struct canvas *c, char *out,
                         size_t size) {
    const struct model *m = ((const struct thread_table *)rows)->model;
    (void)c;
    if (column == WEIGHT)
        return view_weight_head(m);
    snprintf(out, size, "%.5s%%", model_event_name(m, event));
    return out;
}

static const char *text(const void *rows, uint32_t row, char *out, size_t size) {
    const struct thread_table *v = rows;
    const struct thread_row r = thread_pools_row(&v->pools, row);
    if (!r.is_pool)
        return model_thread_name(&v->model->threads[r.thread], out, size);
    snprintf(out, size, "%s", thread_pools_name(&v->pools, r.pool));
    return out;
}

struct named_row {
    char *name;
    uint32_t row;
};

/* Puts "worker-9" before "worker-10". */
static int compare_names(const void *a, const void *b) {
    const struct named_row *x = a, *y = b;
    int names = strverscmp(x->name, y->name);
    return names ? names : x->row < y->row ? -1 : x->row > y->row;
}

/* Ranks the rows by name. If there is no memory, rows keep their order. */
static void rank_names(struct thread_table *v) {
    uint32_t n = v->pools.count;
    struct named_row *named = calloc(n + (size_t)1, sizeof *named);
    struct text names = {0};
    char name[MODEL_NAME_SIZE];
    size_t *at = calloc(n + (size_t)1, sizeof *at);
    v->rank = calloc(n + (size_t)1, sizeof *v->rank);
    for (uint32_t i = 0; at && i < n; i++) {
        at[i] = names.len;
        text(v, i, name, sizeof name);
        text_add_n(&names, name, strlen(name) + 1);
    }
    if (named && at && v->rank && !names.failed) {
        for (uint32_t i = 0; i < n; i++)
            named[i] = (struct named_row){.name = names.data + at[i], .row = i};
        qsort(named, n, sizeof *named, compare_names);
        for (uint32_t i = 0; i < n; i++)
            v->rank[named[i].row] = i;
    }
    text_free(&names);
    free(named);
    free(at);
}

static void prepare(void *rows, int column) {
    struct thread_table *v = rows;
    free(v->rank);
    v->rank = NULL;
    if (column == NAME)
        rank_names(v);
    if (column == TOP)
        (void)name_order_update(&v->methods, v->model);
}

static double running(const struct thread_figures *f) {
    uint64_t sum = 0;
    for (int i = 0; i < PROFILE_STATES; i++)
        sum += f->states[i];
    return percent_of(f->states[WIRE_THREAD_RUNNING], sum);
}

/* Keys that need sums or another event's rows. They cost a hundred times more than a thread's own
 * figures. */
static uint64_t figure_key(const struct thread_table *v, int column, int event, uint32_t row) {
    const struct thread_figures f = figures_of(v, row);
    switch (column) {
    case CHANGE:
        return table_key(f.change.percent);
    case STATES:
        return table_key(running(&f));
    case ALLOC:
        return table_key(thread_alloc_rate(v->model, &f));
    case BLOCKED:
        return table_key(thread_blocked(v->model, &f));
    case SPARK:
        return f.spark[MODEL_SPARKS - 1];
    default: /* OTHER */
        return event >= 0 ? table_key(f.share[event]) : 0;
    }
}

/* The Java state of a thread; of a pool the commonest, of equals the one that comes first in
 * java.lang.Thread.State. */
static enum wire_java java_state(const struct model_thread *t, const struct thread_pool *pool) {
    enum wire_java most = WIRE_JAVA_RUNNABLE;
    if (!pool)
        return t->java_state;
    for (int i = WIRE_JAVA_BLOCKED; i < WIRE_JAVA_STATES; i++)
        most = pool->in_java[i] > pool->in_java[most] ? (enum wire_java)i : most;
    return pool->in_java[most] ? most : WIRE_JAVA_UNKNOWN;
}

static uint64_t key(const void *rows, int column, int event, uint32_t row) {
    static const char order[] = "?XVITtZSDR";
    const struct thread_table *v = rows;
    const struct model_thread *t = thread_table_thread(v, row);
    const struct thread_pool *pool = thread_table_pool(v, row);
    const char *state = strchr(order, pool ? pool->state : t->state);
    switch (column) {
    case TID:
        return t->tid;
    case CPU:
        return table_key(pool ? pool->sum.cpu_percent : t->cpu_percent);
    case SHARE:
    case WEIGHT:
        return pool ? pool->sum.weight : t->weight;
    case STATE:
        return state ? (uint64_t)(state - order) : 0;
    case JAVA: /* RUNNABLE first, unknown last */
        return (WIRE_JAVA_STATES - (uint64_t)java_state(t, pool)) % WIRE_JAVA_STATES;
    case NAME:
        return v->rank ? v->rank[row] : 0;
    case TOP:
        return t->samples ? name_order_rank(&v->methods, t->top_method) : UINT32_MAX;
    default:
        return figure_key(v, column, event, row);
    }
}

static const char *state_word(char state) {
    switch (state) {
    case 'R':
        return "run";
    case 'S':
        return "sleep";
    case 'D':
        return "disk";
    case 'T':
    case 't':
        return "stop";
    case 'Z':
        return "zombi";
    case 'I':
        return "idle";
    case 'X':
        return "ended";
    case 'V':
        return "virt";
    default:
        return "-";
    }
}

/* Draws what a thread did, most frequent first, as far as there is room: "park 80 run 12 io 8". */
static void draw_states(struct canvas *c, int y, int x, int cols, const uint64_t *weight) {
    static const char *const word[WIRE_THREAD_STATES] = {
        "?", "run", "block", "wait", "park", "sleep", "poll", "io", "futex", "disk", "other"};
    uint64_t sum = 0, left[WIRE_THREAD_STATES];
    for (int i = 0; i < WIRE_THREAD_STATES; i++)
        sum += left[i] = weight[i];
    for (int end = x + cols;;) {
        int most = 0;
        char part[32];
        for (int i = 1; i < WIRE_THREAD_STATES; i++)
            most = left[i] > left[most] ? i : most;
        double percent = percent_of(left[most], sum);
        snprintf(part, sizeof part, "%s %.0f", word[most], percent);
        if (percent < 0.5 || x + canvas_width(c, part) > end)
            return;
        x += canvas_text(c, y, x, end - x, most == WIRE_THREAD_RUNNING ? ROLE_VALUE : ROLE_DIM,
                         part) +
             1;
        left[most] = 0;
    }
}

/* Adds "12 WAITING" to the counts in `out`, if there is room. False: there is none. */
static bool add_count(char *out, size_t size, int cols, uint32_t threads, const char *word) {
    char part[40];
    size_t used = strlen(out);
    int length = snprintf(part, sizeof part, "%s%u %s", used ? ", " : "", threads, word);
    if (used + (size_t)length > (size_t)cols || used + (size_t)length >= size)
        return false;
    memcpy(out + used, part, (size_t)length + 1);
    return true;
}

/* Writes how many threads of a pool are in which Java state, most first, as far as there is room:
 * "12 WAITING, 3 RUNNABLE", or with short words "120 TIMED". */
static void count_states(const uint32_t in_java[WIRE_JAVA_STATES], int cols, bool brief, char *out,
                         size_t size) {
    uint32_t left[WIRE_JAVA_STATES];
    bool all = true;
    out[0] = '\0';
    memcpy(left, in_java, sizeof left);
    for (left[WIRE_JAVA_UNKNOWN] = 0;;) {
        int most = 0;
        for (int i = 1; i < WIRE_JAVA_STATES; i++)
            most = left[i] > left[most] ? i : most;
        if (!left[most])
            break;
        all = add_count(out, size, cols, left[most],
                        brief ? short_java[most] : wire_java_name[most]) &&
              all;
        left[most] = 0;
    }
    if (!all && !brief)
        count_states(in_java, cols, true, out, size);
}

/* Draws a thread's Java state, or the states of a pool's threads. All threads of a pool in one state:
 * the state alone, since the number of threads is on the row. */
static void draw_java(struct canvas *c, int y, int x, int cols, const struct model_thread *t,
                      const struct thread_pool *pool) {
    enum wire_java state = java_state(t, pool);
    char text[64];
    snprintf(text, sizeof text, "%s", wire_java_name[state]);
    if (pool && pool->in_java[state] < pool->sum.threads)
        count_states(pool->in_java, cols, false, text, sizeof text);
    if (state != WIRE_JAVA_UNKNOWN && canvas_width(c, text) > cols)
        snprintf(text, sizeof text, "%s", short_java[state]);
    canvas_text(c, y, x, cols,
                state == WIRE_JAVA_BLOCKED    ? ROLE_WARNING
                : state == WIRE_JAVA_RUNNABLE ? ROLE_VALUE
                                              : ROLE_DIM,
                text[0] ? text : "-");
}

static bool shows(const struct thread_table *v, int column) {
    for (int i = 0; i < v->table.slots; i++)
        if (v->table.slot[i].column == column)
            return true;
    return false;
}

/* Draws a name. A pool has a mark of its fold; its threads are moved to the right. Between pools of
 * the application, the other threads stand below the pools' names; beside only the three rows of the
 * VM that would take room from all names. The number of threads is drawn here if the column TID,
 * which has it, is not shown. */
static void draw_name(const struct thread_table *v, struct canvas *c, int y, int x, int cols,
                      uint32_t row) {
    const struct thread_pool *pool = thread_table_pool(v, row);
    bool below = thread_pools_row(&v->pools, row).pool != THREAD_NO_POOL;
    char name[MODEL_NAME_SIZE + 16];
    text(v, row, name, MODEL_NAME_SIZE);
    size_t length = strlen(name);
    if (pool)
        canvas_text(c, y, x, 1, ROLE_GLYPH,
                    canvas_glyph(c, pool->open ? GLYPH_OPEN : GLYPH_CLOSED));
    if (pool && !shows(v, TID))
        snprintf(name + length, sizeof name - length, " (%u)", pool->sum.threads);
    int in = pool ? 2 : below ? 4 : v->pools.on ? 2 : 0;
    canvas_middle(c, y, x + in, cols - in, ROLE_TEXT, name);
    const char *hit = v->model->search[0] ? strcasestr(name, v->model->search) : NULL;
    if (!hit || canvas_width(c, name) > cols - in)
        return;
    int from = canvas_width(c, name) - canvas_width(c, hit);
    int match = canvas_width(c, hit) - canvas_width(c, hit + strlen(v->model->search));
    canvas_role(c, y, x + in + from, match, ROLE_MATCH);
}

static void draw_top(const struct thread_table *v, struct canvas *c, int y, int x, int cols,
                     uint32_t row) {
    const struct model_thread *t = thread_table_thread(v, row);
    char name[1024];
    if (t->top_method == METHOD_NONE || !t->samples)
        return;
    enum method_kind kind = model_method(v->model, t->top_method)->kind;
    view_name(c, y, x, cols, view_frame_role(kind, TIER_C2),
              model_method_name(v->model, t->top_method, name, sizeof name), kind, v->model);
}

/* Draws cells that need no sums. False for other cells. */
static bool draw_known(const struct thread_table *v, struct canvas *c, int y, int x, int cols,
                       int column, uint32_t row) {
    const struct model_thread *t = thread_table_thread(v, row);
    const struct thread_pool *pool = thread_table_pool(v, row);
    char state = pool ? pool->state : t->state, number[16];
    switch (column) {
    case TID:
        snprintf(number, sizeof number, pool ? "(%u)" : "%u", pool ? pool->sum.threads : t->tid);
        canvas_right(c, y, x, cols, pool || t->is_virtual ? ROLE_DIM : ROLE_NUMBER, number);
        return true;
    case STATE:
        canvas_text(c, y, x, cols, state == 'R' ? ROLE_VALUE : ROLE_DIM, state_word(state));
        return true;
    case JAVA:
        draw_java(c, y, x, cols, t, pool);
        return true;
    case NAME:
        draw_name(v, c, y, x, cols, row);
        return true;
    case TOP:
        draw_top(v, c, y, x, cols, row);
        return true;
    default:
        return false;
    }
}

static void draw_cell(const void *rows, struct canvas *c, int y, int x, int cols,
                      const struct table_slot *slot, uint32_t row) {
    const struct thread_table *v = rows;
    const struct model *m = v->model;
    struct format number = {""};
    if (draw_known(v, c, y, x, cols, slot->column, row))
        return;
    const struct thread_figures f = figures_of(v, row);
    double rate;
    switch (slot->column) {
    case CPU:
        if (f.cpu_percent >= 0)
            view_percent(c, y, x, cols, f.cpu_percent);
        else
            canvas_right(c, y, x, cols, ROLE_DIM, "-");
        break;
    case SHARE:
        view_percent(c, y, x, cols, percent_of(f.weight, m->snapshot->weight));
        break;
    case CHANGE:
        view_change(c, y, x, cols, &f.change);
        break;
    case WEIGHT:
        view_weight(c, y, x, cols, m, f.weight, f.samples);
        break;
    case STATES:
        draw_states(c, y, x, cols, f.states);
        break;
    case ALLOC: /* zeros would hide the other values */
        rate = thread_alloc_rate(m, &f);
        if (rate >= 1)
            canvas_right(c, y, x, cols, ROLE_NUMBER, format_bytes(&number, (uint64_t)rate));
        break;
    case BLOCKED:
        view_other_share(c, y, x, thread_blocked(m, &f));
        break;
    case SPARK:
        view_spark(c, y, x, m, f.spark, v->spark_most);
        break;
    default:
        view_other_share(c, y, x, f.share[slot->event]);
        break;
    }
}

uint64_t thread_table_item(const struct model_thread *t) {
    return model_thread_key(t->is_virtual, t->java_id, t->tid, t->state == 'X');
}

static uint64_t item(const void *rows, uint32_t row) {
    const struct thread_table *v = rows;
    const struct thread_pool *pool = thread_table_pool(v, row);
    return pool ? pool->item : thread_table_item(thread_table_thread(v, row));
}

static uint32_t parent(const void *rows, uint32_t row) {
    const struct thread_table *v = rows;
    struct thread_row r = thread_pools_row(&v->pools, row);
    return r.is_pool || r.pool == THREAD_NO_POOL ? TABLE_NONE : v->pools.pool[r.pool].row;
}

const struct table_type threads_table = {
    .column = columns,
    .natural = SHARE,
    .has = has,
    .has_event = has_event,
    .title = title,
    .prepare = prepare,
    .key = key,
    .draw = draw_cell,
    .item = item,
    .tags = TAG_THREAD,
    .text = text,
    .parent = parent,
};

uint64_t thread_table_highest_cell(const struct thread_table *v) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < v->pools.count; i++) {
        const struct thread_pool *pool = thread_table_pool(v, i);
        const struct model_thread *t = thread_table_thread(v, i);
        if ((pool ? pool->sum.weight : t->weight) <= most)
            continue; /* no cell is larger than its row's weight */
        const struct thread_figures f = figures_of(v, i);
        for (uint32_t k = 0; k < MODEL_SPARKS; k++)
            most = f.spark[k] > most ? f.spark[k] : most;
    }
    return most;
}
