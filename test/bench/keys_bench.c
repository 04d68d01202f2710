/*
 * Keys as terminals send them, read by our decoder and by curses, both as fast as Esc allows (40 ms):
 * keys understood at once, keys whose bytes come in two pieces 100 ms apart, and characters made up
 * from sequences that are no key. For each of them the number, and what is right.
 */
#include "core/base/clock.h"
#include "tui/terminal/input.h"
#include "tui/terminal/terminfo.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#include <curses.h>

#define MS UINT64_C(1000000)
#define GAP_NS (100 * MS)
#define ROOM 64

static const struct {
    const char *bytes;
    int32_t press;
    wint_t curses;
} keys[] = {
    {"\033[A", PRESS_UP, KEY_UP},           {"\033OA", PRESS_UP, KEY_UP},
    {"\033[B", PRESS_DOWN, KEY_DOWN},       {"\033OB", PRESS_DOWN, KEY_DOWN},
    {"\033[H", PRESS_HOME, KEY_HOME},       {"\033OH", PRESS_HOME, KEY_HOME},
    {"\033[1~", PRESS_HOME, KEY_HOME},      {"\033[7~", PRESS_HOME, KEY_HOME},
    {"\033[F", PRESS_END, KEY_END},         {"\033OF", PRESS_END, KEY_END},
    {"\033[4~", PRESS_END, KEY_END},        {"\033[8~", PRESS_END, KEY_END},
    {"\033[5~", PRESS_PAGE_UP, KEY_PPAGE},  {"\033[6~", PRESS_PAGE_DOWN, KEY_NPAGE},
    {"\033[3~", PRESS_DELETE, KEY_DC},      {"\033[Z", PRESS_BACK_TAB, KEY_BTAB},
    {"\033OP", PRESS_F1, KEY_F0 + 1},       {"\033[11~", PRESS_F1, KEY_F0 + 1},
    {"\033[[A", PRESS_F1, KEY_F0 + 1},      {"\033OS", PRESS_F4, KEY_F0 + 4},
    {"\033[15~", PRESS_F1 + 4, KEY_F0 + 5}, {"\033[[E", PRESS_F1 + 4, KEY_F0 + 5},
    {"\033[21~", PRESS_F10, KEY_F0 + 10},   {"\033[24~", PRESS_F12, KEY_F0 + 12},
};
#define KEYS (sizeof keys / sizeof keys[0])

/* Answers and reports that terminals send, and keys without a meaning here. */
static const char *const others[] = {
    "\033[I",
    "\033[O",
    "\033[97;5u",
    "\033[?62;22c",
    "\033[>41;380;0c",
    "\033[?997;1n",
    "\033[12;40R",
    "\033[2~",
    "\033[29~",
    "\033[0n",
    "\033[?2026;2$y",
    "\033]11;rgb:0000/0000/0000\033\\",
    "\033P1+r544e=78\033\\",
};
#define OTHERS (sizeof others / sizeof others[0])

struct terminal {
    int fd; /* what is written here comes as input */
    struct input ours;
    WINDOW *window;
};

static void wait_until(uint64_t end) {
    for (uint64_t now = clock_now_ns(); now < end; now = clock_now_ns())
        usleep((useconds_t)((end - now) / 1000 + 1));
}

/* Adds the presses that there are until `end`, or, at 0, until no more can come. Returns how many
 * there are in all. */
static int read_ours(struct terminal *t, int32_t *out, int n, uint64_t end) {
    for (;;) {
        int32_t press = input_next(&t->ours, clock_now_ns());
        uint64_t due = input_deadline(&t->ours);
        if (press >= 0 && n < ROOM)
            out[n++] = press;
        else if (press < 0 && due && (!end || due <= end))
            wait_until(due);
        else if (press < 0)
            break;
    }
    wait_until(end);
    return n;
}

struct key {
    bool is_key;
    wint_t code;
};

