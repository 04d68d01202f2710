/*
 * What the files of background.h share: the profile, and who may do what with it when.
 *
 * Two threads use it, never at once: the main thread waits for the end of things, and a thread of
 * the share's answers one request after the other. Whoever does something holds `lock`; nobody
 * closes the session with it held, for that waits for the answer that is being given.
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
    const struct options *o; /* as it was started; NULL: on a screen, which nobody else ends */
    bool foreground;         /* somebody else's main loop: ended by a signal */
    bool closing;            /* the session is about to be closed */
    int wake_fd;             /* eventfd: something below has changed; -1 in the foreground */
    int socket;              /* where the next turn is asked; -1 during a turn */
    time_t since;            /* when this turn began */
    unsigned turn;           /* %n */
    struct outputs *files;   /* planned, of this turn; NULL: in the foreground, or none asked for */
    bool written;            /* they are, since samples came last … */
    int unwritten;           /* … or could not be: -errno … */
    struct err why;          /* … and what it was */
    int result;              /* the first failure of all turns, -errno … */
    struct err failure;      /* … and what it was */
    bool give_way;           /* somebody begins a new profile */
    bool asked_for;          /* a stop was answered: the JVM's end needs nobody else */
    bool silent;             /* the JVM has ended, and its standard error was given up */
    uint64_t active_ms;      /* when it ended, or was asked about last; CLOCK_MONOTONIC */
    uint64_t limit_ms, loop_ms; /* ends of the whole and of the turn; 0: none */
};

/* Its answers to requests; a share_handler. `arg` is a struct background. */
share_handler background_answer;

/* Writes the files of the start, once; then it says how that went (unwritten, why). With the lock
 * held. */
int background_write(struct background *b);

/* The lock, and the end of the whole. background_close is due after 0. */
int background_open(struct background *b, const struct options *o, struct err *e);
void background_close(struct background *b);

/* Begins a profile of its own, of which others know; with `alone`, that they cannot is no failure.
 * `o` is b->o. */
int background_begin_turn(struct background *b, struct options *o, const struct jvm *j, bool alone,
                          struct err *e);

/* Lets go of files that still grow, and closes the session. */
void background_close_turn(struct background *b);

/* Until the profile is over and nobody needs the reader any more, or a new profile is begun. */
void background_await(struct background *b, const struct watch *w);

/* Turn after turn until all is over, the first of which has begun. */
int background_go_on(struct background *b, struct options *o, struct jvm *j, const struct watch *w,
                     struct err *e);

/* "asprof" and "profiler.sh" say what those say, and no more. */
bool background_is_asprof(const char *program);

/* Whether a file of that name may come back for the pattern after -f: whoever answers may be
 * anybody the JVM's user lets read it. */
bool background_expects(const char *pattern, const char *path);

/* What goes to a terminal: UTF-8 without control characters but \n and \t. `out` has room for one byte
 * more than `data`; no NUL is added. Returns the bytes. */
size_t background_clean(char *out, const char *data, size_t bytes);

/* The pattern with what only the caller knows in it (%{ENV}); else as it is. */
int background_settle_pattern(const char *pattern, struct text *out, struct err *e);

/* Leaves a reader in the background and returns when it samples, or has failed to: in the caller
 * with *child false; in the reader, when it is over, with *child true. */
int background_begin(const struct jvm *j, int argc, char **argv, bool *child, struct err *e);

#endif
