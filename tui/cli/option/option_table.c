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
        "profile for so long (10, 10s, 1m), then write; 60s", FIELD(duration_ms),
        .quantity = &quantity_duration, .usage = true),
    ROW(PROFILE, "-e", "--event", "event", EVENT, "EVENT",
        "what to sample (below), several with commas; cpu", NO_FIELD),
    ROW(PROFILE, "-i", "--interval", "interval", INTERVAL, "N",
        "between samples: ns, us, ms, s, or k, m, g; 10ms", NO_FIELD),
    ROW(PROFILE, NULL, "--wall", "wall", ENGINE, "TIME",
        "sample wall clock time too, so often; 50ms", NO_FIELD, .value = WIRE_EVENT_WALL),
    ROW(PROFILE, NULL, "--alloc", "alloc", ENGINE, "BYTES",
        "sample allocation too, once in so many; 512k", NO_FIELD, .value = WIRE_EVENT_ALLOC),
    ROW(PROFILE, NULL, "--lock", "lock", ENGINE, "TIME",
        "sample waits for locks too, from so long; 10us", NO_FIELD, .value = WIRE_EVENT_LOCK),
    ROW(PROFILE, NULL, "--nativemem", "nativemem", ENGINE, "BYTES",
        "sample malloc and mmap too, once in so many; 0: all", NO_FIELD,
        .value = WIRE_EVENT_NATIVEMEM),
    ROW(PROFILE, NULL, "--nativelock", "nativelock", ENGINE, "TIME",
        "sample waits for pthread locks too; 0: all", NO_FIELD, .value = WIRE_EVENT_NATIVELOCK),
    ROW(PROFILE, NULL, "--trace", "trace", TRACE, "METHOD[:TIME]",
        "calls of Java methods too, that take at least TIME", NO_FIELD),
    ROW(PROFILE, NULL, "--all", "all", FLAG, NULL,
        "cpu, wall, alloc, live, lock, native ones, proc", FIELD(all)),
    ROW(PROFILE, NULL, "--all-user", "alluser", FLAG, NULL, "leave out what the kernel does",
        FIELD(all_user)),
    ROW(PROFILE, NULL, "--all-kernel", "allkernel", FLAG, NULL,
        "leave out what is not the kernel's", FIELD(all_kernel)),
    ROW(PROFILE, NULL, "--live", "live", FLAG, NULL, "alloc: only objects still alive at the end",
        FIELD(live)),
    ROW(PROFILE, NULL, "--tlab", "tlab", FLAG, NULL,
        "alloc: a sample for each new TLAB, and outside", FIELD(tlab)),
    ROW(PROFILE, NULL, "--nofree", "nofree", FLAG, NULL,
        "nativemem: do not follow free(), so no leaks", FIELD(no_free)),
    ROW(PROFILE, NULL, "--target-cpu", "target-cpu", CPU, "N", "only what runs on this processor",
        FIELD(target_cpu)),
    ROW(PROFILE, NULL, "--record-cpu", "record-cpu", FLAG, NULL,
        "stacks begin with the processor, [CPU-3]", FIELD(session.tag_cpu)),
    ROW(PROFILE, NULL, "--sched", "sched", FLAG, NULL,
        "and with the scheduling policy, [SCHED_BATCH]", FIELD(session.tag_sched)),
    ROW(PROFILE, NULL, "--filter", "filter", TIDS, "TIDS", "only these native threads: 120-127,132",
        NO_FIELD),
    ROW(PROFILE, NULL, "--thread", "thread", TEXT, "REGEX", "only threads with that in their names",
        FIELD(session.thread_pattern)),
    ROW(PROFILE, NULL, "--begin", "begin", TEXT, "FUNCTION",
        "only from a call of this native function on", FIELD(session.begin)),
    ROW(PROFILE, NULL, "--end", "end", TEXT, "FUNCTION", "until a call of that, and so on",
        FIELD(session.end)),
    ROW(PROFILE, NULL, "--ttsp", "ttsp", FLAG, NULL,
        "only while threads are being stopped for a safepoint", FIELD(ttsp)),
    ROW(PROFILE, NULL, "--nostop", "nostop", FLAG, NULL,
        "sample outside of those too, and count them", FIELD(session.window_marks)),
    ROW(PROFILE, NULL, "--timeout", "timeout", MOMENT, "TIME", "end after so long, or at hh:mm:ss",
        FIELD(timeout)),
    ROW(PROFILE, NULL, "--loop", "loop", MOMENT, "TIME",
        "write and begin anew, each time; %t, %n in names", FIELD(loop)),
    ROW(PROFILE, NULL, "--memlimit", "memlimit", QUANTITY, "SIZE",
        "keep the profile within so much memory", FIELD(session.memory_limit),
        .quantity = &quantity_memory),
    ROW(PROFILE, NULL, "--signal", "signal", SIGNAL, "N[/M]",
        "signals to use, for cpu and for wall; 27/26", NO_FIELD),
    ROW(PROFILE, NULL, "--clock", "clock", CLOCK, "NAME", "tsc or monotonic: the same here",
        NO_FIELD),
    ROW(PROFILE, "-j", "--jstackdepth", "jstackdepth", DEPTH, "N[/M]",
        "frames kept; of stacks of N or more only M; 2048", NO_FIELD),
    ROW(PROFILE, "-b", "--framebuf", "framebuf", QUANTITY, "SIZE",
        "shared memory for the stream, with k or m; 8m", FIELD(session.ring_bytes),
        .quantity = &quantity_size),
    ROW(PROFILE, NULL, "--cstack", "cstack", CSTACK, "HOW",
        "stack walker: vm, vmx, fp, dwarf, no, asgct; vm", FIELD(session.walk)),
    ROW(PROFILE, "-F", "--features", "features", FEATURES, "LIST",
        "more frames: vtable, comptask, pcaddr", NO_FIELD),
    ROW(PROFILE, NULL, "--precise", "precise", FLAG, NULL,
        "recompile hot code for exact attribution, at a cost", FIELD(session.precise)),
    ROW(PROFILE, NULL, "--max-overhead", "max-overhead", OVERHEAD, "PCT",
        "sample less often where it costs more CPU than that", FIELD(session.max_overhead_ppm)),
    ROW(PROFILE, NULL, "--record", "record", PATH, "FILE",
        "keep the raw stream too; jtop-prof FILE opens it", FIELD(session.record)),
    ROW(PROFILE, NULL, "--fdtransfer", "fdtransfer", FLAG, NULL,
        "open perf_events for the JVM, or say why not", FIELD(session.fd_transfer),
        .any_value = true),
    ROW(PROFILE, NULL, "--libpath", NULL, TEXT, "PATH",
        "the agent, as the JVM sees it; found by itself", FIELD(session.library)),

    ROW(OUTPUT, "-f", "--file", "file", OUTPUT, "FILE",
        "write here, again for more; %p pid, %t time, %{ENV}", NO_FIELD),
    ROW(OUTPUT, "-o", "--output", NULL, FORMAT, "FMT[,FMT]",
        "format (below); by the file's extension, or text", NO_FIELD),
    ROW(OUTPUT, "-t", "--threads", "threads", FLAG, NULL,
        "each thread by itself; live: the threads view first", FIELD(export.threads)),
    ROW(OUTPUT, NULL, "--carriers", "carriers", FLAG, NULL,
        "virtual threads' samples go to their carriers", FIELD(export.carriers)),
    ROW(OUTPUT, "-I", "--include", "include", PATTERN, "PATTERN",
        "only stacks with such a frame; * at either end", NO_FIELD, .value = 0),
    ROW(OUTPUT, "-X", "--exclude", "exclude", PATTERN, "PATTERN",
        "only stacks without such a frame", NO_FIELD, .value = 1),
    ROW(OUTPUT, NULL, "--from", NULL, QUANTITY, "TIME",
        "only samples from so long after the first one on", FIELD(from_ms),
        .quantity = &quantity_since),
    ROW(OUTPUT, NULL, "--to", NULL, QUANTITY, "TIME", "only samples up to then", FIELD(to_ms),
        .quantity = &quantity_duration, .when = WHEN_NOT_PUSH),
    ROW(OUTPUT, "-s", "--simple", "simple", FLAG, NULL, "class names without package",
        FIELD(export.simple)),
    ROW(OUTPUT, "-n", "--norm", "norm", FLAG, NULL,
        "no counters in names of lambdas and hidden classes", FIELD(export.normalize),
        .when = WHEN_NOT_BATCH),
    ROW(OUTPUT, "-g", "--sig", "sig", FLAG, NULL, "method signatures", FIELD(export.signatures)),
    ROW(OUTPUT, "-a", "--ann", "ann", FLAG, NULL,
        "mark how a frame ran: _[0] interpreted, _[j] JIT", FIELD(export.annotate)),
    ROW(OUTPUT, "-l", "--lib", "lib", FLAG, NULL, "native frames with their library",
        FIELD(export.library)),
    ROW(OUTPUT, NULL, "--dot", "dot", FLAG, NULL, "classes with dots in every format",
        FIELD(export.dotted)),
    ROW(OUTPUT, NULL, "--samples", "samples", UNFLAG, NULL, "count samples (as it does anyway)",
        FIELD(export.total)),
    ROW(OUTPUT, NULL, "--total", "total", FLAG, NULL, "add up ns, bytes, counts instead of samples",
        FIELD(export.total)),
    ROW(OUTPUT, NULL, "--title", "title", TEXT, "TEXT", "title of the flame graph",
        FIELD(export.title)),
    ROW(OUTPUT, NULL, "--width", "width", QUANTITY, "PX", "width of the flame graph; the window's",
        FIELD(export.width), .quantity = &quantity_count),
    ROW(OUTPUT, NULL, "--height", "height", QUANTITY, "PX", "height of a frame in it; 16",
        FIELD(export.height), .quantity = &quantity_count),
    ROW(OUTPUT, NULL, "--minwidth", "minwidth", PERCENT, "PCT",
        "leave out frames narrower than so many percent", FIELD(export.minwidth)),
    ROW(OUTPUT, NULL, "--reverse", "reverse", FLAG, NULL,
        "stacks from the leaf: who calls the hot methods", FIELD(export.reverse)),
    ROW(OUTPUT, NULL, "--inverted", "inverted", FLAG, NULL, "draw icicles, growing down",
        FIELD(export.inverted)),

    ROW(OUTPUT, NULL, "--chunksize", "chunksize", QUANTITY, "SIZE",
        "JFR: begin a new chunk after so much; 100m", FIELD(chunk_bytes),
        .quantity = &quantity_chunk),
    ROW(OUTPUT, NULL, "--chunktime", "chunktime", QUANTITY, "TIME",
        "JFR: begin a new chunk after so long; 1h", FIELD(chunk_ms),
        .quantity = &quantity_duration),
    ROW(OUTPUT, NULL, "--proc", "proc", QUANTITY, "TIME",
        "JFR: the machine's large processes too; 30s", FIELD(processes_ms),
        .quantity = &quantity_processes, .bare = "30"),
    ROW(OUTPUT, NULL, "--ratelimit", "ratelimit", LIMITS, "LIMITS",
        "JFR: events a second, as in cpu:1000,alloc:200", NO_FIELD),
    ROW(OUTPUT, NULL, "--jfrsync", "jfrsync", TEXT, "CONFIG",
        "JFR: the JDK's own recorder too, with these settings", FIELD(jfr_sync), .bare = "default"),

    ROW(LIVE, NULL, "--refresh", NULL, QUANTITY, "TIME", "between two frames: ms, or with s; 1s",
        FIELD(refresh_ms), .quantity = &quantity_refresh, .usage = true),
    ROW(LIVE, NULL, "--history", NULL, QUANTITY, "TIME",
        "what is kept per second: seconds, or with m, h; 10m", FIELD(session.history_seconds),
        .quantity = &quantity_history, .usage = true),
    ROW(LIVE, NULL, "--view", NULL, WORD, "VIEW", "the view that comes up first; methods",
        FIELD(view), .words = VIEW_WORDS, .usage = true),
    ROW(LIVE, NULL, "--theme", NULL, TEXT, "NAME", "colours: a theme's name, or a file; default",
        FIELD(theme), .themes = true, .usage = true),
    ROW(LIVE, NULL, "--source-path", NULL, TEXT, "PATHS",
        "where lines finds source: directories, -sources.jar", FIELD(source_path), .usage = true),
    ROW(LIVE, NULL, "--ascii", NULL, FLAG, NULL, "no line drawing beyond ASCII", FIELD(ascii)),
    ROW(LIVE, "--mono", "--no-color", NULL, FLAG, NULL, "no colour", FIELD(mono)),
    ROW(LIVE, NULL, "--no-mouse", NULL, FLAG, NULL, "leave the mouse to the terminal",
        FIELD(no_mouse)),
    ROW(LIVE, NULL, "--plain", NULL, FLAG, NULL, "lines instead of a screen, for screen readers",
        FIELD(plain)),
    ROW(LIVE, NULL, "--batch", NULL, FLAG, NULL, "print frames as text, as top -b does",
        FIELD(batch)),
    ROW(LIVE, "-n", NULL, NULL, QUANTITY, "N", "with --batch: so many frames; until interrupted",
        FIELD(frames), .quantity = &quantity_count, .when = WHEN_BATCH, .usage = true),

    ROW(HTTP, NULL, "--listen", NULL, TEXT, "ADDR:PORT", "serve: where; 127.0.0.1:8071",
        FIELD(listen), .usage = true),
    ROW(HTTP, NULL, "--to", NULL, TEXT, "URL", "push: the receiver", FIELD(to), .usage = true,
        .when = WHEN_PUSH),
    ROW(HTTP, NULL, "--protocol", NULL, WORD, "NAME", "push: what it speaks; by the URL, or otlp",
        FIELD(protocol), .words = "otlp pyroscope parca", .usage = true),
    ROW(HTTP, NULL, "--every", NULL, QUANTITY, "TIME", "push: how much time a profile is of; 15s",
        FIELD(every_ms), .quantity = &quantity_duration, .usage = true),
    ROW(HTTP, NULL, "--all-jvms", NULL, FLAG, NULL, "every JVM of this machine, all the time",
        FIELD(all_jvms)),
    ROW(HTTP, NULL, "--label", NULL, LABEL, "NAME=VALUE", "push: one more label; may be repeated",
        NO_FIELD, .usage = true),
    ROW(HTTP, NULL, "--spool", NULL, PATH, "DIR", "push: what cannot be sent waits here; in memory",
        FIELD(spool), .usage = true),
    ROW(HTTP, NULL, "--spool-size", NULL, QUANTITY, "SIZE", "push: at most so much; 64m",
        FIELD(spool_bytes), .quantity = &quantity_memory, .usage = true),
    ROW(HTTP, NULL, "--token-file", NULL, PATH, "FILE",
        "who asks must show its first line; push shows it", FIELD(token_file), .usage = true),
    ROW(HTTP, NULL, "--tls-cert", NULL, PATH, "FILE", "our certificate, PEM", FIELD(tls_cert),
        .usage = true),
    ROW(HTTP, NULL, "--tls-key", NULL, PATH, "FILE", "and its key", FIELD(tls_key), .usage = true),
    ROW(HTTP, NULL, "--tls-ca", NULL, PATH, "FILE",
        "authorities the other side's certificate must be of", FIELD(tls_ca), .usage = true),

    ROW(OTHER, NULL, "--list", NULL, ACTION, NULL, "the JVMs on this machine",
        .value = ACTION_LIST),
    ROW(OTHER, NULL, "--json", NULL, FLAG, NULL, "with --list, doctor: as JSON", FIELD(json)),
    ROW(OTHER, NULL, "--print-config", NULL, ACTION, NULL,
        "the settings as shipped, as a file to begin with", .value = ACTION_CONFIG),
    ROW(OTHER, NULL, "--check-theme", NULL, ACTION, "NAME", "whether a theme is good, and why not",
        .value = ACTION_CHECK_THEME, .themes = true, .usage = true),
    ROW(OTHER, NULL, "--completion", NULL, ACTION, "SHELL",
        "what completes our command line in bash, zsh or fish", .words = "bash zsh fish",
        .value = ACTION_COMPLETION, .usage = true),
    ROW(OTHER, "-q", "--quiet", "quiet", FLAG, NULL, "no progress, no remarks: only errors",
        FIELD(quiet)),
    ROW(OTHER, "-L", "--log", "loglevel", WORD, "LEVEL",
        "none and error: the same as -q; any other: as usual", FIELD(log_level),
        .words = "trace debug info warn error none"),
    ROW(OTHER, "-h", "--help", NULL, ACTION, NULL, "this page", .value = ACTION_HELP),
    ROW(OTHER, "-v", "--version", NULL, ACTION, NULL, "the version", .value = ACTION_VERSION),

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
    ROW(READER, NULL, "--loglevel", NULL, WORD, "LEVEL", "--log", FIELD(log_level),
        .words = "trace debug info warn error none"),
    ROW(READER, NULL, "--call-graph", NULL, CSTACK, "HOW", "--cstack, in 2.x", FIELD(session.walk)),
    ROW(READER, NULL, "--no-cstack", NULL, CSTACK, NULL, "--cstack no, in 1.x",
        FIELD(session.walk)),
    ROW(READER, NULL, "--sync-walk", NULL, IGNORED, NULL, "of 1.x: another way to walk stacks",
        NO_FIELD),
    ROW(READER, NULL, "--safe-mode", "safemode", IGNORED, "N", "of 1.x: what its walker avoids",
        NO_FIELD),
    ROW(READER, NULL, NULL, "log", IGNORED, "FILE", "where its log goes: ours is on stderr",
        NO_FIELD),
    ROW(READER, NULL, NULL, "mcache", IGNORED, "N", "how long its method names live", NO_FIELD,
        .bare = "0"),
    ROW(READER, NULL, "--nobatch", "nobatch", IGNORED, NULL, "how its wall clock counts", NO_FIELD),
    ROW(READER, NULL, "--jfropts", "jfropts", IGNORED, "LIST", "where its JFR events wait",
        NO_FIELD, .bare = "0"),
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

