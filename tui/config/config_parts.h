/*
 * What the config's files share: the table of settings.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_CONFIG_CONFIG_PARTS_H
#define JTOP_TUI_CONFIG_CONFIG_PARTS_H

#include "core/base/quantity.h"
#include "tui/config/config.h"
#include "tui/view/table.h"

enum config_kind {
    CONFIG_WORDS,    /* text as it is */
    CONFIG_COLUMNS,  /* names of columns of `table`, blanks or commas between them */
    CONFIG_PATHS,    /* paths between colons; given again: behind what is there */
    CONFIG_VIEW,     /* the name of a view */
    CONFIG_QUANTITY, /* uint32_t, as `quantity` says */
    CONFIG_YES,      /* bool: yes or no */
    CONFIG_NO,       /* bool: the other way round */
};

struct config_setting {
    const char *section, *name;
    const char *shipped; /* as --print-config shows it */
    const char *help;
    enum config_kind kind;
    size_t offset, size; /* in struct config */
    const struct quantity *quantity;
    const struct table_type *table;
};

/* In the order of --print-config; ends with name NULL. [keys] has a name for each of
 * key_bindings instead. */
extern const struct config_setting config_settings[];

/* Reads a small text file: regular, no NUL in it, CONFIG_BYTES_MAX at most. malloc'ed; -ENOENT, or
 * -errno with a message. */
#define CONFIG_BYTES_MAX (64u << 10)
int config_read_file(const char *path, char **out, struct err *e);

#endif
