#include "tui/view/footer.h"

#include "tui/terminal/press_name.h"

#include <string.h>

#define GAP 2

struct key_text {
    char s[16];
};

static bool is_function_key(const char *key) {
    return key[0] == 'F' && key[1] >= '1' && key[1] <= '9';
}

/* Returns the key of a binding that is shown: its function key, or else its first one; "" if it has
 * none. */
static const char *shown_key(const struct keymap *k, const struct key_binding *b,
                             struct key_text *out) {
    const char *keys = keymap_keys(k, b);
    for (const char *word = keys; *word; word += strspn(word, " ")) {
        if (is_function_key(word)) {
            keys = word;
            break;
        }
        word += strcspn(word, " ");
    }
    size_t n = strcspn(keys, " ");
    if (n >= sizeof out->s)
        n = sizeof out->s - 1;
    memcpy(out->s, keys, n);
    out->s[n] = '\0';
    return out->s;
}

static bool is_shown(const struct keymap *k, const struct key_binding *b, unsigned scope) {
    return (b->scope & scope) && b->footer && keymap_keys(k, b)[0];
}

static int columns(const struct canvas *c, const struct keymap *k, const struct key_binding *b) {
    struct key_text key;
    return canvas_width(c, shown_key(k, b, &key)) + 1 + canvas_width(c, b->footer);
}

/* True for keys that are left out last. With help and the keys to leave, the user finds the others;
 * and many users want to save the picture. */
static bool is_kept(const struct key_binding *b) {
    return b->command == COMMAND_HELP || b->command == COMMAND_QUIT || b->command == COMMAND_BACK ||
           b->command == COMMAND_SAVE_SVG;
}

/* Calls `each` for the keys that fit, with the column where one begins. A key that does not fit is
 * left out as a whole. Stops if `each` returns true. */
static void lay_out(const struct canvas *c, const struct keymap *k, unsigned scope,
                    bool (*each)(void *arg, const struct key_binding *b, const char *key, int at),
                    void *arg) {
    int at = 0, kept = 0;
    for (const struct key_binding *b = key_bindings; b->help; b++)
        if (is_shown(k, b, scope) && is_kept(b))
            kept += GAP + columns(c, k, b);
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        struct key_text key;
        if (!is_shown(k, b, scope))
            continue;
        if (is_kept(b))
            kept -= GAP + columns(c, k, b);
        if (at + columns(c, k, b) + kept > c->cols)
            continue;
        if (each(arg, b, shown_key(k, b, &key), at))
            return;
        at += columns(c, k, b) + GAP;
    }
}

struct drawing {
    struct canvas *c;
    int row;
};

static bool draw_key(void *arg, const struct key_binding *b, const char *key, int at) {
    const struct drawing *d = arg;
    int used = canvas_text(d->c, d->row, at, d->c->cols, ROLE_KEY, key) + 1;
    canvas_text(d->c, d->row, at + used, d->c->cols, ROLE_FOOTER, b->footer);
    return false;
}

void footer_draw(struct canvas *c, int row, const struct keymap *k, unsigned scope) {
    lay_out(c, k, scope, draw_key, &(struct drawing){c, row});
}

struct finding {
    const struct canvas *c;
    int col;
    int32_t press;
};

static bool is_at(void *arg, const struct key_binding *b, const char *key, int at) {
    struct finding *f = arg;
    int end = at + canvas_width(f->c, key) + 1 + canvas_width(f->c, b->footer);
    if (f->col < at || f->col >= end)
        return false;
    f->press = press_parse(key);
    return true;
}

int32_t footer_press_at(const struct canvas *c, const struct keymap *k, unsigned scope, int col) {
    struct finding f = {.c = c, .col = col};
    lay_out(c, k, scope, is_at, &f);
    return f.press;
}