const char *const option_group_title[OPTION_GROUPS] = {
    [GROUP_PROFILE] = "Profiling", [GROUP_OUTPUT] = "Files and reports",
    [GROUP_LIVE] = "Live screen",  [GROUP_HTTP] = "serve, push",
    [GROUP_OTHER] = "Other",
};

static const char usage[] =
    "jtop-prof " JTOP_VERSION ", a profiler for Java that you watch\n"
    "\n"
    "  jtop-prof                              pick a JVM, then watch it live\n"
    "  jtop-prof [options] JVM                watch this one\n"
    "  jtop-prof [collect] -d TIME [options] JVM\n"
    "                                         profile for a while, write a report\n"
    "  jtop-prof start|resume [options] JVM   profile in the background\n"
    "  jtop-prof dump|stop [-o FMT] [-f FILE] JVM\n"
    "                                         write what there is; stop: and end it\n"
    "  jtop-prof status|metrics JVM           how that goes; for Prometheus\n"
    "  jtop-prof --batch [-n N] JVM           the live screen's frames as text\n"
    "  jtop-prof [-o FMT] [-f FILE] RECORDING look at a recording, or convert it\n"
    "  jtop-prof convert [options] IN [OUT]   recordings, JFR, collapsed, pprof\n"
    "  jtop-prof diff [-o FMT] [-f FILE] A B  what changed between two profiles\n"
    "  jtop-prof list JVM                     the events it can be sampled for\n"
    "  jtop-prof check [-e EVENT] JVM         whether these can be used there\n"
    "  jtop-prof serve [--listen ADDR:PORT]   profiles by URL, live pages, /metrics\n"
    "  jtop-prof push --to URL JVM|--all-jvms profile all day into an engine\n"
    "  jtop-prof doctor [--json] [JVM]        what keeps it from being profiled\n"
    "  jtop-prof --list [--json]              the JVMs on this machine\n"
    "  jtop-prof jcmd JVM COMMAND...          and: threaddump JVM, inspectheap JVM,\n"
    "                                         dumpheap JVM FILE, load JVM LIB [OPTS]\n"
    "\n"
    "JVM is a process ID, a main class or jar, or jps for the only one.\n"
    "Behind a semicolon stands the default.\n";

