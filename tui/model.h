/*
 * What all views draw from: one question about the profile and its answer, the JVM's and the
 * session's figures, and the threads as the kernel sees them, all of the same moment.
 *
 * The answer is immutable until the next model_refresh. Held (paused), the answer stays while the
 * header's figures go on; a new question while held is asked of the time up to the hold, as far
 * as the history reaches.
 *
 * Context: frontend main thread. Time comes from the caller, so tests have no clock.
 */
#ifndef JTOP_TUI_MODEL_H
#define JTOP_TUI_MODEL_H

#include "attach/jvm.h"
#include "attach/thread_stat.h"
#include "core/profile/frame_name.h"
#include "core/profile/snapshot.h"
#include "core/session/session.h"
#include "tui/line_editor.h"
#include "tui/overloads.h"

#include <stdbool.h>

#define MODEL_NAME_SIZE 256

/* Where it comes from: a session (source_session.h), or a test. */
struct model_source {
    void *arg;
    struct profile *(*lock)(void *arg);
    void (*unlock)(void *arg);
    void (*status)(void *arg, struct session_status *out);
    void (*jvm)(void *arg, struct jvm *out);
    /* As thread_stat_list: malloc'ed rows, their number or -errno. */
    int (*threads)(void *arg, struct thread_stat **out);
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
};

/* Why a view's numbers are of less than everything, and how they are put together. */
struct model_question {
    uint32_t tid;                 /* the thread zoomed into, or QUERY_ALL_THREADS … */
    uint64_t virtual_id;          /* … the virtual thread zoomed into, or 0 … */
    char thread[MODEL_NAME_SIZE]; /* … and its name at that moment */
    char filter[LINE_EDITOR_BYTES];
    bool inverted;
    bool by_thread; /* the tree's roots are threads */
    bool carriers;  /* virtual threads' samples belong to the threads that carried them */
    bool tree;      /* some view needs the tree */
};

/* What does not change while one looks. */
struct model_settings {
    int event;           /* of the profile's events */
    bool simple;         /* class names without package */
    bool carriers;       /* the first question's */
    bool precise;        /* as asked of the session */
    enum wire_walk walk; /* likewise */
};

struct model {
    struct model_source source;
    struct model_settings settings;
    unsigned style; /* frame_name()'s, for the screen */
    struct model_question question;
    bool held;
    uint64_t held_second;

    /* the answer */
    unsigned generation;       /* counts answers */
    struct snapshot *snapshot; /* rows, and the tree where asked for; NULL: nothing yet */
    struct model_thread *threads;
    uint32_t thread_count;
    uint64_t all_samples; /* without question: what the answer is a part of */

    /* the rest of the screen */
    struct jvm jvm;
    struct session_status status;
    double samples_per_second;
    double agent_percent, frontend_percent; /* CPU of one core */

    /* inner state */
    struct model_question asked; /* what `snapshot` answers */
    struct snapshot *other;      /* held: the same answer with the tree the other way round */
    struct method *methods;      /* copies: the profile's table moves while it grows */
    uint32_t method_count;
    struct overloads overloads;
    /* two looks, at least MODEL_RATE_NS apart where there were that many: rates come from both */
    struct model_look {
        uint64_t time_ns; /* 0: not taken */
        uint64_t samples, agent_ns, frontend_ns;
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

/* A snapshot for a file: what is shown, as top-down tree, with threads as roots where asked.
 * Call between source.lock and source.unlock. NULL: no memory. Free *owned when done; it is NULL
 * where the answer itself serves. */
const struct snapshot *model_picture(const struct model *m, struct profile *p, bool by_thread,
                                     struct snapshot **owned);

/* Never NULL, for any id. */
const struct method *model_method(const struct model *m, uint32_t id);
/* The method as the screen writes it: with parameters where another one has its name. Returns
 * out. */
const char *model_method_name(const struct model *m, uint32_t id, char *out, size_t size);

/* The thread's name, however little is known of it: name, kernel's name, or number. */
const char *model_thread_name(const struct model_thread *t, char *out, size_t size);
/* Makes it the question to look at one thread only (false: it is many), and at all again. */
bool model_zoom(struct model *m, const struct model_thread *t);
void model_zoom_out(struct model *m);
bool model_zoomed(const struct model_question *q);
/* The name of the thread zoomed into. */
const char *model_zoom_name(const struct model *m, char *out, size_t size);

/* Samples of which nothing is known: walks that failed, without those only cut for depth. */
uint64_t model_failed(const struct model *m);

/* Inner: the rows of threads of this answer and the last two looks, malloc'ed (model_threads.c).
 * NULL: no memory. */
struct model_thread *model_merge_threads(const struct model *m, const struct snapshot *s,
                                         uint32_t *count);
/* Inner: takes what the kernel says of the threads now. */
void model_look_at_threads(struct model *m, uint64_t now_ns);

#endif
