/* Converts files: `convert IN OUT`, and a recording or a profile of another tool instead of a JVM.
 *
 *      convert IN OUT                 by OUT's extension, or -o; "-" is stdout
 *      convert IN -f A -f B -o FMT    as for a JVM, see tui/cli/output/output.h
 *      OUT or -f *.jtop               a recording of ours */
#include "tui/cli/command/command.h"

#include "tui/cli/command/convert_recording.h"
#include "tui/cli/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command line, with its operands among the files. */
struct conversion {
    struct options o;
    struct outputs out;
    const char *recording[OPTIONS_OUTPUTS_MAX];
    int recordings;
};

static int check_operands(const struct options *o, struct err *e) {
    if (o->operands == 0)
        return err_set(e, EINVAL, "convert: which file? jtop-prof convert IN OUT");
    if (o->operands > 2)
        return err_set(
            e, EINVAL,
            "convert: give one IN and one OUT, not %d files; for more outputs use -f FILE",
            o->operands);
    if (o->operands == 1 && !o->files && !o->formats)
        return err_set(e, EINVAL,
                       "convert %s: into what? Give OUT, -f FILE, or -o FORMAT for stdout",
                       o->operand[0]);
    if (o->operands == 2 && o->files == OPTIONS_OUTPUTS_MAX)
        return err_set(e, EINVAL, "convert: at most %d files", OPTIONS_OUTPUTS_MAX);
    return 0;
}

/* A format of -o is for this file; without -o, the file's name must determine the format. */
static int check_extension(const struct options *o, const char *path, struct err *e) {
    if (o->formats || exporter_by_path(path) || strcmp(path, "-") == 0)
        return 0;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                       "%s: its name shows no format; give it with -o, or use one of .jtop, .txt, "
                       ".svg, .html, .jfr, .collapsed, .pb.gz …",
                       path);
}

/* Adds OUT as the first file. */
static int add_operand(struct options *o, struct err *e) {
    if (o->action != ACTION_CONVERT || o->operands < 2)
        return 0;
    memmove(o->file + 1, o->file, (size_t)o->files * sizeof *o->file);
    o->file[0] = o->operand[1];
    o->files++;
    return convert_is_recording(o->file[0]) ? 0 : check_extension(o, o->file[0], e);
}

/* Separates the recordings: they are no format of -o, and are written in another way. */
static void part_recordings(struct conversion *c) {
    int files = 0;
    for (int i = 0; i < c->o.files; i++) {
        if (convert_is_recording(c->o.file[i]))
            c->recording[c->recordings++] = c->o.file[i];
        else
            c->o.file[files++] = c->o.file[i];
    }
    c->o.files = files;
}

/* Prints what users must know about the file before they trust the result. */
static void warn(const char *message) {
    if (message[0])
        fprintf(stderr, "jtop-prof: %s\n", message);
}

static int write_outputs(struct conversion *c, const char *path, struct err *e) {
    struct session *s = NULL;
    struct session_status st;
    struct jvm j = {0};
    int r = session_replay(path, &c->o.session, &s, e);
    if (r < 0)
        return r;
    session_jvm(s, &j);
    session_status(s, &st);
    warn(st.message);
    r = outputs_plan(&c->out, &c->o, (int)j.pid, 0, &st, e);
    if (r == 0)
        r = outputs_check_input(&c->out, path, e);
    if (r == 0)
        r = outputs_write(&c->out, &c->o, s, e);
    if (r == 0)
        outputs_say_written(&c->out, &c->o);
    outputs_free(&c->out);
    session_close(s);
    return r;
}

static int write_recordings(const struct conversion *c, const char *path, bool quiet,
                            struct err *e) {
    char damage[256] = "";
    int r = 0;
    for (int i = 0; i < c->recordings && r == 0; i++) {
        r = convert_recording(&c->o, path, c->recording[i], damage, sizeof damage, e);
        if (r == 0 && !quiet)
            warn(damage);
        quiet = true;
    }
    return r;
}

static int check_recordings(const struct conversion *c, struct err *e) {
    int r = 0;
    for (int i = 0; i < c->recordings && r == 0; i++)
        r = convert_check_recording(&c->o, c->recording[i], e);
    return r;
}

int convert_file(const struct options *o, const char *path, struct err *e) {
    int r = o->action == ACTION_CONVERT ? check_operands(o, e) : 0;
    struct conversion *c = r == 0 ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return r < 0 ? r : err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    c->o = *o; /* its ranges of thread ids stay in `o` */
    r = add_operand(&c->o, e);
    part_recordings(c);
    bool reports = c->o.files || c->o.formats || !c->recordings;
    if (r == 0)
        r = check_recordings(c, e);
    if (r == 0 && reports)
        r = write_outputs(c, path, e);
    if (r == 0)
        r = write_recordings(c, path, reports, e);
    free(c);
    return r;
}
