/*
 * Files:
 *   alloc_tree      tree of allocations: classes, allocation sites, callers
 *   engine_set      set of events the user wants sampled, with intervals
 *   finding         notable facts about the profile, one line each
 *   flame           layout of a flame graph: position and width of each frame
 *   line_rows       rows of the lines view: lines with samples, context and folds
 *   lock_rows       rows of the locks view: classes, owners, waiters, stacks
 *   machine_load    CPU load of the JVM and of the whole machine
 *   model           data behind all views: the query, its answer, JVM and thread figures
 *   model_events    the model's data on the other events and on threads
 *   overloads       methods whose names look equal on screen
 *   overview_graph  graph of the last minutes with the VM's pauses
 *   source_archive  access to zip archives of sources; a stub in static builds
 *   source_file     text of a source file by lines, safe for the screen
 *   source_finder   search for a class's source file in folders, archives and the JDK
 *   source_session  data source of the model that reads from a session
 *   thread_figures  figures of a thread or a group of threads: CPU, weight, states
 *   thread_pools    rows of the threads view: threads, grouped into pools by name
 *
 * What all views draw from: one question about the profile and its answer, the JVM's and the
 * session's figures, and the threads as the kernel sees them, all of the same moment. The question
 * is of one event; the others' rows are there for columns beside it (model_events.c).
 *
 * The answer is immutable until the next model_refresh. Held (paused), the answer stays while the
 * header's figures go on; a new question while held is asked of the time up to the hold, as far
 * as the history reaches.
 *
 * Context: frontend main thread. Time comes from the caller, so tests have no clock.
 */
#ifndef JTOP_TUI_MODEL_MODEL_H
#define JTOP_TUI_MODEL_MODEL_H

#include "attach/find/jvm.h"
#include "attach/load/standstill.h"
#include "attach/proc/thread_stat.h"
#include "core/profile/snapshot/diff.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"
#include "core/session/session.h"
#include "tui/key/keymap.h"
#include "tui/model/overloads.h"
#include "tui/widget/line_editor.h"

#include <stdbool.h>

#define MODEL_NAME_SIZE 256
#define MODEL_SECONDS 256 /* of the timeline */

/* Where it comes from: a session (source_session.h), or a test. */
struct model_source {
    void *arg;
    struct profile *(*lock)(void *arg);
    void (*unlock)(void *arg);
    void (*status)(void *arg, struct session_status *out);
    void (*jvm)(void *arg, struct jvm *out);
    /* As session_cpu; NULL: not known. */
    void (*cpu)(void *arg, struct session_cpu *out);
    /* As thread_stat_list: malloc'ed rows, their number or -errno. */
    int (*threads)(void *arg, struct thread_stat **out);
    /* As session_set_engines; NULL: a recording. */
    int (*set_engines)(void *arg, const struct wire_engine_request *engine, uint32_t engines,
                       struct err *e);
    /* Whether the JVM has what this one names: 0 or -errno. NULL: not known before it is tried. */
    int (*check)(void *arg, const struct wire_engine_request *engine, struct err *e);
    /* As standstill_of; NULL: it is not there to be looked at. */
    enum standstill (*standstill)(void *arg, pid_t *tracer);
};

/* A thread: of the profile, of the kernel, or both. */
struct model_thread {
    uint32_t tid; /* of a virtual thread: of its last carrier */
    bool is_virtual;
    uint64_t java_id;         /* of a virtual thread: its virtual_id */
    const char *name;         /* lives as long as the answer; "" where only the kernel knows it */
    char comm[16];            /* the kernel's name for it; "" where it has none any more */
    char state;               /* R S D …; 'X': ended; 'V': virtual; '?': not known */
    double cpu_percent;       /* of one core; < 0: not known */
    uint64_t weight, samples; /* in the answer */
    uint32_t top_method;      /* METHOD_NONE without samples */
    const uint64_t *states;   /* weight by state, of the event in question; NULL: not sampled */
    uint32_t row;             /* in snapshot->threads; UINT32_MAX: not sampled */
};

