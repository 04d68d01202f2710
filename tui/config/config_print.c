/* The settings as shipped, as a file to begin with. */
#include "tui/config/config_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where a command has several rows, that which is heard in most places speaks for them. */
static bool speaks_for_all(const struct key_binding *row) {
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (strcmp(b->name, row->name) != 0 || b == row)
            continue;
        int mine = __builtin_popcount(row->scope), others = __builtin_popcount(b->scope);
        if (others > mine || (others == mine && b < row))
            return false;
    }
    return true;
}

/* Those of the row's keys that may stand behind NAME = for all rows of the name: Space, which opens
 * and closes in a tree, pauses elsewhere. */
static void add_keys(struct text *out, const struct key_binding *row) {
    char keys[KEY_TEXT], *rest = keys;
    snprintf(keys, sizeof keys, "%s", row->keys);
    for (const char *key; (key = strsep(&rest, " "));) {
        struct keymap k = {.bound = {false}};
        const struct key_binding *a, *b;
        int32_t press;
        if (keymap_bind(&k, row->name, key, NULL) == 0 && !keymap_clash(&k, &a, &b, &press))
            text_addf(out, " %s", key);
    }
}

/* All there are, as one may take from them. */
static void add_columns(struct text *out, const struct config_setting *s) {
    text_addf(out, "# %s\n# there are:", s->help);
    for (const struct table_column *c = s->table->column; c->name; c++)
        text_addf(out, " %s", c->name);
    text_addf(out, "\n#%s =\n", s->name);
}

static const char *state_of(const char *path) {
    if (!path[0])
        return "";
    if (access(path, R_OK) == 0)
        return "  (which there is)";
    return errno == EACCES ? "  (which may not be read: all is as shipped)" : "";
}

void config_print(struct text *out) {
    char path[PATH_MAX];
    const char *section = "";
    config_path(path, sizeof path);
    text_addf(out,
              "# jtop-prof: settings, see jtop-prof(5). They are read from\n"
              "#   %s%s\n"
              "# Options of the command line come after them. All is here as shipped: a line\n"
              "# without the '#' in front of its name changes it.\n",
              path[0] ? path : "$XDG_CONFIG_HOME/jtop-prof/config", state_of(path));
    for (const struct config_setting *s = config_settings; s->name; s++) {
        if (strcmp(section, s->section) != 0)
            text_addf(out, "\n[%s]\n", s->section);
        section = s->section;
        if (s->table) {
            add_columns(out, s);
            continue;
        }
        text_addf(out, "# %s\n#%s =%s%s\n", s->help, s->name, s->shipped[0] ? " " : "", s->shipped);
    }
    text_add(out, "\n[keys]\n"
                  "# NAME = KEY KEY ... replaces all keys of a command; none is fine. A key is a\n"
                  "# character, ^A to ^Z, F1 to F12, Up, PgDn, Enter, Space, Esc and the like.\n");
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (!speaks_for_all(b))
            continue;
        text_addf(out, "# %s\n#%s =", b->help, b->name);
        add_keys(out, b);
        text_add(out, "\n");
    }
}
