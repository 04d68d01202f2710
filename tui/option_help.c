#include "tui/options.h"

#include <stdio.h>

static const char *const group_titles[OPTION_GROUPS] = {
    [GROUP_PROFILE] = "Profiling",
    [GROUP_OUTPUT] = "Files and reports",
    [GROUP_LIVE] = "Live screen",
    [GROUP_OTHER] = "Other",
};

static const char usage[] =
    "jtop-prof " JTOP_VERSION ", a profiler for Java that you watch\n"
    "\n"
    "  jtop-prof                             pick a JVM, then watch it live\n"
    "  jtop-prof [options] PID|NAME|jps      watch this one (jps: the only one)\n"
    "  jtop-prof [collect] -d TIME [options] PID|NAME|jps\n"
    "                                        profile for a while, write a report\n"
    "  jtop-prof --batch [-n N] PID|NAME|jps the live screen's frames as text\n"
    "  jtop-prof [-o FMT] [-f FILE] FILE     look at a recording, or convert it\n"
    "  jtop-prof --list [--json]             the JVMs on this machine\n"
    "\n"
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

void options_help(struct text *out) {
    text_add(out, usage);
    for (int g = 0; g < GROUP_READER; g++) {
        text_addf(out, "\n%s:\n", group_titles[g]);
        for (int i = 0; i < option_row_count; i++)
            if (option_rows[i].group == (enum option_group)g)
                add_row(out, &option_rows[i]);
    }
    text_add(out, "\nFormats (-o):\n");
    for (const struct exporter *x = exporters; x->name; x++)
        text_addf(out, "  %-25s %s\n", x->name, x->help);
    text_add(out, "\nExit status: 0, 1 wrong usage or no such JVM, 100 wrong profiling argument,\n"
                  "200 the profiler failed. jtop-prof(1) says more.\n");
}
