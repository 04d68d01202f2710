#include "tui/cli/option/options.h"

#include "core/base/nearest.h"
#include "core/event/event.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Words that come before the JVM. Words of async-profiler that this version does not have are also
 * listed, so that they are never taken for the name of a JVM. */
static const struct {
    const char *name;
    enum options_action action;
    bool built;
    bool files; /* takes files, but no JVM */
} actions[] = {
    {"collect", ACTION_COLLECT, true, false},    {"start", ACTION_BACKGROUND, true, false},
    {"resume", ACTION_BACKGROUND, true, false},  {"stop", ACTION_BACKGROUND, true, false},
    {"dump", ACTION_BACKGROUND, true, false},    {"status", ACTION_BACKGROUND, true, false},
    {"metrics", ACTION_BACKGROUND, true, false}, {"list", ACTION_EVENTS, true, false},
    {"check", ACTION_CHECK, true, false},        {"load", ACTION_JVM, true, false},
    {"jcmd", ACTION_JVM, true, false},           {"threaddump", ACTION_JVM, true, false},
    {"dumpheap", ACTION_JVM, true, false},       {"inspectheap", ACTION_JVM, true, false},
    {"convert", ACTION_CONVERT, true, true},     {"diff", ACTION_DIFF, true, true},
    {"meminfo", ACTION_LIVE, false, false},      {"serve", ACTION_HTTP, true, false},
    {"push", ACTION_HTTP, true, false},          {"doctor", ACTION_DOCTOR, true, false},
};

void options_actions(struct text *out) {
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (actions[i].built)
            text_addf(out, "%s ", actions[i].name);
}

void option_remark(struct options *o, const char *fmt, ...) {
    char text[sizeof o->remark];
    size_t len = strlen(o->remark);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!strstr(o->remark, text))
        snprintf(o->remark + len, sizeof o->remark - len, "%s%s", len ? "; " : "", text);
}

/* What the meaning of option names depends on: words that may come after them. */
struct manner {
    bool batch, push;
};

static bool is_meant(const struct option_row *row, struct manner m) {
    return row->when != (m.batch ? WHEN_NOT_BATCH : WHEN_BATCH) &&
           row->when != (m.push ? WHEN_NOT_PUSH : WHEN_PUSH);
}

static const struct option_row *find(const char *name, struct manner m) {
    for (int i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (!is_meant(row, m))
            continue;
        for (size_t n = 0; n < 2; n++)
            if (row->name[n] && strcmp(row->name[n], name) == 0)
                return row;
    }
    return NULL;
}

static const char *nearest(const char *name) {
    const char *best = "--help";
    int best_distance = nearest_distance(name, best);
    for (int i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        for (size_t n = 0; n < 2 && row->group != GROUP_READER; n++) {
            int d = row->name[n] ? nearest_distance(name, row->name[n]) : best_distance;
            if (d < best_distance) {
                best_distance = d;
                best = row->name[n];
            }
        }
    }
    return best;
}

/* One option as typed: "-d 10", "-d10", "--title=x", "--title x". */
struct typed {
    char name[32];
    const char *value; /* NULL: none there */
    const struct option_row *row;
};

/* Parses the option at argv[*i], and moves *i to its last argument. */
static void take(struct typed *t, int argc, char **argv, int *i, struct manner m) {
    const char *arg = argv[*i];
    size_t n = strlen(arg);
    *t = (struct typed){0};
    if (arg[1] == '-') {
        n = strcspn(arg, "=");
        if (arg[n])
            t->value = arg + n + 1;
    } else if (isdigit((unsigned char)arg[2])) {
        n = 2;
        t->value = arg + 2;
    }
    if (n >= sizeof t->name)
        n = sizeof t->name - 1;
    memcpy(t->name, arg, n);
    t->row = find(t->name, m);
    if (t->row && option_takes_value(t->row) && !t->value && *i + 1 < argc)
        t->value = argv[++*i];
}

static bool is_option(const char *arg) {
    return arg[0] == '-' && arg[1] != '\0';
}

/* "-n" before "--batch" has the same meaning as after it, so this is found out first. */
static struct manner find_manner(int argc, char **argv) {
    struct manner m = {0};
    bool word = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        struct typed t;
        if (!is_option(argv[i])) {
            m.push |= !word && strcmp(argv[i], "push") == 0;
            word = true;
            continue;
        }
        take(&t, argc, argv, &i, (struct manner){0});
        m.batch |= strcmp(t.name, "--batch") == 0;
    }
    return m;
}

