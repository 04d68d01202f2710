#include "tui/terminal/terminfo.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curses.h>
#include <term.h>

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

static bool get(char out[TERMINFO_TEXT], const char *name) {
    out[0] = '\0';
    add_capability(out, TERMINFO_TEXT, name);
    return out[0] != '\0';
}

static bool is(const char *name, const char *sequence) {
    char s[TERMINFO_TEXT];
    return get(s, name) && !strcmp(s, sequence);
}

static bool flag(const char *name) {
    char wanted[8];
    snprintf(wanted, sizeof wanted, "%s", name);
    return tigetflag(wanted) == 1;
}

static int number(const char *name) {
    char wanted[8];
    snprintf(wanted, sizeof wanted, "%s", name);
    int n = tigetnum(wanted);
    return n > 0 ? n : 0;
}

/* Reads attributes and colours. They are combined into one SGR only if all of them are SGR. */
static void read_looks(struct terminfo *t) {
    char colour[TERMINFO_TEXT];
    t->bold = get(t->bold_on, "bold");
    t->dim = get(t->dim_on, "dim");
    t->reverse = get(t->reverse_on, "rev");
    t->underline = get(t->underline_on, "smul");
    t->ansi = t->ansi && (!t->bold || !strcmp(t->bold_on, "\033[1m")) &&
              (!t->dim || !strcmp(t->dim_on, "\033[2m")) &&
              (!t->reverse || !strcmp(t->reverse_on, "\033[7m")) &&
              (!t->underline || !strcmp(t->underline_on, "\033[4m"));
    t->single_off = is("rmul", "\033[24m");
    t->colourless = (unsigned)number("ncv");
    t->direct = flag("RGB") || number("RGB") || get(colour, "RGB");
    int colours = number("colors");
    if (t->ansi && is("op", "\033[39;49m") && get(colour, "setaf") && !strncmp(colour, "\033[", 2))
        t->colours = colours >= 256 ? 256 : colours >= 16 ? 16 : colours >= 8 ? 8 : 0;
}

/* Reads the bytes of keys. Left out are bytes that mean something else too: a single control
 * character, and the digits of an application keypad, which old entries call F5 to F10. */
static void read_keys(struct terminfo *t) {
    static const struct {
        char name[6];
        int32_t press;
    } keys[] = {
        {"kcuu1", PRESS_UP},      {"kcud1", PRESS_DOWN},   {"kcub1", PRESS_LEFT},
        {"kcuf1", PRESS_RIGHT},   {"kpp", PRESS_PAGE_UP},  {"knp", PRESS_PAGE_DOWN},
        {"khome", PRESS_HOME},    {"kend", PRESS_END},     {"kdch1", PRESS_DELETE},
        {"kcbt", PRESS_BACK_TAB}, {"kent", PRESS_ENTER},   {"kbs", PRESS_BACKSPACE},
        {"kf1", PRESS_F1},        {"kf2", PRESS_F1 + 1},   {"kf3", PRESS_F1 + 2},
        {"kf4", PRESS_F1 + 3},    {"kf5", PRESS_F1 + 4},   {"kf6", PRESS_F1 + 5},
        {"kf7", PRESS_F1 + 6},    {"kf8", PRESS_F1 + 7},   {"kf9", PRESS_F1 + 8},
        {"kf10", PRESS_F1 + 9},   {"kf11", PRESS_F1 + 10}, {"kf12", PRESS_F12},
    };
    _Static_assert(sizeof keys / sizeof keys[0] <= INPUT_KEYS, "room for each key");
    char s[TERMINFO_TEXT], mouse[TERMINFO_TEXT];
    get(mouse, "kmous");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct input_key *k = &t->key[t->keys];
        if (!get(s, keys[i].name) || s[0] != '\033' || !s[1] || strlen(s) >= sizeof k->bytes ||
            !strcmp(s, mouse) || (!strncmp(s, "\033O", 2) && s[2] >= 'j' && s[2] <= 'y'))
            continue;
        snprintf(k->bytes, sizeof k->bytes, "%s", s);
        k->press = keys[i].press;
        t->keys++;
    }
}

