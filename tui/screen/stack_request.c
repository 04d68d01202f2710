#include "tui/screen/stack_request.h"

#include "core/base/clock.h"
#include "core/base/text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Shared by the screen and the request's thread. The last one that needs it frees it. */
struct stack_request {
    atomic_int users;
    atomic_bool cancelled, done;
    /* set before the thread starts */
    int (*stacks)(const struct jvm *j, bool locks,
                  int (*each)(void *context, const char *data, size_t len), void *context,
                  struct err *e);
    struct jvm jvm;
    bool locks;
    uint64_t until_ns;
    /* written by the thread until `done` */
    struct text text;
    struct thread_dump dump;
    time_t when;
    bool full;
    int result;
    struct err err;
};

static void release(struct stack_request *r) {
    if (atomic_fetch_sub(&r->users, 1) > 1)
        return;
    text_free(&r->text);
    thread_dump_free(&r->dump);
    free(r);
}

static int take_piece(void *context, const char *data, size_t len) {
    struct stack_request *r = context;
    if (atomic_load(&r->cancelled))
        return -ECANCELED;
    if (clock_now_ns() >= r->until_ns)
        return -ETIMEDOUT;
    if (len == 0)
        return 0;
    if (!r->text.len)
        r->when = time(NULL);
    text_add_n(&r->text, data, len);
    r->full = r->text.len > THREAD_DUMP_BYTES;
    return r->text.failed ? -ENOMEM : r->full ? -EFBIG : 0;
}

/* Parses the answer, and sets the result. */
static int parse(struct stack_request *r) {
    int err = r->text.failed
                  ? -ENOMEM
                  : thread_dump_parse(&r->dump, r->text.data ? r->text.data : "", r->text.len);
    if (err == -EBADMSG)
        return err_set(&r->err, EBADMSG, "the answer of JVM %d is no thread dump", (int)r->jvm.pid);
    return err ? err_set(&r->err, -err, "no memory for the stacks of JVM %d", (int)r->jvm.pid) : 0;
}

static void *ask(void *arg) {
    struct stack_request *r = arg;
    r->result = r->stacks(&r->jvm, r->locks, take_piece, r, &r->err);
    if (r->result == 0 || r->full || r->text.failed)
        r->result = parse(r);
    text_free(&r->text);
    atomic_store(&r->done, true);
    release(r);
    return NULL;
}

/* Signals are for the main thread. */
static int start_thread(struct stack_request *r) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int code = pthread_attr_init(&attributes);
    if (code)
        return code;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attributes, ask, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

struct stack_request *stack_request_start(const struct model_source *source, const struct jvm *j,
                                          bool locks) {
    struct stack_request *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->stacks = source->stacks;
    r->jvm = *j;
    r->locks = locks;
    r->until_ns = clock_now_ns() + STACK_REQUEST_SECONDS * UINT64_C(1000000000);
    atomic_init(&r->users, 2);
    if (start_thread(r) != 0) {
        free(r);
        return NULL;
    }
    return r;
}

bool stack_request_is_done(const struct stack_request *r) {
    return atomic_load(&r->done);
}

int stack_request_take(struct stack_request *r, struct thread_dump *out, time_t *when,
                       struct err *e) {
    int result = r->result;
    if (result == 0) {
        *out = r->dump;
        *when = r->when;
        r->dump = (struct thread_dump){0};
    } else {
        *e = r->err;
    }
    release(r);
    return result;
}

void stack_request_cancel(struct stack_request *r) {
    if (!r)
        return;
    atomic_store(&r->cancelled, true);
    release(r);
}