static int set_option(struct options *o, const struct typed *t, struct err *e) {
    if (!t->row && (!strcmp(t->name, "-p") || !strcmp(t->name, "--pid")))
        return err_set(e, EINVAL,
                       "there is no option %s: give the process ID alone, as in "
                       "jtop-prof 4711",
                       t->name);
    if (!t->row)
        return err_set(e, EINVAL, "unknown option %s; nearest known one: %s (--help lists all)",
                       t->name, nearest(t->name));
    if (option_takes_value(t->row) && !t->value)
        return err_set(e, EINVAL, "%s needs a value: %s", t->name, t->row->argument);
    if (!option_takes_value(t->row) && t->value)
        return err_set(e, EINVAL, "%s takes no value, but got \"%s\"", t->name, t->value);
    return option_set(o, t->row, t->name, t->value, e);
}

static int not_built(const char *word, struct err *e) {
    struct text there = {0};
    options_actions(&there);
    int r = err_set(e, ENOTSUP,
                    "action %s is not in this version; there are: %s--list, --batch, and the live "
                    "screen without an action",
                    word, there.failed || !there.data ? "" : there.data);
    text_free(&there);
    return r;
}

static int add_operand(struct options *o, const char *word, struct err *e) {
    if (o->operands == OPTIONS_OPERANDS_MAX)
        return err_set(e, E2BIG, "%s: more than %d words", o->word, OPTIONS_OPERANDS_MAX);
    o->operand[o->operands++] = word;
    o->takes_all = o->action == ACTION_JVM;
    return 0;
}

/* Returns the action of which the word is a misspelling. NULL: none. */
static const char *like_action(const char *word) {
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (actions[i].built && nearest_distance(word, actions[i].name) <= 2)
            return actions[i].name;
    return NULL;
}

/* True if other tools have this action, and users of theirs try it here. */
static bool is_habit(const char *word) {
    static const char *const habits[] = {"top",  "live",   "attach", "watch", "profile",
                                         "perf", "record", "report", "trace", "view"};
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (!strcmp(word, habits[i]))
            return true;
    return false;
}

static int set_word(struct options *o, const char *word, struct err *e) {
    for (size_t i = 0; i < sizeof actions / sizeof actions[0] && !o->word; i++) {
        if (strcmp(word, actions[i].name) != 0)
            continue;
        if (!actions[i].built)
            return not_built(word, e);
        o->word = word;
        o->action = o->action == ACTION_HELP ? ACTION_HELP : actions[i].action;
        o->collect |= o->action == ACTION_COLLECT;
        o->wants_operands = actions[i].files || o->action == ACTION_JVM;
        return 0;
    }
    if (o->wants_operands)
        return add_operand(o, word, e);
    if (!*word)
        return err_set(e, EINVAL, "the name of the JVM is empty");
    if (o->target && is_habit(o->target))
        return err_set(e, EINVAL,
                       "there is no action %s: jtop-prof %s alone shows this JVM live; "
                       "-d TIME profiles it, --help lists the actions",
                       o->target, word);
    if (o->target)
        return err_set(e, EINVAL, "one JVM at a time, but two were named: %s and %s%s%s", o->target,
                       word, like_action(o->target) ? "; did you mean the action " : "",
                       like_action(o->target) ? like_action(o->target) : "");
    o->target = word;
    return 0;
}

/* True for actions that need no JVM and no profile. */
static bool is_about_us(enum options_action action) {
    return action == ACTION_CONFIG || action == ACTION_CHECK_THEME || action == ACTION_COMPLETION ||
           action == ACTION_NAMES || action == ACTION_MANUAL;
}

