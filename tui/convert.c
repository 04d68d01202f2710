#include "tui/convert.h"

#include "tui/output.h"

#include <errno.h>
#include <stdlib.h>

int convert_file(const struct options *o, const char *path, struct err *e) {
    struct outputs *out = calloc(1, sizeof *out);
    struct session *s = NULL;
    struct jvm j = {0};
    if (!out)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    int r = session_replay(path, &o->session, &s, e);
    if (r == 0) {
        struct session_status st;
        session_jvm(s, &j);
        session_status(s, &st);
        r = outputs_plan(out, o, (int)j.pid, 0, &st, e);
    }
    if (r == 0)
        r = outputs_write(out, o, s, e);
    if (r == 0)
        outputs_say_renamed(out);
    outputs_free(out);
    free(out);
    session_close(s);
    return r;
}
