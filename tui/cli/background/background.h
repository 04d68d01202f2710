/*
 * Files:
 *   background         caller's side of start, stop, dump, status: asks the background reader
 *   background_alike   whether a reader has the same program, rights and files as this process
 *   background_answer  reader's answers to start, stop, dump, status and metrics
 *   background_parts   state of a background profile, shared by the files here
 *   background_reader  main loop of the background reader: turns, files, end
 *   background_start   start of a reader process that leaves the terminal
 *   background_stay    profile that stays available after the command has ended (asprof -d)
 *
 * Profiles that continue without a terminal. `start` and `resume` leave a reader in the background.
 * `stop`, `dump`, `status` and `metrics` send it requests, from any shell
 * (core/session/share/share.h).
 *
 *      shell 1: start ──fork──▶ reader ═══ ring of the JVM
 *      shell 2: dump  ─────────▶ reader: formats the profile so far
 *               files ◀───────── and sends it; shell 2 writes, in its directory, with its rights
 *
 * A reader whose profile has ended stays for BACKGROUND_LINGER_MS, for more dumps or to resume. The
 * next `start` begins its profile in the same process, which still has the agent; or, if that
 * process has another user, program or directory tree, in a new one, and this one ends at once. If a profile ended by itself (--timeout,
 * the JVM's end) and has written its own files, its reader is not needed and ends.
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_CLI_BACKGROUND_BACKGROUND_H
#define JTOP_TUI_CLI_BACKGROUND_BACKGROUND_H

#include "core/session/share/share.h"
#include "tui/cli/option/options.h"
#include "tui/cli/output/output.h"
#include "tui/cli/watch.h"

#define BACKGROUND_LINGER_MS 600000

/* Carries out o->word for the JVM; argc and argv are the command line as given. Reports go to
 * stdout or to files, everything else to stderr. `start` returns in both processes; in the
 * background process when its work is done. */
int background_act(const struct options *o, const struct jvm *j, int argc, char **argv,
                   struct err *e);

/* True if `target` is a number, and a reader has the profile of the JVM with that pid, which may have
 * ended. Fills `j` with the little that is known about the JVM. */
bool background_remembers(const char *target, struct jvm *j);

/* Lets other shells send requests about a profile that this process takes in the foreground
 * (`status`, `dump`, `stop`), and join as viewers. If that is not possible, it is no failure: NULL.
 * `o` must live as long as the session. `stop` ends the profile by sending SIGTERM to this
 * process. */
struct background *background_share(const struct options *o, struct session *s);

/* The same for a profile on a screen: a share_handler whose `arg` is the session. It refuses to
 * stop. */
share_handler background_answer_screen;

/* Call this when the profile is over and its files are being written: a `stop` now comes too late.
 * True: one came before, and SIGTERM was sent to this process. Accepts NULL. */
bool background_end(struct background *b);

/* Frees what background_share returned; call it after session_close. True: another process has ended
 * the profile by `stop`, so that no further turn begins. Accepts NULL. */
bool background_free(struct background *b);

/* For asprof's -d: the collected profile can still be dumped when the command has ended. `collect`
 * runs in a process of its own, which reports its result to the caller. If all is well, it calls
 * background_stay_on before it closes its session, and stays as a reader whose profile has ended.
 * Signals to the caller are passed on to that process. Returns only in the caller, with the result
 * of `collect`. */
struct background_stay;
typedef int background_collect(const struct options *o, const struct jvm *j,
                               struct background_stay *stay, enum watch_end *end, struct err *e);
int background_stay(const struct options *o, const struct jvm *j, background_collect *collect,
                    enum watch_end *end, struct err *e);
/* Ends the caller's wait, gives up the terminal, and answers requests until the reader is not
 * needed any more. `b` is from background_share; NULL, or no `stay`: returns at once. */
void background_stay_on(struct background_stay *stay, struct background *b, enum watch_end end);

/* Runs the reader that an agent has started: for each turn of loop=, it shares the session, waits
 * for the end and writes the files. `o` and `out` are as reader.c has set them. Warnings go only to
 * stderr. Returns when all is done. */
int background_read(struct options *o, struct outputs *out, struct err *e);

#endif
