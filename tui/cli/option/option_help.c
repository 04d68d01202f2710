#include "tui/cli/option/options.h"

#include <stdio.h>

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
