#include "tui/screen/live_setup.h"

#include "core/session/share/share.h"
#include "tui/cli/background/background.h"
#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFRESH_MS_DEFAULT 1000
#define READING_MS 60000u /* a page of lines is renewed when it was read */
#define LIVE_SPAN_S 60    /* an incident is now: what was an hour ago would hide it */

bool live_set_locale(void) {
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

bool live_is_mono(const struct live_options *o) {
    const char *no_colour = getenv("NO_COLOR");
    return o->mono || (no_colour && no_colour[0]);
}

struct model_settings live_settings(const struct live_options *o) {
    return (struct model_settings){.keys = config_keys(o->config),
                                   .method_columns = o->config->method_columns,
                                   .thread_columns = o->config->thread_columns,
                                   .source_path = o->config->source_path,
                                   .refresh_ms = o->plain ? READING_MS : live_refresh_ms(o),
                                   .span = o->replay ? 0 : LIVE_SPAN_S,
                                   .event = (int)o->session.engine[0].event,
                                   .simple = o->simple,
                                   .carriers = o->carriers,
                                   .idle = o->config->idle,
                                   .fold_natives = o->config->fold_natives,
                                   .no_pane = o->config->no_pane,
                                   .plain = o->plain,
                                   .precise = o->session.precise,
                                   .walk = o->session.walk,
                                   .engine = o->session.engine,
                                   .engines = o->session.engines};
}

unsigned live_refresh_ms(const struct live_options *o) {
    return o->refresh_ms ? o->refresh_ms : REFRESH_MS_DEFAULT;
}

/* Starts those requested events that the shared session does not sample yet. */
static void add_engines(struct session *s, const struct session_options *o) {
    struct wire_engine_request engine[WIRE_EVENTS];
    struct session_status st;
    struct err ignored;
    uint32_t engines = session_engines(s, engine), before = engines;
    session_status(s, &st);
    for (uint32_t i = 0; i < o->engines && engines < WIRE_EVENTS; i++)
        if (!st.engine[o->engine[i].event].asked)
            engine[engines++] = o->engine[i];
    if (engines > before)
        session_set_engines(s, engine, engines, &ignored);
}

int live_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                struct err *e) {
    struct err ignored;
    bool joined;
    int result = share_attach_or_join(j, o, out, &joined, e);
    if (result != 0)
        return result;
    if (joined)
        add_engines(*out, o);
    session_share(*out, background_answer_screen, *out, &ignored);
    return 0;
}

int live_open_session(const struct live_options *o, struct session **out, struct err *e) {
    if (o->replay)
        return session_replay(o->replay, &o->session, out, e);
    if (o->jvm) {
        signals_impatient(SIGNALS_PATIENCE_S);
        int result = live_attach(o->jvm, &o->session, out, e);
        signals_patient();
        return result;
    }
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
