#include "tui/screen/screen_state.h"

#include "tui/terminal/press_name.h"
#include "tui/view/footer.h"
#include "tui/view/strip.h"
#include "tui/view/tab_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen *screen_new(struct model *m, enum live_view view) {
    struct screen *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = m;
    s->event = m->question.event;
    s->detail = detail_new();
    s->pane = m->settings.plain ? PANE_NEVER : m->settings.no_pane ? PANE_CLOSED : PANE_IF_WIDE;
    for (int i = 0; i < VIEWS; i++) {
        s->state[i] = views[i]->open(m);
        if (!s->state[i] || !s->detail) {
            screen_free(s);
            return NULL;
        }
    }
    s->view_before = LIVE_METHODS;
    s->view = view < VIEWS ? view : LIVE_METHODS;
    event_list_init(&s->events, &m->settings);
    screen_want(s);
    return s;
}

void screen_free(struct screen *s) {
    if (!s)
        return;
    for (int i = 0; i < VIEWS; i++)
        views[i]->close(s->state[i]);
    screen_stacks_close(s);
    detail_free(s->detail);
    text_free(&s->text);
    free(s);
}

enum live_view screen_view(const struct screen *s) {
    return s->view;
}

static void say(struct screen *s, bool ends_well, const char *fmt, va_list ap) {
    vsnprintf(s->said, sizeof s->said, fmt, ap);
    s->ends_well = ends_well;
}

void screen_say(struct screen *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(s, true, fmt, ap);
    va_end(ap);
}

void screen_pass(struct screen *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say(s, false, fmt, ap);
    va_end(ap);
}

void screen_bring_up(struct screen *s, enum live_view view) {
    if (view != s->view) {
        s->view_before = s->view;
        s->view = view;
    }
    screen_ask(s);
}

/* Types what the help is searched for. */
static void press_in_help_search(struct screen *s, int32_t press) {
    struct line_editor *l = &s->help_search;
    if (press == PRESS_ESCAPE)
        line_editor_open(l, "");
    if (press == PRESS_ENTER || press == PRESS_ESCAPE)
        l->open = false;
    else
        line_editor_press(l, press);
    s->help_top = 0;
}

/* Ends the search, or else closes the help. */
static void leave_help(struct screen *s) {
    s->help = s->help_search.text[0] != '\0';
    line_editor_open(&s->help_search, "");
    s->help_search.open = false;
    s->help_top = 0;
}

static enum screen_wish press_in_help(struct screen *s, int32_t press) {
    if (s->help_search.open) {
        press_in_help_search(s, press);
        return SCREEN_NOTHING;
    }
    switch (keymap_command(screen_keys(s), press, SCOPE_HELP)) {
    case COMMAND_HELP:
        s->help = false;
        break;
    case COMMAND_BACK:
        leave_help(s);
        break;
    case COMMAND_SEARCH:
        line_editor_open(&s->help_search, s->help_search.text);
        break;
    case COMMAND_REDRAW:
        return SCREEN_REDRAW;
    case COMMAND_UP:
        s->help_top--;
        break;
    case COMMAND_DOWN:
        s->help_top++;
        break;
    case COMMAND_PAGE_UP:
        s->help_top -= s->help_page;
        break;
    case COMMAND_PAGE_DOWN:
        s->help_top += s->help_page;
        break;
    case COMMAND_HOME:
        s->help_top = 0;
        break;
    case COMMAND_END:
        s->help_top = s->help_last;
        break;
    default:
        break;
    }
    if (s->help_top > s->help_last)
        s->help_top = s->help_last;
    if (s->help_top < 0)
        s->help_top = 0;
    return SCREEN_NOTHING;
}

void screen_settle(struct screen *s) {
    if (s->typed) {
        s->typed = false;
        screen_ask(s);
    }
}

/* Escape undoes one thing at a time: something of the view itself, then a search that was typed
 * here, then it goes to the place before this one. */
static void go_back(struct screen *s) {
    s->returned = true;
    if (views[s->view]->command(s->state[s->view], COMMAND_BACK, s->model) != VIEW_IGNORED)
        return;
    if (s->model->search[0] && s->searched_at >= s->places)
        s->model->search[0] = '\0';
    else if (screen_return(s))
        return;
    else if (model_widen(s->model))
        screen_ask(s);
    else
        screen_pass(s, "there is nothing to go back to: q quits");
}

static void look_at(struct screen *s, int event) {
    s->event = event;
    screen_ask(s);
}

static void step_event(struct screen *s, int by) {
    int event = model_next_event(s->model, s->event, by);
    if (views[s->view]->event >= 0)
        screen_pass(s, "this view always shows %s", event_kind_name[views[s->view]->event]);
    else if (event == s->event)
        screen_pass(s, "there is no other event: o starts one");
    else
        look_at(s, event);
}

