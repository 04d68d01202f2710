/*
 * Files:
 *   prof         handlers of /prof, which takes a profile, and of its results
 *   prof_ask     parser of the URL parameters of /prof
 *   prof_format  content type, file extension and script policy of each format
 *   prof_table   table of profiles being taken by URL and of recent results
 *   prof_take    thread that takes one profile from beginning to end
 *
 * Profiles that were requested by URL: those that are being taken, each with its own thread, which
 * mostly sleeps; and the results of those that are over, in memory, for a while.
 *
 *      begins ─▶ runs ─▶ done      a result
 *         └────────┴───▶ failed    why
 *
 * Limits: PROF_RUNNING_MAX profiles at a time and one per JVM; PROF_KEPT_MAX results of
 * PROF_KEPT_BYTES together for PROF_KEPT_SECONDS; the oldest is dropped first.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_TABLE_H
#define JTOP_HTTP_SERVE_PROF_PROF_TABLE_H

#include "core/http/serve/prof/prof_ask.h"
#include "core/http/serve/prof/prof_format.h"

#define PROF_RUNNING_MAX 4
#define PROF_KEPT_MAX 32
#define PROF_FAILED_MAX 8 /* failed profiles, in addition */
#define PROF_KEPT_BYTES (128ull << 20)
#define PROF_KEPT_SECONDS 900
#define PROF_ID_BYTES 33 /* with the NUL: 128 bits nobody can guess, in hexadecimal */

enum prof_state { PROF_BEGINS, PROF_RUNS, PROF_DONE, PROF_FAILED };

struct prof_table;

/* One profile. A thread that holds it may read it. Some of it changes under the table's lock: call
 * prof_state_of first, to know what is valid. */
struct prof {
    char id[PROF_ID_BYTES];
    struct prof_ask *ask; /* owned */
    char event[160];      /* "cpu", "cpu,alloc" */
    struct text result;   /* valid once it is done */
    char note[160];   /* when it is done: "the JVM ended after 3.2 s of 10 s"; printable ASCII */
    struct err error; /* valid once it has failed */
    /* private to the table */
    struct prof_table *table;
    enum prof_state state;
    uint64_t begun_ns, due_ns, over_ns; /* CLOCK_MONOTONIC; due_ns is an estimate while it begins */
    uint32_t holds;
    bool listed;
};

/* The state; `*left_s`: seconds until there is a result, at least 1 while there is none. */
enum prof_state prof_state_of(struct prof *p, uint32_t *left_s);

/* Begins a profile, or finds that the same one is being taken already (*joined). Takes over `ask`
 * in any case; its pid must be set. Holds `*out`: the caller releases it with prof_drop. -EBUSY:
 * another profile of the JVM is being taken, -EUSERS: too many profiles, both with a message and
 * `*left_s`; -ENOMEM, -EAGAIN. */
int prof_begin(struct prof_table *t, struct prof_ask *ask, struct prof **out, bool *joined,
               uint32_t *left_s, struct err *e);

/* Waits until the profile runs or is over, for at most `ms`. */
void prof_wait_begun(struct prof *p, uint32_t ms);

/* Finds a profile by its id and holds it. NULL: there is none (any more). */
struct prof *prof_find(struct prof_table *t, const char *id);
void prof_drop(struct prof *p);

/* ---- between the table and the thread that takes a profile (prof_take.c) ---- */

struct serve *prof_table_serve(struct prof_table *t);
/* Sleeps until `until_ns`, at most 200 ms. True: the profile must end at once. */
bool prof_sleep(struct prof *p, uint64_t until_ns);
void prof_set_running(struct prof *p, uint64_t due_ns);
/* The profile is over; its result is in `result` or `error`. */
void prof_set_over(struct prof *p, enum prof_state state);
/* Takes the profile from its beginning to its end. */
void prof_take(struct prof *p);

#endif
