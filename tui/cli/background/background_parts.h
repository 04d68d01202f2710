/*
 * The state that the files of background.h share: the profile, and which requests are allowed when.
 *
 * Context: the main thread, which waits for the end of the profile and of the turn, and a thread of
 * the share, which answers one request after the other. Each holds `lock` while it works. A thread
 * must not close the session while it holds the lock, because closing waits for the answer in
 * progress.
 */
#ifndef JTOP_TUI_CLI_BACKGROUND_BACKGROUND_PARTS_H
#define JTOP_TUI_CLI_BACKGROUND_BACKGROUND_PARTS_H

#include "core/session/share/share.h"
#include "tui/cli/background/background.h"
#include "tui/cli/watch.h"

#include <pthread.h>
#include <time.h>

struct background {
    pthread_mutex_t lock;
    struct session *s;
    const struct options *o; /* options of the start; NULL: the profile is on a screen, and other
                                processes cannot end it */
    bool foreground;         /* the profile runs in the foreground; its own main loop ends it on a
                                signal */
    bool closing;            /* the session is about to be closed */
    int wake_fd;             /* eventfd that reports changes of the fields below; -1 in the
                                foreground */
    int socket;              /* socket for requests about the next turn; -1 during a turn */
    time_t since;            /* start of this turn */
    unsigned turn;           /* number of the turn: %n */
    struct outputs *files;   /* planned files of this turn; NULL: in the foreground, or none
                                requested */
    bool written;            /* the files were written since the last samples */
    int unwritten;           /* error of writing the files: -errno; 0: none */
    struct err why;          /* the reason of `unwritten` */
    int result;              /* first failure of all turns: -errno */
    struct err failure;      /* the reason of `result` */
    bool give_way;           /* another process begins a new profile */
    bool told;               /* a signal told this process to end */
    struct start *start;     /* the start of this profile; NULL: this process takes no other one */
    struct start *next;      /* the one that takes its place now; NULL: none */
    bool asked_for;          /* a stop was answered: after the JVM's end, no reader is needed */
    bool silent;             /* the JVM has ended, and its standard error was closed here */
    uint64_t active_ms;      /* when the turn began or ended, or the last stop; CLOCK_MONOTONIC */
    uint64_t limit_ms, loop_ms; /* end of the whole profile and of the turn; 0: none */
};

/* Stands before the words of a `start` that a reader is to begin itself. */
#define BACKGROUND_BEGIN_HERE "begin-here"

/* One command line `start`, and what belongs to it. */
struct start {
    struct options o;
    struct text file[OPTIONS_OUTPUTS_MAX], record; /* absolute paths for o.file and
                                                      o.session.record */
    struct outputs files;
    char library[4096];
    char *words;       /* copy of the command line, to which `o` points; NULL: it is main's */
    struct session *s; /* the session that it began in place of the last one; NULL: none */
};

/* Answers requests: a share_handler. `arg` is a struct background. */
share_handler background_answer;

/* Writes the files of the start, only once; later calls return the first result (unwritten, why).
 * The caller holds the lock. */
int background_write(struct background *b);

/* Initializes the lock, the eventfd and the end of the whole profile. After 0, the caller must call
 * background_close. */
int background_open(struct background *b, const struct options *o, struct err *e);
void background_close(struct background *b);

/* Calculates the end of the whole profile, which begins now. */
void background_set_limit(struct background *b, const struct options *o);

/* Begins a new profile, in place of that of the last turn if there is one, and shares it with other
 * processes. With `alone`, it is not an error if the profile cannot be shared. `o` is b->o. */
int background_begin_turn(struct background *b, struct options *o, const struct jvm *j, bool alone,
                          struct err *e);

/* Frees the outputs that are still being written, and closes the session. */
void background_close_turn(struct background *b);

/* Waits until the profile is over and the reader is not needed any more, or until another process
 * begins a new profile. */
void background_await(struct background *b, const struct watch *w);

/* Runs turn after turn until all is over. The first turn has begun already. */
int background_go_on(struct background *b, struct options *o, struct jvm *j, const struct watch *w,
                     struct err *e);

/* True if the program is called "asprof" or "profiler.sh": it then prints only what those print. */
bool background_is_asprof(const char *program);

/* True if the reader may send back a file with that name for the pattern after -f. The answering
 * process may be any process that the JVM's user allows to read the JVM, so names are checked. */
bool background_expects(const char *pattern, const char *path);

/* Cleans text for a terminal: UTF-8 without control characters, except \n and \t. `out` has room
 * for one byte more than `data`; no NUL is added. Returns the number of bytes. */
size_t background_clean(char *out, const char *data, size_t bytes);

/* A `start` for a reader whose profile has ended: begins a new profile in this process, and leaves it
 * in b->next. `argv` has the words of the command line; file names are relative to `cwd`. The lock is
 * held. -ENOTCONN, without a message: another process must begin it. If the new profile fails, the
 * old one is gone as well (b->give_way). */
int background_begin_next(struct background *b, const char *cwd, int argc, char **argv,
                          struct err *e);

/* Puts b->next in the place of the old profile. Returns its options; NULL: it cannot be controlled,
 * and was ended. */
struct options *background_take_next(struct background *b);

/* Whether that process is the same program as this one, with the same rights, files and environment.
 * Only then may a reader begin the profile of another process; both of them check it. */
bool background_is_like_us(pid_t pid);

/* Replaces the parts of a pattern that only the caller knows: %{ENV}. The rest is unchanged. */
int background_settle_pattern(const char *pattern, struct text *out, struct err *e);

/* Starts a reader in the background. In the caller, returns when the reader samples or has failed
 * (*child false). In the reader, returns when the profile is over (*child true). */
int background_begin(const struct jvm *j, int argc, char **argv, bool *child, struct err *e);

#endif
