/*
 * The live screen: picker, then the views, until the person leaves. Also its paper form,
 * --batch, which prints the same frames as text.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_H
#define JTOP_TUI_SCREEN_LIVE_H

#include "core/session/session.h"
#include "tui/config/config.h"
#include "tui/model/model.h"

struct live_options {
    const struct jvm *jvm; /* NULL: the picker comes first (unless replay is set) */
    const char *replay;    /* a recording to look at instead of a JVM */
    struct session_options session;
    enum live_view view;         /* opened first */
    unsigned refresh_ms;         /* 0: 1000 */
    const struct config *config; /* never NULL */
    bool ascii;                  /* no UTF-8 line drawing */
    bool plain;                  /* lines to be read aloud, no screen */
    bool no_mouse;
    bool mono;       /* no colour */
    bool simple;     /* -s: class names without package */
    bool carriers;   /* virtual threads' samples belong to their carriers, at first */
    unsigned frames; /* --batch: number of frames; 0: for ever (live_batch only) */
};

/* Runs until the person quits. 0, or -errno with a message; the terminal is restored either way,
 * and after crashes and fatal signals too. */
int live_run(const struct live_options *o, struct err *e);

/* Prints o->frames frames to stdout, one a refresh, like top -b. Needs a jvm or a recording. */
int live_batch(const struct live_options *o, struct err *e);

#endif
