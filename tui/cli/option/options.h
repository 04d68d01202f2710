/*
 * Files:
 *   help           texts of -h, --help, and ACTION --help
 *   option_events  options about events and intervals, and how they combine
 *   option_forms   options with a value syntax of their own: times, signals, limits
 *   option_http    checks of the options of serve and push
 *   option_set     storing of an option's value by its kind
 *   option_table   table of all options
 *   options        struct of all settings; parser of command line and agent form
 *
 * The command line, and the same settings in the form of the agent ("event=cpu,interval=1ms,…").
 * One table has everything about an option: its names, its agent form, its value, its help.
 * Parsing, --help and the suggestion for a misspelled option all use this table.
 *
 * Context: frontend only, main thread. Nothing here is freed: strings point into argv or into the
 * given text.
 */
#ifndef JTOP_TUI_CLI_OPTION_OPTIONS_H
#define JTOP_TUI_CLI_OPTION_OPTIONS_H

#include "core/base/err.h"
#include "core/base/quantity.h"
#include "core/base/text.h"
#include "core/decode/thread_filter.h"
#include "core/export/export.h"
#include "core/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_OUTPUTS_MAX 16 /* for files, and for formats */
#define OPTIONS_TIDS_MAX 256   /* ranges in --filter */
#define OPTIONS_OPERANDS_MAX 16
#define OPTIONS_PATTERNS_MAX 64 /* for -I, and for -X */
#define OPTIONS_LABELS_MAX 32

enum options_action {
    ACTION_LIVE = 0, /* the live screen of `target`, or first the picker */
    ACTION_FRAMES,   /* --batch: the screen's frames as text */
    ACTION_COLLECT,  /* profile or read a recording, and write files */
    ACTION_LIST,
    ACTION_EVENTS,     /* "list": the events that `target` can be sampled for */
    ACTION_CHECK,      /* "check": whether `target` can be sampled for these events */
    ACTION_BACKGROUND, /* start, resume, stop, dump, status, metrics: of `target` */
    ACTION_JVM,        /* load, jcmd, threaddump, dumpheap, inspectheap: of `target` */
    ACTION_CONVERT,    /* operand[0] into operand[1], or by -f and -o */
    ACTION_DIFF,       /* compare operand[0] with operand[1] */
    ACTION_HTTP,       /* serve, push: see tui/cli/http/http.h */
    ACTION_DOCTOR,     /* why `target`, or any JVM, cannot be profiled */
    ACTION_READER,     /* started by the agent */
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_CONFIG,      /* --print-config */
    ACTION_CHECK_THEME, /* of the theme `about` */
    ACTION_COMPLETION,  /* for the shell `about` */
    ACTION_NAMES,       /* PID and name of each JVM, for completion */
    ACTION_MANUAL,      /* the generated part of the manual page `about` */
};

/* A length of time; or a time of day, which is the next moment when the clock shows it. */
struct options_moment {
    uint64_t ms; /* 0: not given, or a time of day */
    bool of_day;
    uint8_t hour, minute, second; /* hour 24 or more: any hour */
};

