/*
 * The two profiles of a comparison, brought into one, so that what has the same name is the same.
 *
 *      A ─▶ session ─▶ stacks ─┐   by printed names, without     ┌─▶ event 0 of a profile
 *      B ─▶ session ─▶ stacks ─┴─▶ addresses and counters ───────┴─▶ event 1
 *
 * Files of different formats know different things of a method (its signature, its library, its
 * thread's number): what was not asked for is left out on both sides.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_SIDES_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_SIDES_H

#include "tui/cli/option/options.h"

enum compare_side_number { SIDE_A = 0, SIDE_B, SIDES };

struct compare_side {
    const char *path;
    char event[64];      /* what it is compared by */
    const char *unit;    /* of its weight */
    uint64_t elapsed_ns; /* 0: not known */
    uint64_t interval;
    uint64_t weight, samples;
    bool counted; /* false: its file has weights only, and samples count nothing */
};

struct compare_sides {
    struct compare_side side[SIDES];
    struct profile *profile; /* owned; event numbers are enum compare_side_number */
};

/* Whether both have samples that count. */
static inline bool compare_sides_counted(const struct compare_sides *c) {
    return c->side[SIDE_A].counted && c->side[SIDE_B].counted;
}

/* Reads both files of o->operand. Exit code 100 where they have no event in common, or not the one
 * asked for. compare_sides_free is due in any case. */
int compare_sides_read(struct compare_sides *c, const struct options *o, struct err *e);
void compare_sides_free(struct compare_sides *c);

/* How names are printed, and told apart: as the options say, and always without the addresses and
 * counters of generated classes, which no two JVMs share. */
void compare_export_options(struct export_options *out, const struct options *o);

#endif