/* The views there are. */
enum live_view {
    LIVE_METHODS = 0,
    LIVE_THREADS,
    LIVE_TREE,
    LIVE_LOCKS,
    LIVE_FLAME,
    LIVE_ALLOC,
    LIVE_LINES,
    LIVE_STATUS,
    LIVE_OVERVIEW,
};

/* What narrows the question; the last one is the first that Esc undoes. */
enum model_narrowing { NARROW_THREAD, NARROW_METHOD, NARROW_PACKAGE, NARROW_FILTER, NARROWINGS };

/* Why a view's numbers are of less than everything, and how they are put together. */
struct model_question {
    int event;                    /* enum event_kind */
    bool fixed;                   /* the view is always of that one */
    uint32_t tid;                 /* the thread zoomed into, or QUERY_ALL_THREADS … */
    uint64_t virtual_id;          /* … the virtual thread zoomed into, or 0 … */
    char thread[MODEL_NAME_SIZE]; /* … and its name at that moment */
    bool with_method;             /* the method zoomed into … */
    uint32_t method;
    char package[MODEL_NAME_SIZE];   /* … the package, "java.util"; "": none */
    char filter[LINE_EDITOR_BYTES];  /* as struct query's */
    uint8_t order[NARROWINGS];       /* enum model_narrowing, as they came … */
    uint8_t narrowings;              /* … so many */
    uint64_t from_second, to_second; /* the window as asked; 0 and 0: everything */
    bool inverted;
    bool by_thread; /* the tree's roots are threads */
    bool carriers;  /* virtual threads' samples belong to the threads that carried them */
    bool tree;      /* some view needs the tree … */
    bool locks;     /* … who waits for which lock … */
    bool others;    /* … or columns of the other events … */
    bool sparks; /* … or weight over time, MODEL_SPARKS cells of MODEL_SPARK_SECONDS, a row … */
    bool from_method; /* … or a tree from the method zoomed into on … */
    bool lines;       /* … or a method's lines */
    uint32_t lines_of;
};

#define MODEL_SPARKS 12u
#define MODEL_SPARK_SECONDS 5u

/* What does not change while one looks. */
struct model_settings {
    const struct keymap *keys; /* in force; NULL: as shipped */
    /* Names of columns, and directories and jars with ':' between them; NULL, "": as shipped. */
    const char *method_columns, *thread_columns, *source_path;
    int event;           /* the first question's */
    bool simple;         /* class names without package */
    bool carriers;       /* the first question's */
    bool precise;        /* as asked of the session */
    enum wire_walk walk; /* likewise */
    /* Likewise, and alive as long as the model; 0: CPU time. */
    const struct wire_engine_request *engine;
    uint32_t engines;
};

/* Rows of another event, found by method and by thread. */
struct model_rows {
    struct snapshot *snapshot;   /* NULL: not asked for, or no samples */
    struct model_question asked; /* what it answers … */
    uint64_t samples, weight;    /* … and of how much */
    uint64_t *part;              /* weight by method id … */
    uint32_t methods;            /* … below this one */
    struct model_rows_key {
        uint64_t key; /* model_thread_key */
        uint32_t row;
    } * thread; /* sorted */
};

struct model {
    struct model_source source;
    struct model_settings settings;
    unsigned style; /* frame_name()'s, for the screen */
    struct model_question question;
    bool held;
    uint64_t held_second; /* the newest one shown: earlier than when it was held, scrubbed back */
    uint64_t span;        /* seconds up to that, or to now; 0: from the mark, or all */
    uint64_t mark_second; /* count from here on; 0: from the beginning */
    char search[LINE_EDITOR_BYTES]; /* text to find in rows, ignoring case, and to mark; "": none */

