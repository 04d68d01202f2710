/*
 * Files:
 *   alloc_tree      tree of allocations: classes, allocation sites, callers
 *   detail          more about the method or thread under the cursor
 *   engine_set      set of events the user wants sampled, with intervals
 *   finding         the findings about the answer, and where there is more about them
 *   flame           layout of a flame graph: position and width of each frame
 *   lock_rows       rows of the locks view: classes, owners, waiters, stacks
 *   machine_load    CPU load of the JVM and of the whole machine
 *   model           data behind all views: the query, its answer, JVM and thread figures
 *   model_events    the model's data on the other events and on threads
 *   model_tags      what tagged methods weigh, and the filter that matches them
 *   overloads       methods whose names look equal on screen
 *   overview_graph  graph of the last minutes with the VM's pauses
 *   source_session  data source of the model that reads from a session
 *   thread_dump     parser of HotSpot's thread dumps: stacks, locks, owners, deadlocks
 *   thread_figures  figures of a thread or a group of threads: CPU, weight, states
 *   thread_pools    rows of the threads view: threads, grouped into pools by name
 *
 * The data that all views draw: one question about the profile and its answer, the figures of the
 * JVM and the session, and the threads as the kernel reports them, all of the same moment. The
 * question is about one event. Rows of the other events are kept for the columns beside it
 * (model_events.c).
 *
 * The answer is immutable until the next model_refresh. While the model is held (paused), the
 * answer and the figures of the header stay. A new question is then limited to the time up to
 * the hold, as far as the history reaches.
 *
 * Context: frontend main thread. The caller passes the time, so tests need no clock.
 */
#ifndef JTOP_TUI_MODEL_MODEL_H
#define JTOP_TUI_MODEL_MODEL_H

#include "attach/find/jvm.h"
#include "attach/load/standstill.h"
#include "attach/proc/thread_stat.h"
#include "core/profile/snapshot/diff.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"
#include "core/profile/table/thread_kind.h"
#include "core/session/session.h"
#include "tui/key/keymap.h"
#include "tui/model/overloads.h"
#include "tui/widget/line_editor.h"
#include "tui/widget/tags.h"

#include <stdbool.h>

#define MODEL_NAME_SIZE 256
#define MODEL_SECONDS 256 /* of the timeline */

/* Where the data comes from: a session (source_session.h), or a test. */
struct model_source {
    void *arg;
    struct profile *(*lock)(void *arg);
    void (*unlock)(void *arg);
    void (*status)(void *arg, struct session_status *out);
    void (*jvm)(void *arg, struct jvm *out);
    /* As session_cpu; NULL: not known. */
    void (*cpu)(void *arg, struct session_cpu *out);
    /* As thread_stat_list: sets malloc'ed rows, returns their number or -errno. */
    int (*threads)(void *arg, struct thread_stat **out);
    /* Asks for threads' Java states for the next `ms`, as session_ask_java_states; NULL: a
     * recording. */
    void (*ask_java_states)(void *arg, uint32_t ms);
    /* As session_set_engines; NULL: a recording. */
    int (*set_engines)(void *arg, const struct wire_engine_request *engine, uint32_t engines,
                       struct err *e);
    /* Checks if the JVM has what this request names: 0 or -errno. NULL: only a try can show it. */
    int (*check)(void *arg, const struct wire_engine_request *engine, struct err *e);
    /* As standstill_of; NULL: there is no JVM to check. */
    enum standstill (*standstill)(void *arg, pid_t *tracer);
    /* Asks the JVM for a thread dump; `locks`: also for the owners of locks of
     * java.util.concurrent. `each` and errors are those of attach_stream. It may take long, so it is
     * called in a thread of its own, which may outlive the session. NULL: a recording. */
    int (*stacks)(const struct jvm *j, bool locks,
                  int (*each)(void *context, const char *data, size_t len), void *context,
                  struct err *e);
};

