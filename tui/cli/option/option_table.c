#include "tui/cli/option/options.h"

#include "core/event/event.h"
#include "core/wire/wire_names.h"
#include "tui/terminal/theme.h"

#include <stdio.h>

#define FIELD(member)                                                                              \
    .offset = offsetof(struct options, member), .size = sizeof(((struct options *)0)->member)
#define NO_FIELD .offset = 0, .size = 0
#define VIEW_WORDS "overview methods threads tree locks flame alloc lines status"
#define ROW(g, name_1, name_2, agent_form, k, takes, text, ...)                                    \
    {                                                                                              \
        .name = {name_1, name_2}, .agent = agent_form, .kind = OPTION_##k, .group = GROUP_##g,     \
        .argument = takes, .help = text, __VA_ARGS__                                               \
    }

const struct option_row option_rows[] = {
    ROW(PROFILE, "-d", "--duration", NULL, QUANTITY, "TIME",
        "profile TIME (10, 1m), write a report [default: 60s]", FIELD(duration_ms),
        .quantity = &quantity_duration, .usage = true),
    ROW(PROFILE, "-e", "--event", "event", EVENT, "EVENT",
        "sample EVENT[,EVENT...] (see below) [default: cpu]", NO_FIELD),
    ROW(PROFILE, "-i", "--interval", "interval", INTERVAL, "N",
        "sample every N (100us, 10ms, 512k) [default: 10ms]", NO_FIELD),
    ROW(PROFILE, NULL, "--wall", "wall", ENGINE, "TIME",
        "also sample wall clock every TIME [default: 50ms]", NO_FIELD, .value = WIRE_EVENT_WALL),
    ROW(PROFILE, NULL, "--alloc", "alloc", ENGINE, "BYTES",
        "also sample allocation every BYTES [default: 512k]", NO_FIELD, .value = WIRE_EVENT_ALLOC),
    ROW(PROFILE, NULL, "--lock", "lock", ENGINE, "TIME",
        "lock waits: 1 sample per TIME waited [default: 10us]", NO_FIELD, .value = WIRE_EVENT_LOCK),
    ROW(PROFILE, NULL, "--nativemem", "nativemem", ENGINE, "BYTES",
        "also sample malloc, mmap every BYTES (0: every call)", NO_FIELD,
        .value = WIRE_EVENT_NATIVEMEM),
    ROW(PROFILE, NULL, "--nativelock", "nativelock", ENGINE, "TIME",
        "pthread lock waits: 1 sample per TIME waited; 0: all", NO_FIELD,
        .value = WIRE_EVENT_NATIVELOCK),
    ROW(PROFILE, NULL, "--trace", "trace", TRACE, "METHOD[:TIME]",
        "also sample calls of METHOD that take TIME or more", NO_FIELD),
    ROW(PROFILE, NULL, "--all", "all", FLAG, NULL,
        "sample cpu, wall, alloc, live, lock, native*, proc", FIELD(all)),
    ROW(PROFILE, NULL, "--all-user", "alluser", FLAG, NULL,
        "cpu, perf events: leave out kernel code", FIELD(all_user)),
    ROW(PROFILE, NULL, "--all-kernel", "allkernel", FLAG, NULL,
        "cpu, perf events: sample kernel code only", FIELD(all_kernel)),
    ROW(PROFILE, NULL, "--live", "live", FLAG, NULL,
        "alloc: keep only objects still alive at the end", FIELD(live)),
    ROW(PROFILE, NULL, "--tlab", "tlab", FLAG, NULL,
        "alloc: sample new TLABs, and objects outside TLABs", FIELD(tlab)),
    ROW(PROFILE, NULL, "--nofree", "nofree", FLAG, NULL,
        "nativemem: do not track free(); no leak report", FIELD(no_free)),
    ROW(PROFILE, NULL, "--target-cpu", "target-cpu", CPU, "N",
        "sample only what runs on processor N", FIELD(target_cpu)),
    ROW(PROFILE, NULL, "--record-cpu", "record-cpu", FLAG, NULL,
        "begin stacks with the processor, [CPU-3]", FIELD(session.tag_cpu)),
    ROW(PROFILE, NULL, "--sched", "sched", FLAG, NULL,
        "begin stacks with the sched policy, [SCHED_BATCH]", FIELD(session.tag_sched)),
    ROW(PROFILE, NULL, "--filter", "filter", TIDS, "TIDS",
        "sample only native threads TIDS (120-127,132)", NO_FIELD),
    ROW(PROFILE, NULL, "--thread", "thread", TEXT, "REGEX",
        "sample only threads whose name matches REGEX", FIELD(session.thread_pattern)),
    ROW(PROFILE, NULL, "--begin", "begin", TEXT, "FUNCTION",
        "start sampling when native FUNCTION is called", FIELD(session.begin)),
    ROW(PROFILE, NULL, "--end", "end", TEXT, "FUNCTION",
        "stop when FUNCTION is called; --begin starts again", FIELD(session.end)),
    ROW(PROFILE, NULL, "--ttsp", "ttsp", FLAG, NULL,
        "sample only while threads stop for a safepoint", FIELD(ttsp)),
    ROW(PROFILE, NULL, "--nostop", "nostop", FLAG, NULL,
        "sample also outside of --begin...--end, or of --ttsp", FIELD(session.window_marks)),
    ROW(PROFILE, NULL, "--timeout", "timeout", MOMENT, "TIME",
        "end after TIME, or at time of day hh:mm:ss", FIELD(timeout)),
    ROW(PROFILE, NULL, "--loop", "loop", MOMENT, "TIME",
        "write and restart every TIME (%t, %n in file names)", FIELD(loop)),
    ROW(PROFILE, NULL, "--memlimit", "memlimit", QUANTITY, "SIZE",
        "keep the profile within SIZE of memory", FIELD(session.memory_limit),
        .quantity = &quantity_memory),
    ROW(PROFILE, NULL, "--signal", "signal", SIGNAL, "N[/M]",
        "use signal N for cpu, M for wall [default: 27/26]", NO_FIELD),
    ROW(PROFILE, NULL, "--clock", "clock", CLOCK, "NAME",
        "tsc or monotonic: accepted, but has no effect", NO_FIELD),
    ROW(PROFILE, "-j", "--jstackdepth", "jstackdepth", DEPTH, "N[/M]",
        "keep N frames [default: 2048]; if deeper, only M", NO_FIELD),
    ROW(PROFILE, "-b", "--framebuf", "framebuf", QUANTITY, "SIZE",
        "use SIZE of shared memory for samples [default: 8m]", FIELD(session.ring_bytes),
        .quantity = &quantity_size),
    ROW(PROFILE, NULL, "--cstack", "cstack", CSTACK, "HOW",
        "walk by vm, vmx, fp, dwarf, no, asgct [default: vm]", FIELD(session.walk)),
    ROW(PROFILE, "-F", "--features", "features", FEATURES, "LIST",
        "add frames: vtable, comptask, pcaddr", NO_FIELD),
    ROW(PROFILE, NULL, "--precise", "precise", FLAG, NULL,
        "recompile hot code for exact attribution, at a cost", FIELD(session.precise)),
    ROW(PROFILE, NULL, "--max-overhead", "max-overhead", OVERHEAD, "PCT",
        "sample less often to stay below PCT of one CPU", FIELD(session.max_overhead_ppm)),
    ROW(PROFILE, NULL, "--record", "record", PATH, "FILE",
        "also record all samples; jtop-prof FILE opens it", FIELD(session.record)),
    ROW(PROFILE, NULL, "--fdtransfer", "fdtransfer", FLAG, NULL,
        "open perf_events for the JVM; exit if impossible", FIELD(session.fd_transfer),
        .any_value = true),
    ROW(PROFILE, NULL, "--libpath", NULL, TEXT, "PATH",
        "load the agent from PATH, as the JVM sees it", FIELD(session.library)),

    ROW(OUTPUT, "-f", "--file", "file", OUTPUT, "FILE",
        "write to FILE (repeatable; %p pid, %t time, %{ENV})", NO_FIELD),
    ROW(OUTPUT, "-o", "--output", NULL, FORMAT, "FMT[,FMT]",
        "write FMT (see below) [default: by FILE, else text]", NO_FIELD),
    ROW(OUTPUT, "-t", "--threads", "threads", FLAG, NULL,
        "split by thread; screen: start in the threads view", FIELD(export.threads)),
    ROW(OUTPUT, NULL, "--carriers", "carriers", FLAG, NULL,
        "count virtual threads' samples for their carriers", FIELD(export.carriers)),
    ROW(OUTPUT, "-I", "--include", "include", PATTERN, "PATTERN",
        "keep stacks with frame PATTERN (* at either end)", NO_FIELD, .value = 0),
    ROW(OUTPUT, "-X", "--exclude", "exclude", PATTERN, "PATTERN",
        "leave out stacks with frame PATTERN", NO_FIELD, .value = 1),
    ROW(OUTPUT, NULL, "--from", NULL, QUANTITY, "TIME", "leave out samples of the first TIME",
        FIELD(from_ms), .quantity = &quantity_since),
    ROW(OUTPUT, NULL, "--to", NULL, QUANTITY, "TIME", "keep only samples of the first TIME",
        FIELD(to_ms), .quantity = &quantity_duration, .when = WHEN_NOT_PUSH),
    ROW(OUTPUT, "-s", "--simple", "simple", FLAG, NULL, "drop the package from class names",
        FIELD(export.simple)),
    ROW(OUTPUT, "-n", "--norm", "norm", FLAG, NULL,
        "drop counters from names of lambdas, hidden classes", FIELD(export.normalize),
        .when = WHEN_NOT_BATCH),
    ROW(OUTPUT, "-g", "--sig", "sig", FLAG, NULL, "add signatures to method names",
        FIELD(export.signatures)),
    ROW(OUTPUT, "-a", "--ann", "ann", FLAG, NULL,
        "mark how a frame ran: _[0] interpreted, _[j] JIT", FIELD(export.annotate)),
    ROW(OUTPUT, "-l", "--lib", "lib", FLAG, NULL, "add the library to native frames",
        FIELD(export.library)),
    ROW(OUTPUT, NULL, "--dot", "dot", FLAG, NULL, "write class names with dots in every format",
        FIELD(export.dotted)),
    ROW(OUTPUT, NULL, "--samples", "samples", UNFLAG, NULL, "count samples (this is the default)",
        FIELD(export.total)),
    ROW(OUTPUT, NULL, "--total", "total", FLAG, NULL, "add up ns, bytes, counts instead of samples",
        FIELD(export.total)),
    ROW(OUTPUT, NULL, "--title", "title", TEXT, "TEXT", "use TEXT as the title of the flame graph",
        FIELD(export.title)),
    ROW(OUTPUT, NULL, "--width", "width", QUANTITY, "PX",
        "make the flame graph PX wide [default: the window]", FIELD(export.width),
        .quantity = &quantity_count),
    ROW(OUTPUT, NULL, "--height", "height", QUANTITY, "PX", "make each frame PX high [default: 16]",
        FIELD(export.height), .quantity = &quantity_count),
    ROW(OUTPUT, NULL, "--minwidth", "minwidth", PERCENT, "PCT",
        "leave out frames narrower than PCT percent", FIELD(export.minwidth)),
    ROW(OUTPUT, NULL, "--reverse", "reverse", FLAG, NULL,
        "draw stacks from the leaf: who calls the hot methods", FIELD(export.reverse)),
    ROW(OUTPUT, NULL, "--inverted", "inverted", FLAG, NULL,
        "draw the flame graph growing down (icicles)", FIELD(export.inverted)),

    ROW(OUTPUT, NULL, "--chunksize", "chunksize", QUANTITY, "SIZE",
        "JFR: begin a new chunk after SIZE [default: 100m]", FIELD(chunk_bytes),
        .quantity = &quantity_chunk),
    ROW(OUTPUT, NULL, "--chunktime", "chunktime", QUANTITY, "TIME",
        "JFR: begin a new chunk after TIME [default: 1h]", FIELD(chunk_ms),
        .quantity = &quantity_duration),
    ROW(OUTPUT, NULL, "--proc", "proc", QUANTITY, "TIME",
        "JFR: record busy or large processes every TIME", FIELD(processes_ms),
        .quantity = &quantity_processes, .bare = "30"),
    ROW(OUTPUT, NULL, "--ratelimit", "ratelimit", LIMITS, "LIMITS",
        "JFR: limit events per second (cpu:1000,alloc:200)", NO_FIELD),
    ROW(OUTPUT, NULL, "--jfrsync", "jfrsync", TEXT, "CONFIG",
        "JFR: also run the JDK's own recorder, with CONFIG", FIELD(jfr_sync), .bare = "default"),

    ROW(LIVE, NULL, "--refresh", NULL, QUANTITY, "TIME",
        "redraw every TIME (500, 500ms, 2s) [default: 1s]", FIELD(refresh_ms),
        .quantity = &quantity_refresh, .usage = true),
    ROW(LIVE, NULL, "--history", NULL, QUANTITY, "TIME",
        "keep TIME of per-second history [default: 10m]", FIELD(session.history_seconds),
        .quantity = &quantity_history, .usage = true),
    ROW(LIVE, NULL, "--view", NULL, WORD, "VIEW", "show VIEW first [default: methods]", FIELD(view),
        .words = VIEW_WORDS, .usage = true),
    ROW(LIVE, NULL, "--theme", NULL, TEXT, "NAME",
        "use theme NAME, or a theme file [default: default]", FIELD(theme), .themes = true,
        .usage = true),
    ROW(LIVE, NULL, "--source-path", NULL, TEXT, "PATHS",
        "lines: find source in PATHS (dirs, -sources.jar)", FIELD(source_path), .usage = true),
    ROW(LIVE, NULL, "--ascii", NULL, FLAG, NULL, "draw with ASCII characters only", FIELD(ascii)),
    ROW(LIVE, "--mono", "--no-color", NULL, FLAG, NULL, "use no colour", FIELD(mono)),
    ROW(LIVE, NULL, "--no-mouse", NULL, FLAG, NULL, "do not use the mouse: the terminal handles it",
        FIELD(no_mouse)),
    ROW(LIVE, NULL, "--plain", NULL, FLAG, NULL,
        "print lines instead of a screen, for screen readers", FIELD(plain)),
    ROW(LIVE, NULL, "--batch", NULL, FLAG, NULL, "print the screen as text, as top -b does",
        FIELD(batch)),
    ROW(LIVE, "-n", NULL, NULL, QUANTITY, "N", "with --batch: print N screens [default: no limit]",
        FIELD(frames), .quantity = &quantity_count, .when = WHEN_BATCH, .usage = true),

    ROW(HTTP, NULL, "--listen", NULL, TEXT, "ADDR:PORT",
        "serve: listen on ADDR:PORT [default: 127.0.0.1:8071]", FIELD(listen), .usage = true),
    ROW(HTTP, NULL, "--to", NULL, TEXT, "URL", "push: send to the receiver at URL", FIELD(to),
        .usage = true, .when = WHEN_PUSH),
    ROW(HTTP, NULL, "--protocol", NULL, WORD, "NAME",
        "push: use protocol NAME [default: by URL, else otlp]", FIELD(protocol),
        .words = "otlp pyroscope parca", .usage = true),
    ROW(HTTP, NULL, "--every", NULL, QUANTITY, "TIME",
        "push: send a profile every TIME [default: 15s]", FIELD(every_ms),
        .quantity = &quantity_duration, .usage = true),
    ROW(HTTP, NULL, "--all-jvms", NULL, FLAG, NULL,
        "profile every JVM of this machine, all the time", FIELD(all_jvms)),
    ROW(HTTP, NULL, "--label", NULL, LABEL, "NAME=VALUE", "push: add a label (repeatable)",
        NO_FIELD, .usage = true),
    ROW(HTTP, NULL, "--spool", NULL, PATH, "DIR",
        "push: keep unsent data in DIR [default: in memory]", FIELD(spool), .usage = true),
    ROW(HTTP, NULL, "--spool-size", NULL, QUANTITY, "SIZE",
        "push: keep at most SIZE unsent [default: 64m]", FIELD(spool_bytes),
        .quantity = &quantity_memory, .usage = true),
    ROW(HTTP, NULL, "--token-file", NULL, PATH, "FILE",
        "bearer token in FILE: serve requires, push sends it", FIELD(token_file), .usage = true),
    ROW(HTTP, NULL, "--tls-cert", NULL, PATH, "FILE", "use the certificate in FILE (PEM)",
        FIELD(tls_cert), .usage = true),
    ROW(HTTP, NULL, "--tls-key", NULL, PATH, "FILE", "use the certificate's key in FILE",
        FIELD(tls_key), .usage = true),
    ROW(HTTP, NULL, "--tls-ca", NULL, PATH, "FILE",
        "peer certificates must be signed by a CA in FILE", FIELD(tls_ca), .usage = true),

    ROW(OTHER, NULL, "--list", NULL, ACTION, NULL, "list the JVMs on this machine",
        .value = ACTION_LIST),
    ROW(OTHER, NULL, "--json", NULL, FLAG, NULL, "with --list, doctor: print JSON", FIELD(json)),
    ROW(OTHER, NULL, "--print-config", NULL, ACTION, NULL,
        "print a settings file with all default values", .value = ACTION_CONFIG),
    ROW(OTHER, NULL, "--check-theme", NULL, ACTION, "NAME",
        "check theme NAME and report what is wrong with it", .value = ACTION_CHECK_THEME,
        .themes = true, .usage = true),
    ROW(OTHER, NULL, "--completion", NULL, ACTION, "SHELL",
        "print completion for SHELL: bash, zsh or fish", .words = "bash zsh fish",
        .value = ACTION_COMPLETION, .usage = true),
    ROW(OTHER, "-q", "--quiet", "quiet", FLAG, NULL, "print errors only: no progress, no remarks",
        FIELD(quiet)),
    ROW(OTHER, "-L", "--log", "loglevel", WORD, "LEVEL",
        "none, error: the same as -q; others: no effect", FIELD(log_level),
        .words = "trace debug info warn error none"),
    ROW(OTHER, "-h", "--help", NULL, ACTION, NULL,
        "print help; -h: the short form; ACTION -h: its own", .value = ACTION_HELP),
    ROW(OTHER, "-v", "--version", NULL, ACTION, NULL, "print the version", .value = ACTION_VERSION),

    ROW(READER, NULL, "--reader", NULL, NUMBER, "FD", "the stream's memfd, from the agent",
        FIELD(reader_fd), .usage = true),
    ROW(READER, NULL, "--reader-pid", NULL, NUMBER, "PID", "the agent's JVM", FIELD(reader_pid),
        .usage = true),
    ROW(READER, NULL, "--reader-options", NULL, TEXT, "LIST", "settings in agent form",
        FIELD(reader_options), .usage = true),
    ROW(READER, NULL, "--names", NULL, ACTION, NULL, "PID and name of each JVM",
        .value = ACTION_NAMES),
    ROW(READER, NULL, "--manual", NULL, ACTION, "PAGE", "the tables' part of a manual page",
        .words = "1 5 7", .value = ACTION_MANUAL, .usage = true),
    ROW(READER, NULL, "--loglevel", NULL, WORD, "LEVEL", "the same as --log", FIELD(log_level),
        .words = "trace debug info warn error none"),
    ROW(READER, NULL, "--call-graph", NULL, CSTACK, "HOW",
        "async-profiler 2.x: the same as --cstack", FIELD(session.walk)),
    ROW(READER, NULL, "--no-cstack", NULL, CSTACK, NULL,
        "async-profiler 1.x: the same as --cstack no", FIELD(session.walk)),
    ROW(READER, NULL, "--sync-walk", NULL, IGNORED, NULL,
        "async-profiler 1.x: another way to walk stacks", NO_FIELD),
    ROW(READER, NULL, "--safe-mode", "safemode", IGNORED, "N",
        "async-profiler 1.x: what its stack walker avoids", NO_FIELD),
    ROW(READER, NULL, NULL, "log", IGNORED, "FILE",
        "async-profiler: its log file; here stderr is the log", NO_FIELD),
    ROW(READER, NULL, NULL, "mcache", IGNORED, "N",
        "async-profiler: how long it keeps method names", NO_FIELD, .bare = "0"),
    ROW(READER, NULL, "--nobatch", "nobatch", IGNORED, NULL,
        "async-profiler: how its wall clock counts samples", NO_FIELD),
    ROW(READER, NULL, "--jfropts", "jfropts", IGNORED, "LIST",
        "async-profiler: where it buffers JFR events", NO_FIELD, .bare = "0"),
    ROW(READER, NULL, NULL, "frontend", IGNORED, "PATH",
        "the program the agent starts as its reader", NO_FIELD),
};

const int option_row_count = (int)(sizeof option_rows / sizeof option_rows[0]);

/* What may be typed after an option, if it can be listed. */

static void add(struct text *out, const char *word) {
    text_addf(out, "%s ", word);
}

void option_words(const struct option_row *row, struct text *out) {
    switch (row->kind) {
    case OPTION_EVENT:
        for (const char *const *name = event_names; *name; name++)
            add(out, *name);
        break;
    case OPTION_FORMAT:
        for (const struct exporter *x = exporters; x->name; x++)
            add(out, x->name);
        text_add(out, "summary traces flat ");
        break;
    case OPTION_CSTACK:
        for (int i = 0; i < WIRE_WALKS; i++)
            add(out, wire_walk_name[i]);
        break;
    case OPTION_CLOCK:
        text_add(out, "tsc monotonic ");
        break;
    case OPTION_TEXT:
    case OPTION_ACTION:
        if (row->themes)
            for (const char *const *name = theme_names; *name; name++)
                add(out, *name);
        else if (row->words)
            add(out, row->words);
        break;
    default:
        if (row->words)
            add(out, row->words);
        break;
    }
}