    /* what is compared with: an answer kept, and its difference to the one on screen */
    struct snapshot *baseline;          /* rows and a top-down tree; NULL: none */
    struct snapshot *baseline_inverted; /* the same, bottom-up */
    uint64_t baseline_second;           /* its newest */
    struct model_question baseline_asked;
    struct diff *diff; /* of the answer; NULL: no baseline */

    /* the answer */
    unsigned generation;       /* counts answers */
    struct snapshot *snapshot; /* rows, and the tree where asked for; NULL: nothing yet */
    struct model_thread *threads;
    uint32_t thread_count;
    uint64_t samples[EVENT_KINDS]; /* without question: what the answers are a part of */
    struct profile_second second[MODEL_SECONDS]; /* of the event in question, oldest first */
    uint32_t seconds;                            /* of them … */
    uint64_t seconds_from;                       /* … and which is the first */

    /* the rest of the screen */
    struct jvm jvm;
    struct session_status status;
    struct session_cpu cpu;
    enum standstill standstill;    /* of a JVM that is sampled; looked at about once a second */
    pid_t tracer;                  /* who holds it, where that is known */
    uint64_t standstill_ns;        /* when it was looked at; 0: not yet */
    uint64_t counted[EVENT_KINDS]; /* samples so far, held or not */
    double samples_per_second[EVENT_KINDS];
    double agent_percent, frontend_percent; /* CPU of one core */

    /* inner state */
    struct model_question asked; /* what `snapshot` answers */
    bool pruned;                 /* the answer's tree is without what nobody sees */
    struct snapshot *other;      /* held: the same answer with the tree the other way round */
    struct model_rows rows[EVENT_KINDS];  /* of the events not in question */
    int rows_turn;                        /* the event whose rows were taken last */
    uint64_t last_second, last_second_ns; /* of the newest sample, and when it was news */
    uint64_t first_second, oldest_second; /* of the profile, of its history */
    uint64_t newest_second;               /* now, on the clock of the samples */
    bool scrubbed;                        /* held at another moment than it was held */
    bool span_chosen;                     /* by scrubbing, not by a person */
    struct snapshot baseline_rows;        /* the baseline without its tree, owning nothing */
    struct method *methods;               /* copies: the profile's table moves while it grows */
    uint32_t method_count;
    struct overloads overloads;
    /* two looks, at least MODEL_RATE_NS apart where there were that many: rates come from both */
    struct model_look {
        uint64_t time_ns; /* 0: not taken */
        uint64_t samples[EVENT_KINDS], agent_ns, frontend_ns;
    } now, before;
    /* the same, of the threads; held: as they were */
    struct model_stats {
        uint64_t time_ns;
        struct thread_stat *thread; /* sorted by tid */
        int count;
    } stats_now, stats_before;
};

#define MODEL_RATE_NS 400000000u

void model_init(struct model *m, const struct model_source *source,
                const struct model_settings *settings);
void model_free(struct model *m);

/* Reads everything anew (held: all but the answer). -ENOMEM: the last answer stays. */
int model_refresh(struct model *m, uint64_t now_ns);

/* Asks again after the question changed. -ENOMEM: the last answer stays. */
int model_ask(struct model *m);

/* Holds or lets go; letting go asks at once. */
int model_hold(struct model *m, bool hold);

/* Time. Each asks anew; -ENOMEM: the last answer stays. */
int model_scrub(struct model *m, int64_t seconds); /* holds; < 0: back. Stays within what is kept */
int model_set_span(struct model *m, uint64_t seconds);
int model_mark(struct model *m, bool on);
int model_compare(struct model *m, bool on); /* the answer becomes the baseline, or there is none */

/* Narrowing; the caller asks afterwards. `name`: for people, and of a package. */
void model_narrow_method(struct model *m, uint32_t method);
void model_narrow_package(struct model *m, const char *package);
void model_narrow_filter(struct model *m, const char *filter);
/* Undoes the last one; false where there is none. */
bool model_widen(struct model *m);
/* The package of a Java method, "java.util"; "" where it has none. Returns out. */
const char *model_package(const struct model *m, uint32_t method, char *out, size_t size);

