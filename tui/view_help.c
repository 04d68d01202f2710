#include "tui/view_help.h"

#include "tui/keymap.h"

#include <stdio.h>

static const struct {
    unsigned scope;
    const char *title;
} sections[] = {
    {SCOPE_VIEWS, "In the views"},
    {SCOPE_METHODS | SCOPE_THREADS, "In methods and threads"},
    {SCOPE_THREADS, "In the threads"},
    {SCOPE_TREE, "In the call tree"},
    {SCOPE_PICKER, "In the list of JVMs"},
};
#define SECTIONS ((int)(sizeof sections / sizeof sections[0]))

/* Term and meaning. The first term is a glyph, of the kind the terminal can show. */
static const char *const legend[][2] = {
    {NULL, "half of the 95% interval of SELF%: fewer samples, less certain"},
    {"SELF%", "samples with the method on top of the stack"},
    {"TOTAL%", "samples with the method anywhere in the stack"},
    {"T", "how it ran, mostly: I interpreted, 1 C1, 2 C2, i inlined"},
    {"CPU%", "of one core, as the kernel counts it"},
    {"virt", "a virtual thread; TID is the thread that carried it last"},
    {"SHARE%", "of the samples"},
    {"drops", "samples lost because they came faster than they were read"},
    {"failed", "stacks that could not be walked to their end"},
    {"precise", "methods made to compile again, and the time that took the JVM"},
    {"own", "CPU% of jtop-prof itself: in the JVM + in this screen"},
};
#define LEGEND ((int)(sizeof legend / sizeof legend[0]))

/* The section a key stands in: what it is heard in, the picker's share left aside. */
static int section_of(const struct key_binding *b) {
    for (int i = 0; i < SECTIONS; i++)
        if ((b->scope & SCOPE_VIEWS ? b->scope & SCOPE_VIEWS : b->scope) == sections[i].scope)
            return i;
    return -1;
}

struct page {
    struct canvas *c;
    int line, top;
};

/* The row of the next line, or -1 where it is not on screen. */
static int next_line(struct page *p) {
    int row = p->line++ - p->top + 1;
    return row >= 1 && row < p->c->rows - 1 ? row : -1;
}

int view_help_draw(struct canvas *c, int top) {
    struct page p = {.c = c, .top = top};
    canvas_text(c, 0, 1, c->cols, ROLE_TITLE, "jtop-prof: keys");
    for (int s = 0; s < SECTIONS; s++) {
        if (s)
            next_line(&p);
        canvas_text(c, next_line(&p), 1, c->cols, ROLE_VALUE, sections[s].title);
        for (const struct key_binding *b = key_bindings; b->help; b++) {
            if (section_of(b) != s)
                continue;
            int row = next_line(&p);
            canvas_text(c, row, 3, 12, ROLE_KEY, b->keys);
            canvas_text(c, row, 16, c->cols - 16, ROLE_TEXT, b->help);
        }
    }
    next_line(&p);
    canvas_text(c, next_line(&p), 1, c->cols, ROLE_VALUE, "What the columns say");
    for (int i = 0; i < LEGEND; i++) {
        int row = next_line(&p);
        const char *term = legend[i][0] ? legend[i][0] : canvas_glyph(c, GLYPH_PLUS_MINUS);
        canvas_text(c, row, 3, 12, ROLE_KEY, term);
        canvas_text(c, row, 16, c->cols - 16, ROLE_TEXT, legend[i][1]);
    }
    int room = c->rows - 2;
    int last = p.line > room ? p.line - room : 0;
    canvas_textf(c, c->rows - 1, 1, c->cols - 1, ROLE_DIM, "%sEsc q ? back",
                 last ? "Up Down PgUp PgDn scroll   " : "");
    return last;
}
