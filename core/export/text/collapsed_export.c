/*
 * "root;…;leaf COUNT", one line a distinct stack, in byte order of the stacks. Read by
 * flamegraph.pl, speedscope, inferno and the like, so nothing but stacks is in it: how good the
 * profile is does not fit. Only where the stacks of several events follow each other a line with
 * a '#' says which.
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
 * A separator in a name would be read as one. ';' becomes '|', as in async-profiler's signatures
 * ("(Ljava/lang/String|)V"); what was a '|' or a '\' gets a '\' in front, so that nothing is lost;
 * line ends become \n and \r.
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
