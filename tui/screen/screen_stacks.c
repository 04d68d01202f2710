/* The page of stacks: what all threads of the JVM do this moment, as jstack tells it. */
#include "tui/screen/screen_state.h"

#include "tui/model/thread_pools.h"
#include "tui/view/header.h"

#include <stdio.h>
#include <string.h>

/* To find the owners of locks of java.util.concurrent, the JVM goes through its whole heap while all
 * threads stand still: JDK 17 takes 1.1 s for a GiB of small objects. With a larger heap than this,
 * only a key of its own requests them. */
#define LOCKS_HEAP_MAX (UINT64_C(256) << 20)
#define WHEEL_LINES 3
#define MARGIN 2      /* columns for the mark of a match */
#define MATCH_LINES 2 /* lines above a match that was scrolled to */

/* ---- asking ---- */

/* Says why there is nobody to ask. False: there is. */
static bool refuse(struct screen *s) {
    enum session_phase phase = s->model->status.phase;
    if (!s->model->source.stacks || phase == SESSION_REPLAYED)
        screen_pass(s, "this is a recording: there is no JVM to ask for its stacks");
    else if (phase == SESSION_JVM_GONE)
        screen_pass(s, "the JVM is gone: it has no stacks any more");
    else
        return false;
    return true;
}

/* True if walking the JVM's heap is quick. */
static bool is_small(const struct jvm *j) {
    uint64_t heap = j->heap_used_bytes ? j->heap_used_bytes : j->rss_bytes;
    return heap && heap <= LOCKS_HEAP_MAX;
}

static void ask(struct screen *s, bool locks) {
    struct screen_stacks *k = &s->stacks;
    if (k->request || refuse(s))
        return;
    k->locks = locks || is_small(&s->model->jvm);
    k->request = stack_request_start(&s->model->source, &s->model->jvm, k->locks);
    if (!k->request)
        screen_pass(s, "no memory for this");
}

/* Selects what the cursor is on in the threads view. False: it has no stack of its own. */
static bool select_row(struct screen *s, struct stack_selection *which) {
    const struct view_type *v = views[s->view];
    const struct jvm *j = &s->model->jvm;
    struct view_subject on = {.method = METHOD_NONE};
    *which = (struct stack_selection){.choice = STACKS_ALL};
    if (s->view != LIVE_THREADS || !s->model->snapshot)
        return true;
    const char *pool = v->pool(s->state[s->view], s->model);
    if (pool) {
        which->choice = STACKS_POOL;
        snprintf(which->name, sizeof which->name, "%s", pool);
        return true;
    }
    if (!v->subject(s->state[s->view], s->model, &on) || !on.thread)
        return true;
    if (on.thread->is_virtual || on.thread->state == 'X') {
        screen_pass(s, on.thread->is_virtual ? "virtual threads are not in a thread dump"
                                             : "this thread has ended: it has no stack any more");
        return false;
    }
    which->choice = STACKS_THREAD;
    model_thread_name(on.thread, which->name, sizeof which->name);
    which->nid = j->pid == j->inner_pid ? on.thread->tid : 0;
    which->doubtful = j->container;
    return true;
}

void screen_stacks_open(struct screen *s) {
    struct screen_stacks *k = &s->stacks;
    if (refuse(s) || !select_row(s, &k->which))
        return;
    ask(s, false);
    if (!k->request)
        return;
    k->open = true;
    k->top = 0;
    k->found = -1;
    memcpy(k->search, s->model->search, sizeof k->search);
    s->model->search[0] = s->said[0] = '\0';
}

void screen_stacks_close(struct screen *s) {
    struct screen_stacks *k = &s->stacks;
    if (k->open)
        memcpy(s->model->search, k->search, sizeof k->search);
    stack_request_cancel(k->request);
    thread_dump_free(&k->dump);
    stack_page_free(&k->page);
    *k = (struct screen_stacks){.open = false};
}

static bool has_virtual_threads(const struct model *m) {
    for (uint32_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].is_virtual)
            return true;
    return false;
}

/* Puts the answer on the page, which then owns it. */
static void show_answer(struct screen *s, const struct thread_dump *dump) {
    struct screen_stacks *k = &s->stacks;
    char key[KEY_TEXT];
    thread_dump_free(&k->dump);
    k->dump = *dump;
    k->found = -1;
    if (stack_page_make(
            &k->page, &k->dump, &k->which, has_virtual_threads(s->model),
            k->locks ? NULL : keymap_key(screen_keys(s), COMMAND_STACKS_LOCKS, SCOPE_STACKS, key)))
        snprintf(k->error, sizeof k->error, "no memory for the stacks");
}

void screen_stacks_look(struct screen *s) {
    struct screen_stacks *k = &s->stacks;
    struct thread_dump dump;
    struct err e = {0};
    if (!k->request || !stack_request_is_done(k->request))
        return;
    k->error[0] = '\0';
    if (stack_request_take(k->request, &dump, &k->when, &e) == 0)
        show_answer(s, &dump);
    else if (k->dump.text) /* the stacks before stay on the page */
        screen_pass(s, "%s", e.message);
    else
        snprintf(k->error, sizeof k->error, "%s", e.message);
    k->request = NULL;
}