/* A thread that the profile, the kernel or both know. */
struct model_thread {
    uint32_t tid; /* of a virtual thread: its last carrier's */
    bool is_virtual;
    uint64_t java_id;         /* of a virtual thread: its virtual_id */
    const char *name;         /* lives as long as the answer; "": only the kernel knows it */
    char comm[16];            /* the kernel's name for it; "": the kernel has none */
    char state;               /* R S D …; 'X': ended; 'V': virtual; '?': not known */
    uint8_t java_state;       /* enum wire_java */
    double cpu_percent;       /* of one core; < 0: not known */
    uint64_t weight, samples; /* in the answer */
    uint32_t top_method;      /* METHOD_NONE: no samples */
    const uint64_t *states;   /* weight by state, of the answer; NULL: not in it */
    uint32_t row;             /* index in snapshot->threads; UINT32_MAX: not sampled */
};

/* All views. */
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

/* The ways to narrow the question. Esc undoes the newest one first. */
enum model_narrowing { NARROW_THREAD, NARROW_METHOD, NARROW_PACKAGE, NARROW_FILTER, NARROWINGS };

/* The roots that a view can list as open. With more, the whole tree is taken. */
#define MODEL_OPEN_ROOTS 64

/* The question: what a view's numbers are limited to, and how they are arranged. */
struct model_question {
    int event;           /* enum event_kind */
    bool fixed;          /* the view always shows this event */
    bool idle;           /* of the wall clock: samples of idle threads too (event_is_active) */
    bool fold_natives;   /* as in struct query */
    uint32_t tid;        /* thread zoomed into, or QUERY_ALL_THREADS */
    uint64_t virtual_id; /* virtual thread zoomed into, or 0 */
    char thread[MODEL_NAME_SIZE]; /* name of that thread when it was chosen */
    bool with_method;             /* zoomed into `method` */
    uint32_t method;
    char package[MODEL_NAME_SIZE];   /* package zoomed into, "java.util"; "": none */
    char filter[LINE_EDITOR_BYTES];  /* as in struct query */
    uint8_t order[NARROWINGS];       /* enum model_narrowing, oldest first */
    uint8_t narrowings;              /* number of entries in `order` */
    uint64_t from_second, to_second; /* window as requested; 0 and 0: everything */
    bool inverted;
    bool by_thread; /* the tree's roots are threads */
    bool carriers;  /* virtual threads' samples count for the threads that carried them */
    bool tree;      /* some view needs the tree */
    /* Of a tree by thread, some view needs only what is below these roots, as in struct query. The
     * whole tree is taken if something else needs it. */
    bool close_roots;
    uint32_t open_ppm, open_roots, open_root[MODEL_OPEN_ROOTS];
    bool locks;  /* some view needs waits for locks */
    bool living; /* some view needs the names and Java states of threads without samples */
    bool others; /* some view needs columns of the other events */
    bool sparks; /* some view needs weight over time: MODEL_SPARKS cells of MODEL_SPARK_SECONDS in
                    each row */
    bool from_method; /* the tree begins at the method zoomed into */
    bool lines;       /* some view needs the lines of method `lines_of` */
    uint32_t lines_of;
};

#define MODEL_SPARKS 12u
#define MODEL_SPARK_SECONDS 5u

/* Settings that stay the same for the model's whole life. */
struct model_settings {
    const struct keymap *keys; /* keys in force; NULL: the default keys */
    /* Names of columns; directories and jars with sources, with ':' between them. NULL or "": the
     * defaults. */
    const char *method_columns, *thread_columns, *source_path;
    uint32_t refresh_ms;               /* time between two refreshes */
    uint64_t span;                     /* first window in seconds; 0: everything */
    int event;                         /* of the first question */
    bool simple;                       /* class names without package */
    bool carriers, idle, fold_natives; /* of the first question */
    bool precise;                      /* as requested from the session */
    enum wire_walk walk;               /* as requested from the session */
    bool no_pane;                      /* the detail pane is closed at first */
    bool plain;                        /* pages of lines to be read aloud: there is no pane */
    /* As requested from the session; lives as long as the model. 0 engines: CPU time. */
    const struct wire_engine_request *engine;
    uint32_t engines;
};

