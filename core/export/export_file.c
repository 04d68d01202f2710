#include "core/export/export.h"

#include "core/export/output_file.h"

#include <errno.h>
#include <inttypes.h>

int export_check_path(const char *path, struct err *e) {
    return output_file_check(path, ERR_EXIT_ARGUMENT, e);
}

/* Returns 0 or -ENOMEM; sets no message. */
static int format(struct text *out, const struct exporter *x, const struct profile *p,
                  const struct export_part *part, int parts, const struct export_options *o) {
    int err = parts > 1 ? x->write_all(out, p, part, parts, o)
                        : x->write(out, p, part->snapshot, part->quality, o);
    return err || out->failed ? -ENOMEM : 0;
}

static int no_memory(const struct exporter *x, const struct profile *p, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                       "no memory to format the profile as %s; it has %" PRIu32 " call paths",
                       x->name, profile_node_count(p));
}

int export_format(struct text *out, const struct exporter *x, const struct profile *p,
                  const struct snapshot *s, const struct export_quality *q,
                  const struct export_options *o, struct err *e) {
    const struct export_part part = {s, q, o->question};
    return format(out, x, p, &part, 1, o) == 0 ? 0 : no_memory(x, p, e);
}

/* Writes the rest and gives the file its final name. */
static int finish(struct output_file *f, const struct text *rest, struct err *e) {
    f->whole = f->written + rest->len;
    int err = output_file_write(f, rest->data, rest->len, e);
    if (!err)
        return output_file_commit(f, e);
    output_file_abort(f);
    return err;
}

int export_write(const char *path, const struct text *t, struct err *e) {
    struct output_file f;
    int err = output_file_open(&f, path ? path : "/dev/stdout", ERR_EXIT_PROFILER, e);
    if (err)
        return err;
    return finish(&f, t, e);
}

void export_give_up(const struct export_options *o) {
    if (o->lock)
        o->lock->give_up(o->lock->arg);
}

void export_take(const struct export_options *o) {
    if (o->lock)
        o->lock->take(o->lock->arg);
}

/* A file that is written while its text is being made. */
struct growing {
    struct output_file file;
    const struct export_options *o;
    struct err *e;
    int err; /* why a piece could not be written; 0: all pieces were written */
};

static int take_piece(void *arg, const char *data, size_t len) {
    struct growing *g = arg;
    export_give_up(g->o);
    g->err = output_file_write(&g->file, data, len, g->e);
    export_take(g->o);
    return g->err;
}

static int write_growing(const char *path, const struct exporter *x, const struct profile *p,
                         const struct export_part *part, int parts, const struct export_options *o,
                         struct err *e) {
    struct growing g = {.o = o, .e = e};
    struct text t = {.sink = take_piece, .sink_arg = &g};
    int err = output_file_open(&g.file, path ? path : "/dev/stdout", ERR_EXIT_PROFILER, e);
    if (err)
        return err;
    if (format(&t, x, p, part, parts, o) == 0) {
        export_give_up(o);
        err = finish(&g.file, &t, e);
        export_take(o);
    } else {
        output_file_abort(&g.file);
        err = g.err ? g.err : no_memory(x, p, e);
    }
    text_free(&t);
    return err;
}

static int write_formatted(const char *path, const struct text *t, const struct export_options *o,
                           struct err *e) {
    export_give_up(o);
    int err = export_write(path, t, e);
    export_take(o);
    return err;
}

static int write_whole(const char *path, const struct exporter *x, const struct profile *p,
                       const struct export_part *part, int parts, const struct export_options *o,
                       struct err *e) {
    struct text t = {0};
    int err = format(&t, x, p, part, parts, o) == 0 ? write_formatted(path, &t, o, e)
                                                    : no_memory(x, p, e);
    text_free(&t);
    return err;
}

int export_file_all(const char *path, const struct exporter *x, const struct profile *p,
                    const struct export_part *part, int parts, const struct export_options *o,
                    struct err *e) {
    return (x->whole ? write_whole : write_growing)(path, x, p, part, parts, o, e);
}

int export_file(const char *path, const struct exporter *x, const struct profile *p,
                const struct snapshot *s, const struct export_quality *q,
                const struct export_options *o, struct err *e) {
    const struct export_part part = {s, q, o->question};
    return export_file_all(path, x, p, &part, 1, o, e);
}
