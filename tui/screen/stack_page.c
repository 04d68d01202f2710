#include "tui/screen/stack_page.h"

#include "core/base/grow.h"
#include "tui/model/thread_pools.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define COMM_BYTES 15     /* the kernel's copy of a thread's name has no more */
#define CIRCLE_THREADS 12 /* threads of a deadlock that its line names */
#define DEADLOCKS_TOLD 20

/* ---- lines ---- */

/* Begins a line of this kind. What is added to the text belongs to it until end_line. */
static struct text *begin_line(struct stack_page *p, enum stack_line_kind kind) {
    if (!GROW(p->line, p->lines, p->cap))
        p->text.failed = true;
    else
        p->line[p->lines++] = (struct stack_page_line){.at = p->text.len, .kind = kind};
    return &p->text;
}

static void end_line(struct stack_page *p) {
    text_add_n(&p->text, "", 1);
}

static void add_line(struct stack_page *p, enum stack_line_kind kind, const char *text) {
    text_add(begin_line(p, kind), text);
    end_line(p);
}

/* ---- one thread ---- */

/* "<0xffd1b998> java.lang.Object" */
static void add_lock(struct text *t, const struct thread_dump_line *l) {
    if (l->address)
        text_addf(t, "<0x%" PRIx64 "> ", l->address);
    text_add(t, l->text);
}

static void add_wait(struct stack_page *p, const struct thread_dump *d,
                     const struct thread_dump_thread *t) {
    const struct thread_dump_line *wait = &d->line_of[t->wait];
    struct text *out = begin_line(p, STACK_LINE_WAIT);
    text_add(out,
             wait->kind == THREAD_DUMP_NOTIFY ? "    waits for a notification" : "    waits for ");
    if (wait->kind == THREAD_DUMP_NOTIFY && wait->text[0])
        text_add(out, " of ");
    else if (!wait->text[0])
        text_add(out, "a lock");
    add_lock(out, wait);
    if (t->owner != THREAD_DUMP_NONE)
        text_addf(out, ", held by %s", d->thread[t->owner].name);
    end_line(p);
}

/* Adds a line below the thread's first one. The wait has its own line. A monitor that the thread
 * gave back in Object.wait is left out. */
static void add_below(struct stack_page *p, const struct thread_dump *d,
                      const struct thread_dump_thread *t, const struct thread_dump_line *l) {
    uint64_t waits = t->wait != THREAD_DUMP_NONE ? d->line_of[t->wait].address : 0;
    switch (l->kind) {
    case THREAD_DUMP_FRAME:
        text_add(begin_line(p, STACK_LINE_FRAME), "    at ");
        text_add(&p->text, l->text);
        break;
    case THREAD_DUMP_LOCKED:
        if (waits && l->address == waits)
            return;
        text_add(begin_line(p, STACK_LINE_LOCK), "       holds ");
        add_lock(&p->text, l);
        break;
    case THREAD_DUMP_HELD:
        text_add(begin_line(p, STACK_LINE_LOCK), "    holds ");
        add_lock(&p->text, l);
        break;
    case THREAD_DUMP_OTHER:
        text_addf(begin_line(p, STACK_LINE_LOCK), "       %s", l->text);
        break;
    default:
        return;
    }
    end_line(p);
}

static void add_thread(struct stack_page *p, const struct thread_dump *d, uint32_t i) {
    const struct thread_dump_thread *t = &d->thread[i];
    add_line(p, STACK_LINE_BLANK, "");
    struct text *out = begin_line(p, STACK_LINE_THREAD);
    text_addf(out, "%s  %s", t->name, t->state[0] ? t->state : t->activity);
    if (t->nid)
        text_addf(out, "  tid %" PRIu64, t->nid);
    if (t->deadlock)
        text_add(out, "  DEADLOCK");
    end_line(p);
    if (t->wait != THREAD_DUMP_NONE)
        add_wait(p, d, t);
    for (uint32_t k = 0; k < t->lines; k++)
        if (d->line_of[t->line + k].kind == THREAD_DUMP_HELD)
            add_below(p, d, t, &d->line_of[t->line + k]);
    for (uint32_t k = 0; k < t->lines; k++)
        if (d->line_of[t->line + k].kind != THREAD_DUMP_HELD)
            add_below(p, d, t, &d->line_of[t->line + k]);
    p->threads++;
}

/* ---- which threads ---- */

/* Returns the thread that has the row's number; THREAD_DUMP_NONE: the name has to do. */
static uint32_t by_number(const struct thread_dump *d, const struct stack_selection *s) {
    if (s->choice != STACKS_THREAD || !s->nid)
        return THREAD_DUMP_NONE;
    return thread_dump_find(d, s->nid, s->doubtful ? s->name : NULL);
}