/* Rows of another event, with tables to find them by method and by thread. */
struct model_rows {
    struct snapshot *snapshot;   /* NULL: not requested, or no samples */
    struct model_question asked; /* the question they answer */
    uint64_t samples, weight;    /* the profile's samples and weight at that time */
    uint64_t *part;              /* weight by method id */
    uint32_t methods;            /* length of `part` */
    struct model_rows_key {
        uint64_t key; /* model_thread_key */
        uint32_t row;
    } * thread; /* sorted */
};

struct model {
    struct model_source source;
    struct model_settings settings;
    unsigned style; /* of frame_name(), for the screen */
    struct model_question question;
    bool hidden; /* another JVM is on screen */
    bool held;
    uint64_t held_second; /* newest second shown; after scrubbing back, earlier than the second of
                             the hold */
    uint64_t span;        /* length of the window in seconds, up to held_second or now; 0: from the
                             mark, or all */
    bool span_is_default; /* the user did not choose `span`: a mark replaces it */
    uint64_t mark_second; /* count from this second on; 0: from the beginning */
    char search[LINE_EDITOR_BYTES]; /* text to find and mark in rows, ignoring case; "": none */
    struct tags tags;               /* of rows, in all views */

    /* comparison: a kept answer (the baseline), and its difference to the answer on screen */
    struct snapshot *baseline;          /* rows and a top-down tree; NULL: none */
    struct snapshot *baseline_inverted; /* the same, bottom-up */
    uint64_t baseline_second;           /* its newest second */
    struct model_question baseline_asked;
    struct diff *diff; /* baseline to answer; NULL: no baseline */

    /* the answer */
    unsigned generation;       /* counts answers */
    struct snapshot *snapshot; /* rows, and the tree if requested; NULL: none yet */
    struct model_thread *threads;
    uint32_t thread_count;
    bool java_states;                            /* some of these threads have a Java state */
    uint64_t samples[EVENT_KINDS];               /* all samples of each event, without narrowing */
    uint64_t active_samples;                     /* those of them that are of EVENT_ACTIVE */
    struct profile_second second[MODEL_SECONDS]; /* of the current event, oldest first */
    uint32_t seconds;                            /* number of seconds in `second` */
    uint64_t seconds_from;                       /* the first of them */

    /* the rest of the screen */
    struct jvm jvm;
    struct session_status status;
    struct session_cpu cpu;
    enum standstill standstill;    /* of the JVM that is sampled; polled about once a second */
    pid_t tracer;                  /* process that debugs it, if known */
    uint64_t standstill_ns;        /* time of the last poll; 0: not yet */
    uint64_t counted[EVENT_KINDS]; /* samples so far, held or not */
    double samples_per_second[EVENT_KINDS];
    double agent_percent, frontend_percent; /* CPU of one core */

    /* internal state */
    struct model_question asked; /* the question that `snapshot` answers */
    bool pruned;                 /* the answer's tree lacks nodes too small to be seen */
    struct snapshot *other;      /* held: the same answer with the tree in the other direction */
    struct model_rows rows[EVENT_KINDS];  /* of the other events */
    int rows_turn;                        /* event whose rows were taken last */
    uint64_t last_second, last_second_ns; /* of the newest sample, and when that was first seen */
    uint64_t first_second, oldest_second; /* of the profile, and of its history */
    uint64_t newest_second;               /* now, on the clock of the samples */
    bool scrubbed;                        /* held, and moved to another moment */
    bool span_is_brief;                   /* `span` was shortened to show a moment */
    uint64_t span_before;                 /* what it was then */
    struct snapshot baseline_rows;        /* the baseline without its tree; owns nothing */
    struct method *methods;               /* copies: the profile's table moves while it grows */
    uint32_t method_count;
    struct overloads overloads;
    /* Two polls, at least MODEL_RATE_NS apart once the first ones are over. Rates come from
     * both. */
    struct model_look {
        uint64_t time_ns; /* 0: not taken */
        uint64_t samples[EVENT_KINDS], agent_ns, frontend_ns;
    } now, before;
    /* The same for the threads. While held, they stay as they were. */
    struct model_stats {
        uint64_t time_ns;
        struct thread_stat *thread; /* sorted by tid */
        int count;
    } stats_now, stats_before;
    /* The profile's living threads, if question.living; sorted by tid. */
    struct profile_living *living;
    int living_count;
};