bool screen_waits(const struct screen *s) {
    return s->stacks.request;
}

/* ---- keys ---- */

static int last_top(const struct screen_stacks *k) {
    int last = (int)k->page.lines - k->rows;
    return last > 0 ? last : 0;
}

static void scroll_to(struct screen_stacks *k, int top) {
    k->top = top > last_top(k) ? last_top(k) : top;
    if (k->top < 0)
        k->top = 0;
}

static bool scroll(struct screen_stacks *k, enum command command) {
    int page = k->rows > 1 ? k->rows - 1 : 1;
    int by = command == COMMAND_UP          ? -1
             : command == COMMAND_DOWN      ? 1
             : command == COMMAND_PAGE_UP   ? -page
             : command == COMMAND_PAGE_DOWN ? page
             : command == COMMAND_HALF_UP   ? -page / 2
             : command == COMMAND_HALF_DOWN ? page / 2
                                            : 0;
    if (command == COMMAND_HOME || command == COMMAND_END)
        scroll_to(k, command == COMMAND_HOME ? 0 : last_top(k));
    else
        scroll_to(k, k->top + by);
    return by;
}

bool screen_stacks_find(struct screen *s, int by) {
    struct screen_stacks *k = &s->stacks;
    int lines = (int)k->page.lines, from = k->found >= 0 ? k->found : k->top;
    bool again = k->found < 0 && by > 0; /* the first line counts as well */
    for (int i = 0; i < lines; i++) {
        int step = by == 0 || again ? i : i + 1;
        int line = by < 0 ? (from + 2 * lines - step) % lines : (from + step) % lines;
        if (!view_matches(s->model, stack_page_line(&k->page, (uint32_t)line)))
            continue;
        k->found = line;
        if (line < k->top || line >= k->top + k->rows)
            scroll_to(k, line - MATCH_LINES);
        return true;
    }
    return false;
}

/* Escape first ends a request for newer stacks, then closes the page. */
static void go_back(struct screen *s) {
    struct screen_stacks *k = &s->stacks;
    if (k->request && k->dump.text) {
        stack_request_cancel(k->request);
        k->request = NULL;
        return;
    }
    bool asking = k->request;
    screen_stacks_close(s);
    if (asking)
        screen_pass(s, "cancelled: the JVM has not answered");
}

static enum screen_wish copy(struct screen *s) {
    text_clear(&s->text);
    stack_page_copy(&s->stacks.page, &s->text);
    if (s->text.len && !s->text.failed)
        return SCREEN_COPY;
    if (!s->stacks.request)
        screen_pass(s, "there is nothing to copy here");
    return SCREEN_NOTHING;
}

enum screen_wish screen_stacks_press(struct screen *s, int32_t press) {
    struct screen_stacks *k = &s->stacks;
    enum command command = keymap_command(screen_keys(s), press, SCOPE_STACKS);
    s->said[0] = '\0';
    switch (command) {
    case COMMAND_BACK:
        go_back(s);
        break;
    case COMMAND_STACKS:
        ask(s, false);
        break;
    case COMMAND_STACKS_LOCKS:
        ask(s, true);
        break;
    case COMMAND_COPY:
        return copy(s);
    case COMMAND_SAVE_STACKS:
        if (k->dump.text)
            return SCREEN_SAVE_STACKS;
        if (!k->request)
            screen_pass(s, "there is nothing to save here");
        break;
    case COMMAND_SEARCH:
        screen_type(s, TYPING_SEARCH);
        break;
    case COMMAND_NEXT_MATCH:
    case COMMAND_PREVIOUS_MATCH:
        screen_find_next(s, command == COMMAND_NEXT_MATCH ? 1 : -1);
        break;
    case COMMAND_HELP:
        screen_help(s);
        break;
    case COMMAND_REDRAW:
        return SCREEN_REDRAW;
    default:
        if (scroll(k, command))
            k->found = -1; /* a search goes on from what is on screen */
    }
    return SCREEN_NOTHING;
}

void screen_stacks_mouse(struct screen *s, const struct mouse *press) {
    struct screen_stacks *k = &s->stacks;
    if (press->action == MOUSE_WHEEL_UP || press->action == MOUSE_WHEEL_DOWN)
        scroll_to(k, k->top + (press->action == MOUSE_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES));
}

const char *screen_stacks_dump(const struct screen *s, size_t *bytes) {
    *bytes = s->stacks.dump.bytes;
    return s->stacks.dump.text ? s->stacks.dump.text : "";
}

/* ---- drawing ---- */

