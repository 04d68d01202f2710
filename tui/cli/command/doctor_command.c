#include "tui/cli/command/doctor_command.h"

#include "attach/doctor/doctor.h"
#include "core/event/event.h"
#include "core/export/json_text.h"
#include "core/session/agent_link.h"
#include "core/session/share/holder.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LEVEL_COLUMNS 9 /* two blanks, a word, a blank */
#define LEAST_TEXT 24

static const struct {
    const char *word, *colour;
} levels[] = {
    [FINDING_OK] = {"ok", "32"},
    [FINDING_NOTE] = {"note", "36"},
    [FINDING_WARNING] = {"warning", "1;33"},
    [FINDING_FAILURE] = {"FAIL", "1;31"},
};

/* ---- checks that attach/ cannot do ---- */

static struct finding *add(struct doctor_report *r, const char *id, const char *title,
                           enum finding_level level) {
    static struct finding spare;
    struct finding *f = r->count < FINDINGS_MAX ? &r->finding[r->count++] : &spare;
    *f = (struct finding){.id = id, .title = title, .level = level};
    return f;
}

/* Formats a text, and cuts it if it is too long. */
static __attribute__((format(printf, 3, 4))) void say(char *out, size_t size, const char *fmt,
                                                      ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(out, size, fmt, args);
    va_end(args);
}
#define SAY(field, ...) say(field, sizeof(field), __VA_ARGS__)

static void check_output(struct doctor_report *r) {
    char where[PATH_MAX];
    bool there = getcwd(where, sizeof where) && access(".", W_OK | X_OK) == 0;
    struct finding *f = add(r, "output-directory", "output", there ? FINDING_OK : FINDING_NOTE);
    f->machine = true;
    if (there)
        SAY(f->fact, "files go to %.300s, written by this process", where);
    else
        SAY(f->fact, "the working directory cannot be written to: %s", strerror(errno));
    if (!there)
        SAY(f->remedy, "name a file elsewhere with -f");
}

static void check_terminal(struct doctor_report *r) {
    const char *term = getenv("TERM");
    bool plain = !term || !*term || !strcmp(term, "dumb");
    struct finding *f = add(r, "terminal", "terminal", plain ? FINDING_NOTE : FINDING_OK);
    f->machine = true;
    SAY(f->fact, "TERM=%.60s", term ? term : "");
    if (plain)
        SAY(f->remedy, "no live screen on this terminal: set TERM, or use -d, --batch or --plain");
}

/* Called if no reader is visible here: one may be in another container or on the host. */
static void check_unseen_reader(struct doctor_report *r) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)r->jvm.pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    bool hidden = fd >= 0 && holder_hidden(r->jvm.pid);
    struct finding *f = add(r, "reader", "other profiler",
                            hidden   ? FINDING_FAILURE
                            : fd < 0 ? FINDING_NOTE
                                     : FINDING_OK);
    if (fd >= 0)
        close(fd);
    if (hidden) {
        SAY(f->fact, "its agent is active, used from another container or the host (%s)", path);
        SAY(f->remedy, "end that profile there: jtop-prof stop PID, or q on its screen");
    } else if (fd < 0) {
        SAY(f->fact, "not known: %s: %s", path, strerror(error));
    } else {
        SAY(f->fact, "none found");
    }
}

static void check_reader(struct doctor_report *r) {
    pid_t holder = holder_find(r->jvm.pid);
    if (!holder) {
        check_unseen_reader(r);
        return;
    }
    struct finding *f = add(r, "reader", "other profiler", FINDING_NOTE);
    SAY(f->fact, "process %d profiles this JVM (that process has the agent's memory mapped)",
        (int)holder);
    SAY(f->remedy,
        "jtop-prof %d joins as viewer; for your own profile, end that one first: jtop-prof stop "
        "%d, or q on its screen",
        (int)r->jvm.pid, (int)r->jvm.pid);
}

