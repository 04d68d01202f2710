/* "list PID": the events that a JVM can be sampled for, which are tried out. "check": whether the
 * requested events can be sampled. */
#include "tui/cli/command/command.h"

#include "core/event/event.h"

#include <errno.h>
#include <string.h>

static void add_row(struct text *out, const char *name, bool works, const char *how,
                    const char *why) {
    text_addf(out, "  %-22s %-3s  %s%s%s\n", name, works ? "yes" : "no", how,
              *how && *why ? ": " : "", why);
}

/* Removes the event's name from a reason: the table already has it. */
static const char *without_name(const char *why, const char *name) {
    const char *const before[] = {"event \"", ""}, *const after[] = {"\": ", ": "};
    size_t length = strlen(name);
    for (size_t i = 0; i < 2; i++) {
        size_t from = strlen(before[i]);
        if (strncmp(why, before[i], from) == 0 && strncmp(why + from, name, length) == 0 &&
            strncmp(why + from + length, after[i], strlen(after[i])) == 0)
            return why + from + length + strlen(after[i]);
    }
    return why;
}

/* Starts an event instead of the previous one, and adds the result to the table. */
static void try_event(struct session *s, const struct jvm *j, const char *name, struct text *out) {
    struct wire_engine_request q;
    struct session_status st;
    struct err e = {0};
    int r = event_parse(name, &q, &e);
    if (r == 0)
        r = event_check(&q, 1, j->pid, event_java_version(j->version), &e);
    if (r == 0)
        r = session_set_engines(s, &q, 1, &e);
    session_status(s, &st);
    const struct session_engine *engine = &st.engine[r == 0 ? q.event : 0];
    if (r == 0 && engine->runs) {
        add_row(out, name, true, engine->mechanism, engine->reason);
        return;
    }
    const char *why = r == 0 && engine->reason[0] ? engine->reason
                      : e.message[0]              ? e.message
                                                  : strerror(r ? -r : engine->error);
    add_row(out, name, false, "", without_name(why, name));
}

int list_events(const struct jvm *j, const struct session_options *o, struct text *out,
                struct err *e) {
    static const struct {
        const char *before, *title;
    } titles[] = {
        {"cpu", "Basic events:"},
        {"page-faults", "Perf events:"},
        {"sched:sched_switch", "Tracepoints, probes and breakpoints, one of each kind:"},
    };
    struct session_options own = *o;
    struct session *s = NULL;
    own.all_or_none = false;
    own.engines = 1;
    int r = event_parse("cpu", &own.engine[0], e);
    if (r == 0)
        r = session_attach(j, &own, &s, e);
    if (r < 0)
        return r;
    for (size_t i = 0; event_names[i]; i++) {
        struct session_status st;
        for (size_t t = 0; t < sizeof titles / sizeof titles[0]; t++)
            if (strcmp(titles[t].before, event_names[i]) == 0)
                text_addf(out, "%s\n", titles[t].title);
        try_event(s, j, event_names[i], out);
        session_status(s, &st);
        if (st.phase == SESSION_JVM_GONE) {
            session_close(s);
            return err_set(e, ESRCH, "JVM %d ended", (int)j->pid);
        }
    }
    text_add(out, "Java method calls:\n"
                  "  pkg.Class.method[:TIME]\n"
                  "Native function calls:\n"
                  "  FUNCTION\n");
    session_close(s);
    return out->failed ? err_set(e, ENOMEM, "no memory for the list of events") : 0;
}

int check_events(const struct jvm *j, const struct session_options *o, struct text *out,
                 struct err *e) {
    struct session_options own = *o;
    struct session *s = NULL;
    int r = event_check(o->engine, o->engines, j->pid, event_java_version(j->version), e);
    own.all_or_none = true;
    if (r == 0)
        r = session_attach(j, &own, &s, e);
    if (r < 0)
        return r;
    session_close(s);
    text_add(out, "OK\n");
    return 0;
}
