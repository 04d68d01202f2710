/*
 * The live screen: the picker, then the views, until the user quits. Also --batch, which prints the
 * same frames as text.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_H
#define JTOP_TUI_SCREEN_LIVE_H

#include "core/session/session.h"
#include "tui/config/config.h"
#include "tui/model/model.h"

struct live_options {
    const struct jvm *jvm; /* NULL: start with the picker (unless replay is set) */
    const char *replay;    /* a recording to show instead of a JVM */
    struct session_options session;
    enum live_view view;         /* shown first */
    unsigned refresh_ms;         /* 0: 1000 */
    const struct config *config; /* never NULL */
    bool ascii;                  /* no UTF-8 line drawing */
    bool plain;                  /* print lines to be read aloud, no screen */
    bool no_mouse;
    bool mono;       /* no colour */
    bool simple;     /* -s: class names without package */
    bool carriers;   /* at first, virtual threads' samples count for their carriers */
    unsigned frames; /* --batch: number of frames; 0: no end (live_batch only) */
};

/* Runs until the user quits. Returns 0, or -errno with a message. The terminal is always restored,
 * also after crashes and fatal signals. */
int live_run(const struct live_options *o, struct err *e);

/* Prints o->frames frames to stdout, one per refresh, like top -b. Needs a JVM or a recording. */
int live_batch(const struct live_options *o, struct err *e);

#endif
