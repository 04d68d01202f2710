#include "tui/widget/cursor.h"

void cursor_select(struct cursor *c, uint32_t row, const struct cursor_rows *rows) {
    if (row >= rows->count)
        row = rows->count ? rows->count - 1 : 0;
    c->row = row;
    c->held = rows->count > 0;
    if (c->held)
        c->item = rows->item(rows->arg, row);
}

bool cursor_command(struct cursor *c, enum command command, const struct cursor_rows *rows) {
    uint32_t page = c->page > 1 ? c->page - 1 : 1; /* one row stays visible */
    uint32_t half = c->page > 3 ? c->page / 2 : 1;
    uint32_t row = c->row;
    switch (command) {
    case COMMAND_UP:
        row = row ? row - 1 : 0;
        break;
    case COMMAND_DOWN:
        row++;
        break;
    case COMMAND_PAGE_UP:
        row = row > page ? row - page : 0;
        break;
    case COMMAND_PAGE_DOWN:
        row += page;
        break;
    case COMMAND_HALF_UP:
        row = row > half ? row - half : 0;
        break;
    case COMMAND_HALF_DOWN:
        row += half;
        break;
    case COMMAND_END:
        row = UINT32_MAX;
        break;
    case COMMAND_HOME:
        c->row = c->top = 0;
        c->held = false;
        return true;
    default:
        return false;
    }
    cursor_select(c, row, rows);
    return true;
}

void cursor_follow(struct cursor *c, const struct cursor_rows *rows) {
    if (!c->held || !rows->count) { /* the item may come back with later rows */
        c->row = 0;
        return;
    }
    /* Most rows do not move far: check the old row first, then all rows. */
    if (c->row < rows->count && rows->item(rows->arg, c->row) == c->item)
        return;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->item(rows->arg, i) == c->item) {
            c->row = i;
            return;
        }
    }
    cursor_select(c, c->row, rows);
}

void cursor_fit(struct cursor *c, uint32_t count, uint32_t page) {
    c->page = page;
    if (c->row >= count)
        c->row = count ? count - 1 : 0;
    if (page == 0)
        return;
    if (c->row < c->top)
        c->top = c->row;
    if (c->row >= c->top + page)
        c->top = c->row - page + 1;
    uint32_t last = count > page ? count - page : 0;
    if (c->top > last)
        c->top = last;
}
