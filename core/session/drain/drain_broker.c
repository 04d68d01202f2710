/* perf_events that we open for the JVM: whether to offer it, and to whom. */
#include "core/session/session_state.h"

#include "core/session/drain/perf_broker.h"
#include "core/wire/perf_attr.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int no_right(const struct session *s, int error, struct err *e) {
    struct perf_machine m;
    perf_machine_read(&m);
    return err_exit_as(
        e, ERR_EXIT_PROFILER, error,
        "--fdtransfer: this jtop-prof (uid %d) may not open perf_events for JVM %d "
        "(%s; kernel.perf_event_paranoid is %d): run it as root or with CAP_PERFMON, "
        "or leave the option out, and cpu goes on by ctimer",
        (int)geteuid(), (int)s->jvm.pid, strerror(error), m.paranoid);
}

int drain_offer_broker(const struct session *s, bool *offer, struct err *e) {
    bool given = s->options.fd_transfer;
    *offer = false;
    if (!given && !perf_broker_helps(&s->jvm))
        return 0;
    int right = perf_broker_right();
    *offer = right == 0;
    return right < 0 && given ? no_right(s, -right, e) : 0;
}

int drain_use_broker(struct session *s, int fd, struct err *e) {
    struct drain *d = &s->drain;
    perf_broker_end(d->broker);
    d->broker = NULL;
    int result = fd < 0 ? -ENOENT : perf_broker_begin(&s->jvm, fd, &d->broker);
    if (result == 0 || !s->options.fd_transfer)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, -result,
                       "--fdtransfer: JVM %d could not be given a socket to ask for perf_events by "
                       "(%s): %s; without the option cpu goes on by ctimer",
                       (int)s->jvm.pid, strerror(-result),
                       s->options.library ? "with --libpath nothing is put where it can find it"
                                          : "it has no directory where its user may make one");
}
