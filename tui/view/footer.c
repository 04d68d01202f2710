#include "tui/view/footer.h"

#include <string.h>

#define GAP 2

struct key_text {
    char s[16];
};

/* Returns the first key of a binding; "" if it has none. */
static const char *first_key(const struct keymap *k, const struct key_binding *b,
                             struct key_text *out) {
    const char *keys = keymap_keys(k, b);
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
    return canvas_width(c, first_key(k, b, &key)) + 1 + canvas_width(c, b->footer);
}

/* True for keys that are left out last. With help and the keys to leave, the user finds the others;
 * and many users want to save the picture. */
static bool is_kept(const struct key_binding *b) {
    return b->command == COMMAND_HELP || b->command == COMMAND_QUIT || b->command == COMMAND_BACK ||
           b->command == COMMAND_SAVE_SVG;
}

/* A key that does not fit is left out as a whole. */
void footer_draw(struct canvas *c, int row, const struct keymap *k, unsigned scope) {
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
        at += canvas_text(c, row, at, c->cols, ROLE_KEY, first_key(k, b, &key)) + 1;
        at += canvas_text(c, row, at, c->cols, ROLE_FOOTER, b->footer) + GAP;
    }
}
