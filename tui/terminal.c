#include "tui/terminal.h"

#include "tui/press.h"
#include "tui/signals.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

struct terminal {
    SCREEN *screen;
    WINDOW *input; /* a pad: reading from a window would refresh it */
    struct canvas shown;
    bool all; /* send everything next time */
    attr_t attributes[ROLES];
    short pair[ROLES];
    cchar_t *line; /* one row as curses takes it */
    int line_cols;
    int caret; /* as curs_set was told last; -1: not yet */
    struct termios before;
};

/* Appends a capability without its padding marks ("$<5>"), which only a serial line needs. */
static void add_capability(char *out, size_t size, const char *name) {
    char wanted[8];
    snprintf(wanted, sizeof wanted, "%s", name);
    const char *s = tigetstr(wanted);
    if (!s || (intptr_t)s == -1)
        return;
    size_t n = strlen(out);
    while (*s && n + 1 < size) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end)
            s = end + 1;
        else
            out[n++] = *s++;
    }
    out[n] = '\0';
}

/* Colours a terminal does not have become its default one; marks and letters say the same. */
static short colour(int16_t c) {
    return c == THEME_DEFAULT_COLOUR || c >= COLORS ? (short)-1 : (short)c;
}

static attr_t curses_attributes(uint8_t a) {
    return (a & THEME_BOLD ? A_BOLD : A_NORMAL) | (a & THEME_DIM ? A_DIM : A_NORMAL) |
           (a & THEME_REVERSE ? A_REVERSE : A_NORMAL) |
           (a & THEME_UNDERLINE ? A_UNDERLINE : A_NORMAL);
}

static void set_up_roles(struct terminal *t, const struct theme *theme, bool mono) {
    bool colours = !mono && has_colors() && start_color() == OK && COLOR_PAIRS > ROLES;
    if (colours && use_default_colors() == ERR)
        colours = false;
    for (int i = 0; i < ROLES; i++) {
        const struct theme_style *s = &theme->style[i];
        t->attributes[i] = curses_attributes(colours ? s->attributes : s->mono);
        t->pair[i] = 0;
        if (colours &&
            init_pair((short)(i + 1), colour(s->foreground), colour(s->background)) == OK)
            t->pair[i] = (short)(i + 1);
    }
}

int terminal_open(struct terminal **out, const struct theme *theme, bool mono, struct err *e) {
    struct termios modes;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDOUT_FILENO, &modes))
        return err_set(e, ENOTTY,
                       "%s is no terminal: the live screen needs one; try --batch, or -d N for a "
                       "profile of N seconds",
                       isatty(STDOUT_FILENO) ? "stdin" : "stdout");
    struct terminal *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(e, ENOMEM, "no memory for the screen");
    t->caret = -1;
    t->all = true;
    t->before = modes;
    t->screen = newterm(NULL, stdout, stdin);
    if (!t->screen) {
        const char *term = getenv("TERM");
        free(t);
        return err_set(e, ENOTTY,
                       "the terminal type TERM=%.40s is not known here: try "
                       "TERM=xterm-256color or TERM=vt100",
                       term ? term : "");
    }
    set_term(t->screen);
    const char *move = tigetstr("cup");
    if (!move || move == (const char *)-1) {
        endwin();
        delscreen(t->screen);
        free(t);
        return err_set(e, ENOTTY,
                       "this terminal cannot move its cursor (TERM=%.40s): try --batch for frames "
                       "as text",
                       getenv("TERM") ? getenv("TERM") : "");
    }
    char back[SIGNALS_GUARD_BYTES] = "";
    add_capability(back, sizeof back, "sgr0");
    add_capability(back, sizeof back, "op");
    add_capability(back, sizeof back, "cnorm");
    add_capability(back, sizeof back, "rmkx");
    add_capability(back, sizeof back, "rmcup");
    add_capability(back, sizeof back, "cr");
    signals_guard(STDOUT_FILENO, &modes, back, strlen(back));

    set_escdelay(25);
    cbreak();
    noecho();
    nonl();
    typeahead(-1); /* a press waiting must not hold back the answer to the last one */
    t->input = newpad(1, 1);
    if (!t->input) {
        terminal_close(t);
        return err_set(e, ENOMEM, "no memory for the screen");
    }
    nodelay(t->input, TRUE);
    keypad(t->input, TRUE);
    set_up_roles(t, theme, mono);
    *out = t;
    return 0;
}

void terminal_close(struct terminal *t) {
    if (!t)
        return;
    if (t->input)
        delwin(t->input);
    /* A terminal that was stopped would hold endwin for ever; its modes can be put back anyway. */
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&p, 1, 1000) == 1 && (p.revents & POLLOUT))
        endwin();
    else
        tcsetattr(STDOUT_FILENO, TCSANOW, &t->before);
    signals_unguard();
    delscreen(t->screen);
    canvas_free(&t->shown);
    free(t->line);
    free(t);
}

