/*
 * The command line, and the same settings as the agent takes them ("event=cpu,interval=1ms,…").
 * One table says everything about an option: its names, its agent form, what it takes, its help.
 * Parsing, --help and the suggestion for a misspelled option all come from it.
 *
 * Context: frontend only, main thread. Nothing here is freed: strings point into argv or into the
 * text given.
 */
#ifndef JTOP_TUI_OPTIONS_H
#define JTOP_TUI_OPTIONS_H

#include "core/base/err.h"
#include "core/base/text.h"
#include "core/export/export.h"
#include "core/session/session.h"
#include "tui/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_OUTPUTS_MAX 16 /* files, and formats */

enum options_action {
    ACTION_LIVE = 0, /* the screen: of `target`, or the picker first */
    ACTION_FRAMES,   /* --batch: the screen's frames as text */
    ACTION_COLLECT,  /* profile, or read a recording, and write files */
    ACTION_LIST,
    ACTION_READER, /* started by the agent */
    ACTION_HELP,
    ACTION_VERSION,
};

struct options {
    enum options_action action;
    const char *word;     /* the action, where one was named */
    bool collect;         /* "collect" was named, or the program is called asprof */
    bool batch;           /* --batch */
    const char *target;   /* PID, name, "jps" or a recording; NULL: not given */
    uint64_t duration_ms; /* 0: not given */
    uint32_t frames;      /* --batch -n; 0: for ever */
    uint32_t refresh_ms;  /* 0: not given */
    bool ascii, mono, json;
    const char *event; /* the name behind session.event and .mechanism; NULL: not given */
    struct session_options session;
    struct export_options export;
    const char *file[OPTIONS_OUTPUTS_MAX]; /* -f, patterns as given */
    int files;
    const struct exporter *format[OPTIONS_OUTPUTS_MAX]; /* -o, each once */
    int formats;
    /* --reader */
    int reader_fd, reader_pid; /* -1, 0: not given */
    char *reader_options;      /* in agent form */
};

enum option_kind {
    OPTION_FLAG,     /* bool: set */
    OPTION_UNFLAG,   /* bool: cleared */
    OPTION_ACTION,   /* sets options.action to `value` */
    OPTION_EVENT,    /* takes event names */
    OPTION_QUANTITY, /* takes a number, read as `quantity` says */
    OPTION_PERCENT,  /* takes a number from 0 to 100, fractions allowed */
    OPTION_NUMBER,   /* takes a plain int, 0 and up */
    OPTION_TEXT,     /* takes any text */
    OPTION_PATH,     /* takes a file name */
    OPTION_OUTPUT,   /* takes a file name; may be given again */
    OPTION_FORMAT,   /* takes names of exporters */
    OPTION_CSTACK,   /* takes the name of a way to walk stacks */
    OPTION_IGNORED,  /* takes any text: for the agent itself, means nothing here */
    OPTION_KINDS
};

enum option_group {
    GROUP_PROFILE,
    GROUP_OUTPUT,
    GROUP_LIVE,
    GROUP_OTHER,
    GROUP_READER, /* between our own programs: not in --help */
    OPTION_GROUPS
};

/* Some letters mean one thing beside --batch and another without it. */
enum option_when { WHEN_ANY = 0, WHEN_BATCH, WHEN_NOT_BATCH };

struct option_row {
    const char *name[2]; /* "-d", "--duration"; none: agent form only */
    const char *agent;   /* "interval", where it means something to an agent; or NULL */
    enum option_kind kind;
    enum option_group group;
    const char *argument; /* as help shows it; NULL for flags */
    const char *help;
    size_t offset, size; /* of the field in struct options */
    const struct quantity *quantity;
    enum option_when when;
    int value;  /* of OPTION_ACTION */
    bool usage; /* a wrong value is wrong usage (exit 1), not a wrong profiling argument (100) */
};

extern const struct option_row option_rows[];
extern const int option_row_count;

/* Reads the command line. 0, or -errno with a message and the exit code. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

/* Reads settings in agent form on top of those in `o`; `list` is cut into pieces in place. What is
 * not known is named in `unknown`, separated by ", " and is no error; a known setting with a bad
 * value is one. */
int options_parse_agent(struct options *o, char *list, struct text *unknown, struct err *e);

/* What --help prints. */
void options_help(struct text *out);

/* Does what the row's kind does with a value (NULL for kinds that take none); `spelled` is how the
 * option was written, for messages. */
int option_set(struct options *o, const struct option_row *row, const char *spelled,
               const char *value, struct err *e);

bool option_takes_value(const struct option_row *row);

/* Whether it names an event, one of this build or another. */
bool option_is_event(const char *name);

#endif
