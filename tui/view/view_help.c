#include "tui/view/view_help.h"

#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

#define TWO_COLUMNS 130 /* from this width on */
#define TERM_COLS 12
#define LINES_MAX 320
#define LINE_BYTES 128

/* A term and its meaning. */
static const char *const legend[][2] = {
    {"SELF%", "share of the time (bytes, counts) with the method on top"},
    {NULL, "margin of error of SELF%, at 95% confidence"},
    {"TOTAL%", "the same, with the method anywhere in the stack"},
    {"CHANGE", "percentage points since the baseline; *: more than chance"},
    {"T", "how it ran, mostly: I interpreted, 1 C1, 2 C2, i inlined"},
    {"RUN AS", "how the method ran, in percent of its samples; see T"},
    {"LAST MINUTE", "weight, 5 s per cell; the next cell will be drawn at │"},
    {"CPU%", "CPU time in percent of one core, as the kernel counts it"},
    {"SHARE%", "of the event's total; locks: of the time waited"},
    {"STATE", "the thread's state in the kernel now: run, sleep, disk ..."},
    {"JAVA STATE", "Thread.State; RUN is RUNNABLE, TIMED is TIMED_WAITING ..."},
    {"STATES", "percent of a thread's wall clock time, by what it did"},
    {"idle hidden", "part of the wall clock samples that is left out"},
    {"native folded", "native, C++ and kernel frames count for their Java callers"},
    {"BLOCK%", "share of the thread's time spent waiting for locks"},
    {"ALLOC/S", "bytes allocated per second"},
    {"alloc% ...", "the method's or thread's share of another event"},
    {"virt", "a virtual thread; TID is the thread that carried it last"},
    {"K", "M a monitor, L a lock of java.util.concurrent, S a shared one"},
    {"g G  s S", "g: GC pause in this second, s: other; G, S: 100 ms or more"},
    {"drops", "samples lost because they came faster than they were read"},
    {"failed", "stacks that could not be walked to their root"},
    {"precise", "methods that were recompiled, and the time it took the JVM"},
    {"coverage", "share of the threads' time that wall samples cover"},
    {"BIASED", "samples at safepoints only: not where the time goes"},
    {"cpu", "cores the JVM uses, of those it may use"},
    {"overhead", "CPU% of jtop-prof: in the JVM, and here in this screen"},
};
#define LEGEND ((int)(sizeof legend / sizeof legend[0]))

enum line_kind { LINE_BLANK, LINE_TITLE, LINE_TERM };

struct line {
    enum line_kind kind;
    int dim_at, dim; /* columns of the text that name views: the first one, their number */
    char term[KEY_TEXT];
    char text[LINE_BYTES];
};

struct page {
    const struct canvas *c;
    const char *search; /* only terms with this text; "": all */
    int text_cols;
    int lines;
    struct line line[LINES_MAX];
};

static struct line *add(struct page *p, enum line_kind kind) {
    if (p->lines == LINES_MAX)
        return NULL;
    struct line *l = &p->line[p->lines++];
    *l = (struct line){.kind = kind};
    return l;
}

static void add_title(struct page *p, const char *title) {
    if (p->lines)
        add(p, LINE_BLANK);
    struct line *l = add(p, LINE_TITLE);
    if (l)
        snprintf(l->text, sizeof l->text, "%s", title);
}

/* Returns how many bytes of the text fit into a line, up to a blank. */
static size_t line_bytes(const struct page *p, const char *text) {
    size_t n = strlen(text), fits = 0;
    if (canvas_width(p->c, text) <= p->text_cols && n < LINE_BYTES)
        return n;
    for (size_t i = 0; i < n && i < LINE_BYTES - 1; i++) {
        char part[LINE_BYTES];
        snprintf(part, sizeof part, "%.*s", (int)i, text);
        if (canvas_width(p->c, part) > p->text_cols)
            break;
        if (text[i] == ' ')
            fits = i;
    }
    return fits ? fits : n;
}

/* Writes a text with a special character drawn as this terminal can. */
static void write_text(const struct page *p, const char *text, char *out, size_t size) {
    static const struct {
        const char *in_text;
        enum glyph glyph;
    } special[] = {{"…", GLYPH_ELLIPSIS}, {"│", GLYPH_PIPE}};
    snprintf(out, size, "%s", text);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const char *at = strstr(text, special[i].in_text);
        if (at)
            snprintf(out, size, "%.*s%s%s", (int)(at - text), text,
                     canvas_glyph(p->c, special[i].glyph), at + strlen(special[i].in_text));
    }
}

/* Adds a term, broken into as many lines as needed. The bytes `from` to `to` name views. */
static void add_term(struct page *p, const char *term, const char *meaning, int from, int to) {
    char text[sizeof((struct key_help *)0)->text];
    write_text(p, meaning, text, sizeof text);
    if (!strcasestr(text, p->search) && !strcasestr(term, p->search))
        return;
    for (const char *rest = text; *rest;) {
        size_t n = line_bytes(p, rest);
        struct line *l = add(p, LINE_TERM);
        if (!l)
            return;
        snprintf(l->text, sizeof l->text, "%.*s", (int)n, rest);
        if (rest == text)
            snprintf(l->term, sizeof l->term, "%s", term);
        int at = (int)(rest - text), first = from > at ? from - at : 0, end = to - at;
        end = end < (int)n ? end : (int)n;
        l->dim_at = first;
        l->dim = end > first ? end - first : 0;
        rest += n;
        rest += strspn(rest, " ");
    }
}

