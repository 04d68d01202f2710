/*
 * What `jtop-prof doctor` checks: one entry a thing that can keep a profile from working, or make
 * it poorer, on this machine and in one JVM. Nothing of the target is touched: files of /proc and
 * /sys are read, and what is tried is tried in a process of our own.
 *
 * Context: frontend only, any thread; takes some milliseconds.
 */
#ifndef JTOP_ATTACH_EXAMINATION_H
#define JTOP_ATTACH_EXAMINATION_H

#include "attach/jvm.h"

enum finding_level {
    FINDING_OK,
    FINDING_NOTE,    /* good to know */
    FINDING_WARNING, /* it works, but poorer */
    FINDING_FAILURE, /* it does not work */
};

struct finding {
    const char *id;    /* stable, for scripts: "perf-paranoid" */
    const char *title; /* what is checked, for people */
    enum finding_level level;
    char fact[320];   /* what was found: file, value, errno; one printable line */
    char remedy[320]; /* what to change; "" where nothing has to be */
};

/* Fills at most `cap` findings in the order in which things happen; returns their number. `j` NULL:
 * the machine only. `uid`: who would profile. `library`: our agent, as we see it; may be NULL. */
#define FINDINGS_MAX 64
int examine(const struct jvm *j, uid_t uid, const char *library, struct finding *out, int cap);

#endif
