/*
 * The open JVMs, each with its own session, model and screen. The one on screen is refreshed at the
 * requested rate. The others go on sampling and are refreshed now and then, so that one that has
 * ended is marked.
 *
 * Context: frontend main thread. The caller passes the time.
 */
#ifndef JTOP_TUI_SCREEN_JVM_TABS_H
#define JTOP_TUI_SCREEN_JVM_TABS_H

#include "tui/model/model.h"
#include "tui/screen/live.h"
#include "tui/screen/screen.h"

#include <time.h>

#define JVM_TABS_MAX 16

struct jvm_tab {
    struct session *session; /* owned */
    struct model model;
    struct screen *screen;
    const char *replay;  /* path of a recording; NULL: a JVM */
    uint64_t opened_ns;  /* monotonic time */
    uint64_t refresh_ns; /* when the next refresh is due */
    char record[512];    /* file that also receives the stream; "": none */
};

struct jvm_tabs {
    struct jvm_tab *tab[JVM_TABS_MAX];
    int count, on;
};

/* Adds a tab for this session behind the others, and shows it. The tab owns the session from now
 * on. `replay`: path of a recording. -ENOMEM, or -EMFILE if there are too many tabs; the session is
 * then closed. */
int jvm_tabs_open(struct jvm_tabs *t, struct session *s, const struct live_options *o,
                  const char *replay, uint64_t now_ns, struct err *e);
/* Closes the tab on screen and its session. */
void jvm_tabs_close(struct jvm_tabs *t);
void jvm_tabs_close_all(struct jvm_tabs *t);

/* Returns the tab on screen; NULL: none is open. */
struct jvm_tab *jvm_tabs_on(const struct jvm_tabs *t);
/* Returns the tab of this JVM; -1: none, or the JVM has ended. */
int jvm_tabs_find(const struct jvm_tabs *t, const struct jvm *j);
/* Shows another tab; its refresh is due at once. */
void jvm_tabs_go(struct jvm_tabs *t, int index);

/* Refreshes the hidden tabs that are due (`all`: also the one on screen), and gives the screen the
 * list of open tabs. Returns when the next tab is due, UINT64_MAX: none. */
uint64_t jvm_tabs_look(struct jvm_tabs *t, bool all, uint64_t now_ns);

/* Writes what is on screen in the format that the screen requests, and reports the path there. */
void jvm_tab_save(struct jvm_tab *t, time_t now);
/* Writes the stacks on screen as the JVM's own text, and reports the path there. */
void jvm_tab_save_stacks(struct jvm_tab *t, time_t now);
/* Starts or ends the recording of the stream to a file, and reports the file. */
void jvm_tab_record(struct jvm_tab *t, time_t now);

#endif