static const char *title(const struct screen_stacks *k, char *out, size_t size) {
    switch (k->which.choice) {
    case STACKS_THREAD:
        snprintf(out, size, "  STACK OF THREAD %s", k->which.name);
        break;
    case STACKS_POOL:
        snprintf(out, size, "  STACKS OF POOL %s", k->which.name);
        break;
    default:
        snprintf(out, size, "  STACKS OF ALL THREADS");
    }
    size_t used = strlen(out);
    if (k->which.choice != STACKS_THREAD && k->page.threads && !k->error[0])
        snprintf(out + used, size - used, ": %u", k->page.threads);
    return out;
}

const char *screen_stacks_status(const struct screen *s, char *out, size_t size) {
    const struct screen_stacks *k = &s->stacks;
    char back[KEY_TEXT], when[32] = "this moment";
    struct tm tm;
    if (k->request) {
        snprintf(out, size, "asking the JVM for its stacks ... %s cancels",
                 keymap_key(screen_keys(s), COMMAND_BACK, SCOPE_STACKS, back));
        return out;
    }
    if (localtime_r(&k->when, &tm))
        strftime(when, sizeof when, "%H:%M:%S", &tm);
    int end = k->top + k->rows < (int)k->page.lines ? k->top + k->rows : (int)k->page.lines;
    if (k->page.lines)
        snprintf(out, size, "stacks of %s, lines %d to %d of %u", when, k->top + 1, end,
                 k->page.lines);
    else
        out[0] = '\0';
    return out;
}

static void draw_line(const struct screen *s, struct canvas *c, int row, uint32_t line) {
    static const struct {
        enum role role;
        enum method_kind cut; /* how view_name cuts what does not fit */
    } looks[] = {
        [STACK_LINE_BLANK] = {ROLE_TEXT, METHOD_CPP},
        [STACK_LINE_WARNING] = {ROLE_WARNING, METHOD_CPP},
        [STACK_LINE_NOTE] = {ROLE_DIM, METHOD_CPP},
        [STACK_LINE_THREAD] = {ROLE_VALUE, METHOD_CPP},
        [STACK_LINE_WAIT] = {ROLE_STATUS, METHOD_THREAD},
        [STACK_LINE_FRAME] = {ROLE_TEXT, METHOD_NATIVE},
        [STACK_LINE_LOCK] = {ROLE_DIM, METHOD_CPP},
    };
    enum stack_line_kind kind = s->stacks.page.line[line].kind;
    const char *text = stack_page_line(&s->stacks.page, line);
    int indent = (int)strspn(text, " "), col = MARGIN + indent;
    view_name(c, row, col, c->cols - col, looks[kind].role, text + indent, looks[kind].cut,
              s->model);
    if ((int)line == s->stacks.found)
        canvas_text(c, row, 0, 1, ROLE_MATCH, ">");
}

/* Draws an error over as many rows as it needs. */
static void draw_error(const struct screen *s, struct canvas *c, int row, int end) {
    const char *rest = s->stacks.error;
    while (*rest && row < end) {
        char part[sizeof s->stacks.error];
        snprintf(part, sizeof part, "%s", rest);
        size_t cut = strlen(part);
        while (cut && canvas_width(c, part) > c->cols - MARGIN) {
            while (cut && part[cut - 1] != ' ')
                cut--;
            part[cut ? --cut : 0] = '\0';
        }
        if (!cut) { /* a word that is longer than the row */
            canvas_head(c, row, MARGIN, c->cols - MARGIN, ROLE_WARNING, rest);
            return;
        }
        canvas_text(c, row++, MARGIN, c->cols - MARGIN, ROLE_WARNING, part);
        rest += cut;
        rest += strspn(rest, " ");
    }
}

void screen_stacks_draw(struct screen *s, struct canvas *c) {
    struct screen_stacks *k = &s->stacks;
    char heads[MODEL_NAME_SIZE + 64];
    int row = header_draw(c, s->model), end = c->rows - 2;
    view_heads(c, (struct area){.row = row, .cols = c->cols, .rows = 1},
               title(k, heads, sizeof heads));
    row++;
    k->rows = end - row;
    if (k->error[0]) {
        draw_error(s, c, row, end);
        return;
    }
    scroll_to(k, k->top);
    for (int i = 0; i < k->rows && k->top + i < (int)k->page.lines; i++)
        draw_line(s, c, row + i, (uint32_t)(k->top + i));
}

bool screen_stacks_page(struct screen *s, struct text *out) {
    const struct screen_stacks *k = &s->stacks;
    char line[MODEL_NAME_SIZE + 64];
    if (!k->open || s->help)
        return false;
    text_addf(out, "%s\n", title(k, line, sizeof line) + 2);
    if (k->error[0])
        text_addf(out, "%s\n", k->error);
    for (int i = 0; !k->error[0] && i < k->rows && k->top + i < (int)k->page.lines; i++)
        text_addf(out, "%s\n", stack_page_line(&k->page, (uint32_t)(k->top + i)));
    text_addf(out, "%s\n", s->said[0] ? s->said : screen_stacks_status(s, line, sizeof line));
    return true;
}
