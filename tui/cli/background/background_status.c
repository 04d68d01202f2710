/* What `status` says of a profile. */
#include "tui/cli/background/background_parts.h"

#include "tui/widget/format.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void add_engine(struct text *out, const struct session_engine *engine, int event) {
    struct format f = {0};
    const char *name = engine->name[0] ? engine->name : event_kind_name[event];
    text_addf(out, "%s: ", name);
    if (event >= WIRE_EVENTS)
        text_add(out, "made from the others");
    else if (engine->mechanism[0])
        text_addf(out, "by %s, every %s", engine->mechanism,
                  format_step(&f, event_kind_unit[event], engine->interval));
    else
        text_addf(out, "not sampled: %s",
                  engine->reason[0] ? engine->reason
                                    : (engine->error ? strerror(engine->error) : "stopped"));
    text_addf(out, "; %" PRIu64 " sample%s, %" PRIu64 " dropped%s%s\n", engine->samples,
              engine->samples == 1 ? "" : "s", engine->dropped,
              engine->mechanism[0] && engine->reason[0] ? "; " : "",
              engine->mechanism[0] ? engine->reason : "");
}

static void add_limit(struct text *out, struct session *s) {
    struct format f = {0};
    struct session_cpu cpu;
    session_cpu(s, &cpu);
    if (cpu.quota > 0)
        text_addf(out,
                  "CPU quota: %.4g%% of a core, by group %s; throttled in %" PRIu64 " of %" PRIu64
                  " periods, for %s\n",
                  100 * cpu.quota, cpu.group, cpu.throttled, cpu.periods,
                  format_duration(&f, cpu.throttled_ns));
}

static void add_budget(struct text *out, const struct session_budget *b) {
    if (b->limit_ppm)
        text_addf(out, "budget: the agent takes %.2f%% of a CPU, of %g%%; %s\n",
                  (double)b->measured_ppm / 1e4, (double)b->limit_ppm / 1e4,
                  b->text[0] ? b->text : "intervals as asked for");
}

static void add_files(struct text *out, const struct background *b) {
    if (b->files) {
        for (int i = 0; i < b->files->count; i++)
            text_addf(out, "file: %s%s\n", b->files->item[i].path.data,
                      b->written ? ", written" : "");
        return;
    }
    for (int i = 0; b->o && i < b->o->files; i++)
        text_addf(out, "file: %s\n", b->o->file[i]);
}

void background_status(const struct background *b, const struct session_status *st, bool brief,
                       struct text *out) {
    bool runs = st->phase == SESSION_RUNNING;
    if (runs)
        text_addf(out, "Profiling is running for %" PRIu64 " seconds\n",
                  st->elapsed_ns / 1000000000u);
    else
        text_add(out, "Profiler is not active\n");
    if (brief)
        return;
    if (!runs)
        text_addf(out, "its %" PRIu64 " sample%s of %.1f s %s kept: dump%s stop work%s%s\n",
                  st->samples, st->samples == 1 ? "" : "s", (double)st->elapsed_ns / 1e9,
                  st->samples == 1 ? "is" : "are",
                  st->phase == SESSION_JVM_GONE ? " and" : ", resume and",
                  st->message[0] ? "; " : "", st->message);
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].asked || st->engine[i].samples)
            add_engine(out, &st->engine[i], i);
    add_limit(out, b->s);
    add_budget(out, &st->budget);
    add_files(out, b);
    if (st->recording[0])
        text_addf(out, "recording: %s\n", st->recording);
    text_addf(out, "reader: process %d%s\n", (int)getpid(),
              !b->o           ? ", on its screen"
              : b->foreground ? ", which somebody waits for"
                              : "");
}
