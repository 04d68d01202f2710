#include "tui/footer.h"

#include "tui/keymap.h"

#include <string.h>

#define GAP 2

struct key_text {
    char s[16];
};

/* The first of a binding's keys. */
static const char *first_key(const struct key_binding *b, struct key_text *out) {
    size_t n = strcspn(b->keys, " ");
    if (n >= sizeof out->s)
        n = sizeof out->s - 1;
    memcpy(out->s, b->keys, n);
    out->s[n] = '\0';
    return out->s;
}

static int columns(const struct canvas *c, const struct key_binding *b) {
    struct key_text key;
    return canvas_width(c, first_key(b, &key)) + 1 + canvas_width(c, b->footer);
}

/* Who knows these finds the others. */
static bool is_way_out(const struct key_binding *b) {
    return b->command == COMMAND_HELP || b->command == COMMAND_QUIT;
}

/* A key that does not fit is left out whole; help and the way out last. */
void footer_draw(struct canvas *c, int row, unsigned scope) {
    int at = 0, kept = 0;
    for (const struct key_binding *b = key_bindings; b->help; b++)
        if ((b->scope & scope) && b->footer && is_way_out(b))
            kept += GAP + columns(c, b);
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        struct key_text key;
        if (!(b->scope & scope) || !b->footer)
            continue;
        if (is_way_out(b))
            kept -= GAP + columns(c, b);
        if (at + columns(c, b) + kept > c->cols)
            continue;
        at += canvas_text(c, row, at, c->cols, ROLE_KEY, first_key(b, &key)) + 1;
        at += canvas_text(c, row, at, c->cols, ROLE_FOOTER, b->footer) + GAP;
    }
}