/* The question as it is asked of the profile; points into the model. */
struct query model_query(const struct model *m);

/* Never NULL, for any id. */
const struct method *model_method(const struct model *m, uint32_t id);
/* The method as the screen writes it: with parameters where another one has its name. Returns
 * out. */
const char *model_method_name(const struct model *m, uint32_t id, char *out, size_t size);

/* The thread's name, however little is known of it: name, kernel's name, or number. */
const char *model_thread_name(const struct model_thread *t, char *out, size_t size);
/* Makes it the question to look at one thread only (false: it is many), and at all again. */
bool model_zoom(struct model *m, const struct model_thread *t);
bool model_zoomed(const struct model_question *q);
/* The name of the thread zoomed into. */
const char *model_zoom_name(const struct model *m, char *out, size_t size);

/* Tells a thread from every other one, those that ended and had its number included. */
uint64_t model_thread_key(bool is_virtual, uint64_t java_id, uint32_t tid, bool ended);
/* Weight by state of its wall clock samples; NULL: none. */
const uint64_t *model_thread_states(const struct model *m, const struct model_thread *t);

/* There are samples of the event, or they are asked for. */
bool model_has_event(const struct model *m, int event);
/* The next one that there is, or with `by` -1 the one before; the same where it is the only one. */
int model_next_event(const struct model *m, int event, int by);
/* As whoever asked for it calls it: "page-faults". */
const char *model_event_name(const struct model *m, int event);
/* Those not in question that have rows, at most `most`. */
int model_other_events(const struct model *m, int *event, int most);
/* Their share of a method's self (of its total where an event's stacks do not end in code, as those
 * of alloc) and of a thread, in percent; < 0: there are no rows. */
double model_method_share(const struct model *m, int event, uint32_t method);
double model_thread_share(const struct model *m, int event, const struct model_thread *t);

/* The methods on a lock owner's stack, leaf first; returns how many. */
uint32_t model_owner_stack(const struct model *m, uint32_t node, uint32_t *method, uint32_t max);
/* For each of snapshot->locks the Java method its owner was in, or what was on top where there is
 * none; METHOD_NONE: not known. */
void model_owner_methods(const struct model *m, uint32_t *method);

/* Samples of which nothing is known: walks that failed, without those only cut for depth. */
uint64_t model_failed(const struct model *m);

/* The part of time in question, in seconds of the samples' clock, inclusive; 0 and 0: all of it,
 * `to` 0: until now. */
struct model_window {
    uint64_t from, to;
};
struct model_window model_window(const struct model *m);

/* Inner: the rows of threads of this answer and the last two looks, malloc'ed.
 * NULL: no memory. */
struct model_thread *model_merge_threads(const struct model *m, const struct snapshot *s,
                                         uint32_t *count);
/* Inner: takes what the kernel says of the threads now. */
void model_look_at_threads(struct model *m, uint64_t now_ns);
/* Inner: the other events' rows for this question, as far as they changed and time allows (-ENOMEM:
 * some are missing); and the figures of all events. Between source.lock and source.unlock. */
int model_ask_others(struct model *m, struct profile *p, const struct query *q);
void model_look_at_events(struct model *m, struct profile *p);
/* Inner: a living thread's name by the other events' rows; "" where they have none. */
void model_rows_free(struct model_rows *r);

/* The event was asked for and does not run. */
bool model_engine_fails(const struct session_engine *e);
/* Why, or why so, without the event's name in front; "" for nothing. */
const char *model_engine_why(const struct session_engine *e);
/* An event that was asked for and cannot be sampled, or only badly; the one in question before the
 * others. False where there is none. */
bool model_event_trouble(const struct model *m, char *out, size_t size);

#endif
