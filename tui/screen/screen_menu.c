/* The menus in the status line: one more key chooses the format of a file, or the column to sort
 * by. */
#include "tui/screen/screen_state.h"
#include "tui/terminal/press_name.h"

#include <stdio.h>

/* What the save menu offers. `text` has the key in brackets. */
static const struct {
    int32_t press;
    const char *text, *format;
} formats[] = {
    {'s', "[s]vg", "svg"},     {'h', "[h]tml", "html"},           {'j', "[j]fr", "jfr"},
    {'p', "[p]prof", "pprof"}, {'c', "[c]ollapsed", "collapsed"},
};
#define FORMATS (sizeof formats / sizeof *formats)

static const char letters[] = "123456789abcdefghijklmnoprstuvwxyz"; /* q leaves the menu */

void screen_open_menu(struct screen *s, enum screen_menu menu) {
    s->menu = menu;
}

static enum screen_wish save(struct screen *s, int32_t press) {
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].press == press) {
            s->format = formats[i].format;
            return SCREEN_SAVE;
        }
    }
    return SCREEN_NOTHING;
}

static bool sort(struct screen *s, int32_t press) {
    const struct view_type *v = views[s->view];
    for (int i = 0; letters[i]; i++)
        if (letters[i] == press)
            return v->sort(s->state[s->view], s->model, i);
    return false;
}

/* Any key closes the menu, so that nobody is caught in it. */
enum screen_wish screen_press_in_menu(struct screen *s, int32_t press) {
    enum screen_menu menu = s->menu;
    char name[PRESS_NAME_SIZE];
    if (press == PRESS_NONE || press & PRESS_PASTED)
        return SCREEN_NOTHING;
    s->menu = MENU_NONE;
    if (press == PRESS_ESCAPE || press == 'q' || press == PRESS_CTRL('C'))
        return SCREEN_NOTHING;
    enum screen_wish wish = menu == MENU_SAVE ? save(s, press) : SCREEN_NOTHING;
    if (wish == SCREEN_NOTHING && (menu == MENU_SAVE || !sort(s, press)))
        screen_pass(s, "%s is not in this menu: nothing was %s", press_name(press, name),
                    menu == MENU_SAVE ? "written" : "sorted");
    return wish;
}

static void draw_formats(struct canvas *c, int row, int cols) {
    int at = canvas_text(c, row, 0, cols, ROLE_EDITOR, "save: ");
    for (size_t i = 0; i < FORMATS; i++)
        at += canvas_text(c, row, at, cols - at, ROLE_EDITOR, formats[i].text) + 1;
    canvas_head(c, row, at, cols - at, ROLE_DIM, " Esc leaves");
}

static void draw_columns(const struct screen *s, struct canvas *c, int row, int cols) {
    const struct view_type *v = views[s->view];
    char head[32], text[48];
    bool on;
    int at = canvas_text(c, row, 0, cols, ROLE_EDITOR, "sort by: ");
    for (int i = 0; letters[i] && v->column(s->state[s->view], s->model, c, i, head, &on); i++) {
        int n = snprintf(text, sizeof text, on ? "[%c %s]" : "%c %s", letters[i], head);
        if (at + canvas_width(c, text) > cols && n > 0) {
            canvas_text(c, row, cols - 1, 1, ROLE_EDITOR, canvas_glyph(c, GLYPH_ELLIPSIS));
            return;
        }
        at += canvas_text(c, row, at, cols - at, on ? ROLE_VALUE : ROLE_EDITOR, text) + 2;
    }
}

void screen_draw_menu(const struct screen *s, struct canvas *c, int row, int cols) {
    if (s->menu == MENU_SAVE)
        draw_formats(c, row, cols);
    else
        draw_columns(s, c, row, cols);
}
