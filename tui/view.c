#include "tui/view.h"

#include "tui/format.h"

#include <stdio.h>
#include <string.h>

#define HOT_PERCENT 10.0

const struct view_type *const views[VIEWS] = {&view_methods, &view_threads, &view_tree};

char view_tier_letter(enum frame_tier tier) {
    static const char letter[TIERS] = {' ', 'I', '1', '2', 'i'};
    return tier < TIERS ? letter[tier] : ' ';
}

const char *view_kind_word(enum method_kind kind) {
    static const char *const word[METHOD_KINDS] = {
        [METHOD_JAVA] = "java",     [METHOD_NATIVE] = "native", [METHOD_CPP] = "c++",
        [METHOD_KERNEL] = "kernel", [METHOD_CLASS] = "class",   [METHOD_STUB] = "stub",
        [METHOD_ERROR] = "error",   [METHOD_THREAD] = "thread", [METHOD_COMPILING] = "jit",
    };
    return kind < METHOD_KINDS ? word[kind] : "";
}

enum role view_frame_role(enum method_kind kind, enum frame_tier tier) {
    static const uint8_t by_tier[TIERS] = {ROLE_JAVA, ROLE_INTERPRETED, ROLE_C1, ROLE_JAVA,
                                           ROLE_INLINED};
    static const uint8_t by_kind[METHOD_KINDS] = {
        [METHOD_JAVA] = ROLE_JAVA,        [METHOD_NATIVE] = ROLE_NATIVE,
        [METHOD_CPP] = ROLE_CPP,          [METHOD_KERNEL] = ROLE_KERNEL,
        [METHOD_CLASS] = ROLE_INLINED,    [METHOD_STUB] = ROLE_NATIVE,
        [METHOD_ERROR] = ROLE_ERROR,      [METHOD_THREAD] = ROLE_VALUE,
        [METHOD_COMPILING] = ROLE_NATIVE,
    };
    if (kind == METHOD_JAVA && tier < TIERS)
        return by_tier[tier];
    return kind < METHOD_KINDS ? by_kind[kind] : ROLE_TEXT;
}

void view_percent(struct canvas *c, int row, int col, int cols, double percent) {
    struct format f = {""};
    canvas_right(c, row, col, cols, percent >= HOT_PERCENT ? ROLE_HOT : ROLE_NUMBER,
                 format_percent(&f, percent));
}

void view_name(struct canvas *c, int row, int col, int cols, enum role role, const char *name,
               enum method_kind kind, const struct model *m) {
    bool keep_head = kind == METHOD_CPP;
    if (kind == METHOD_THREAD) {
        canvas_middle(c, row, col, cols, role, name);
        return;
    }
    int drawn = keep_head ? canvas_head(c, row, col, cols, role, name)
                          : canvas_tail(c, row, col, cols, role, name);
    const char *filter = m->question.filter;
    const char *hit = filter[0] && filter[0] != '!' ? strcasestr(name, filter) : NULL;
    if (!hit)
        return;
    /* Columns of the match in the whole name, then moved by what was cut on the left. */
    int whole = canvas_width(c, name), cut = keep_head ? 0 : whole - drawn;
    int from = whole - canvas_width(c, hit) - cut;
    int to = whole - canvas_width(c, hit + strlen(filter)) - cut;
    from = from < 0 ? 0 : from;
    to = to > drawn ? drawn : to;
    canvas_role(c, row, col + from, to - from, ROLE_MATCH);
}

void view_heads(struct canvas *c, struct area a, const char *heads) {
    canvas_text(c, a.row, a.col, a.cols, ROLE_COLUMNS, heads);
    canvas_role(c, a.row, a.col, a.cols, ROLE_COLUMNS);
}

void view_cursor_row(struct canvas *c, struct area a, int row) {
    canvas_text(c, row, a.col, 1, ROLE_CURSOR, ">");
    canvas_role(c, row, a.col, a.cols, ROLE_CURSOR);
}

void view_empty(struct canvas *c, struct area a, const struct model *m) {
    const char *why = "no samples yet: nothing ran on a CPU since sampling began";
    if (m->question.filter[0] || model_zoomed(&m->question))
        why = "no samples here: Esc leaves the filter or the thread";
    else if (m->status.phase != SESSION_RUNNING)
        why = "no samples were taken";
    canvas_text(c, a.row + 1, a.col + 2, a.cols - 2, ROLE_DIM, why);
}
