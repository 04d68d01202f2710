#include "tui/config/config.h"

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/text.h"
#include "tui/config/config_parts.h"
#include "tui/terminal/press_name.h"
#include "tui/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *config_path(char *out, size_t size) {
    return home_path("XDG_CONFIG_HOME", ".config", "config", out, size);
}

static int unreadable(const char *path, int code, struct err *e) {
    return err_set(e, code, "cannot read %s: %s", path, strerror(code));
}

int config_read_file(const char *path, char **out, struct err *e) {
    struct stat st;
    *out = NULL;
    /* Do not block: the file may be a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return unreadable(path, errno, e);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, EINVAL, "cannot read %s: not a regular file", path);
    }
    char *text;
    size_t n;
    int r = file_read_all(fd, CONFIG_BYTES_MAX + 1, &text, &n);
    close(fd);
    if (r < 0)
        return unreadable(path, -r, e);
    if (n > CONFIG_BYTES_MAX)
        r = err_set(e, EFBIG, "cannot read %s: larger than %u KiB", path, CONFIG_BYTES_MAX >> 10);
    else if (memchr(text, 0, n))
        r = err_set(e, EINVAL, "cannot read %s: not a text file, it has a zero byte", path);
    else
        *out = text;
    if (r < 0)
        free(text);
    return r;
}

#define FIELD(member)                                                                              \
    .offset = offsetof(struct config, member), .size = sizeof(((struct config *)0)->member)

const struct config_setting config_settings[] = {
    {"display", "theme", "default", "colours: a theme's name, or a theme file", CONFIG_WORDS,
     FIELD(theme), NULL, NULL},
    {"display", "refresh", "1s",
     "time between two redraws: 500ms, 2s; a plain number is milliseconds", CONFIG_QUANTITY,
     FIELD(refresh_ms), &quantity_refresh, NULL},
    {"display", "history", "10m",
     "length of the per-second history: 10m, 1h; a plain number is seconds", CONFIG_QUANTITY,
     FIELD(history_seconds), &quantity_history, NULL},
    {"display", "view", "methods", "view that is shown first", CONFIG_VIEW, FIELD(view), NULL,
     NULL},
    {"display", "ascii", "no", "draw with ASCII characters only", CONFIG_YES, FIELD(ascii), NULL,
     NULL},
    {"display", "mono", "no", "use no colour", CONFIG_YES, FIELD(mono), NULL, NULL},
    {"display", "mouse", "yes", "use the mouse; no: leave it to the terminal", CONFIG_NO,
     FIELD(no_mouse), NULL, NULL},
    {"display", "pane", "yes", "open the detail pane on screens of 140 columns or more", CONFIG_NO,
     FIELD(no_pane), NULL, NULL},
    {"display", "simple", "no", "drop the package from class names", CONFIG_YES, FIELD(simple),
     NULL, NULL},
    {"display", "idle", "no", "show idle threads under the wall clock", CONFIG_YES, FIELD(idle),
     NULL, NULL},
    {"display", "fold-native", "no", "count native frames for their Java callers", CONFIG_YES,
     FIELD(fold_natives), NULL, NULL},
    {"columns", "methods", "",
     "columns of the methods view, in this order, separated by blanks or commas, as far as they "
     "fit; empty: the default columns",
     CONFIG_COLUMNS, FIELD(method_columns), NULL, &methods_table},
    {"columns", "threads", "", "columns of the threads view, in the same form", CONFIG_COLUMNS,
     FIELD(thread_columns), NULL, &threads_table},
    {"source", "path", "", "where to find source: directories and -sources.jar files, ':' between",
     CONFIG_PATHS, FIELD(source_path), NULL, NULL},
    {.name = NULL},
};

/* inih does not pass line numbers to its handler (in most systems' builds), so next_line counts
 * them. */
struct parse {
    struct config *config;
    const char *origin, *rest;
    int line;
    int key_line[KEY_ROWS_MAX]; /* line that bound each row of key_bindings; 0: none */
    struct err *e;
    int result, wrong_line;
};

static int wrong(struct parse *p, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports the first mistake in the file. inih reports some only at the end, so lines are compared.
 * Returns 0, which is an error in a handler of inih. */
static int wrong(struct parse *p, int line, const char *fmt, ...) {
    char what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (p->result == 0 || line < p->wrong_line) {
        p->result = err_set(p->e, EINVAL, "%s:%d: %s", p->origin, line, what);
        p->wrong_line = line;
    }
    return 0;
}

/* Values. */

/* Checks that all names of columns exist. */
static int put_columns(struct parse *p, const struct config_setting *s, const char *value) {
    struct text known = {0};
    for (const char *v = value; *v; v += *v == ',') {
        size_t n = strcspn(v, ",");
        if (!n || table_has_column(s->table, v, n)) {
            v += n;
            continue;
        }
        for (const struct table_column *c = s->table->column; c->name; c++)
            text_addf(&known, "%s%s", known.len ? ", " : "", c->name);
        wrong(p, p->line, "unknown column \"%.*s\"; there are: %s", n < 40 ? (int)n : 40, v,
              known.failed ? "" : known.data);
        text_free(&known);
        return 0;
    }
    return 1;
}

static int put_text(struct parse *p, const struct config_setting *s, const char *value) {
    char *field = (char *)p->config + s->offset;
    size_t used = s->kind == CONFIG_PATHS ? strlen(field) : 0;
    if (used && value[0])
        field[used++] = ':';
    for (const char *v = value; *v; v++) {
        if (used + 1 >= s->size)
            return wrong(p, p->line, "%s is longer than %zu bytes", s->name, s->size - 1);
        field[used++] = *v;
    }
    field[used] = '\0';
    return 1;
}

/* Rewrites "self, total name" as "self,total,name". */
static int put_names(struct parse *p, const struct config_setting *s, const char *value) {
    static const char between[] = ", \t";
    struct text names = {0};
    for (const char *v = value + strspn(value, between); *v; v += strspn(v, between)) {
        size_t n = strcspn(v, between);
        text_addf(&names, "%s%.*s", names.len ? "," : "", (int)n, v);
        v += n;
    }
    int good = names.failed ? wrong(p, p->line, "no memory for %s", s->name)
                            : put_text(p, s, names.data ? names.data : "");
    text_free(&names);
    return good ? put_columns(p, s, (char *)p->config + s->offset) : 0;
}

static int put_view(struct parse *p, const struct config_setting *s, const char *value) {
    struct text known = {0};
    for (int i = 0; i < VIEWS; i++) {
        if (strcmp(views[i]->name, value) == 0) {
            *(int *)(void *)((char *)p->config + s->offset) = i;
            text_free(&known);
            return 1;
        }
        text_addf(&known, "%s%s", i ? ", " : "", views[i]->name);
    }
    wrong(p, p->line, "unknown view \"%.40s\"; there are: %s", value,
          known.failed ? "" : known.data);
    text_free(&known);
    return 0;
}

static int put_quantity(struct parse *p, const struct config_setting *s, const char *value) {
    uint64_t n;
    int r = quantity_parse(s->quantity, value, &n);
    if (r == -ERANGE)
        return wrong(p, p->line, "%s = %.40s: %s must be from %s to %s", s->name, value,
                     s->quantity->noun, s->quantity->min_text, s->quantity->max_text);
    if (r < 0)
        return wrong(p, p->line, "%s = %.40s: not %s (%s)", s->name, value, s->quantity->noun,
                     s->quantity->form);
    *(uint32_t *)(void *)((char *)p->config + s->offset) = (uint32_t)n;
    return 1;
}

static int put_yes(struct parse *p, const struct config_setting *s, const char *value) {
    static const char *const words[2][4] = {{"no", "false", "off", "0"},
                                            {"yes", "true", "on", "1"}};
    for (int yes = 0; yes < 2; yes++)
        for (int i = 0; i < 4; i++)
            if (strcmp(words[yes][i], value) == 0) {
                *(bool *)((char *)p->config + s->offset) = (yes == 1) == (s->kind == CONFIG_YES);
                return 1;
            }
    return wrong(p, p->line, "%s = %.40s: must be yes or no", s->name, value);
}

static int put(struct parse *p, const struct config_setting *s, const char *value) {
    switch (s->kind) {
    case CONFIG_COLUMNS:
        return put_names(p, s, value);
    case CONFIG_WORDS:
    case CONFIG_PATHS:
        return put_text(p, s, value);
    case CONFIG_VIEW:
        return put_view(p, s, value);
    case CONFIG_QUANTITY:
        return put_quantity(p, s, value);
    case CONFIG_YES:
    case CONFIG_NO:
        break;
    }
    return put_yes(p, s, value);
}

/* Keys. */

static int put_keys(struct parse *p, const char *name, const char *value) {
    struct err why;
    if (keymap_bind(&p->config->keys, name, value, &why) < 0)
        return wrong(p, p->line, "%s", why.message);
    for (int i = 0; i < KEY_ROWS_MAX && key_bindings[i].help; i++)
        if (strcmp(key_bindings[i].name, name) == 0)
            p->key_line[i] = p->line;
    return 1;
}

/* Checks keys after all lines were read, because two commands may swap their keys. */
static void check_keys(struct parse *p) {
    const struct key_binding *a, *b;
    int32_t press;
    char key[PRESS_NAME_SIZE];
    keymap_yield(&p->config->keys);
    if (!keymap_clash(&p->config->keys, &a, &b, &press))
        return;
    int of_a = p->key_line[a - key_bindings], of_b = p->key_line[b - key_bindings];
    wrong(p, of_a > of_b ? of_a : of_b, "the key %s would mean both %s and %s",
          press_name(press, key), a->name, b->name);
}

/* Sections. */

static int no_such_section(struct parse *p, const char *section) {
    return section[0]
               ? wrong(p, p->line,
                       "there is no section [%s]; there are: display, columns, source, keys",
                       section)
               : wrong(p, p->line,
                       "a section must come first: [display], [columns], [source] or [keys]");
}

static int handle(void *user, const char *section, const char *name, const char *value) {
    struct parse *p = user;
    struct text known = {0};
    if (p->result < 0)
        return 0;
    if (strcmp(section, "keys") == 0)
        return put_keys(p, name, value);
    for (const struct config_setting *s = config_settings; s->name; s++) {
        if (strcmp(s->section, section) != 0)
            continue;
        if (strcmp(s->name, name) == 0) {
            text_free(&known);
            return put(p, s, value);
        }
        text_addf(&known, "%s%s", known.len ? ", " : "", s->name);
    }
    if (known.data)
        wrong(p, p->line, "there is no %.40s in [%s]; there are: %s", name, section, known.data);
    else
        no_such_section(p, section);
    text_free(&known);
    return 0;
}

/* Gives one line to inih. Leading blanks are left out, because inih takes such a line as a
 * continuation of the line before. */
static char *next_line(char *out, int size, void *user) {
    struct parse *p = user;
    if (!p->rest[0] || p->result < 0)
        return NULL;
    size_t n = strcspn(p->rest, "\n");
    const char *line = p->rest;
    p->rest += n + (p->rest[n] != '\0');
    p->line++;
    for (; n > 0 && (*line == ' ' || *line == '\t'); n--)
        line++;
    if (n + 2 > (size_t)size) {
        wrong(p, p->line,
              "a line may have at most %d bytes; [source] path may be given several times",
              size - 2);
        return NULL;
    }
    snprintf(out, (size_t)size, "%.*s\n", (int)n, line);
    return out;
}

int config_parse(struct config *c, const char *origin, const char *text, struct err *e) {
    struct parse p = {.config = c, .origin = origin, .rest = text, .e = e};
    *c = (struct config){.view = -1};
    int line = ini_parse_stream(next_line, &p, handle, &p);
    if (line < 0)
        return err_set(e, ENOMEM, "%s: no memory to read it", origin);
    if (line > 0)
        wrong(&p, line, "neither [section] nor NAME = VALUE");
    if (p.result == 0)
        check_keys(&p);
    return p.result;
}

int config_load(struct config *c, struct err *e) {
    char path[PATH_MAX], *text = NULL;
    *c = (struct config){.view = -1};
    if (!config_path(path, sizeof path)[0])
        return 0;
    int r = config_read_file(path, &text, e);
    /* EACCES: HOME belongs to another user, as after setpriv and sudo -u. */
    if (r == -ENOENT || r == -ENOTDIR || r == -EACCES)
        return 0;
    if (r == 0)
        r = config_parse(c, path, text, e);
    free(text);
    return r;
}

/* Printing of the default settings. */

/* True if this row is printed for its command: of several rows, the one that applies in most
 * places. */
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

/* Adds those keys of the row that can be bound to all rows of the name. Space cannot be
 * given to pause: in tables it tags rows. */
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

/* Adds the names of all columns of a table, from which the user can choose. */
static void add_columns(struct text *out, const struct config_setting *s) {
    text_addf(out, "# %s\n# available:", s->help);
    for (const struct table_column *c = s->table->column; c->name; c++)
        text_addf(out, " %s", c->name);
    text_addf(out, "\n#%s =\n", s->name);
}

static const char *state_of(const char *path) {
    if (!path[0])
        return "";
    if (access(path, R_OK) == 0)
        return "  (this file exists)";
    return errno == EACCES ? "  (not readable: the defaults are used)" : "";
}

void config_print(struct text *out) {
    char path[PATH_MAX];
    const char *section = "";
    config_path(path, sizeof path);
    text_addf(out,
              "# Settings of jtop-prof, see jtop-prof(5). They are read from\n"
              "#   %s%s\n"
              "# Options of the command line override them. This file has the default values. To\n"
              "# change a setting, remove the '#' in front of its name.\n",
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
                  "# NAME = KEY KEY ... replaces all keys of a command. With no KEY, the command\n"
                  "# has no key. A key is a character, ^A to ^Z, F1 to F12, Up, PgDn, Enter,\n"
                  "# Space, Esc and similar.\n");
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (!speaks_for_all(b))
            continue;
        text_addf(out, "# %s\n#%s =", b->help, b->name);
        add_keys(out, b);
        text_add(out, "\n");
    }
}