static int decide(struct options *o, struct err *e) {
    bool collect = o->collect || o->duration_ms || o->files || o->formats || o->timeout.ms ||
                   o->timeout.of_day || o->loop.ms || o->loop.of_day;
    if (o->action == ACTION_HELP || o->action == ACTION_VERSION || is_about_us(o->action))
        return 0;
    if (o->reader_fd >= 0 || o->reader_pid) {
        o->action = ACTION_READER;
        if (o->reader_fd < 0 || o->reader_pid <= 0)
            return err_set(e, EINVAL, "--reader and --reader-pid must be given together");
        return 0;
    }
    if (o->json && o->action != ACTION_LIST && o->action != ACTION_DOCTOR)
        return err_set(e, EINVAL, "--json works only with --list and doctor");
    int http = options_check_http(o, e);
    if (http < 0 || o->action == ACTION_HTTP || o->action == ACTION_DOCTOR)
        return http;
    if (o->action == ACTION_LIST) {
        /* If the program is called asprof, `collect` is set without being given. */
        if (o->target || o->word || (collect && !o->as_asprof) || o->batch)
            return err_set(e, EINVAL,
                           "--list shows all JVMs: it takes no PID, action, -d, -f or -o");
        return 0;
    }
    if (o->action == ACTION_EVENTS || o->action == ACTION_CHECK)
        return o->target ? 0
                         : err_set(e, EINVAL,
                                   "%s: which JVM? Give its PID, its name, or jps for the only "
                                   "one; --list shows the JVMs",
                                   o->word);
    if (o->action == ACTION_CONVERT || o->action == ACTION_DIFF)
        return 0;
    if (o->action == ACTION_JVM)
        return options_find_target(o, e);
    if (o->action == ACTION_BACKGROUND)
        return o->target
                   ? 0
                   : err_set(e, EINVAL, "%s: which JVM? Give its PID, its name, or jps", o->word);
    if (o->batch && collect)
        return err_set(e, EINVAL,
                       "--batch prints the live screen as text: it takes no collect, -d, -f or -o");
    if (o->batch || collect) {
        o->action = o->batch ? ACTION_FRAMES : ACTION_COLLECT;
        if (!o->target)
            return err_set(e, EINVAL,
                           "which JVM? Give its PID, its name, or jps for the only "
                           "one; --list shows them");
    }
    return 0;
}

static bool called_as_batch(const char *program) {
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    return strcmp(base, "asprof") == 0 || strcmp(base, "profiler.sh") == 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e) {
    *o = (struct options){.reader_fd = -1};
    o->as_asprof = o->collect = argc > 0 && called_as_batch(argv[0]);
    struct manner manner = find_manner(argc, argv);
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        int r;
        if (!only_words && !o->takes_all && strcmp(argv[i], "--") == 0) {
            only_words = true;
            continue;
        }
        if (!only_words && !o->takes_all && is_option(argv[i])) {
            struct typed t;
            take(&t, argc, argv, &i, manner);
            r = set_option(o, &t, e);
        } else {
            r = set_word(o, argv[i], e);
        }
        if (r < 0)
            return r;
    }
    int r = decide(o, e);
    return r == 0 && o->action != ACTION_READER ? options_settle(o, e) : r;
}

static const struct option_row *find_agent(const char *name) {
    for (int i = 0; i < option_row_count; i++)
        if (option_rows[i].agent && strcmp(option_rows[i].agent, name) == 0)
            return &option_rows[i];
    return NULL;
}

/* Handles one piece of the agent form: "key=value", a flag, an event or a format. -ENOENT: none of
 * them. */
static int set_agent(struct options *o, char *piece, struct err *e) {
    char *value = strchr(piece, '=');
    if (value)
        *value++ = '\0';
    const struct option_row *row = find_agent(piece);
    const char *given = row && !value ? row->bare : value;
    if (row && option_takes_value(row) == (given != NULL))
        return option_set(o, row, piece, given, e);
    if (row && row->any_value)
        return option_set(o, row, piece, NULL, e);
    if (value)
        value[-1] = '=';
    const struct option_row *event = find_agent("event");
    if (event && event_is_known(piece))
        return option_set(o, event, "event", piece, e);
    const struct option_row *format = find("-o", (struct manner){0});
    if (format && exporter_by_format(piece, &o->export))
        return option_set(o, format, "format", piece, e);
    return -ENOENT;
}

int options_parse_agent(struct options *o, char *list, struct text *unknown, struct err *e) {
    char *rest = list;
    for (char *piece; (piece = strsep(&rest, ",")) != NULL;) {
        if (!*piece || strcmp(piece, "start") == 0)
            continue;
        int r = set_agent(o, piece, e);
        if (r == -ENOENT)
            text_addf(unknown, "%s%s", unknown->len ? ", " : "", piece);
        else if (r < 0)
            return r;
    }
    return options_settle(o, e);
}
