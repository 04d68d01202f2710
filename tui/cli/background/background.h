/*
 * Files:
 *   background         caller's side of start, stop, dump, status: asks the background reader
 *   background_answer  reader's answers to start, stop, dump, status and metrics
 *   background_parts   state of a background profile, shared by the files here
 *   background_reader  main loop of the background reader: turns, files, end
 *   background_start   start of a reader process that leaves the terminal
 *   background_stay    profile that stays available after the command has ended (asprof -d)
 *
 * Profiles that go on with no terminal: `start` and `resume` leave a reader in the background, and
 * `stop`, `dump`, `status` and `metrics` ask it, from any shell (core/session/share/share.h).
 *
 *      shell 1: start ──fork──▶ reader ═══ ring of the JVM
 *      shell 2: dump  ─────────▶ reader: formats what there is
 *               files ◀───────── and sends it; shell 2 writes, in its directory, with its rights
 *
 * A reader whose profile has ended stays for another BACKGROUND_LINGER_MS, for more dumps or to
 * resume; it gives way at once to whoever begins a new profile. A profile that ended by itself
 * (--timeout, the JVM's end) and has written its own files needs nobody: its reader ends.
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

/* Does o->word with the JVM; argc and argv are the command line as it was given. Reports go to
 * stdout or to files, the rest to stderr. `start` returns in both processes; the one in the
 * background when its work is done. */
int background_act(const struct options *o, const struct jvm *j, int argc, char **argv,
                   struct err *e);

/* A JVM that is no more, named by its number, whose profile a reader still has: fills `j` with the
 * little that is known of it. */
bool background_remembers(const char *target, struct jvm *j);

/* Lets other shells ask about a profile that this process takes in the foreground (`status`,
 * `dump`, `stop`) and look on. That it cannot be is no failure: NULL. `o` must live as long as the
 * session. `stop` ends it as SIGTERM does, by that signal. */
struct background *background_share(const struct options *o, struct session *s);

/* The same for what is on a screen: a share_handler whose `arg` is the session. It refuses to stop. */
share_handler background_answer_screen;

/* Its profile is over, and its files are being written: a `stop` has come too late. NULL is fine. */
void background_end(struct background *b);

/* What background_share made, after session_close. NULL is fine. */
void background_free(struct background *b);

/* asprof's -d: what it has collected can be dumped when the command has ended. `collect` runs in a
 * process of its own, which tells the caller how it went; where all is well it calls
 * background_stay_on before it closes its session, and stays as a reader whose profile has ended.
 * Signals that the caller gets go to that process. Returns in the caller only, with what `collect`
 * returned. */
struct background_stay;
typedef int background_collect(const struct options *o, const struct jvm *j,
                               struct background_stay *stay, enum watch_end *end, struct err *e);
int background_stay(const struct options *o, const struct jvm *j, background_collect *collect,
                    enum watch_end *end, struct err *e);
/* Ends the caller's wait, gives up the terminal, and answers until nobody needs it any more. `b`:
 * of background_share; NULL, or without `stay`: returns at once. */
void background_stay_on(struct background_stay *stay, struct background *b, enum watch_end end);

/* The reader that an agent has started: shares, waits for the end, writes the files, for each turn
 * of loop=. `o` and `out` are as reader.c has settled them; nobody hears its warnings but stderr.
 * Returns when all is done. */
int background_read(struct options *o, struct outputs *out, struct err *e);

#endif
