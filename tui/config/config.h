/*
 * Files:
 *   config         user's config file: its settings, reading and printing it
 *   config_parts   table of config settings, and helpers for config files
 *   config_recent  list of recently viewed JVMs, kept in a file
 *
 * The user's settings: $XDG_CONFIG_HOME/jtop-prof/config (~/.config/…), an INI file, see
 * jtop-prof(5). Options of the command line override them.
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
    char theme[CONFIG_TEXT];          /* name or path; "": the default */
    char source_path[1024];           /* directories and jars, separated by ':' */
    char method_columns[CONFIG_TEXT]; /* "self,error,total": names of columns; "": the default */
    char thread_columns[CONFIG_TEXT];
    int view;                 /* enum live_view shown first; -1: not given */
    uint32_t refresh_ms;      /* 0: not given */
    uint32_t history_seconds; /* 0: not given */
    bool no_mouse, no_pane, ascii, mono, simple, idle, fold_natives;
    struct keymap keys;
};

/* Returns the keys in force; `c` may be NULL: no config. */
static inline const struct keymap *config_keys(const struct config *c) {
    return c ? &c->keys : NULL;
}

/* Writes the path of the config file, which may not exist. Returns out; "" if there is no home. */
const char *config_path(char *out, size_t size);

/* Reads the config file. If there is none, or it may not be read: the defaults. -EINVAL with file
 * and line. */
int config_load(struct config *c, struct err *e);

/* The same for a text; `origin` is used in messages. */
int config_parse(struct config *c, const char *origin, const char *text, struct err *e);

/* Prints all default settings, commented out, as a template for a config file. */
void config_print(struct text *out);

/* Recent JVMs, newest first: main classes or jars, kept in $XDG_STATE_HOME/jtop-prof/recent. */
#define CONFIG_RECENT 10
int config_recent(char name[CONFIG_RECENT][CONFIG_TEXT]);
void config_remember(const char *name);

#endif