/* A name that only the kernel knows is cut. */
static bool has_name(const struct thread_dump_thread *t, const char *name) {
    return !strcmp(t->name, name) ||
           (strlen(name) == COMM_BYTES && !strncmp(t->name, name, COMM_BYTES));
}

static bool is_chosen(const struct thread_dump *d, uint32_t i, const struct stack_selection *s,
                      uint32_t numbered) {
    switch (s->choice) {
    case STACKS_THREAD:
        return numbered != THREAD_DUMP_NONE ? i == numbered : has_name(&d->thread[i], s->name);
    case STACKS_POOL:
        return thread_pools_takes(s->name, d->thread[i].name);
    default:
        return true;
    }
}

static void add_threads(struct stack_page *p, const struct thread_dump *d,
                        const struct stack_selection *s) {
    uint32_t numbered = by_number(d, s);
    bool titled = s->choice != STACKS_ALL;
    for (int application = 1; application >= 0; application--)
        for (uint32_t i = 0; i < d->threads && !p->text.failed; i++) {
            if (thread_dump_is_application(&d->thread[i]) != application ||
                !is_chosen(d, i, s, numbered))
                continue;
            if (!application && !titled) {
                add_line(p, STACK_LINE_BLANK, "");
                add_line(p, STACK_LINE_NOTE, "threads of the JVM itself:");
                titled = true;
            }
            add_thread(p, d, i);
        }
}

/* ---- what stands above them ---- */

/* "deadlock: a waits for b, b waits for a" */
static void add_deadlock(struct stack_page *p, const struct thread_dump *d, uint32_t number) {
    uint32_t first = thread_dump_deadlock(d, number), at = first;
    struct text *out = begin_line(p, STACK_LINE_WARNING);
    text_add(out, "deadlock: ");
    for (int n = 0; at != THREAD_DUMP_NONE; n++) {
        const struct thread_dump_thread *t = &d->thread[at];
        if (n == CIRCLE_THREADS) {
            text_add(out, " …");
            break;
        }
        text_addf(out, "%s%s waits for %s", n ? ", " : "", t->name, d->thread[t->owner].name);
        at = t->owner != first ? t->owner : THREAD_DUMP_NONE;
    }
    end_line(p);
}

static void add_notes(struct stack_page *p, const struct thread_dump *d, bool virtual_threads,
                      const char *locks_key) {
    for (uint32_t i = 1; i <= d->deadlocks && i <= DEADLOCKS_TOLD; i++)
        add_deadlock(p, d, i);
    if (d->deadlocks > DEADLOCKS_TOLD) {
        text_addf(begin_line(p, STACK_LINE_WARNING), "and %u more deadlocks",
                  d->deadlocks - DEADLOCKS_TOLD);
        end_line(p);
    }
    if (d->cut) {
        text_addf(begin_line(p, STACK_LINE_WARNING),
                  "the JVM's answer is longer than %zu MiB: threads at its end are missing",
                  THREAD_DUMP_BYTES >> 20);
        end_line(p);
    }
    if (virtual_threads)
        add_line(p, STACK_LINE_NOTE, "virtual threads are not in a thread dump");
    if (!locks_key)
        return;
    text_addf(begin_line(p, STACK_LINE_NOTE),
              "owners of java.util.concurrent locks are left out: key %s requests them,",
              locks_key);
    end_line(p);
    add_line(p, STACK_LINE_NOTE,
             "and stops the JVM while it goes through its heap, about 1 s per GiB in use");
}

int stack_page_make(struct stack_page *p, const struct thread_dump *d,
                    const struct stack_selection *which, bool virtual_threads,
                    const char *locks_key) {
    text_clear(&p->text);
    p->lines = p->threads = 0;
    add_notes(p, d, virtual_threads, locks_key);
    add_threads(p, d, which);
    if (!p->threads) {
        add_line(p, STACK_LINE_BLANK, "");
        add_line(
            p, STACK_LINE_NOTE,
            which->choice == STACKS_POOL
                ? "no thread of this pool is in the JVM's answer: they have ended"
                : "this thread is not in the JVM's answer: it has ended, or runs no Java code");
    }
    if (!p->text.failed)
        return 0;
    stack_page_free(p);
    return -ENOMEM;
}

void stack_page_free(struct stack_page *p) {
    text_free(&p->text);
    free(p->line);
    *p = (struct stack_page){.lines = 0};
}

const char *stack_page_line(const struct stack_page *p, uint32_t line) {
    return p->text.data + p->line[line].at;
}

void stack_page_copy(const struct stack_page *p, struct text *out) {
    for (uint32_t i = 0; i < p->lines; i++) {
        text_add(out, stack_page_line(p, i));
        text_add_n(out, "\n", 1);
    }
}
