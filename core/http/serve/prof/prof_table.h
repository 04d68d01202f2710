/*
 * Files:
 *   prof         handlers of /prof, which takes a profile, and of its results
 *   prof_ask     parser of the URL parameters of /prof
 *   prof_format  content type, file extension and script policy of each format
 *   prof_table   table of profiles being taken by URL and of recent results
 *   prof_take    thread that takes one profile from beginning to end
 *
 * Profiles that were asked for by URL: those being taken, each with a thread of its own that mostly
 * sleeps, and the results of those that are over, in memory, for a while.
 *
 *      begins ─▶ runs ─▶ done      a result
 *         └────────┴───▶ failed    why
 *
 * Bounded: PROF_RUNNING_MAX at a time and one of a JVM, PROF_KEPT_MAX results of
 * PROF_KEPT_BYTES together for PROF_KEPT_SECONDS; the oldest goes first.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_TABLE_H
#define JTOP_HTTP_SERVE_PROF_PROF_TABLE_H

#include "core/http/serve/prof/prof_ask.h"
#include "core/http/serve/prof/prof_format.h"

#define PROF_RUNNING_MAX 4
#define PROF_KEPT_MAX 32
#define PROF_FAILED_MAX 8 /* besides */
#define PROF_KEPT_BYTES (128ull << 20)
#define PROF_KEPT_SECONDS 900
#define PROF_ID_BYTES 33 /* with the NUL: 128 bits nobody can guess, in hexadecimal */

enum prof_state { PROF_BEGINS, PROF_RUNS, PROF_DONE, PROF_FAILED };

struct prof_table;

/* One of them. Whoever holds it may read what is in it; what is marked changes under the table's
 * lock: ask prof_state_of first. */
struct prof {
    char id[PROF_ID_BYTES];
    struct prof_ask *ask; /* owned */
    char event[160];      /* "cpu", "cpu,alloc" */
    struct text result;   /* once it is done */
    char note[160];   /* once it is done: "the JVM ended after 3.2 s of 10 s"; printable ASCII */
    struct err error; /* once it has failed */
    /* the table's */
    struct prof_table *table;
    enum prof_state state;
    uint64_t begun_ns, due_ns, over_ns; /* CLOCK_MONOTONIC; due_ns is a guess while it begins */
    uint32_t holds;
    bool listed;
};

/* How it stands; `*left_s`: seconds until there is a result, at least 1 while there is none. */
enum prof_state prof_state_of(struct prof *p, uint32_t *left_s);

/* Begins one, or finds the same question being answered already (*joined). `ask` is taken over,
 * whatever happens; its pid is set. Holds `*out`: prof_drop. -EBUSY: the JVM is asked something else
 * at the moment, -EUSERS: too many, both with a message and `*left_s`; -ENOMEM, -EAGAIN. */
int prof_begin(struct prof_table *t, struct prof_ask *ask, struct prof **out, bool *joined,
               uint32_t *left_s, struct err *e);

/* Waits for it to run or to be over, for so long at most. */
void prof_wait_begun(struct prof *p, uint32_t ms);

/* By its id: held; NULL: there is none (any more). */
struct prof *prof_find(struct prof_table *t, const char *id);
void prof_drop(struct prof *p);

/* ---- between the table and the thread that takes a profile (prof_take.c) ---- */

struct serve *prof_table_serve(struct prof_table *t);
/* Sleeps until then, at most 200 ms; true: it is to end at once. */
bool prof_sleep(struct prof *p, uint64_t until_ns);
void prof_set_running(struct prof *p, uint64_t due_ns);
/* Over, with what is in `result` or `error`. */
void prof_set_over(struct prof *p, enum prof_state state);
/* Takes it from its beginning to its end. */
void prof_take(struct prof *p);

#endif
