/* The texts of -h, --help, and ACTION --help. */
#include "tui/cli/option/options.h"

#include <stdio.h>
#include <string.h>

const char *const option_group_title[OPTION_GROUPS] = {
    [GROUP_PROFILE] = "Profiling", [GROUP_OUTPUT] = "Files and reports",
    [GROUP_LIVE] = "Live screen",  [GROUP_HTTP] = "serve, push",
    [GROUP_OTHER] = "Other",
};

static const char usage[] = "Usage: jtop-prof [options] [JVM]\n"
                            "       jtop-prof ACTION [options] [JVM]\n"
                            "\n";

static const char jvm[] =
    "JVM is a process ID, a main class or jar, or the word jps (if only one runs).\n";

static const char uses[] =
    "  jtop-prof                              choose a JVM, then watch it live\n"
    "  jtop-prof [options] JVM                watch this JVM live\n"
    "  jtop-prof [collect] -d TIME [options] JVM\n"
    "                                         profile for TIME, then write a report\n"
    "  jtop-prof start|resume [options] JVM   profile in the background\n"
    "  jtop-prof dump|stop [-o FMT] [-f FILE] JVM\n"
    "                                         write the profile so far; stop ends it\n"
    "  jtop-prof status|metrics JVM           print its state, or Prometheus metrics\n"
    "  jtop-prof --batch [-n N] JVM           print the screen as text, N times\n"
    "  jtop-prof [-o FMT] [-f FILE] RECORDING view a recording, or convert it\n"
    "  jtop-prof convert [options] IN [OUT]   convert recordings, JFR, stacks, pprof\n"
    "  jtop-prof diff [-o FMT] [-f FILE] A B  compare two profiles\n"
    "  jtop-prof list JVM                     list the events that work in this JVM\n"
    "  jtop-prof check [-e EVENT] JVM         check whether EVENT works in this JVM\n"
    "  jtop-prof serve [--listen ADDR:PORT]   serve profiles, live pages and /metrics\n"
    "  jtop-prof push --to URL JVM|--all-jvms\n"
    "                                         profile continuously, send to receiver\n"
    "  jtop-prof doctor [--json] [JVM]        report what prevents profiling\n"
    "  jtop-prof --list [--json]              list the JVMs on this machine\n"
    "  jtop-prof jcmd JVM COMMAND...          run a JVM command; there are also\n"
    "                                         threaddump JVM, inspectheap JVM,\n"
    "                                         dumpheap JVM FILE, load JVM LIB [OPTS]\n"
    "\n";

static const char brief[] =
    "Examples:\n"
    "  jtop-prof                          choose a JVM, then watch it live\n"
    "  jtop-prof 4711                     watch JVM 4711 live (? shows the keys)\n"
    "  jtop-prof -d 30 -f cpu.svg 4711    profile for 30 s, write a flame graph\n"
    "  jtop-prof -d 30 -e alloc Shop      report which code of Shop allocates what\n"
    "  jtop-prof -d 60 -e cpu,wall,lock -f shop.jfr Shop\n"
    "                                     several events, for Mission Control\n"
    "  jtop-prof start Shop               profile in the background; later:\n"
    "  jtop-prof stop -f cpu.html Shop    end that, write the profile\n"
    "  jtop-prof doctor 4711              report what prevents profiling\n"
    "\n"
    "Most used options: -d TIME, -e EVENT (cpu, wall, alloc, lock, ...), -i INTERVAL,\n"
    "-f FILE, -o FORMAT, -t (by thread), -q (quiet)\n";

static const char events[] =
    "\nEvents (-e):\n"
    "  cpu                       CPU time: perf_events, else ctimer, else itimer\n"
    "  ctimer, itimer            CPU time: by a timer per thread, or one per process\n"
    "  wall                      elapsed time of all threads, running or not\n"
    "  alloc                     allocated Java objects: bytes by class and call path\n"
    "  lock                      waits for monitors and java.util.concurrent locks\n"
    "  nativemem, nativelock     malloc, mmap and leaks; waits for pthread locks\n"
    "  pkg.Class.method[:TIME]   calls of Java methods that take TIME or more\n"
    "  page-faults, cycles, cache-misses, rNNN, cpu/event=0x3c/ ...\n"
    "                            any perf event of the kernel or the processor\n"
    "  sched:sched_switch, trace:ID, kprobe:FUNC, uprobe:LIB:FUNC, k/uretprobe:\n"
    "                            tracepoints and probes\n"
    "  mem:ADDR|SYMBOL[+OFF][/LEN][:rwx], FUNC\n"
    "                            reads, writes, execution of memory; calls of FUNC\n";

/* What an action's help has: options by name, groups of options, and the lists of events and
 * formats. */
