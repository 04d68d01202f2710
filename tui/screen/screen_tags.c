/* Tagging rows, and what is done with all tagged rows: their sum, copying, a filter. */
#include "core/base/format.h"
#include "tui/screen/screen_state.h"

#include <errno.h>
#include <stdio.h>

void screen_tag(struct screen *s) {
    const struct view_type *v = views[s->view];
    struct tag tag;
    if (!v->tag || !s->model->snapshot || !v->tag(s->state[s->view], s->model, VIEW_CURSOR, &tag)) {
        screen_pass(s, "no row is selected");
        return;
    }
    int r = tags_toggle(&s->model->tags, tag);
    if (r == -EINVAL)
        screen_pass(s, "this row cannot be tagged: it is no method, class or thread");
    else if (r == -ENOSPC)
        screen_pass(s, "the limit is %d tags: Space on a tagged row makes room, U clears all",
                    TAGS_MAX);
    else
        (void)v->command(s->state[s->view], COMMAND_DOWN, s->model);
}

/* Appends the tagged rows of the view, as each is copied alone. Stacks have a blank line between
 * them. */
static void copy_tagged(struct screen *s) {
    const struct view_type *v = views[s->view];
    const void *state = s->state[s->view];
    struct tag tag;
    for (uint32_t row = 0; v->tag && v->tag(state, s->model, row, &tag); row++) {
        if (tags_find(&s->model->tags, tag) < 0)
            continue;
        if (s->text.len && (v->scope & SCOPE_FOLDS))
            text_add(&s->text, "\n");
        v->copy(state, s->model, row, &s->text);
    }
}

enum screen_wish screen_copy(struct screen *s) {
    const struct view_type *v = views[s->view];
    text_clear(&s->text);
    if (v->copy && s->model->snapshot && s->model->tags.count)
        copy_tagged(s);
    if (v->copy && s->model->snapshot && !s->text.len)
        v->copy(s->state[s->view], s->model, VIEW_CURSOR, &s->text);
    if (s->text.len && !s->text.failed)
        return SCREEN_COPY;
    screen_pass(s, "there is nothing to copy here");
    return SCREEN_NOTHING;
}

void screen_fill_filter(struct screen *s) {
    char filter[LINE_EDITOR_BYTES];
    int fit, count = model_tags_filter(s->model, filter, sizeof filter, &fit);
    if (count > fit)
        screen_pass(s, "too long: only %d of the %d tagged names fit", fit, count);
    if (!filter[0])
        return;
    line_editor_open(&s->editor, filter);
    model_narrow_filter(s->model, filter);
    s->typed = true;
}

const char *screen_tagged(const struct screen *s, char *out, size_t size) {
    const struct view_type *v = views[s->view];
    struct tag_sum sum = {0};
    struct format f = {""};
    out[0] = '\0';
    if (!v->tagged || !s->model->snapshot || !s->model->tags.count)
        return out;
    v->tagged(s->state[s->view], s->model, &sum);
    if (sum.seen)
        snprintf(out, size, "%d tagged: %s%%%s%s", __builtin_popcountll(sum.seen),
                 format_percent(&f, percent_of(sum.weight, sum.all)), v->tagged_of[0] ? " " : "",
                 v->tagged_of);
    return out;
}
