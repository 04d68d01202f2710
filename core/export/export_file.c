#include "core/export/export.h"

#include "core/export/output_file.h"

#include <errno.h>

int export_check_path(const char *path, struct err *e) {
    return output_file_check(path, ERR_EXIT_ARGUMENT, e);
}

int export_format(struct text *out, const struct exporter *x, const struct profile *p,
                  const struct snapshot *s, const struct export_quality *q,
                  const struct export_options *o, struct err *e) {
    if (x->write(out, p, s, q, o) == 0 && !out->failed)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                       "no memory to format the profile as %s; it has %u call paths", x->name,
                       s->node_count);
}

int export_write(const char *path, const struct text *t, struct err *e) {
    struct output_file f;
    int err = output_file_open(&f, path ? path : "/dev/stdout", ERR_EXIT_PROFILER, e);
    if (err)
        return err;
    err = output_file_write(&f, t->data, t->len, e);
    if (!err)
        return output_file_commit(&f, e);
    output_file_abort(&f);
    return err;
}

int export_file(const char *path, const struct exporter *x, const struct profile *p,
                const struct snapshot *s, const struct export_quality *q,
                const struct export_options *o, struct err *e) {
    struct text t = {0};
    int err = export_format(&t, x, p, s, q, o, e);
    if (!err)
        err = export_write(path, &t, e);
    text_free(&t);
    return err;
}
