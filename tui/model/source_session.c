#include "tui/model/source_session.h"

#include "attach/load/attach.h"
#include "attach/load/standstill.h"
#include "core/base/clock.h"
#include "core/event/event.h"

static struct profile *lock(void *arg) {
    return session_lock(arg);
}

static void unlock(void *arg) {
    session_unlock(arg);
}

static void status(void *arg, struct session_status *out) {
    session_status(arg, out);
}

/* The time of day is read each time: it may be set while the session runs. */
static void live_status(void *arg, struct session_status *out) {
    session_status(arg, out);
    out->day_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - clock_now_ns());
}

static void jvm(void *arg, struct jvm *out) {
    session_jvm(arg, out);
}

static void cpu(void *arg, struct session_cpu *out) {
    session_cpu(arg, out);
}

static int threads(void *arg, struct thread_stat **out) {
    return session_threads(arg, out);
}

static void ask_java_states(void *arg, uint32_t ms) {
    session_ask_java_states(arg, ms, false);
}

static int set_engines(void *arg, const struct wire_engine_request *engine, uint32_t engines,
                       struct err *e) {
    return session_set_engines(arg, engine, engines, e);
}

static int check(void *arg, const struct wire_engine_request *engine, struct err *e) {
    struct jvm j;
    session_jvm(arg, &j);
    return event_check(engine, 1, j.pid, event_java_version(j.version), e);
}

static enum standstill standstill(void *arg, pid_t *tracer) {
    struct jvm j;
    session_jvm(arg, &j);
    return standstill_of(j.pid, tracer);
}

static int stacks(const struct jvm *j, bool locks,
                  int (*each)(void *context, const char *data, size_t len), void *context,
                  struct err *e) {
    const char *const arg[3] = {locks ? "-l" : NULL};
    return attach_stream(j, "threaddump", arg, ATTACH_TIMEOUT_MS, each, context, e);
}

struct model_source source_session(struct session *s, bool live) {
    return (struct model_source){.arg = s,
                                 .lock = lock,
                                 .unlock = unlock,
                                 .status = live ? live_status : status,
                                 .jvm = jvm,
                                 .cpu = live ? cpu : NULL,
                                 .threads = live ? threads : NULL,
                                 .ask_java_states = live ? ask_java_states : NULL,
                                 .set_engines = live ? set_engines : NULL,
                                 .check = live ? check : NULL,
                                 .standstill = live ? standstill : NULL,
                                 .stacks = live ? stacks : NULL};
}
