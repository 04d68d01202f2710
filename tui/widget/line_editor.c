#include "tui/widget/line_editor.h"

#include "tui/terminal/press.h"

#include <string.h>

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t before(const struct line_editor *l, size_t at) {
    while (at > 0 && is_continuation(l->text[--at]))
        ;
    return at;
}

static size_t after(const struct line_editor *l, size_t at) {
    if (at < l->length)
        at++;
    while (at < l->length && is_continuation(l->text[at]))
        at++;
    return at;
}

static bool erase(struct line_editor *l, size_t from, size_t to) {
    if (from == to)
        return false;
    memmove(l->text + from, l->text + to, l->length - to + 1);
    l->length -= to - from;
    l->at = from;
    return true;
}

static bool insert(struct line_editor *l, int32_t ch) {
    char b[4];
    size_t n = 0;
    if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch >= PRESS_UP)
        return false;
    if (ch < 0x80) {
        b[n++] = (char)ch;
    } else {
        if (ch < 0x800) {
            b[n++] = (char)(0xc0 | ch >> 6);
        } else if (ch < 0x10000) {
            b[n++] = (char)(0xe0 | ch >> 12);
        } else {
            b[n++] = (char)(0xf0 | ch >> 18);
            b[n++] = (char)(0x80 | (ch >> 12 & 0x3f));
        }
        if (ch >= 0x800)
            b[n++] = (char)(0x80 | (ch >> 6 & 0x3f));
        b[n++] = (char)(0x80 | (ch & 0x3f));
    }
    if (l->length + n >= sizeof l->text)
        return false;
    memmove(l->text + l->at + n, l->text + l->at, l->length - l->at + 1);
    memcpy(l->text + l->at, b, n);
    l->length += n;
    l->at += n;
    return true;
}

void line_editor_open(struct line_editor *l, const char *text) {
    size_t n = strlen(text);
    if (n >= sizeof l->text) {
        n = sizeof l->text - 1;
        while (n > 0 && is_continuation(text[n]))
            n--;
    }
    memcpy(l->text, text, n);
    l->text[n] = '\0';
    l->length = l->at = n;
    l->open = true;
}

bool line_editor_press(struct line_editor *l, int32_t press) {
    press = press_typed(press);
    switch (press) {
    case PRESS_LEFT:
        l->at = before(l, l->at);
        return false;
    case PRESS_RIGHT:
        l->at = after(l, l->at);
        return false;
    case PRESS_HOME:
    case PRESS_CTRL('A'):
        l->at = 0;
        return false;
    case PRESS_END:
    case PRESS_CTRL('E'):
        l->at = l->length;
        return false;
    case PRESS_BACKSPACE:
        return erase(l, before(l, l->at), l->at);
    case PRESS_DELETE:
        return erase(l, l->at, after(l, l->at));
    case PRESS_CTRL('U'):
        return erase(l, 0, l->at);
    case PRESS_CTRL('K'):
        return erase(l, l->at, l->length);
    case PRESS_CTRL('W'): {
        size_t from = l->at;
        while (from > 0 && l->text[from - 1] == ' ')
            from--;
        while (from > 0 && l->text[from - 1] != ' ')
            from--;
        return erase(l, from, l->at);
    }
    default:
        return insert(l, press);
    }
}