static void show_idle(struct screen *s) {
    struct model_question *q = &s->model->question;
    if (q->event != WIRE_EVENT_WALL) {
        screen_pass(s, "only the wall clock has samples of idle threads");
        return;
    }
    q->idle = !q->idle;
    screen_ask(s);
}

void screen_help(struct screen *s) {
    s->help = true;
    line_editor_open(&s->help_search, "");
    s->help_search.open = false;
    s->help_top = 0;
}

static enum screen_wish press_in_events(struct screen *s, int32_t press) {
    if (s->events.editor.open) {
        event_list_type(&s->events, s->model, press);
        return SCREEN_NOTHING;
    }
    enum command command = keymap_command(screen_keys(s), press, SCOPE_EVENTS);
    if (command == COMMAND_REDRAW)
        return SCREEN_REDRAW;
    if (command == COMMAND_HELP) {
        screen_help(s);
        return SCREEN_NOTHING;
    }
    enum event_list_wish wish = event_list_command(&s->events, s->model, command);
    s->events.open = wish == EVENT_LIST_STAY;
    if (wish == EVENT_LIST_LOOK)
        look_at(s, event_list_chosen(&s->events, s->model));
    return SCREEN_NOTHING;
}

bool screen_wants_switch(const struct screen *s) {
    return s->events.changed;
}

void screen_switch(struct screen *s) {
    event_list_tell(&s->events, s->model);
    if (!s->events.open && s->events.said[0])
        screen_pass(s, "%s", s->events.said);
}

/* Takes the direction that a view's command has chosen for this view. */
static void take_direction(struct screen *s, enum live_view view) {
    uint16_t bit = (uint16_t)(1u << view);
    s->inverted = (uint16_t)((s->inverted & ~bit) | (s->model->question.inverted ? bit : 0));
}

static void follow(struct screen *s, enum view_outcome outcome) {
    enum live_view view = outcome >= VIEW_GO ? (enum live_view)((int)outcome - VIEW_GO) : s->view;
    if (outcome < VIEW_ASK)
        return;
    take_direction(s, view);
    if (!s->model->question.fixed)
        s->event = s->model->question.event; /* a finding leads to the event it is about */
    screen_bring_up(s, view);
}

/* Returns the event whose samples the view on screen shows. */
static int event_of_view(const struct screen *s) {
    return s->view == LIVE_LOCKS ? WIRE_EVENT_LOCK : s->model->question.event;
}

/* Starts the event of a view that is empty because the event does not run. False if it is empty for
 * another reason. */
static bool start_event(struct screen *s) {
    const int event = event_of_view(s);
    if (s->model->counted[event] || !view_can_start(s->model, event))
        return false; /* if it was sampled before, the user may have stopped it */
    event_list_start(&s->events, event);
    return true;
}

static void press_in_view(struct screen *s, enum command command) {
    enum view_outcome outcome = views[s->view]->command(s->state[s->view], command, s->model);
    if (outcome == VIEW_IGNORED && command == COMMAND_ENTER && start_event(s))
        return;
    follow(s, outcome);
}

/* Returns the view beside this one, in the order of their keys; the overview has key 0. */
static enum live_view view_beside(enum live_view view, int by) {
    int place = view == LIVE_OVERVIEW ? 0 : (int)view + 1;
    place = (place + by + VIEWS) % VIEWS;
    return place ? (enum live_view)(place - 1) : LIVE_OVERVIEW;
}

/* Shows another view. False if the command shows none. */
static bool change_view(struct screen *s, enum command command) {
    if (command >= COMMAND_METHODS && command <= COMMAND_OVERVIEW)
        screen_bring_up(s, (enum live_view)(command - COMMAND_METHODS));
    else if (command == COMMAND_NEXT_VIEW)
        screen_bring_up(s, view_beside(s->view, 1));
    else if (command == COMMAND_PREVIOUS_VIEW)
        screen_bring_up(s, view_beside(s->view, -1));
    else if (command == COMMAND_TOGGLE_THREADS)
        screen_bring_up(s, s->view == LIVE_THREADS ? s->view_before : LIVE_THREADS);
    else
        return false;
    return true;
}

