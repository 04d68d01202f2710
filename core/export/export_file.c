#include "core/export/export.h"

#include "core/export/output_file.h"

#include <errno.h>

int export_check_path(const char *path, struct err *e) {
    return output_file_check(path, ERR_EXIT_ARGUMENT, e);
}

int export_file(const char *path, const struct exporter *x, const struct profile *p,
                const struct snapshot *s, const struct export_quality *q,
                const struct export_options *o, struct err *e) {
    struct text t = {0};
    struct output_file f;
    int err = x->write(&t, p, s, q, o);
    if (err || t.failed) {
        err = err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                          "no memory to format the profile as %s; it has %u call paths", x->name,
                          s->node_count);
    } else {
        err = output_file_open(&f, path ? path : "/dev/stdout", ERR_EXIT_PROFILER, e);
        if (!err) {
            err = output_file_write(&f, t.data, t.len, e);
            if (err)
                output_file_abort(&f);
            else
                err = output_file_commit(&f, e);
        }
    }
    text_free(&t);
    return err;
}