void terminal_size(struct terminal *t, int *rows, int *cols) {
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0 &&
        (w.ws_row != LINES || w.ws_col != COLS)) {
        resizeterm(w.ws_row, w.ws_col);
        t->all = true;
    }
    *rows = LINES;
    *cols = COLS;
}

bool terminal_writable(const struct terminal *t) {
    (void)t;
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1;
}

static void show_row(struct terminal *t, const struct canvas *c, int row) {
    const struct cell *from = c->cells + (size_t)row * (size_t)c->cols;
    int n = 0;
    for (int col = 0; col < c->cols; col++) {
        const struct cell *cell = &from[col];
        if (cell->width == 0)
            continue;
        wchar_t text[2 + CELL_MARKS] = {0};
        memcpy(text, cell->text, sizeof cell->text);
        setcchar(&t->line[n++], text, t->attributes[cell->role], t->pair[cell->role], NULL);
    }
    mvwadd_wchnstr(stdscr, row, 0, t->line, n);
}

static void show_caret(struct terminal *t, const struct caret *at) {
    if (t->caret != at->visible) {
        curs_set(at->visible ? 1 : 0);
        t->caret = at->visible;
    }
    wmove(stdscr, at->row < LINES ? at->row : LINES - 1, at->col < COLS ? at->col : COLS - 1);
}

void terminal_show(struct terminal *t, const struct canvas *c, const struct caret *at) {
    if (t->shown.rows != c->rows || t->shown.cols != c->cols || t->line_cols != c->cols) {
        cchar_t *line = realloc(t->line, (size_t)c->cols * sizeof *line);
        if (!line || canvas_resize(&t->shown, c->rows, c->cols)) {
            if (line)
                t->line = line;
            return; /* no memory: the screen stays as it is */
        }
        t->line = line;
        t->line_cols = c->cols;
        t->all = true;
    }
    size_t bytes = (size_t)c->cols * sizeof *c->cells;
    for (int row = 0; row < c->rows && row < LINES; row++) {
        const struct cell *now = c->cells + (size_t)row * (size_t)c->cols;
        struct cell *was = t->shown.cells + (size_t)row * (size_t)c->cols;
        if (!t->all && !memcmp(was, now, bytes))
            continue;
        show_row(t, c, row);
        memcpy(was, now, bytes);
    }
    if (t->all)
        clearok(curscr, TRUE);
    t->all = false;
    show_caret(t, at);
    wrefresh(stdscr);
}

void terminal_redraw(struct terminal *t) {
    t->all = true;
}

void terminal_resume(struct terminal *t) {
    reset_prog_mode();
    t->all = true;
}

static int32_t press_of_code(wint_t code) {
    static const struct {
        int code;
        int32_t press;
    } map[] = {
        {KEY_UP, PRESS_UP},         {KEY_DOWN, PRESS_DOWN},
        {KEY_LEFT, PRESS_LEFT},     {KEY_RIGHT, PRESS_RIGHT},
        {KEY_PPAGE, PRESS_PAGE_UP}, {KEY_NPAGE, PRESS_PAGE_DOWN},
        {KEY_HOME, PRESS_HOME},     {KEY_END, PRESS_END},
        {KEY_A1, PRESS_HOME},       {KEY_C1, PRESS_END},
        {KEY_A3, PRESS_PAGE_UP},    {KEY_C3, PRESS_PAGE_DOWN},
        {KEY_DC, PRESS_DELETE},     {KEY_BTAB, PRESS_BACK_TAB},
        {KEY_ENTER, PRESS_ENTER},   {KEY_BACKSPACE, PRESS_BACKSPACE},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if ((wint_t)map[i].code == code)
            return map[i].press;
    return PRESS_NONE;
}

int32_t terminal_press(struct terminal *t) {
    wint_t ch;
    int r = wget_wch(t->input, &ch);
    if (r == ERR)
        return -1;
    if (r == KEY_CODE_YES)
        return press_of_code(ch);
    if (ch == '\r' || ch == '\n')
        return PRESS_ENTER;
    if (ch == 0x08)
        return PRESS_BACKSPACE;
    return ch < PRESS_UP ? (int32_t)ch : PRESS_NONE;
}

int terminal_fd(const struct terminal *t) {
    (void)t;
    return STDIN_FILENO;
}

void terminal_suspend(struct terminal *t) {
    endwin();
    signals_stop_self();
    t->all = true;
    t->caret = -1;
    int rows, cols;
    terminal_size(t, &rows, &cols);
}