static void add_row(struct text *out, const struct option_row *row) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s%s", row->name[0] ? row->name[0] : "",
             row->name[0] && row->name[1] ? ", "
             : row->name[1]               ? "    "
                                          : "",
             row->name[1] ? row->name[1] : "", row->argument ? " " : "",
             row->argument ? row->argument : "");
    text_addf(out, "  %-25s %s\n", left, row->help);
}

static const char events[] =
    "\nEvents (-e):\n"
    "  cpu                       CPU time, by whichever of these works: perf_events,\n"
    "  ctimer, itimer            timers on CPU clocks: of each thread, of the process\n"
    "  wall                      time, whether a thread runs, sleeps or waits\n"
    "  alloc                     Java objects: bytes by class and call path\n"
    "  lock                      waits for monitors and java.util.concurrent locks\n"
    "  nativemem, nativelock     malloc and mmap, and leaks; waits for pthread locks\n"
    "  pkg.Class.method[:TIME]   calls of Java methods (* in names) of TIME at least\n"
    "  page-faults, cycles, cache-misses, rNNN, cpu/event=0x3c/ ...\n"
    "                            any perf event of kernel and processor\n"
    "  sched:sched_switch, trace:ID, kprobe:FUNC, uprobe:LIB:FUNC, k/uretprobe:\n"
    "                            tracepoints and probes\n"
    "  mem:ADDR|SYMBOL[+OFF][/LEN][:rwx], FUNC\n"
    "                            reads, writes, calls of a place in memory\n";

void options_help(struct text *out) {
    text_add(out, usage);
    for (int g = 0; g < GROUP_READER; g++) {
        text_addf(out, "\n%s:\n", option_group_title[g]);
        for (int i = 0; i < option_row_count; i++)
            if (option_rows[i].group == (enum option_group)g)
                add_row(out, &option_rows[i]);
    }
    text_add(out, events);
    text_add(out, "\nFormats (-o):\n");
    for (const struct exporter *x = exporters; x->name; x++)
        text_addf(out, "  %-25s %s\n", x->name, x->help);
    text_add(out, "\nExit status: 0, 1 wrong usage or no such JVM, 100 wrong profiling argument,\n"
                  "200 the profiler failed. jtop-prof(1) says more.\n");
}