/* Do not copy this struct: the session points to the ranges of thread ids in it. */
struct options {
    enum options_action action;
    const char *word;   /* the action's word, if one was given */
    bool collect;       /* "collect" was given, or the program is called asprof */
    bool as_asprof;     /* it is called asprof or profiler.sh: prints their messages on stderr */
    bool batch;         /* --batch */
    bool help_in_brief; /* -h */
    const char *about;  /* argument of some actions */
    const char *operand[OPTIONS_OPERANDS_MAX]; /* words of actions that take more than a JVM */
    int operands;
    bool wants_operands;  /* further words are operands, not JVMs */
    bool takes_all;       /* also words that look like options: jcmd has its own */
    const char *target;   /* PID, name, "jps" or a recording; NULL: not given */
    uint64_t duration_ms; /* 0: not given */
    uint32_t frames;      /* --batch -n; 0: no end */
    uint32_t refresh_ms;  /* 0: not given */
    bool ascii, mono, json, plain, no_mouse;
    const char *theme;       /* name or path; NULL: not given, as for the next two */
    const char *view;        /* name of a view */
    const char *source_path; /* directories and jars, separated by ':' */
    bool events_given;       /* session.engine[] was requested, it is not the default */
    uint32_t own;            /* set of events with an interval of their own */
    const char *interval, *interval_spelled; /* -i, whose meaning depends on the event; or NULL */
    bool all;                                /* --all was given */
    bool trace;                              /* the method was requested with --trace */
    bool all_user, all_kernel, live, tlab, no_free, ttsp;
    uint32_t target_cpu; /* its number plus 1; 0: not given */
    const char *include[OPTIONS_PATTERNS_MAX], *exclude[OPTIONS_PATTERNS_MAX]; /* -I, -X */
    uint32_t includes, excludes;
    uint64_t from_ms, to_ms;        /* --from, --to: since the first sample; 0: not given */
    uint64_t chunk_bytes, chunk_ms; /* of JFR files; 0: not given */
    uint64_t processes_ms;          /* --proc; 0: not given */
    const char *jfr_sync;           /* --jfrsync; NULL: not given */
    bool quiet;                     /* -q */
    const char *log_level;          /* --log; NULL: not given */
    /* serve and push; NULL, 0: not given */
    const char *listen, *to, *protocol, *token_file, *tls_cert, *tls_key, *tls_ca, *spool;
    uint64_t spool_bytes, every_ms;
    bool all_jvms;
    const char *label[OPTIONS_LABELS_MAX];
    int labels;
    char remark[400]; /* message about options without effect; empty: none */
    struct options_moment timeout, loop;
    struct tid_range tid[OPTIONS_TIDS_MAX]; /* for session.tids */
    struct session_options session;
    struct export_options export;
    const char *file[OPTIONS_OUTPUTS_MAX]; /* -f, patterns as given */
    int files;
    const struct exporter *format[OPTIONS_OUTPUTS_MAX]; /* -o, each only once */
    int formats;
    /* --reader */
    int reader_fd, reader_pid; /* -1, 0: not given */
    char *reader_options;      /* in agent form */
    int ready_fd;              /* closed when sampling has begun; 0: none */
};

enum option_kind {
    OPTION_FLAG,     /* bool: set */
    OPTION_UNFLAG,   /* bool: cleared */
    OPTION_ACTION,   /* sets options.action to `value`, and options.about to the argument */
    OPTION_EVENT,    /* takes event names */
    OPTION_QUANTITY, /* takes a number, parsed by `quantity` */
    OPTION_PERCENT,  /* takes a number from 0 to 100, fractions allowed */
    OPTION_NUMBER,   /* takes a plain int, 0 and up */
    OPTION_TEXT,     /* takes any text */
    OPTION_WORD,     /* takes one of `words` */
    OPTION_PATH,     /* takes a file name */
    OPTION_OUTPUT,   /* takes a file name; may be given again */
    OPTION_FORMAT,   /* takes names of exporters */
    OPTION_CSTACK,   /* takes the name of a stack walker */
    OPTION_TRACE,    /* takes a Java method */
    OPTION_ENGINE,   /* takes an interval, and adds the event of `value` */
    OPTION_INTERVAL, /* takes a number whose meaning depends on the event */
    OPTION_MOMENT,   /* takes a duration, or a time of day */
    OPTION_SIGNAL,   /* takes N[/M]: signals of the CPU engine and the wall clock engine */
    OPTION_CLOCK,    /* takes the name of a clock */
    OPTION_CPU,      /* takes the number of a processor, stored plus 1 */
    OPTION_TIDS,     /* takes ranges of thread ids */
    OPTION_DEPTH,    /* takes a number of frames, or two: N/M */
    OPTION_FEATURES, /* takes names of frames that are added */
    OPTION_LIMITS,   /* takes events, each with a limit per second */
    OPTION_LABEL,    /* takes NAME=VALUE; may be given again */
    OPTION_OVERHEAD, /* takes a share of one CPU, "1%", stored in millionths */
    OPTION_PATTERN,  /* takes a pattern of frames: -I or -X, by `value` */
    OPTION_IGNORED,  /* may take any text, and has no effect */
    OPTION_KINDS
};

