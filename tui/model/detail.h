/*
 * More about one method or one thread than its row in a list: of a method its callers, what it
 * calls, its hottest lines and its threads; of a thread its hottest methods; of both the weight of
 * the last minute. All of it is limited to the same samples as the model's answer: time, thread,
 * package, filter.
 *
 * It is asked from the profile apart from the model's answer, and must not make the screen slow:
 *  - not before the cursor has rested DETAIL_REST_NS on the row; presses meanwhile cost nothing;
 *  - while the cursor stays, not more often than every DETAIL_RENEW_NS, and only if the model has a
 *    new answer: figures that change all the time cost bytes on the way to the terminal;
 *  - not again before DETAIL_PART times as long as the last one took: it never takes more than a
 *    tenth of the time. One that took long also waits for a moment without presses.
 *
 * An answer is immutable until the next detail_take.
 *
 * Context: frontend main thread. The caller passes the time.
 */
#ifndef JTOP_TUI_MODEL_DETAIL_H
#define JTOP_TUI_MODEL_DETAIL_H

#include "tui/model/model.h"

#include <stdbool.h>

#define DETAIL_ROWS 24u /* of each list, the heaviest */
#define DETAIL_SOURCE 160
#define DETAIL_REST_NS UINT64_C(200000000)
#define DETAIL_RENEW_NS UINT64_C(5000000000)
#define DETAIL_PART 10

/* What the answer is of: a method, or else a thread. */
struct detail_subject {
    uint32_t method; /* METHOD_NONE: a thread */
    bool is_virtual;
    uint32_t tid;
    uint64_t java_id; /* as in struct model_thread */
};

enum detail_kind {
    DETAIL_METHOD,
    DETAIL_ITSELF, /* the method is the leaf of the stack: it calls nothing */
    DETAIL_NOBODY, /* the method is the root of the stack: it has no caller */
};

/* A caller, a callee, or a method of the thread. */
struct detail_method {
    enum detail_kind kind;
    uint32_t method;
    enum frame_tier tier; /* in which most of its samples were executed */
    uint64_t weight, samples;
};

struct detail_line {
    uint32_t line; /* 0: not known */
    uint64_t weight, samples;
    char source[DETAIL_SOURCE]; /* without the blanks in front; "": not found */
};

struct detail_thread {
    struct detail_subject thread;
    uint64_t weight, samples;
    char name[MODEL_NAME_SIZE];
};

/* `all`: number of rows in the profile, of which `count` are here. Sorted by weight, descending. */
struct detail_methods {
    struct detail_method row[DETAIL_ROWS];
    uint32_t count, all;
};

struct detail_answer {
    struct detail_subject of;
    uint64_t weight, samples; /* on whose stack the method is, or of the thread; shares are of it */
    /* Of a method. Callers and callees are those of its outermost frame. Those below a thousandth
     * are left out. A line's weight is of the samples that have it on the stack. */
    struct detail_methods callers, callees;
    struct detail_line line[DETAIL_ROWS];
    uint32_t lines, all_lines;
    struct detail_thread thread[DETAIL_ROWS];
    uint32_t threads, all_threads;
    /* Of a thread: methods by their self weight. */
    struct detail_methods methods;
    uint64_t spark[MODEL_SPARKS]; /* weight over time, oldest first, MODEL_SPARK_SECONDS each */
};

struct detail;

/* NULL: no memory. detail_free accepts NULL. */
struct detail *detail_new(void);
void detail_free(struct detail *d);

/* Says what is wanted at this time; NULL: nothing. `pressed`: the user did something since the last
 * call. Returns the time at which detail_take is due; UINT64_MAX: it is not. */
uint64_t detail_want(struct detail *d, const struct model *m, const struct detail_subject *s,
                     bool pressed, uint64_t now_ns);

/* Asks the profile for what is wanted. `clock` returns the time, to measure how long that takes.
 * -ENOMEM: the last answer stays. */
int detail_take(struct detail *d, struct model *m, uint64_t (*clock)(void));

/* Returns the answer. NULL: there is none yet of this subject and this question. */
const struct detail_answer *detail_answer(const struct detail *d, const struct model *m,
                                          const struct detail_subject *s);

#endif
