#include "tui/cli/option/options.h"

#include "core/wire/wire_names.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool option_takes_value(const struct option_row *row) {
    return row->argument != NULL;
}

static enum err_exit exit_of(const struct option_row *row) {
    return row->usage ? ERR_EXIT_USAGE : ERR_EXIT_ARGUMENT;
}

/* Calls `each` for every piece of a list between commas. */
static int for_each_piece(const char *list, struct options *o, const char *spelled,
                          int (*each)(struct options *o, const char *spelled, const char *piece,
                                      struct err *e),
                          struct err *e) {
    for (const char *p = list;; p++) {
        char piece[64];
        size_t n = strcspn(p, ",");
        if (n >= sizeof piece)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "%s: unknown name: %.*s", spelled,
                               (int)sizeof piece, p);
        memcpy(piece, p, n);
        piece[n] = '\0';
        int r = each(o, spelled, piece, e);
        if (r < 0)
            return r;
        p += n;
        if (!*p)
            return 0;
    }
}

static int add_format(struct options *o, const char *spelled, const char *name, struct err *e) {
    const struct exporter *x = exporter_by_format(name, &o->export);
    if (!x) {
        struct text known = {0};
        for (const struct exporter *k = exporters; k->name; k++)
            text_addf(&known, "%s, ", k->name);
        int r = err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                            "%s: unknown format \"%s\"; there are: %ssummary, traces, flat",
                            spelled, name, known.failed || !known.data ? "" : known.data);
        text_free(&known);
        return r;
    }
    for (int i = 0; i < o->formats; i++)
        if (o->format[i] == x)
            return 0;
    if (o->formats == OPTIONS_OUTPUTS_MAX)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, E2BIG, "%s: more than %d formats", spelled,
                           OPTIONS_OUTPUTS_MAX);
    o->format[o->formats++] = x;
    return 0;
}

static int set_format(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    (void)row;
    return for_each_piece(value, o, spelled, add_format, e);
}

static int add_pattern(struct options *o, const struct option_row *row, const char *spelled,
                       const char *value, struct err *e) {
    const char **list = row->value ? o->exclude : o->include;
    uint32_t *count = row->value ? &o->excludes : &o->includes;
    if (*count == OPTIONS_PATTERNS_MAX)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, E2BIG, "%s: more than %d patterns", spelled,
                           OPTIONS_PATTERNS_MAX);
    list[(*count)++] = value;
    return 0;
}

static void *field(struct options *o, const struct option_row *row) {
    return (char *)o + row->offset;
}

static int set_bool(struct options *o, const struct option_row *row, const char *spelled,
                    const char *value, struct err *e) {
    (void)spelled, (void)value, (void)e;
    *(bool *)field(o, row) = row->kind == OPTION_FLAG;
    return 0;
}

/* Checks that the value is one of the row's words. */
static int find_word(const struct option_row *row, const char *spelled, const char *value,
                     struct err *e) {
    size_t length = strlen(value);
    for (const char *w = row->words; *w; w += w[strcspn(w, " ")] ? strcspn(w, " ") + 1 : strlen(w))
        if (strcspn(w, " ") == length && strncmp(w, value, length) == 0)
            return 0;
    return err_exit_as(e, exit_of(row), EINVAL, "%s %.40s: not one of: %s", spelled, value,
                       row->words);
}

static int set_action(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    int r = row->words ? find_word(row, spelled, value, e) : 0;
    if (r < 0 || o->action == ACTION_HELP || o->action == ACTION_VERSION)
        return r;
    o->action = (enum options_action)row->value;
    o->about = value;
    o->help_in_brief = o->action == ACTION_HELP && strcmp(spelled, "-h") == 0;
    return 0;
}

int option_number(const struct quantity *q, enum err_exit exit_code, const char *spelled,
                  const char *value, uint64_t *out, struct err *e) {
    int r = quantity_parse(q, value, out);
    if (r == -ERANGE)
        return err_exit_as(e, exit_code, ERANGE, "%s %.40s: %s must be from %s to %s", spelled,
                           value, q->noun, q->min_text, q->max_text);
    if (r < 0)
        return err_exit_as(e, exit_code, -r, "%s %.40s: not %s (%s)", spelled, value, q->noun,
                           q->form);
    return 0;
}

static int set_quantity(struct options *o, const struct option_row *row, const char *spelled,
                        const char *value, struct err *e) {
    uint64_t n;
    int r = option_number(row->quantity, exit_of(row), spelled, value, &n, e);
    if (r < 0)
        return r;
    if (row->size == sizeof(uint64_t))
        *(uint64_t *)field(o, row) = n;
    else
        *(uint32_t *)field(o, row) = (uint32_t)n;
    return 0;
}

/* Stores the number plus 1, because 0 means "not given". */
static int set_cpu(struct options *o, const struct option_row *row, const char *spelled,
                   const char *value, struct err *e) {
    uint64_t n;
    int r = option_number(&quantity_cpu, exit_of(row), spelled, value, &n, e);
    long there = sysconf(_SC_NPROCESSORS_CONF);
    if (r < 0)
        return r;
    if (there > 0 && n >= (uint64_t)there)
        return err_exit_as(e, exit_of(row), ERANGE,
                           "%s %.40s: this machine has %ld processor%s, the last is number %ld",
                           spelled, value, there, there == 1 ? "" : "s", there - 1);
    *(uint32_t *)field(o, row) = (uint32_t)n + 1;
    return 0;
}

