/*
 * The two profiles of a comparison, joined in one profile. In it, a name has one entry for both
 * sides.
 *
 *      A ─▶ session ─▶ stacks ─┐   by printed names, without     ┌─▶ event 0 of a profile
 *      B ─▶ session ─▶ stacks ─┴─▶ addresses and counters ───────┴─▶ event 1
 *
 * Files of different formats have different details of names (a method's signature, its library, a
 * thread's number). Details that were not requested are left out on both sides.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_SIDES_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_SIDES_H

#include "tui/cli/option/options.h"

enum compare_side_number { SIDE_A = 0, SIDE_B, SIDES };

struct compare_side {
    const char *path;
    char event[64];      /* event by which it is compared */
    const char *unit;    /* unit of its weight */
    uint64_t elapsed_ns; /* 0: not known */
    uint64_t interval;
    uint64_t weight, samples;
    bool counted; /* false: its file has only weights, and the numbers of samples mean nothing */
};

struct compare_sides {
    struct compare_side side[SIDES];
    struct profile *profile; /* owned; event numbers are enum compare_side_number */
};

/* True if both sides have real counts of samples. */
static inline bool compare_sides_counted(const struct compare_sides *c) {
    return c->side[SIDE_A].counted && c->side[SIDE_B].counted;
}

/* Reads both files of o->operand. Exit code 100 if they have no event in common, or not the
 * requested one. The caller must call compare_sides_free in any case. */
int compare_sides_read(struct compare_sides *c, const struct options *o, struct err *e);
void compare_sides_free(struct compare_sides *c);

/* How names are printed and distinguished: by the options, and always without the addresses and
 * counters of generated classes, which differ between any two JVMs. */
void compare_export_options(struct export_options *out, const struct options *o);

#endif
