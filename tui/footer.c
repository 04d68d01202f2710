#include "tui/footer.h"

#include "tui/keymap.h"

#include <string.h>

/* A key that does not fit is left out whole. */
void footer_draw(struct canvas *c, int row, unsigned scope) {
    int at = 0;
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (!(b->scope & scope) || !b->footer)
            continue;
        char key[16];
        size_t n = strcspn(b->keys, " ");
        if (n >= sizeof key)
            n = sizeof key - 1;
        memcpy(key, b->keys, n);
        key[n] = '\0';
        int cols = canvas_width(c, key) + 1 + canvas_width(c, b->footer);
        if (at + cols > c->cols)
            continue;
        at += canvas_text(c, row, at, c->cols, ROLE_KEY, key) + 1;
        at += canvas_text(c, row, at, c->cols, ROLE_FOOTER, b->footer) + 2;
    }
}