static int set_percent(struct options *o, const struct option_row *row, const char *spelled,
                       const char *value, struct err *e) {
    char *end;
    double d = strtod(value, &end);
    if (end == value || *end || !isfinite(d) || d < 0 || d > 100)
        return err_exit_as(e, exit_of(row), EINVAL, "%s %.40s: not a number from 0 to 100", spelled,
                           value);
    *(double *)field(o, row) = d;
    return 0;
}

static int set_number(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    uint64_t n = 0;
    if (strcmp(value, "0") != 0 && quantity_parse(&quantity_count, value, &n) < 0)
        return err_exit_as(e, exit_of(row), EINVAL, "%s %.40s: not a number", spelled, value);
    *(int *)field(o, row) = (int)n;
    return 0;
}

static int set_text(struct options *o, const struct option_row *row, const char *spelled,
                    const char *value, struct err *e) {
    (void)spelled, (void)e;
    memcpy(field(o, row), &value, sizeof value);
    return 0;
}

static int set_word(struct options *o, const struct option_row *row, const char *spelled,
                    const char *value, struct err *e) {
    int r = find_word(row, spelled, value, e);
    return r < 0 ? r : set_text(o, row, spelled, value, e);
}

static int set_path(struct options *o, const struct option_row *row, const char *spelled,
                    const char *value, struct err *e) {
    if (!*value)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "%s: the file name is empty", spelled);
    return set_text(o, row, spelled, value, e);
}

static int add_output(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    (void)row;
    if (!*value)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "%s: the file name is empty", spelled);
    if (o->files == OPTIONS_OUTPUTS_MAX)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, E2BIG, "%s: more than %d files", spelled,
                           OPTIONS_OUTPUTS_MAX);
    o->file[o->files++] = value;
    return 0;
}

/* "default" is another tool's name for the default walker. */
static int set_cstack(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    struct text known = {0};
    if (!row->argument) /* --no-cstack */
        value = "no";
    if (strcmp(value, "default") == 0)
        value = wire_walk_name[WIRE_WALK_VM];
    for (int i = 0; i < WIRE_WALKS; i++) {
        if (strcmp(value, wire_walk_name[i]) == 0) {
            o->session.walk = (enum wire_walk)i;
            text_free(&known);
            return 0;
        }
        text_addf(&known, "%s%s", i ? ", " : "", wire_walk_name[i]);
    }
    int r =
        err_exit_as(e, exit_of(row), EINVAL, "%s: unknown stack walker \"%.40s\"; there are: %s",
                    spelled, value, known.failed || !known.data ? "" : known.data);
    text_free(&known);
    return r;
}

static int ignore(struct options *o, const struct option_row *row, const char *spelled,
                  const char *value, struct err *e) {
    (void)o, (void)row, (void)spelled, (void)value, (void)e;
    return 0;
}

int option_set(struct options *o, const struct option_row *row, const char *spelled,
               const char *value, struct err *e) {
    static option_setter *const set[OPTION_KINDS] = {
        [OPTION_FLAG] = set_bool,
        [OPTION_UNFLAG] = set_bool,
        [OPTION_ACTION] = set_action,
        [OPTION_EVENT] = option_set_event,
        [OPTION_QUANTITY] = set_quantity,
        [OPTION_PERCENT] = set_percent,
        [OPTION_NUMBER] = set_number,
        [OPTION_TEXT] = set_text,
        [OPTION_WORD] = set_word,
        [OPTION_PATH] = set_path,
        [OPTION_OUTPUT] = add_output,
        [OPTION_FORMAT] = set_format,
        [OPTION_CSTACK] = set_cstack,
        [OPTION_TRACE] = option_set_trace,
        [OPTION_ENGINE] = option_set_engine,
        [OPTION_INTERVAL] = option_set_interval,
        [OPTION_MOMENT] = option_set_moment,
        [OPTION_SIGNAL] = option_set_signal,
        [OPTION_CLOCK] = option_set_clock,
        [OPTION_CPU] = set_cpu,
        [OPTION_TIDS] = option_set_tids,
        [OPTION_DEPTH] = option_set_depth,
        [OPTION_FEATURES] = option_set_features,
        [OPTION_LIMITS] = option_set_limits,
        [OPTION_LABEL] = option_set_label,
        [OPTION_OVERHEAD] = option_set_overhead,
        [OPTION_PATTERN] = add_pattern,
        [OPTION_IGNORED] = ignore,
    };
    return set[row->kind](o, row, spelled, value, e);
}

/* Finds the JVM among the words after an action like jcmd. It is the first word, as in asprof; or
 * the last, if that is a number and the first is not, or if the first is a path. */

static bool is_surely_jvm(const char *word) {
    return (*word && word[strspn(word, "0123456789")] == '\0') || strcmp(word, "jps") == 0;
}

int options_find_target(struct options *o, struct err *e) {
    int at = 0;
    if (o->target)
        return 0;
    if (o->operands == 0)
        return err_set(e, EINVAL,
                       "%s: which JVM? Give its PID, its name, or jps for the only one; --list "
                       "shows the JVMs",
                       o->word);
    if (!is_surely_jvm(o->operand[0]) && o->operands > 1 &&
        (is_surely_jvm(o->operand[o->operands - 1]) || strchr(o->operand[0], '/')))
        at = o->operands - 1;
    o->target = o->operand[at];
    o->operands--;
    memmove(&o->operand[at], &o->operand[at + 1],
            (size_t)(o->operands - at) * sizeof o->operand[0]);
    return *o->target ? 0 : err_set(e, EINVAL, "the name of the JVM is empty");
}
