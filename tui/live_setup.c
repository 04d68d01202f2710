#include "tui/live_setup.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFRESH_MS_DEFAULT 1000

bool live_set_locale(void) {
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

bool live_is_mono(const struct live_options *o) {
    const char *no_colour = getenv("NO_COLOR");
    return o->mono || (no_colour && no_colour[0]);
}

struct model_settings live_settings(const struct live_options *o) {
    return (struct model_settings){.config = o->config,
                                   .event = (int)o->session.engine[0].event,
                                   .simple = o->simple,
                                   .carriers = o->carriers,
                                   .precise = o->session.precise,
                                   .walk = o->session.walk,
                                   .engine = o->session.engine,
                                   .engines = o->session.engines};
}

unsigned live_refresh_ms(const struct live_options *o) {
    return o->refresh_ms ? o->refresh_ms : REFRESH_MS_DEFAULT;
}

int live_open_session(const struct live_options *o, struct session **out, struct err *e) {
    if (o->replay)
        return session_replay(o->replay, &o->session, out, e);
    if (o->jvm)
        return session_attach(o->jvm, &o->session, out, e);
    return err_set(e, EINVAL, "no JVM was named: give a pid, a main class, or jps");
}

void live_clear_event(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t count;
    if (poll(&p, 1, 0) == 1) {
        ssize_t ignored = read(fd, &count, sizeof count);
        (void)ignored;
    }
}
