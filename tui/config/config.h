/*
 * Files:
 *   config         user's config file: its settings, reading and printing it
 *   config_parts   table of config settings, and helpers for config files
 *   config_recent  list of recently viewed JVMs, kept in a file
 *
 * What a person likes: $XDG_CONFIG_HOME/jtop-prof/config (~/.config/…), an INI file, see
 * jtop-prof(5). Options of the command line come after it.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_CONFIG_CONFIG_H
#define JTOP_TUI_CONFIG_CONFIG_H

#include "core/base/err.h"
#include "core/base/text.h"
#include "tui/key/keymap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_TEXT 256

struct config {
    char theme[CONFIG_TEXT];          /* name or path; "": default */
    char source_path[1024];           /* directories and jars, ':' between them */
    char method_columns[CONFIG_TEXT]; /* "self,error,total": names of columns; "": as shipped */
    char thread_columns[CONFIG_TEXT];
    int view;                 /* enum live_view to begin with; -1: not given */
    uint32_t refresh_ms;      /* 0: not given */
    uint32_t history_seconds; /* 0: not given */
    bool no_mouse, ascii, mono, simple;
    struct keymap keys;
};

/* The keys in force, also where there is no config (NULL). */
static inline const struct keymap *config_keys(const struct config *c) {
    return c ? &c->keys : NULL;
}

/* Where it is, whether it exists or not. Returns out; "" where there is no home. */
const char *config_path(char *out, size_t size);

/* Reads it (no file, or one that may not be read: defaults). -EINVAL with file and line. */
int config_load(struct config *c, struct err *e);

/* The same of a text; `origin` is for messages. */
int config_parse(struct config *c, const char *origin, const char *text, struct err *e);

/* All settings as shipped, commented out, as a file to begin with. */
void config_print(struct text *out);

/* Recent JVMs, newest first: main classes or jars, kept in $XDG_STATE_HOME/jtop-prof/recent. */
#define CONFIG_RECENT 10
int config_recent(char name[CONFIG_RECENT][CONFIG_TEXT]);
void config_remember(const char *name);

#endif
