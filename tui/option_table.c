#include "tui/options.h"

#define FIELD(member)                                                                              \
    .offset = offsetof(struct options, member), .size = sizeof(((struct options *)0)->member)
#define NO_FIELD .offset = 0, .size = 0
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
        "cpu (whichever engine works), ctimer, itimer; cpu", FIELD(session.event)),
    ROW(PROFILE, "-i", "--interval", "interval", QUANTITY, "TIME",
        "CPU time between samples: ns, or us, ms, s; 10ms", FIELD(session.interval),
        .quantity = &quantity_interval),
    ROW(PROFILE, "-j", "--jstackdepth", "jstackdepth", QUANTITY, "N",
        "Java frames kept of a stack; 2048", FIELD(session.depth), .quantity = &quantity_count),
    ROW(PROFILE, "-b", "--framebuf", "framebuf", QUANTITY, "SIZE",
        "shared memory for the stream, with k or m; 8m", FIELD(session.ring_bytes),
        .quantity = &quantity_size),
    ROW(PROFILE, NULL, "--cstack", "cstack", CSTACK, "HOW",
        "stack walker: vm, vmx, fp, dwarf, no, asgct; vm", FIELD(session.walk)),
    ROW(PROFILE, NULL, "--precise", "precise", FLAG, NULL,
        "recompile hot code for exact attribution, at a cost", FIELD(session.precise)),
    ROW(PROFILE, NULL, "--record", "record", PATH, "FILE",
        "keep the raw stream too; jtop-prof FILE opens it", FIELD(session.record)),
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
    ROW(OUTPUT, NULL, "--samples", "samples", UNFLAG, NULL, "count samples (as it does anyway)",
        FIELD(export.total)),
    ROW(OUTPUT, NULL, "--total", "total", FLAG, NULL, "add up ns instead of counting samples",
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

    ROW(LIVE, NULL, "--refresh", NULL, QUANTITY, "TIME", "between two frames: ms, or with s; 1s",
        FIELD(refresh_ms), .quantity = &quantity_refresh, .usage = true),
    ROW(LIVE, NULL, "--history", NULL, QUANTITY, "TIME",
        "what is kept per second: seconds, or with m, h; 10m", FIELD(session.history_seconds),
        .quantity = &quantity_history, .usage = true),
    ROW(LIVE, NULL, "--ascii", NULL, FLAG, NULL, "no line drawing beyond ASCII", FIELD(ascii)),
    ROW(LIVE, "--mono", "--no-color", NULL, FLAG, NULL, "no colour", FIELD(mono)),
    ROW(LIVE, NULL, "--batch", NULL, FLAG, NULL, "print frames as text, as top -b does",
        FIELD(batch)),
    ROW(LIVE, "-n", NULL, NULL, QUANTITY, "N", "with --batch: so many frames; until interrupted",
        FIELD(frames), .quantity = &quantity_count, .when = WHEN_BATCH, .usage = true),

    ROW(OTHER, NULL, "--list", NULL, ACTION, NULL, "the JVMs on this machine",
        .value = ACTION_LIST),
    ROW(OTHER, NULL, "--json", NULL, FLAG, NULL, "with --list: as JSON", FIELD(json)),
    ROW(OTHER, "-h", "--help", NULL, ACTION, NULL, "this page", .value = ACTION_HELP),
    ROW(OTHER, "-v", "--version", NULL, ACTION, NULL, "the version", .value = ACTION_VERSION),

    ROW(READER, NULL, "--reader", NULL, NUMBER, "FD", "the stream's memfd, from the agent",
        FIELD(reader_fd), .usage = true),
    ROW(READER, NULL, "--reader-pid", NULL, NUMBER, "PID", "the agent's JVM", FIELD(reader_pid),
        .usage = true),
    ROW(READER, NULL, "--reader-options", NULL, TEXT, "LIST", "settings in agent form",
        FIELD(reader_options), .usage = true),
    ROW(READER, NULL, NULL, "frontend", IGNORED, "PATH",
        "the program the agent starts as its reader", NO_FIELD),
};

const int option_row_count = (int)(sizeof option_rows / sizeof option_rows[0]);
