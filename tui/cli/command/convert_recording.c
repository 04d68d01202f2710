#include "tui/cli/command/convert_recording.h"

#include "core/decode/time_window.h"
#include "core/export/output_file.h"
#include "core/record/recording.h"
#include "core/session/replay.h"
#include "tui/cli/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct copy {
    const struct options *o;
    struct recording_writer *out;
    struct time_window window;
};

bool convert_is_recording(const char *path) {
    static const char extension[] = ".jtop";
    size_t n = strlen(path), m = sizeof extension - 1;
    return n > m && strcmp(path + n - m, extension) == 0;
}

int convert_check_recording(const struct options *o, const char *path, struct err *e) {
    if (!o->includes && !o->excludes && !o->session.thread_pattern && !o->session.tid_ranges)
        return 0;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                       "%s: a recording is written without filters: omit -I, -X, --filter and "
                       "--thread, and use them when you convert or view this recording",
                       path);
}

static bool is_asked_for(const struct options *o, uint32_t event) {
    if (!o->events_given)
        return true;
    for (uint32_t i = 0; i < o->session.engines; i++)
        if (o->session.engine[i].event == event)
            return true;
    return false;
}

/* True if the record is about no event, or about a wanted one. Lengths are checked, because the
 * records come from files. */
static bool is_wanted(const struct options *o, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t length = wire_header_length(word);
    switch (wire_header_type(word)) {
    case WIRE_SAMPLE:
        return length < sizeof(struct wire_sample) ||
               is_asked_for(o, ((const struct wire_sample *)record)->event);
    case WIRE_REPEAT:
        return length < sizeof(struct wire_repeat) ||
               is_asked_for(o, ((const struct wire_repeat *)record)->event);
    case WIRE_MARK:
        return length < sizeof(struct wire_mark) ||
               is_asked_for(o, ((const struct wire_mark *)record)->engine.event);
    case WIRE_LOCK:
        return is_asked_for(o, WIRE_EVENT_LOCK);
    default:
        return true;
    }
}

static int begin_window(void *arg, const void *record) {
    struct copy *c = arg;
    time_window_begin(&c->window, record);
    return 0;
}

static int copy_record(void *arg, const void *record) {
    struct copy *c = arg;
    if (time_window_is_on(&c->window))
        record = time_window_pass(&c->window, record);
    if (record && is_wanted(c->o, record))
        recording_write(c->out, record);
    return 0;
}

static int copy_records(struct copy *c, const char *in, struct replay_result *result,
                        struct err *e) {
    int r = 0;
    if (time_window_is_on(&c->window))
        r = replay_records(in, begin_window, c, result, e);
    return r < 0 ? r : replay_records(in, copy_record, c, result, e);
}

static int write_file(struct copy *c, const char *in, struct output_file *f,
                      struct replay_result *result, struct err *e) {
    char through[32];
    snprintf(through, sizeof through, "/dev/fd/%d", f->fd);
    int r = recording_create(through, &c->out, e);
    if (r < 0)
        return r;
    r = copy_records(c, in, result, e);
    int finished = recording_finish(c->out, NULL);
    if (r == 0 && finished < 0)
        r = err_exit_as(e, ERR_EXIT_PROFILER, -finished, "cannot write %s: %s", f->path,
                        strerror(-finished));
    return r;
}

int convert_recording(const struct options *o, const char *in, const char *path, char *damage,
                      size_t size, struct err *e) {
    struct output_file f = {.fd = -1, .dir = -1};
    struct replay_result result = {0};
    struct copy c = {.o = o};
    int r = convert_check_recording(o, path, e);
    if (r == 0 && output_is_input(path, in))
        r = output_refuse_input(in, e);
    if (r == 0)
        r = output_file_open(&f, path, ERR_EXIT_ARGUMENT, e);
    if (r < 0)
        return r;
    time_window_init(&c.window);
    c.window.from_ns = o->session.from_ms * 1000000u;
    c.window.to_ns = o->session.to_ms * 1000000u;
    r = write_file(&c, in, &f, &result, e);
    time_window_free(&c.window);
    if (r == 0)
        r = output_file_commit(&f, e);
    else
        output_file_abort(&f);
    snprintf(damage, size, "%s", result.damage);
    return r;
}