enum { WITH_PROFILE = 1, WITH_OUTPUT = 2, WITH_EVENTS = 4, WITH_FORMATS = 8, WITH_JVM = 16 };

#define TLS "--token-file --tls-cert --tls-key --tls-ca "

static const struct action_help {
    const char *word, *usage, *text;
    unsigned with;
    const char *options; /* names, each followed by a space */
} actions[] = {
    {"collect", "[collect] -d TIME [options] JVM",
     "Profiles for TIME, then writes reports. With -d, -f or -o, \"collect\" can be\n"
     "omitted.\n",
     WITH_JVM | WITH_PROFILE | WITH_OUTPUT | WITH_EVENTS | WITH_FORMATS, ""},
    {"start", "start [options] JVM",
     "Profiles in the background, until \"stop\", the end of the JVM, or --timeout.\n",
     WITH_JVM | WITH_PROFILE | WITH_OUTPUT | WITH_EVENTS | WITH_FORMATS, ""},
    {"resume", "resume [options] JVM",
     "Continues the last profile in the background, with what it has collected.\n",
     WITH_JVM | WITH_PROFILE | WITH_OUTPUT | WITH_EVENTS | WITH_FORMATS, ""},
    {"dump", "dump [-o FMT] [-f FILE] [options] JVM",
     "Writes what the profile in the background has collected so far. It goes on.\n",
     WITH_JVM | WITH_OUTPUT | WITH_FORMATS, ""},
    {"stop", "stop [-o FMT] [-f FILE] [options] JVM",
     "Ends the profile in the background and writes what it has collected.\n",
     WITH_JVM | WITH_OUTPUT | WITH_FORMATS, ""},
    {"status", "status JVM", "Prints whether and how the JVM is profiled.\n", WITH_JVM, ""},
    {"metrics", "metrics JVM", "Prints the state of the JVM's profile as Prometheus metrics.\n",
     WITH_JVM, ""},
    {"list", "list JVM",
     "Lists the events that work in this JVM, and why others do not. For this it\n"
     "starts every event for a moment.\n",
     WITH_JVM, ""},
    {"check", "check [-e EVENT] JVM",
     "Prints OK if the JVM can be sampled for the events. Otherwise prints the\n"
     "reason and exits with 100 or 200.\n",
     WITH_JVM | WITH_EVENTS, "-e "},
    {"load", "load JVM LIBRARY [OPTIONS]", "Loads a JVMTI agent library into the JVM.\n", WITH_JVM,
     ""},
    {"jcmd", "jcmd JVM COMMAND...",
     "Runs a diagnostic command of the JVM, as the JDK's jcmd does.\n"
     "\"jcmd JVM help\" lists them.\n",
     WITH_JVM, ""},
    {"threaddump", "threaddump JVM", "Prints the stacks of all threads, as the JDK's jstack.\n",
     WITH_JVM, ""},
    {"dumpheap", "dumpheap JVM FILE", "Writes a heap dump of the JVM to FILE.\n", WITH_JVM, ""},
    {"inspectheap", "inspectheap JVM", "Prints the number and size of the objects by class.\n",
     WITH_JVM, ""},
    {"convert", "convert [options] IN [OUT]",
     "Converts a recording, a JFR file, collapsed stacks or pprof. OUT's ending, -f\n"
     "or -o choose the format.\n",
     WITH_OUTPUT | WITH_FORMATS, "-e "},
    {"diff", "diff [-o FMT] [-f FILE] [options] A B",
     "Compares two profile files: what takes more or less of the whole in B than in A.\n",
     WITH_OUTPUT, "-e "},
    {"serve", "serve [--listen ADDR:PORT] [--all-jvms [options]]",
     "Serves profiles on request, live pages and /metrics of every JVM of this\n"
     "machine. With --all-jvms it profiles all of them all the time, with the same\n"
     "options as collect.\n",
     0, "--listen --all-jvms --source-path " TLS},
    {"push", "push --to URL [options] JVM|--all-jvms",
     "Profiles all the time, and sends a profile to a receiver every 15 seconds.\n",
     WITH_JVM | WITH_PROFILE | WITH_EVENTS,
     "--to --protocol --every --all-jvms --label --spool --spool-size " TLS},
    {"doctor", "doctor [--json] [JVM]",
     "Reports what prevents or limits profiling, on this machine or of this JVM, and\n"
     "how to change it.\n",
     WITH_JVM, "--json "},
};

/* Options that mean something else in some actions, or have fewer values there. */
static const struct own_text {
    const char *word, *option, *text;
} own_texts[] = {
    {"check", "-e", "check EVENT[,EVENT...] (see below) [default: cpu]"},
    {"convert", "-e", "convert only EVENT[,EVENT...] [default: all]"},
    {"diff", "-e", "compare EVENT [default: the first in both files]"},
    {"diff", "-o", "write text, collapsed, svg, html or markdown"},
};