#define MODEL_RATE_NS 400000000u

void model_init(struct model *m, const struct model_source *source,
                const struct model_settings *settings);
void model_free(struct model *m);

/* Reads everything again (while held: only whether the session still runs, and what it reports). -ENOMEM: the last answer stays. */
int model_refresh(struct model *m, uint64_t now_ns);

/* Asks again after the question has changed. -ENOMEM: the last answer stays. */
int model_ask(struct model *m);

/* Whether something needs what is below closed roots of the answer's tree: the view, a search,
 * a baseline. Then ask again. */
bool model_lacks_roots(const struct model *m);

/* Holds the answer, or releases it. Releasing asks again at once. */
int model_hold(struct model *m, bool hold);

/* Time. Each function asks again; -ENOMEM: the last answer stays. */
int model_scrub(struct model *m, int64_t seconds); /* holds; < 0: back. Stays in kept history */
/* Holds, and shows these seconds of the history. The caller then calls model_ask. */
void model_select(struct model *m, uint64_t from, uint64_t to);
int model_set_span(struct model *m, uint64_t seconds);
int model_mark(struct model *m, bool on);
/* Shows the first window again, live and without a mark. */
int model_reset_time(struct model *m);
int model_compare(struct model *m, bool on); /* makes the answer the baseline, or removes it */

/* Narrow the question. The caller then calls model_ask. An empty package or filter: none. */
void model_narrow_method(struct model *m, uint32_t method);
void model_narrow_package(struct model *m, const char *package);
void model_narrow_filter(struct model *m, const char *filter);
/* Undoes the newest narrowing. False if there is none. */
bool model_widen(struct model *m);
/* Writes the package of a Java method, "java.util"; "" if it has none. Returns out. */
const char *model_package(const struct model *m, uint32_t method, char *out, size_t size);

/* Returns the question in the form the profile is asked; it points into the model. */
struct query model_query(const struct model *m);

/* Whether the question leaves idle threads out: it is of the wall clock, and does not ask for
 * them. */
bool model_hides_idle(const struct model_question *q);
/* Whether rows of both questions can be compared: of the same event, with or without idle threads,
 * and with native frames folded or not. */
bool model_same_event(const struct model_question *a, const struct model_question *b);
/* Returns the part of the wall clock samples' weight that the answer leaves out because its threads
 * are idle, in percent; < 0: nothing is left out, or it is not known yet. */
double model_idle_percent(const struct model *m);

/* Never returns NULL, for any id. */
const struct method *model_method(const struct model *m, uint32_t id);
/* Writes the method's name for the screen, with parameters if another method has the same name.
 * Returns out. */
const char *model_method_name(const struct model *m, uint32_t id, char *out, size_t size);

/* Writes the best name known for the thread: its name, the kernel's name, or its number. */
const char *model_thread_name(const struct model_thread *t, char *out, size_t size);
/* What it works for, by its name. Virtual threads belong to the application. */
static inline enum thread_kind model_thread_kind(const struct model_thread *t) {
    return t->is_virtual ? THREAD_APPLICATION : thread_kind(t->name[0] ? t->name : t->comm);
}
/* Limits the question to this thread. False: the row stands for several threads. */
bool model_zoom(struct model *m, const struct model_thread *t);
bool model_zoomed(const struct model_question *q);
/* Writes the name of the thread zoomed into. */
const char *model_zoom_name(const struct model *m, char *out, size_t size);