/* Before JDK 11, allocation is sampled at functions of the VM, which must be found by name. */
static void check_symbols(struct doctor_report *r) {
    struct symbols *s = NULL;
    struct err e = {0};
    char build_id[132] = "";
    bool replaced = false;
    int release = event_java_version(r->jvm.version);
    bool needed = release > 0 && release < 11;
    if (symbols_open(r->jvm.pid, &s, &e) < 0) {
        struct finding *f = add(r, "vm-symbols", "VM's symbols", FINDING_NOTE);
        SAY(f->fact, "not known: %s", e.message);
        return;
    }
    bool missing = symbols_are_missing(s, "libjvm.so", build_id, &replaced);
    struct finding *f = add(r, "vm-symbols", "VM's symbols",
                            !missing ? FINDING_OK
                            : needed ? FINDING_WARNING
                                     : FINDING_NOTE);
    if (!missing)
        SAY(f->fact, "of libjvm.so are found");
    else
        SAY(f->fact, "libjvm.so is stripped, and no debug file fits its build-id %s%s", build_id,
            replaced ? "; the file has been replaced since" : "");
    if (missing)
        SAY(f->remedy, "%sinstall the debug symbols of exactly this JDK (Debian: openjdk-%d-dbg)%s",
            needed ? "alloc needs them before JDK 11: "
                   : "only names of the VM's own frames need them: ",
            release, replaced ? ", then restart the JVM" : "");
    symbols_free(s);
}

/* ---- which JVM ---- */

/* True if the text may be a process's number. */
static bool is_number(const char *s) {
    return *s && strlen(s) < 10 && s[strspn(s, "0123456789")] == '\0' && strtol(s, NULL, 10) > 0;
}

/* Finds a process that we may not inspect, with what every user may see of it. */
static bool find_closed(const char *target, struct jvm *out) {
    struct jvm *all = NULL;
    int n = jvm_list_all(&all, NULL);
    bool found = false;
    for (int i = 0; i < n && !found; i++)
        if (all[i].pid == (pid_t)strtol(target, NULL, 10)) {
            *out = all[i];
            found = true;
        }
    free(all);
    return found;
}

/* Examines the target. If a process was given by its number and cannot be examined as a JVM, that
 * is a finding, not an error. */
static int look_at(const char *target, const char *library, struct doctor_report *r, char *trouble,
                   size_t size, struct err *e) {
    int rc = jvm_find(target, &r->jvm, e);
    bool known = rc == 0 || (rc == -EACCES && is_number(target) && find_closed(target, &r->jvm));
    if (!known && !is_number(target))
        return rc;
    if (rc < 0)
        snprintf(trouble, size, "%s", e->message);
    r->count = examine(known ? &r->jvm : NULL, geteuid(), library, r->finding, FINDINGS_MAX);
    check_output(r);
    check_terminal(r);
    if (!known) {
        r->jvm = (struct jvm){.pid = (pid_t)strtol(target, NULL, 10)};
        struct finding *f = add(r, "process", "process", FINDING_FAILURE);
        SAY(f->fact, "%s", e->message);
        if (e->code == EINVAL && strstr(e->message, "is not a JVM"))
            SAY(f->remedy, "only HotSpot JVMs can be profiled; use perf for a native image "
                           "(GraalVM) or another program");
        return 0;
    }
    check_reader(r);
    check_symbols(r);
    if (doctor_attach(&r->jvm, geteuid(), NULL, e) < 0)
        snprintf(trouble, size, "%s", e->message);
    return 0;
}

void doctor_judge(struct doctor_report *r, const char *trouble) {
    char better[64] = "";
    r->failures = r->warnings = 0;
    for (int i = 0; i < r->count; i++) {
        r->failures += r->finding[i].level == FINDING_FAILURE;
        r->warnings += r->finding[i].level == FINDING_WARNING;
    }
    if (trouble && !r->failures) {
        SAY(add(r, "attach", "attach", FINDING_FAILURE)->fact, "%s", trouble);
        r->failures++;
    }
    for (int i = 0; !trouble && i < r->count; i++)
        if (r->finding[i].level == FINDING_FAILURE)
            trouble = r->finding[i].fact;
    if (r->warnings)
        snprintf(better, sizeof better, "; %d warning%s", r->warnings, r->warnings == 1 ? "" : "s");
    if (r->failures)
        SAY(r->verdict, "cannot be profiled: %s", trouble);
    else
        SAY(r->verdict, "%s%s", r->jvm.pid ? "can be profiled" : "JVMs can be profiled here",
            better);
}

/* ---- output ---- */

static void add_colour(struct text *out, bool colours, const char *code) {
    if (colours)
        text_addf(out, "\033[%sm", code);
}

/* Appends the text, broken at blanks before `columns`; further lines begin at `indent`. */
static void add_wrapped(struct text *out, const char *s, int indent, int columns) {
    int room = columns - indent > LEAST_TEXT ? columns - indent : LEAST_TEXT;
    while (columns && (int)strlen(s) > room) {
        int at = room;
        while (at > 0 && s[at] != ' ')
            at--;
        if (at == 0)
            at = (int)strcspn(s, " ");
        text_add_n(out, s, (size_t)at);
        s += at + (int)strspn(s + at, " ");
        if (!*s)
            break;
        text_addf(out, "\n%*s", indent, "");
    }
    text_add(out, s);
    text_add(out, "\n");
}

