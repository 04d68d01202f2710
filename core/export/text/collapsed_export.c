/*
 * Writes "root;…;leaf COUNT": one line per distinct stack, in byte order of the stacks.
 * flamegraph.pl, speedscope, inferno and similar tools read it, so it contains only stacks and
 * nothing about the quality of the profile. If the stacks of several events follow each other, a
 * line with a '#' names the event.
 */
#include "core/export/formats.h"
#include "core/export/frame_walk.h"
#include "core/export/json_text.h"
#include "core/export/stack_path.h"

#include <errno.h>
#include <string.h>

struct collapsed {
    struct text *out;
    bool total;
    struct stack_path path;
};

/*
 * A ';' or line end in a name would be read as a separator. ';' becomes '|', as in async-profiler's
 * signatures ("(Ljava/lang/String|)V"). A '|' or '\' gets a '\' in front, so that no information is
 * lost. Line ends become \n and \r.
 */
static void escape(struct text *out, const char *name) {
    size_t plain;
    while (plain = strcspn(name, ";|\\\n\r"), name[plain]) {
        text_add_n(out, name, plain);
        switch (name[plain]) {
        case ';':
            text_add(out, "|");
            break;
        case '\n':
            text_add(out, "\\n");
            break;
        case '\r':
            text_add(out, "\\r");
            break;
        default:
            text_add_n(out, "\\", 1);
            text_add_n(out, name + plain, 1);
        }
        name += plain + 1;
    }
    text_add_n(out, name, plain);
}

static int visit(void *arg, const struct walked_frame *f) {
    struct collapsed *c = arg;
    int err = stack_path_set(&c->path, f->depth, f->name->text, f->name->len, ';');
    if (err)
        return err;
    uint64_t count = c->total ? f->self : f->self_samples;
    if (count) {
        char number[JSON_TEXT_DIGITS + 2] = " ";
        unsigned digits = json_text_digits(count, number + 1);
        number[digits + 1] = '\n';
        text_add_n(c->out, c->path.text, stack_path_length(&c->path, f->depth));
        text_add_n(c->out, number, digits + 2);
    }
    return c->out->failed ? -ENOMEM : 0;
}

int collapsed_export(struct text *out, const struct profile *p, const struct snapshot *s,
                     const struct export_quality *q, const struct export_options *o) {
    struct collapsed c = {.out = out, .total = formats_options(o, q).total};
    if (q->heading && q->event)
        text_addf(out, "# event: %s, %s\n", q->event, c.total && q->unit ? q->unit : "samples");
    struct frame_names *names =
        frame_names_new(profile_methods_const(p), formats_name_style(o), o->annotate, escape);
    int err = names ? frame_walk(s, names, visit, &c) : -ENOMEM;
    frame_names_free(names);
    stack_path_free(&c.path);
    return err || out->failed ? -ENOMEM : 0;
}
