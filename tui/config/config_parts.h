/*
 * The table of settings, and other parts that the config's files share.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_CONFIG_CONFIG_PARTS_H
#define JTOP_TUI_CONFIG_CONFIG_PARTS_H

#include "core/base/quantity.h"
#include "tui/config/config.h"
#include "tui/view/table.h"

enum config_kind {
    CONFIG_WORDS,    /* text, unchanged */
    CONFIG_COLUMNS,  /* names of columns of `table`, separated by blanks or commas */
    CONFIG_PATHS,    /* paths separated by colons; a second setting adds to the first */
    CONFIG_VIEW,     /* the name of a view */
    CONFIG_QUANTITY, /* uint32_t, parsed by `quantity` */
    CONFIG_YES,      /* bool: yes or no */
    CONFIG_NO,       /* bool with the reverse meaning */
};

struct config_setting {
    const char *section, *name;
    const char *shipped; /* the default, as --print-config prints it */
    const char *help;
    enum config_kind kind;
    size_t offset, size; /* in struct config */
    const struct quantity *quantity;
    const struct table_type *table;
};

/* In the order of --print-config; the last entry has name NULL. The section [keys] has the names of
 * key_bindings instead. */
extern const struct config_setting config_settings[];

/* Reads a small text file: a regular file without NUL bytes, at most CONFIG_BYTES_MAX. *out is
 * malloc'ed. -ENOENT, or another -errno; both with a message. */
#define CONFIG_BYTES_MAX (64u << 10)
int config_read_file(const char *path, char **out, struct err *e);

#endif