/* Returns a key that no other thread has, not even an ended thread with the same number. */
uint64_t model_thread_key(bool is_virtual, uint64_t java_id, uint32_t tid, bool ended);
/* Returns the weight by state of the thread's wall clock samples; NULL: none. */
const uint64_t *model_thread_states(const struct model *m, const struct model_thread *t);

/* True if there are samples of the event, or it was requested, or it runs. */
bool model_has_event(const struct model *m, int event);
/* Returns the next event that the model has (`by` 1), or the previous one (-1); `event` itself if
 * there is no other. */
int model_next_event(const struct model *m, int event, int by);
/* Returns the event's name as it was requested: "page-faults". */
const char *model_event_name(const struct model *m, int event);
/* Lists the other events that have rows, at most `most`. Returns their number. */
int model_other_events(const struct model *m, int *event, int most);
/* Return the event's share of a thread, or of a method's self time (of its total if the event's
 * stacks do not end in code, as those of alloc), in percent; < 0: no rows. */
double model_method_share(const struct model *m, int event, uint32_t method);
double model_thread_share(const struct model *m, int event, const struct model_thread *t);

/* True if the event's stacks end in code; others end in a class or in malloc. */
bool model_ends_in_code(int event);

/* Sum up what is tagged: model_tagged_methods the self weight of methods, model_tagged_stacks the
 * samples with a tagged method or class on their stack (needs the tree). */
void model_tagged_methods(const struct model *m, struct tag_sum *out);
void model_tagged_stacks(const struct model *m, struct tag_sum *out);
/* Writes a filter that matches the names of all tagged methods and nothing else,
 * "^(shop\\.Cart\\.total|main)$"; "" if there are none, or `size` bytes are not enough for all. Returns
 * how many different names there are; *fit: how many of them there is room for. */
int model_tags_filter(const struct model *m, char *out, size_t size, int *fit);

/* Gets the methods on a lock owner's stack, leaf first. Returns their number. */
uint32_t model_owner_stack(const struct model *m, uint32_t node, uint32_t *method, uint32_t max);
/* Sets for each of snapshot->locks the Java method its owner was in, or the method on top if there
 * is none; METHOD_NONE: not known. */
void model_owner_methods(const struct model *m, uint32_t *method);

/* Returns the number of samples whose stack walk failed. Stacks that were only cut for depth do not
 * count. */
uint64_t model_failed(const struct model *m);

/* The window of the question, in seconds of the samples' clock, inclusive. 0 and 0: everything;
 * `to` 0: until now. */
struct model_window {
    uint64_t from, to;
};
struct model_window model_window(const struct model *m);

/* Internal: makes the rows of threads from this answer and the last two polls, malloc'ed. NULL: no
 * memory. */
struct model_thread *model_merge_threads(const struct model *m, const struct snapshot *s,
                                         uint32_t *count);
/* Internal: takes the profile's new methods. Call it between source.lock and source.unlock. -ENOMEM. */
int model_look_at_methods(struct model *m, struct profile *p);
/* Internal: polls the kernel for the threads. */
void model_look_at_threads(struct model *m, uint64_t now_ns);
/* Internal: takes the profile's living threads, if the question needs them. Call it between
 * source.lock and source.unlock. */
void model_look_at_living(struct model *m, const struct profile *p);
/* Internal: model_ask_others takes the other events' rows for this question, as far as they changed
 * and time allows (-ENOMEM: some are missing). If idle threads are hidden, the rows of all wall clock
 * samples are among them. model_look_at_events takes the figures of all
 * events. Call both between source.lock and source.unlock. */
int model_ask_others(struct model *m, struct profile *p, const struct query *q);
void model_look_at_events(struct model *m, struct profile *p);
/* Internal: frees the rows of another event. */
void model_rows_free(struct model_rows *r);

/* As event_trouble_find; the current event comes first. */
bool model_event_trouble(const struct model *m, char *out, size_t size);

#endif