/* Returns what the caller has to do. SCREEN_NOTHING: the screen carries out the command itself. */
static enum screen_wish wish_for(struct screen *s, enum command command) {
    static const char *const format[] = {"svg", "html", "collapsed", "jfr", "pprof"};
    if (command >= COMMAND_SAVE_SVG && command <= COMMAND_SAVE_PPROF) {
        s->format = format[command - COMMAND_SAVE_SVG];
        return SCREEN_SAVE;
    }
    switch (command) {
    case COMMAND_QUIT:
        return SCREEN_QUIT;
    case COMMAND_REDRAW:
        return SCREEN_REDRAW;
    case COMMAND_RECORD:
        return SCREEN_RECORD;
    case COMMAND_MOUSE:
        return SCREEN_MOUSE;
    case COMMAND_NEW_TAB:
        return SCREEN_NEW_TAB;
    case COMMAND_NEXT_TAB:
        return SCREEN_NEXT_TAB;
    case COMMAND_PREVIOUS_TAB:
        return SCREEN_PREVIOUS_TAB;
    case COMMAND_CLOSE_TAB:
        return SCREEN_CLOSE_TAB;
    case COMMAND_COPY:
        return screen_copy(s);
    default:
        return SCREEN_NOTHING;
    }
}

static void carry_out(struct screen *s, enum command command) {
    switch (command) {
    case COMMAND_NEXT_EVENT:
        step_event(s, 1);
        break;
    case COMMAND_PREVIOUS_EVENT:
        step_event(s, -1);
        break;
    case COMMAND_EVENTS:
        event_list_open(&s->events, s->model, event_of_view(s));
        break;
    case COMMAND_STRIP:
        s->strip_flipped = !s->strip_flipped;
        break;
    case COMMAND_PANE:
        screen_toggle_pane(s);
        break;
    case COMMAND_FILTER:
        screen_type(s, TYPING_FILTER);
        break;
    case COMMAND_TAG:
        screen_tag(s);
        break;
    case COMMAND_SEARCH:
        screen_type(s, TYPING_SEARCH);
        break;
    case COMMAND_PIPE:
        screen_type(s, TYPING_PIPE);
        break;
    case COMMAND_NEXT_MATCH:
        screen_find_next(s, 1);
        break;
    case COMMAND_PREVIOUS_MATCH:
        screen_find_next(s, -1);
        break;
    case COMMAND_CARRIERS:
        s->model->question.carriers = !s->model->question.carriers;
        screen_ask(s);
        break;
    case COMMAND_IDLE:
        show_idle(s);
        break;
    case COMMAND_FOLD_NATIVE:
        s->model->question.fold_natives = !s->model->question.fold_natives;
        screen_ask(s);
        break;
    case COMMAND_BACK:
        go_back(s);
        break;
    case COMMAND_RESET:
        s->returned = true;
        screen_reset(s);
        break;
    case COMMAND_SAVE_MENU:
        screen_open_menu(s, MENU_SAVE);
        break;
    case COMMAND_SORT_MENU:
        screen_open_menu(s, MENU_SORT);
        break;
    case COMMAND_PALETTE:
        screen_type(s, TYPING_COMMAND);
        break;
    case COMMAND_STACKS:
        screen_stacks_open(s);
        break;
    case COMMAND_HELP:
        screen_help(s);
        break;
    default:
        if (!screen_move_in_time(s, command) && !screen_jump(s, command) &&
            !change_view(s, command))
            press_in_view(s, command);
    }
}

enum screen_wish screen_command(struct screen *s, enum command command) {
    enum screen_wish wish = wish_for(s, command);
    if (wish == SCREEN_NOTHING && command != COMMAND_COPY)
        carry_out(s, command);
    return wish;
}

/* Explains a key that does nothing here. */
static void refuse_key(struct screen *s, int32_t press) {
    char key[PRESS_NAME_SIZE], help[KEY_TEXT];
    keymap_key(screen_keys(s), COMMAND_HELP, SCOPE_VIEWS, help);
    if (press != PRESS_NONE && !(press & PRESS_PASTED))
        screen_pass(s, "%s does nothing %s: %s lists the keys", press_name(press, key),
                    keymap_command(screen_keys(s), press, SCOPE_VIEWS) ? "in this view" : "here",
                    help[0] ? help : "the manual");
}

static enum screen_wish press_on_screen(struct screen *s, int32_t press) {
    if (s->help)
        return press_in_help(s, press);
    if (s->editor.open && press != PRESS_CTRL('L'))
        return screen_press_in_editor(s, press);
    screen_settle(s);
    if (s->events.open)
        return press_in_events(s, press);
    if (s->stacks.open)
        return screen_stacks_press(s, press);
    if (s->menu)
        return screen_press_in_menu(s, press);
    enum command command = keymap_command(screen_keys(s), press, views[s->view]->scope);
    if (command != COMMAND_NONE)
        return screen_command(s, command);
    refuse_key(s, press);
    return SCREEN_NOTHING;
}

enum screen_wish screen_press(struct screen *s, int32_t press) {
    s->said[0] = '\0';
    s->returned = false;
    s->pressed = true;
    if (!s->editor.open) /* a filter counts as a whole, not by its letters */
        screen_note_place(s);
    enum screen_wish wish = press_on_screen(s, press);
    screen_complete(s);
    if (!s->editor.open && !s->returned)
        screen_remember_place(s);
    return wish;
}