static void add_binding(struct page *p, const struct keymap *k, const struct key_binding *b,
                        bool places) {
    struct key_help help;
    const char *keys = keymap_keys(k, b);
    keymap_help(b, &help);
    if (places)
        add_term(p, keys[0] ? keys : "-", help.text, help.from, help.to);
    else
        add_term(p, keys[0] ? keys : "-", b->help, 0, 0);
}

/* Removes a title below which the search has left nothing. */
static void close_section(struct page *p, int begin) {
    if (p->lines && p->line[p->lines - 1].kind == LINE_TITLE)
        p->lines = begin;
}

/* Adds the keys that this view has, and most others have not. */
static void add_own_keys(struct page *p, const struct help_ask *ask) {
    char title[64];
    int begin = p->lines;
    snprintf(title, sizeof title, "In %s", ask->place);
    add_title(p, title);
    for (const struct key_binding *b = key_bindings; b->help; b++)
        if ((b->scope & ask->scope) && (b->scope & SCOPE_VIEWS) != SCOPE_VIEWS &&
            keymap_section(b) >= 0)
            add_binding(p, ask->keys, b, false);
    close_section(p, begin);
}

static void write_page(struct page *p, const struct help_ask *ask) {
    if (ask->scope)
        add_own_keys(p, ask);
    for (int s = 0; keymap_sections[s]; s++) {
        int begin = p->lines;
        add_title(p, keymap_sections[s]);
        for (const struct key_binding *b = key_bindings; b->help; b++)
            if (keymap_section(b) == s)
                add_binding(p, ask->keys, b, true);
        close_section(p, begin);
    }
    int begin = p->lines;
    add_title(p, "What the columns say");
    for (int i = 0; i < LEGEND; i++)
        add_term(p, legend[i][0] ? legend[i][0] : canvas_glyph(p->c, GLYPH_PLUS_MINUS),
                 legend[i][1], 0, 0);
    close_section(p, begin);
}

/* Returns where the second column begins: at the title that makes both columns most equal. */
static int middle(const struct page *p) {
    int best = p->lines;
    for (int i = 1; i < p->lines; i++) {
        int now = i > p->lines - i ? i : p->lines - i;
        int before = best > p->lines - best ? best : p->lines - best;
        if (p->line[i].kind == LINE_TITLE && now < before)
            best = i;
    }
    return best;
}

static void draw_line(struct canvas *c, int row, int col, int cols, const struct line *l) {
    if (l->kind == LINE_TITLE)
        canvas_text(c, row, col, cols, ROLE_VALUE, l->text);
    if (l->kind != LINE_TERM)
        return;
    canvas_head(c, row, col + 2, TERM_COLS, ROLE_KEY, l->term);
    canvas_text(c, row, col + TERM_COLS + 3, cols - TERM_COLS - 3, ROLE_TEXT, l->text);
    canvas_role(c, row, col + TERM_COLS + 3 + l->dim_at, l->dim, ROLE_DIM);
}

/* Draws a column of the page, from its line `top` on. Returns its number of lines. */
static int draw_column(struct canvas *c, const struct page *p, int begin, int end, int top, int col,
                       int cols) {
    for (int i = begin + top, row = 1; i < end && row < c->rows - 1; i++, row++)
        draw_line(c, row, col, cols, &p->line[i]);
    return end - begin;
}

static void draw_ends(struct canvas *c, const struct help_ask *ask, bool scrolls,
                      struct caret *caret) {
    const struct keymap *k = ask->keys;
    char back[KEY_TEXT], help[KEY_TEXT], down[KEY_TEXT], page[KEY_TEXT], search[KEY_TEXT];
    canvas_text(c, 0, 1, c->cols, ROLE_TITLE, "jtop-prof: keys");
    if (ask->search && ask->search->open) {
        *caret = (struct caret){.row = c->rows - 1, .visible = true};
        caret->col = view_editor(c, c->rows - 1, "search: ", ask->search);
        return;
    }
    keymap_key(k, COMMAND_BACK, SCOPE_HELP, back);
    keymap_key(k, COMMAND_HELP, SCOPE_HELP, help);
    keymap_key(k, COMMAND_DOWN, SCOPE_HELP, down);
    keymap_key(k, COMMAND_PAGE_DOWN, SCOPE_HELP, page);
    keymap_key(k, COMMAND_SEARCH, SCOPE_HELP, search);
    int at = 1;
    if (scrolls)
        at += canvas_textf(c, c->rows - 1, 1, c->cols - 1, ROLE_DIM, "%s %s scroll   ", down, page);
    if (ask->search)
        at += canvas_textf(c, c->rows - 1, at, c->cols - at, ROLE_DIM, "%s search   ", search);
    canvas_textf(c, c->rows - 1, at, c->cols - at, ROLE_DIM, "%s %s back", back, help);
    if (ask->search && ask->search->text[0])
        canvas_textf(c, 0, 18, c->cols - 18, ROLE_VALUE, "with \"%s\"", ask->search->text);
}

int view_help_draw(struct canvas *c, const struct help_ask *ask, struct caret *caret) {
    int columns = c->cols >= TWO_COLUMNS ? 2 : 1;
    int cols = (c->cols - 1) / columns - 1;
    struct page p = {
        .c = c, .search = ask->search ? ask->search->text : "", .text_cols = cols - TERM_COLS - 3};
    write_page(&p, ask);
    if (!p.lines)
        canvas_text(c, 2, 1, c->cols, ROLE_DIM, "no key has this text");
    int half = columns == 2 ? middle(&p) : p.lines;
    int left = draw_column(c, &p, 0, half, ask->top, 1, cols);
    int right = draw_column(c, &p, half, p.lines, ask->top, cols + 2, cols);
    int lines = left > right ? left : right, room = c->rows - 2;
    int last = lines > room ? lines - room : 0;
    draw_ends(c, ask, last > 0, caret);
    return last;
}
