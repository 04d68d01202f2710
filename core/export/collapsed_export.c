/*
 * "root;…;leaf COUNT", one line a distinct stack, in byte order of the stacks. Read by
 * flamegraph.pl, speedscope, inferno and the like, so nothing but stacks is in it: how good the
 * profile is does not fit. Only where the stacks of several events follow each other a line with
 * a '#' says which.
 */
#include "core/export/formats.h"
#include "core/export/frame_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct collapsed {
    struct text *out;
    bool total;
    char *path; /* names of the frames from the root, with separators */
    size_t cap;
    size_t *end; /* of the path at each depth: where its children begin */
    size_t depth_cap;
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

static int reserve(struct collapsed *c, size_t len, uint32_t depth) {
    if (len > c->cap) {
        size_t cap = len * 2;
        char *path = realloc(c->path, cap);
        if (!path)
            return -ENOMEM;
        c->path = path;
        c->cap = cap;
    }
    if (depth >= c->depth_cap) {
        size_t cap = (size_t)depth * 2 + 64;
        size_t *end = realloc(c->end, cap * sizeof(*end));
        if (!end)
            return -ENOMEM;
        c->end = end;
        c->depth_cap = cap;
    }
    return 0;
}

static int visit(void *arg, const struct walked_frame *f) {
    struct collapsed *c = arg;
    size_t len = f->depth ? c->end[f->depth - 1] : 0;
    int err = reserve(c, len + f->name->len + 1, f->depth);
    if (err)
        return err;
    memcpy(c->path + len, f->name->text, f->name->len);
    len += f->name->len;
    c->path[len] = ';';
    c->end[f->depth] = len + 1;

    uint64_t count = c->total ? f->self : f->self_samples;
    if (count) {
        char number[24];
        char *digit = number + sizeof(number);
        *--digit = '\n';
        do {
            *--digit = (char)('0' + count % 10);
            count /= 10;
        } while (count);
        *--digit = ' ';
        text_add_n(c->out, c->path, len);
        text_add_n(c->out, digit, (size_t)(number + sizeof(number) - digit));
    }
    return c->out->failed ? -ENOMEM : 0;
}

int collapsed_export(struct text *out, const struct profile *p, const struct snapshot *s,
                     const struct export_quality *q, const struct export_options *o) {
    if (q->heading && q->event)
        text_addf(out, "# event: %s, %s\n", q->event, o->total && q->unit ? q->unit : "samples");
    struct collapsed c = {.out = out, .total = o->total};
    struct frame_names *names =
        frame_names_new(profile_methods_const(p), formats_name_style(o), o->annotate, escape);
    int err = names ? frame_walk(s, names, visit, &c) : -ENOMEM;
    frame_names_free(names);
    free(c.path);
    free(c.end);
    return err || out->failed ? -ENOMEM : 0;
}