enum option_group {
    GROUP_PROFILE,
    GROUP_OUTPUT,
    GROUP_LIVE,
    GROUP_HTTP,
    GROUP_OTHER,
    GROUP_READER, /* for our own programs, our build, and old scripts: not in --help */
    OPTION_GROUPS
};

/* Some names have one meaning with --batch, or after `push`, and another one without. */
enum option_when { WHEN_ANY = 0, WHEN_BATCH, WHEN_NOT_BATCH, WHEN_PUSH, WHEN_NOT_PUSH };

struct option_row {
    const char *name[2]; /* "-d", "--duration"; none: only in agent form */
    const char *agent;   /* name in agent form, "interval"; NULL: none */
    enum option_kind kind;
    enum option_group group;
    const char *argument; /* as help prints it; NULL for flags */
    const char *help;
    size_t offset, size; /* of the field in struct options */
    const struct quantity *quantity;
    const char *words; /* the allowed values, separated by spaces */
    bool themes;       /* takes a theme */
    enum option_when when;
    int value;  /* for OPTION_ACTION, OPTION_ENGINE */
    bool usage; /* a wrong value is wrong usage (exit 1), not a wrong profiling argument (100) */
    const char *bare; /* its value if the agent form gives none; NULL: a value is needed */
    bool any_value;   /* a flag whose agent form may have a value, which is ignored */
};

extern const struct option_row option_rows[];
extern const int option_row_count;

/* Reads the command line. Returns 0, or -errno with a message and the exit code. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

/* Reads settings in agent form, in addition to those in `o`; `list` is cut into pieces in place.
 * Unknown settings are listed in `unknown`, separated by ", ", and are no error. A known setting
 * with a bad value is an error. */
int options_parse_agent(struct options *o, char *list, struct text *unknown, struct err *e);

/* The groups' titles in --help. */
extern const char *const option_group_title[OPTION_GROUPS];

/* Appends the text of --help; of -h if `in_brief`. `word`: only the help of this action. NULL, or an
 * action without help of its own: the help of all options. */
void options_help(struct text *out, const char *word, bool in_brief);

/* Stores a value by the row's kind (NULL for kinds without a value); `spelled` is how the option
 * was written, for messages. */
int option_set(struct options *o, const struct option_row *row, const char *spelled,
               const char *value, struct err *e);

bool option_takes_value(const struct option_row *row);

/* Appends all actions, each followed by a space. */
void options_actions(struct text *out);

/* Appends all values, each followed by a space, if they can be listed; otherwise nothing. */
void option_words(const struct option_row *row, struct text *out);

/* Setters of the kinds about events (option_events.c), and of those whose values have their own
 * syntax (option_forms.c). As option_set. */
typedef int option_setter(struct options *o, const struct option_row *row, const char *spelled,
                          const char *value, struct err *e);
option_setter option_set_event, option_set_trace, option_set_engine, option_set_interval;
option_setter option_set_moment, option_set_signal, option_set_clock, option_set_tids,
    option_set_depth, option_set_features, option_set_limits;
option_setter option_set_label, option_set_overhead;

/* Reads a number by `q`. `exit_code` is for a bad number. */
int option_number(const struct quantity *q, enum err_exit exit_code, const char *spelled,
                  const char *value, uint64_t *out, struct err *e);

/* Returns the time until then, in ms, at least 1; 0: not given. `now` is of the real-time clock. */
uint64_t options_moment_ms(const struct options_moment *m, int64_t now);

/* Adds a message for the user that is no error. */
void option_remark(struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Finds the JVM among the words of an action like jcmd, and removes it from them. */
int options_find_target(struct options *o, struct err *e);

/* Checks that the options fit `serve` or `push`, and that the required ones are given; for any
 * other action, that none of their options is given (option_http.c). */
int options_check_http(const struct options *o, struct err *e);

/* Call this when everything was read: it assigns options to events, and checks that they fit
 * together. May be called again after more was read. */
int options_settle(struct options *o, struct err *e);

#endif