static void mouse_in_help(struct screen *s, const struct mouse *press) {
    if (press->action == MOUSE_WHEEL_UP || press->action == MOUSE_WHEEL_DOWN)
        press_in_help(s, press->action == MOUSE_WHEEL_UP ? PRESS_UP : PRESS_DOWN);
}

static bool inside(struct area a, const struct mouse *press) {
    return press->row >= a.row && press->row < a.row + a.rows && press->col >= a.col &&
           press->col < a.col + a.cols;
}

/* On the strip, a press selects a second, and a drag several. False: it is not for the strip. */
static bool mouse_on_strip(struct screen *s, const struct mouse *press) {
    bool on =
        s->strip_row >= 0 && press->row >= s->strip_row && press->row < s->strip_row + STRIP_ROWS;
    bool begins = on && (press->action == MOUSE_PRESS || press->action == MOUSE_TWICE);
    uint64_t at = strip_second_at(s->model, s->cols, press->col);
    if (!begins && !(s->drag_from && (press->action == MOUSE_DRAG)))
        return on;
    if (begins)
        s->drag_from = at;
    if (!at)
        return true;
    model_select(s->model, at < s->drag_from ? at : s->drag_from,
                 at < s->drag_from ? s->drag_from : at);
    s->typed = true; /* asked when the screen is drawn: many moves may come together */
    return true;
}

static void mouse_in_view(struct screen *s, const struct mouse *press) {
    if (mouse_on_strip(s, press) || s->menu)
        return;
    if (press->row == s->tabs_row && press->action == MOUSE_PRESS) {
        const struct canvas line = {.rows = 1, .cols = s->cols};
        int view = tab_line_at(&line, s->model, s->view, press->col);
        if (view >= 0)
            screen_bring_up(s, (enum live_view)view);
    } else if (views[s->view]->mouse && inside(s->area, press)) {
        follow(s, views[s->view]->mouse(s->state[s->view], s->area, press, s->model));
    } else if (screen_pane_cols(s, &(struct canvas){.rows = s->rows, .cols = s->cols})) {
        follow(s, screen_pane_mouse(s, press));
    }
}

enum screen_wish screen_mouse(struct screen *s, const struct mouse *at) {
    struct mouse press = *at;
    bool begins = at->action == MOUSE_PRESS || at->action == MOUSE_TWICE;
    s->pressed = true;
    press.row -= s->tabs_above;
    if (begins || at->action == MOUSE_RELEASE)
        s->drag_from = 0;
    if (s->help) {
        mouse_in_help(s, &press);
        return SCREEN_NOTHING;
    }
    if (press.row < 0) /* the line of JVMs: a click shows the next one */
        return press.action == MOUSE_PRESS ? SCREEN_NEXT_TAB : SCREEN_NOTHING;
    if (s->events.open) {
        event_list_mouse(&s->events, s->model, &press);
        return SCREEN_NOTHING;
    }
    if (s->stacks.open) {
        screen_stacks_mouse(s, &press);
        return SCREEN_NOTHING;
    }
    screen_settle(s);
    if (press.row == s->footer_row && press.action == MOUSE_PRESS && !s->editor.open) {
        const struct canvas line = {.rows = 1, .cols = s->cols};
        int32_t key = footer_press_at(&line, screen_keys(s), views[s->view]->scope, press.col);
        return key == PRESS_NONE ? SCREEN_NOTHING : screen_press(s, key);
    }
    if (s->editor.open) /* the place was noted before it was opened */
        return SCREEN_NOTHING;
    if (begins)
        screen_note_place(s);
    mouse_in_view(s, &press);
    if (begins) {
        screen_complete(s);
        screen_remember_place(s);
    }
    return SCREEN_NOTHING;
}

bool screen_hovers(const struct screen *s) {
    return views[s->view]->hovers && !s->help && !s->events.open && !s->stacks.open;
}

const char *screen_format(const struct screen *s) {
    return s->format ? s->format : "svg";
}

const char *screen_text(const struct screen *s) {
    return s->text.data ? s->text.data : "";
}

void screen_line_rate(struct screen *s, uint64_t bytes_per_second, bool slow) {
    s->line_rate = bytes_per_second;
    s->line_slow = slow;
}

void screen_set_tabs(struct screen *s, const struct screen_tab *tab, int count) {
    s->tabs = count < SCREEN_TABS_MAX ? count : SCREEN_TABS_MAX;
    for (int i = 0; i < s->tabs; i++) {
        s->tab[i] = tab[i];
        snprintf(s->tab_name[i], sizeof s->tab_name[i], "%s", tab[i].name);
        s->tab[i].name = s->tab_name[i];
    }
}
