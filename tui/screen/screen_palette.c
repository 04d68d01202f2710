/* The palette: a command is typed by its name. Names are those of the config file. Tab completes,
 * and the names that are possible are shown while it is typed. */
#include "tui/screen/screen_state.h"

#include <stdio.h>
#include <string.h>

#define NAMES 128

/* The commands that begin with what was typed, in the order of the key table. */
struct matches {
    const struct key_binding *row[NAMES];
    int count;
    bool exact; /* the first one is what was typed */
};

static bool is_listed(const struct matches *m, const char *name) {
    for (int i = 0; i < m->count; i++)
        if (!strcmp(m->row[i]->name, name))
            return true;
    return false;
}

static void find_matches(const struct screen *s, const char *typed, struct matches *m) {
    m->count = 0;
    m->exact = false;
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (!(b->scope & views[s->view]->scope) || b->command == COMMAND_PALETTE ||
            strncmp(b->name, typed, strlen(typed)) != 0 || m->count == NAMES ||
            is_listed(m, b->name))
            continue;
        if (strcmp(b->name, typed) != 0 || m->exact) {
            m->row[m->count++] = b;
            continue;
        }
        for (int i = m->count++; i > 0; i--)
            m->row[i] = m->row[i - 1];
        m->row[0] = b;
        m->exact = true;
    }
}

/* Returns how many bytes all matches have in common. */
static size_t common(const struct matches *m) {
    size_t n = m->count ? strlen(m->row[0]->name) : 0;
    for (int i = 1; i < m->count; i++) {
        size_t k = 0;
        while (k < n && m->row[i]->name[k] == m->row[0]->name[k])
            k++;
        n = k;
    }
    return n;
}

void screen_complete_command(struct screen *s) {
    struct matches m;
    char text[LINE_EDITOR_BYTES];
    find_matches(s, s->editor.text, &m);
    size_t n = common(&m);
    if (n <= s->editor.length || n >= sizeof text)
        return;
    memcpy(text, m.row[0]->name, n);
    text[n] = '\0';
    line_editor_open(&s->editor, text);
}

enum screen_wish screen_run_typed(struct screen *s) {
    struct matches m;
    find_matches(s, s->editor.text, &m);
    if (!s->editor.length)
        return SCREEN_NOTHING;
    if (!m.count)
        screen_pass(s, "there is no command \"%s\" in this view: : and Tab list them",
                    s->editor.text);
    else if (m.count > 1 && !m.exact)
        screen_pass(s, "\"%s\" begins several names: %s, %s%s", s->editor.text, m.row[0]->name,
                    m.row[1]->name, m.count > 2 ? " …" : "");
    else
        return screen_command(s, m.row[0]->command);
    return SCREEN_NOTHING;
}

void screen_draw_palette(const struct screen *s, struct canvas *c, int row, int col, int cols) {
    struct matches m;
    find_matches(s, s->editor.text, &m);
    int at = col;
    if (m.count == 1 || m.exact) {
        canvas_head(c, row, at, col + cols - at, ROLE_DIM, m.row[0]->help);
        return;
    }
    for (int i = 0; i < m.count && at < col + cols; i++)
        at += canvas_head(c, row, at, col + cols - at, ROLE_DIM, m.row[i]->name) + 1;
}
