#include "tui/terminal/press_name.h"

#include "core/base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If a press has two names, the first is printed. ';' has a name, because it begins a comment in a
 * config file. */
static const struct {
    const char *name;
    int32_t press;
} names[] = {
    {"Up", PRESS_UP},
    {"Down", PRESS_DOWN},
    {"Left", PRESS_LEFT},
    {"Right", PRESS_RIGHT},
    {"PgUp", PRESS_PAGE_UP},
    {"PgDn", PRESS_PAGE_DOWN},
    {"Home", PRESS_HOME},
    {"End", PRESS_END},
    {"Del", PRESS_DELETE},
    {"Tab", PRESS_TAB},
    {"S-Tab", PRESS_BACK_TAB},
    {"Enter", PRESS_ENTER},
    {"Esc", PRESS_ESCAPE},
    {"Space", ' '},
    {"Backspace", PRESS_BACKSPACE},
    {"Semicolon", ';'},
};
#define NAMES (sizeof names / sizeof names[0])

const char press_names[] =
    "a character, ^A to ^Z, F1 to F12, Up, Down, Left, Right, PgUp, PgDn, Home, End, Del, Tab, "
    "S-Tab, Enter, Esc, Space, Backspace, Semicolon";

/* Returns the character if the text is one visible character; otherwise PRESS_NONE. */
static int32_t character(const char *s) {
    uint32_t code;
    size_t bytes = utf8_decode(s, SIZE_MAX, &code);
    bool seen = bytes && code > ' ' && utf8_is_shown(code) && code < PRESS_UP;
    return seen && !s[bytes] ? (int32_t)code : PRESS_NONE;
}

static int32_t control(const char *letter) {
    if (letter[0] < 'A' || letter[0] > 'Z' || letter[1] || strchr("CSQZ", letter[0]))
        return PRESS_NONE;
    return letter[0] == 'M' ? PRESS_ENTER : PRESS_CTRL(letter[0]);
}

int32_t press_parse(const char *name) {
    for (size_t i = 0; i < NAMES; i++)
        if (!strcmp(names[i].name, name))
            return names[i].press;
    if (name[0] == '^' && name[1])
        return control(name + 1);
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        char *end;
        long n = strtol(name + 1, &end, 10);
        return *end || n > 12 ? PRESS_NONE : PRESS_F1 + (int32_t)n - 1;
    }
    return character(name);
}

static void put_character(int32_t c, char *out) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    *out = '\0';
}

const char *press_name(int32_t press, char *out) {
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i].press == press) {
            snprintf(out, PRESS_NAME_SIZE, "%s", names[i].name);
            return out;
        }
    }
    if (press >= PRESS_F1 && press <= PRESS_F12)
        snprintf(out, PRESS_NAME_SIZE, "F%d", (int)(press - PRESS_F1 + 1));
    else if (press > 0 && press < 0x20)
        snprintf(out, PRESS_NAME_SIZE, "^%c", (char)(press + 0x40));
    else
        put_character(press > 0x20 && press < PRESS_UP ? press : '?', out);
    return out;
}