static void read_moves(struct terminfo *t) {
    char s[TERMINFO_TEXT];
    t->ansi = !strcmp(t->move, "\033[%i%p1%d;%p2%dH");
    t->forward = is("cuf", "\033[%p1%dC");
    t->back = is("cub", "\033[%p1%dD");
    t->column = is("hpa", "\033[%i%p1%dG");
    t->erase_line = is("el", "\033[K");
    t->erase_cells = is("ech", "\033[%p1%dX");
    t->delete_cell = is("dch1", "\033[P");
    t->backspace = is("cub1", "\b");
    t->feed = is("cud1", "\n") && is("cr", "\r");
    t->fills = flag("bce");
    t->whole = !flag("am") || flag("xenl");
    get(t->clear, "clear");
    get(t->reset, "sgr0");
    get(t->show, "cnorm");
    get(t->hide, "civis");
    add_capability(t->enter, sizeof t->enter, "smcup");
    add_capability(t->enter, sizeof t->enter, "smkx");
    add_capability(t->leave, sizeof t->leave, "rmkx");
    /* Without a second screen, the shell continues below the existing output. */
    if (get(s, "rmcup"))
        add_capability(t->leave, sizeof t->leave, "rmcup");
    else if (t->ansi)
        snprintf(t->leave + strlen(t->leave), sizeof t->leave - strlen(t->leave), "\033[999B\r\n");
}

/* Returns a terminal type that is known on this system; NULL: none. */
static const char *find_known(int fd) {
    static const char *const some[] = {"xterm-256color", "xterm", "vt100", "linux"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        int found;
        if (setupterm(some[i], fd, &found) == ERR)
            continue;
        terminfo_close();
        return some[i];
    }
    return NULL;
}

/* Container images with only a JVM have no terminfo files for any type. */
static int unknown(const char *name, int fd, struct err *e) {
    const char *known = find_known(fd);
    if (known)
        return err_set(e, ENOTTY,
                       "the terminal type TERM=%.40s is not known here: try TERM=%s, or --plain",
                       name, known);
    return err_set(e, ENOTTY,
                   "there are no terminfo files here, for TERM=%.40s or others: install "
                   "ncurses-base or ncurses-term, or name their directory in TERMINFO; or use "
                   "--plain, or --batch",
                   name);
}

int terminfo_open(struct terminfo *t, const char *name, int fd, struct err *e) {
    int found;
    *t = (struct terminfo){.ansi = false};
    if (!name)
        name = getenv("TERM");
    if (setupterm(name, fd, &found) == ERR)
        return unknown(name ? name : "", fd, e);
    if (!get(t->move, "cup")) {
        terminfo_close();
        return err_set(e, ENOTTY,
                       "this terminal cannot move its cursor (TERM=%.40s): try --batch for "
                       "screens as text",
                       name ? name : "");
    }
    read_moves(t);
    read_looks(t);
    read_keys(t);
    t->rows = number("lines");
    t->cols = number("cols");
    /* The Linux console shows string sequences that it does not know, and has no mouse. Terminals
     * that report a mouse know the rest. */
    char mouse[TERMINFO_TEXT];
    t->modern = t->ansi && get(mouse, "kmous") && name && strncmp(name, "linux", 5) != 0;
    return 0;
}

void terminfo_close(void) {
    if (cur_term)
        del_curterm(cur_term);
}

int terminfo_move(const struct terminfo *t, int row, int col, char *out, size_t size) {
    if (t->ansi)
        return snprintf(out, size, "\033[%d;%dH", row + 1, col + 1);
    char parameters[TERMINFO_TEXT];
    memcpy(parameters, t->move, sizeof parameters);
    const char *s = tparm(parameters, (long)row, (long)col, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
    return snprintf(out, size, "%s", s ? s : "");
}

void terminfo_colour(int colour, bool background, char *out, size_t size) {
    char wanted[8];
    snprintf(wanted, sizeof wanted, "seta%c", background ? 'b' : 'f');
    out[0] = '\0';
    char *capability = tigetstr(wanted);
    if (!capability || (intptr_t)capability == -1)
        return;
    const char *s = tparm(capability, (long)colour, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
    if (!s || strncmp(s, "\033[", 2) != 0)
        return;
    size_t n = strcspn(s + 2, "m");
    if (n < size) {
        memcpy(out, s + 2, n);
        out[n] = '\0';
    }
}