static void print_finding(const struct finding *f, int columns, bool colours, struct text *out) {
    int indent = 2 + LEVEL_COLUMNS + FINDING_TITLE + 1;
    text_add(out, "  ");
    add_colour(out, colours, levels[f->level].colour);
    text_addf(out, "%-*s", LEVEL_COLUMNS - 1, levels[f->level].word);
    add_colour(out, colours, "0");
    text_addf(out, " %-*s ", FINDING_TITLE, f->title);
    add_wrapped(out, f->fact, indent, columns);
    if (!f->remedy[0])
        return;
    text_addf(out, "%*s-> ", indent, "");
    add_wrapped(out, f->remedy, indent + 3, columns);
}

static void print_group(const struct doctor_report *r, bool machine, int columns, bool colours,
                        struct text *out) {
    add_colour(out, colours, "1");
    if (machine)
        text_add(out, "This machine");
    else
        text_addf(out, "%s %d%s%s", r->jvm.name[0] ? "JVM" : "Process", (int)r->jvm.pid,
                  r->jvm.name[0] ? " " : "", r->jvm.name);
    add_colour(out, colours, "0");
    text_add(out, "\n");
    for (int i = 0; i < r->count; i++)
        if (r->finding[i].machine == machine)
            print_finding(&r->finding[i], columns, colours, out);
}

void doctor_print(const struct doctor_report *r, int columns, bool colours, struct text *out) {
    print_group(r, true, columns, colours, out);
    if (r->jvm.pid)
        print_group(r, false, columns, colours, out);
    add_colour(out, colours, r->failures ? levels[FINDING_FAILURE].colour : "1");
    add_wrapped(out, r->verdict, 0, columns);
    add_colour(out, colours, "0");
}

static void json_pair(struct text *out, const char *key, const char *value) {
    text_addf(out, "\"%s\": ", key);
    json_text_string(out, value);
}

void doctor_print_json(const struct doctor_report *r, struct text *out) {
    static const char *const words[] = {"ok", "note", "warning", "failure"};
    text_addf(out, "{\"can_be_profiled\": %s, \"failures\": %d, \"warnings\": %d, ",
              r->failures ? "false" : "true", r->failures, r->warnings);
    json_pair(out, "verdict", r->verdict);
    if (r->jvm.pid) {
        text_addf(out, ",\n \"pid\": %d, ", (int)r->jvm.pid);
        json_pair(out, "name", r->jvm.name);
    }
    text_add(out, ",\n \"findings\": [");
    for (int i = 0; i < r->count; i++) {
        const struct finding *f = &r->finding[i];
        text_add(out, i ? ",\n  {" : "\n  {");
        json_pair(out, "id", f->id);
        text_addf(out, ", \"about\": \"%s\", \"level\": \"%s\", ", f->machine ? "machine" : "jvm",
                  words[f->level]);
        json_pair(out, "title", f->title);
        text_add(out, ", ");
        json_pair(out, "fact", f->fact);
        text_add(out, ", ");
        json_pair(out, "remedy", f->remedy);
        text_add(out, "}");
    }
    text_add(out, "\n ]}\n");
}

/* Returns the terminal's width; 0: no terminal. */
static int columns_there(void) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static bool wants_colours(const struct options *o) {
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !o->mono && !(none && *none) && term &&
           strcmp(term, "dumb") != 0;
}

int doctor_command(const struct options *o, struct text *out, struct err *e) {
    struct doctor_report *r = calloc(1, sizeof *r);
    char library[PATH_MAX], trouble[sizeof e->message] = "";
    struct err ignored;
    if (!r)
        return err_set(e, ENOMEM, "no memory");
    bool there = agent_library_find(o->session.library, library, sizeof library, &ignored) == 0 ||
                 agent_library_find(NULL, library, sizeof library, &ignored) == 0;
    int rc = 0;
    if (o->target) {
        rc = look_at(o->target, there ? library : NULL, r, trouble, sizeof trouble, e);
    } else {
        r->count = examine(NULL, geteuid(), there ? library : NULL, r->finding, FINDINGS_MAX);
        check_output(r);
        check_terminal(r);
    }
    if (rc == 0) {
        doctor_judge(r, trouble[0] ? trouble : NULL);
        if (o->json)
            doctor_print_json(r, out);
        else
            doctor_print(r, columns_there(), wants_colours(o), out);
        rc = out->failed ? err_set(e, ENOMEM, "no memory") : r->failures > 0;
    }
    free(r);
    return rc;
}
