/* Command lines as one types them, for tests. */
#ifndef JTOP_TEST_OPTIONS_FIXTURE_H
#define JTOP_TEST_OPTIONS_FIXTURE_H

#include "tui/cli/option/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Splits a line at blanks and parses it; "\1" stands for a blank inside a word. */
static inline int parse_as(const char *program, const char *line, struct options *o,
                           struct err *e) {
    static char text[16384];
    static char *argv[256];
    int argc = 0;
    snprintf(text, sizeof text, "%s %s", program, line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        for (char *p = word; *p; p++)
            if (*p == '\1')
                *p = ' ';
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    *e = (struct err){0};
    return options_parse(o, argc, argv, e);
}

static inline struct options good(const char *line) {
    struct options o;
    struct err e;
    if (parse_as("/usr/bin/jtop-prof", line, &o, &e) != 0)
        fail_msg("jtop-prof %s: %s", line, e.message);
    return o;
}

static inline void bad(const char *line, int exit_code, const char *says) {
    struct options o;
    struct err e;
    if (parse_as("jtop-prof", line, &o, &e) >= 0)
        fail_msg("jtop-prof %s was accepted", line);
    if (e.exit_code != exit_code || !strstr(e.message, says))
        fail_msg("jtop-prof %s: exit %d, wanted %d; \"%s\", wanted \"%s\"", line, e.exit_code,
                 exit_code, e.message, says);
    assert_null(strchr(e.message, '\n'));
}

#endif
