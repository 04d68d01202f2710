/*
 * The JVMs that are open, each with its own session, model and screen. The one that is up is
 * refreshed as asked for; the others go on sampling and are looked at now and then, so that one
 * that ended can be marked.
 *
 * Context: frontend main thread. Time comes from the caller.
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
    const char *replay;  /* of a recording: its path */
    uint64_t opened_ns;  /* monotonic */
    uint64_t refresh_ns; /* when it is due */
    char record[512];    /* where the stream is kept too; "": nowhere */
};

struct jvm_tabs {
    struct jvm_tab *tab[JVM_TABS_MAX];
    int count, on;
};

/* Puts this session, which it owns from here on, behind the others and brings it up; `replay`: of
 * a recording, its path. -ENOMEM, or
 * -EMFILE where there are too many: the session is closed. */
int jvm_tabs_open(struct jvm_tabs *t, struct session *s, const struct live_options *o,
                  const char *replay, uint64_t now_ns, struct err *e);
/* Lets the JVM go that is up. */
void jvm_tabs_close(struct jvm_tabs *t);
void jvm_tabs_close_all(struct jvm_tabs *t);

/* NULL: none is open. */
struct jvm_tab *jvm_tabs_on(const struct jvm_tabs *t);
/* Which one is of this JVM; -1: none, or it has ended. */
int jvm_tabs_find(const struct jvm_tabs *t, const struct jvm *j);
/* Brings another one up: it is due at once. */
void jvm_tabs_go(struct jvm_tabs *t, int index);

/* Looks at those that are not up and due (`all`: at the one that is up too), and tells the screen
 * that is up what is open. Returns when the next one is due, UINT64_MAX: none. */
uint64_t jvm_tabs_look(struct jvm_tabs *t, bool all, uint64_t now_ns);

/* Writes what is on screen in the format the screen asks for, and says where. */
void jvm_tab_save(struct jvm_tab *t, time_t now);
/* Begins to keep the stream in a file, or ends that, and says where it is. */
void jvm_tab_record(struct jvm_tab *t, time_t now);

#endif
