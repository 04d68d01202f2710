/* The texts of the key table for people: the sections of the help, and the views where a key
 * works. */
#include "tui/key/keymap.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The sections of the key table, for the help. */

enum section {
    IN_VIEWS,
    IN_MOVING,
    IN_ROWS,
    IN_JUMPS,
    IN_TIME,
    IN_SEARCH,
    IN_EVENTS,
    IN_FILES,
    IN_REST,
    IN_EVENT_LIST,
    IN_STACKS,
    IN_PICKER
};

const char *const keymap_sections[] = {
    [IN_VIEWS] = "Views",
    [IN_MOVING] = "Moving",
    [IN_ROWS] = "Rows and columns",
    [IN_JUMPS] = "From the selected row",
    [IN_TIME] = "Time",
    [IN_SEARCH] = "Searching and filtering",
    [IN_EVENTS] = "Events",
    [IN_FILES] = "Files and clipboard",
    [IN_REST] = "Everything else",
    [IN_EVENT_LIST] = "In the list of events",
    [IN_STACKS] = "On the page of stacks",
    [IN_PICKER] = "In the list of JVMs",
    NULL,
};

/* The section of each command: an entry is for commands up to and including `last`, in the order of
 * enum command. */
static const struct {
    enum command last;
    enum section section;
} parts[] = {
    {COMMAND_END, IN_MOVING},           {COMMAND_ENTER, IN_ROWS},
    {COMMAND_BACK, IN_SEARCH},          {COMMAND_REVERSE, IN_ROWS},
    {COMMAND_TOGGLE_THREADS, IN_VIEWS}, {COMMAND_SAVE_STACKS, IN_JUMPS},
    {COMMAND_ADD, IN_EVENTS},           {COMMAND_PANE, IN_REST},
    {COMMAND_NO_BASELINE, IN_TIME},     {COMMAND_RESET, IN_SEARCH},
    {COMMAND_PIPE, IN_FILES},           {COMMAND_QUIT, IN_REST},
};

int keymap_section(const struct key_binding *b) {
    if (b->scope == SCOPE_EVENTS)
        return IN_EVENT_LIST;
    if (b->scope == SCOPE_STACKS)
        return IN_STACKS;
    if (b->scope == SCOPE_PICKER)
        return IN_PICKER;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && b->scope != SCOPE_HELP; i++)
        if (b->command <= parts[i].last)
            return (int)parts[i].section;
    return -1;
}

static const struct {
    unsigned scope;
    const char *name;
} places[] = {
    {SCOPE_OVERVIEW, "overview"}, {SCOPE_METHODS, "methods"}, {SCOPE_THREADS, "threads"},
    {SCOPE_TREE, "tree"},         {SCOPE_LOCKS, "locks"},     {SCOPE_FLAME, "flame"},
    {SCOPE_ALLOC, "alloc"},       {SCOPE_LINES, "lines"},     {SCOPE_STATUS, "status"},
};
#define PLACES ((int)(sizeof places / sizeof places[0]))

/* Writes the views in which the row applies; if they are most of all views, the others. */
static void list_places(const struct key_binding *b, bool most, char *out) {
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < PLACES && n < KEY_WHERE; i++)
        if (((b->scope & places[i].scope) == 0) == most)
            n += (size_t)snprintf(out + n, KEY_WHERE - n, "%s%s", n ? ", " : "", places[i].name);
}

void keymap_help(const struct key_binding *b, struct key_help *out) {
    char where[KEY_WHERE];
    unsigned in = b->scope & SCOPE_VIEWS;
    bool most = __builtin_popcount(in) * 2 > PLACES;
    *out = (struct key_help){.text = ""};
    if (!in || in == SCOPE_VIEWS) {
        snprintf(out->text, sizeof out->text, "%s", b->help);
        return;
    }
    list_places(b, most, where);
    if (most) {
        out->from = (int)strlen(b->help) + 1;
        out->to = snprintf(out->text, sizeof out->text, "%s (not in %s)", b->help, where);
    } else {
        out->to = (int)strlen(where) + 1;
        snprintf(out->text, sizeof out->text, "%s: %s", where, b->help);
    }
}