/* Options of an action's groups that it refuses, or that mean nothing to it. */
#define WHILE_SAMPLING "--chunksize --chunktime --proc --jfrsync "
static const struct left_out {
    const char *word, *options; /* names, each followed by a space */
} left_out[] = {
    {"dump", WHILE_SAMPLING},
    {"stop", WHILE_SAMPLING},
    {"convert", "--proc --jfrsync "},
    {"diff", WHILE_SAMPLING "--ratelimit "},
    {"push", "-d --timeout --loop --record "},
};

static const char *text_of(const char *word, const struct option_row *row) {
    for (size_t i = 0; word && row->name[0] && i < sizeof own_texts / sizeof own_texts[0]; i++)
        if (!strcmp(word, own_texts[i].word) && !strcmp(row->name[0], own_texts[i].option))
            return own_texts[i].text;
    return row->help;
}

/* `word`: the action whose help it is; NULL: none. */
static void add_row(struct text *out, const char *word, const struct option_row *row) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s%s", row->name[0] ? row->name[0] : "",
             row->name[0] && row->name[1] ? ", "
             : row->name[1]               ? "    "
                                          : "",
             row->name[1] ? row->name[1] : "", row->argument ? " " : "",
             row->argument ? row->argument : "");
    text_addf(out, "  %-25s %s\n", left, text_of(word, row));
}

static bool is_listed(const struct option_row *row, const char *names) {
    char name[40];
    if (row->when == WHEN_NOT_PUSH) /* --to of time */
        return false;
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s ", row->name[i] ? row->name[i] : "");
        const char *at = row->name[i] ? strstr(names, name) : NULL;
        if (at && (at == names || at[-1] == ' '))
            return true;
    }
    return false;
}

static bool is_left_out(const struct option_row *row, const char *word) {
    for (size_t i = 0; word && i < sizeof left_out / sizeof left_out[0]; i++)
        if (!strcmp(word, left_out[i].word))
            return is_listed(row, left_out[i].options);
    return false;
}

static void add_group(struct text *out, const char *word, enum option_group group) {
    text_addf(out, "\n%s:\n", option_group_title[group]);
    for (int i = 0; i < option_row_count; i++)
        if (option_rows[i].group == group && !is_left_out(&option_rows[i], word))
            add_row(out, word, &option_rows[i]);
}

static void add_formats(struct text *out) {
    text_add(out, "\nFormats (-o):\n");
    for (const struct exporter *x = exporters; x->name; x++)
        text_addf(out, "  %-25s %s\n", x->name, x->help);
}

static void add_action(struct text *out, const struct action_help *a) {
    text_addf(out, "Usage: jtop-prof %s\n\n%s", a->usage, a->text);
    if (a->with & WITH_JVM)
        text_addf(out, "\n%s", jvm);
    if (a->options[0])
        text_add(out, "\nOptions:\n");
    for (int i = 0; i < option_row_count; i++)
        if (is_listed(&option_rows[i], a->options))
            add_row(out, a->word, &option_rows[i]);
    if (a->with & WITH_PROFILE)
        add_group(out, a->word, GROUP_PROFILE);
    if (a->with & WITH_OUTPUT)
        add_group(out, a->word, GROUP_OUTPUT);
    if (a->with & WITH_EVENTS)
        text_add(out, events);
    if (a->with & WITH_FORMATS)
        add_formats(out);
    text_add(out, "\nFor more, see man jtop-prof.\n");
}

static void add_all(struct text *out) {
    text_addf(out, "%s%s%s", usage, uses, jvm);
    for (int g = 0; g < GROUP_READER; g++)
        add_group(out, NULL, (enum option_group)g);
    text_add(out, events);
    add_formats(out);
    text_add(out, "\nExit status: 0 success, 1 wrong usage or no such JVM, 100 wrong profiling\n"
                  "argument, 200 the profiler failed. For more, see man jtop-prof.\n");
}

void options_help(struct text *out, const char *word, bool in_brief) {
    for (size_t i = 0; word && i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(word, actions[i].word) == 0) {
            add_action(out, &actions[i]);
            return;
        }
    }
    if (!in_brief) {
        add_all(out);
        return;
    }
    text_addf(out,
              "%sWatches a Java process live, or profiles it into files.\n%s\n%sActions:", usage,
              jvm, brief);
    size_t column = strlen("Actions:");
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        size_t n = strlen(actions[i].word) + 2;
        text_addf(out, "%s%s%s", i ? "," : "", column + n > 78 ? "\n" : " ", actions[i].word);
        column = column + n > 78 ? n : column + n;
    }
    text_add(out,
             "\nAll options: jtop-prof --help. Those of an action: jtop-prof ACTION --help.\n");
}