static int read_curses(struct terminal *t, struct key *out, int n, uint64_t end) {
    wint_t code;
    int what;
    while ((what = wget_wch(t->window, &code)) != ERR)
        if (n < ROOM)
            out[n++] = (struct key){what == KEY_CODE_YES, code};
    wait_until(end);
    return n;
}

static void feed(struct terminal *t, const char *bytes, size_t n, bool ours) {
    if (ours)
        input_feed(&t->ours, bytes, n, clock_now_ns());
    else if (write(t->fd, bytes, n) != (ssize_t)n)
        perror("write");
}

/* Sends the bytes in two pieces (at 0: in one). Returns true if they are understood as key `i`. */
static bool understood(struct terminal *t, size_t i, size_t at, bool ours) {
    const char *bytes = keys[i].bytes;
    int32_t press[ROOM];
    struct key key[ROOM];
    int n = 0;
    for (int piece = at ? 0 : 1; piece < 2; piece++) {
        size_t from = piece ? at : 0, to = piece ? strlen(bytes) : at;
        feed(t, bytes + from, to - from, ours);
        uint64_t end = piece ? 0 : clock_now_ns() + GAP_NS;
        n = ours ? read_ours(t, press, n, end) : read_curses(t, key, n, end);
    }
    return n == 1 &&
           (ours ? press[0] == keys[i].press : key[0].is_key && key[0].code == keys[i].curses);
}

static int characters(struct terminal *t, const char *bytes, bool ours) {
    int32_t press[ROOM];
    struct key key[ROOM];
    feed(t, bytes, strlen(bytes), ours);
    int n = ours ? read_ours(t, press, 0, 0) : read_curses(t, key, 0, 0);
    int made_up = 0;
    for (int i = 0; i < n; i++)
        made_up += ours ? press[i] != PRESS_NONE : !key[i].is_key;
    return made_up;
}

int main(int argc, char **argv) {
    static const char *const types[] = {"xterm-256color", "screen", "tmux-256color", "linux",
                                        "vt100"};
    (void)argc, (void)argv;
    setlocale(LC_CTYPE, "C.UTF-8");
    printf("TERM             %zu keys       in two pieces   made up of %zu others\n", KEYS, OTHERS);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        struct terminal t = {.fd = -1};
        struct terminfo ti;
        int fd[2], right[2] = {0}, pieces[2] = {0}, made_up[2] = {0};
        FILE *in, *out = tmpfile();
        if (!out || pipe(fd) || !(in = fdopen(fd[0], "r")))
            return 1;
        t.fd = fd[1];
        if (terminfo_open(&ti, types[k], STDOUT_FILENO, NULL))
            continue;
        terminfo_close();
        t.ours.key = ti.key;
        t.ours.keys = ti.keys;
        SCREEN *screen = newterm(types[k], out, in);
        t.window = newpad(1, 1);
        nodelay(t.window, TRUE);
        keypad(t.window, TRUE);
        set_escdelay(40);
        define_key("\033[0n", KEY_MAX + 1); /* answers that we ask for */
        define_key("\033[?2026;2$y", KEY_MAX + 2);
        for (int ours = 0; ours < 2; ours++) {
            for (size_t i = 0; i < KEYS; i++) {
                right[ours] += understood(&t, i, 0, ours);
                pieces[ours] += understood(&t, i, 2, ours);
            }
            for (size_t i = 0; i < OTHERS; i++)
                made_up[ours] += characters(&t, others[i], ours);
        }
        endwin();
        delwin(t.window);
        delscreen(screen);
        fclose(out);
        fclose(in);
        close(fd[1]);
        printf("%-15s  ours %2d, curses %2d   ours %2d, curses %2d   ours %d, curses %d\n",
               types[k], right[1], right[0], pieces[1], pieces[0], made_up[1], made_up[0]);
        fflush(stdout);
    }
    return 0;
}
