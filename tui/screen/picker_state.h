/*
 * What the files of the picker share.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_PICKER_STATE_H
#define JTOP_TUI_PICKER_STATE_H

#include "tui/config/config.h"
#include "tui/screen/picker.h"
#include "tui/screen/picker_table.h"
#include "tui/widget/cursor.h"
#include "tui/widget/line_editor.h"

#define PICKER_LIST_ROW 2 /* after the title and the heads */

struct picker {
    uid_t uid;
    const struct keymap *keys;
    picker_check *check;
    struct picker_row *rows; /* in order */
    uint32_t count;
    uint32_t *shown; /* indices of the rows the filter lets through */
    uint32_t shown_count;
    enum picker_column sorted;
    bool falls;
    struct cursor cursor;
    struct line_editor filter;
    char recent[CONFIG_RECENT][CONFIG_TEXT];
    int recents;
    pid_t open[PICKER_OPEN];
    int opened;
    bool behind;
    bool listed; /* there was a first list */
    bool help;
    int help_top, help_last, help_page;
    struct picker_layout layout; /* as drawn last */
    int list_rows;
    char said[512];
};

/* The cursor's; NULL: there is none. */
struct picker_row *picker_chosen_row(const struct picker *p);

#endif
