/*
 * A thread dump as lines to read: deadlocks first, then the threads of the application with their
 * stacks, then those of the VM.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_SCREEN_STACK_PAGE_H
#define JTOP_TUI_SCREEN_STACK_PAGE_H

#include "core/base/text.h"
#include "tui/model/model.h"
#include "tui/model/thread_dump.h"

/* Which threads the page shows. */
enum stack_choice { STACKS_ALL, STACKS_THREAD, STACKS_POOL };

struct stack_selection {
    enum stack_choice choice;
    char name[MODEL_NAME_SIZE]; /* of the thread, or of the pool: "http-worker-#" */
    uint64_t nid;               /* of the thread; 0: not known, so the name has to do */
    bool doubtful;              /* the nid may be another thread's, unless its name fits */
};

enum stack_line_kind {
    STACK_LINE_BLANK,
    STACK_LINE_WARNING,
    STACK_LINE_NOTE,
    STACK_LINE_THREAD,
    STACK_LINE_WAIT,
    STACK_LINE_FRAME,
    STACK_LINE_LOCK,
};

struct stack_page {
    struct text text; /* the lines, each ended by a NUL */
    struct stack_page_line {
        size_t at;
        enum stack_line_kind kind;
    } * line;
    uint32_t lines, cap;
    uint32_t threads; /* number of threads on the page */
};

/* Makes the lines; the page was zeroed, or made before. `virtual_threads`: the JVM has some, and the
 * page says that they are left out; `locks_key`: the key that asks for the owners of locks of
 * java.util.concurrent, which are not in this dump (NULL: they are). -ENOMEM: the page is empty. */
int stack_page_make(struct stack_page *p, const struct thread_dump *d,
                    const struct stack_selection *which, bool virtual_threads,
                    const char *locks_key);
void stack_page_free(struct stack_page *p);

const char *stack_page_line(const struct stack_page *p, uint32_t line);
/* Appends all lines, each ended by a newline. */
void stack_page_copy(const struct stack_page *p, struct text *out);

#endif
