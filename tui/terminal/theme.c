#include "tui/terminal/theme.h"

#include "core/base/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path is relative to the Makefile's directory, where the compiler runs. */
#define SHIP(symbol, name)                                                                         \
    __asm__(".pushsection .rodata\n"                                                               \
            "theme_text_" #symbol ":\n"                                                            \
            ".incbin \"themes/" name ".theme\"\n"                                                  \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char theme_text_##symbol[];

#define SHIPPED(X)                                                                                 \
    X(default, "default")                                                                          \
    X(light, "light")                                                                              \
    X(truecolor, "truecolor")                                                                      \
    X(mono, "mono")                                                                                \
    X(solarized, "solarized")                                                                      \
    X(deuteranopia, "deuteranopia")                                                                \
    X(tritanopia, "tritanopia")                                                                    \
    X(high_contrast, "high-contrast")

SHIPPED(SHIP)

const char *const theme_names[] = {
#define NAME(symbol, name) name,
    SHIPPED(NAME)
#undef NAME
        NULL,
};

static const char *const shipped_text[] = {
#define TEXT(symbol, name) theme_text_##symbol,
    SHIPPED(TEXT)
#undef TEXT
};

static const char *const role_name[ROLES] = {
#define ROLE_NAME(id, name) name,
    THEME_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

static const char *const colour_name[] = {"black", "red",     "green", "yellow",
                                          "blue",  "magenta", "cyan",  "white"};

static const struct {
    const char *name;
    uint8_t bit;
} attribute_name[] = {
    {"bold", THEME_BOLD},
    {"dim", THEME_DIM},
    {"reverse", THEME_REVERSE},
    {"underline", THEME_UNDERLINE},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int find_role(const char *word) {
    for (int i = 0; i < ROLES; i++)
        if (!strcmp(role_name[i], word))
            return i;
    return -1;
}

static int parse_colour(const char *word, int32_t *out) {
    if (!strcmp(word, "default")) {
        *out = THEME_DEFAULT_COLOUR;
        return 0;
    }
    static const char bright[] = "bright-";
    bool is_bright = !strncmp(word, bright, sizeof bright - 1);
    for (size_t i = 0; i < COUNT(colour_name); i++) {
        if (!strcmp(is_bright ? word + sizeof bright - 1 : word, colour_name[i])) {
            *out = (int32_t)i + (is_bright ? 8 : 0);
            return 0;
        }
    }
    bool is_rgb = word[0] == '#';
    char *end;
    unsigned long n = strtoul(word + is_rgb, &end, is_rgb ? 16 : 10);
    if (strspn(word + is_rgb, "0123456789abcdefABCDEF") != strlen(word + is_rgb) || *end ||
        (is_rgb ? strlen(word) != 7 : !word[0] || n > 255))
        return -EINVAL;
    *out = (int32_t)n | (is_rgb ? THEME_RGB : 0);
    return 0;
}

static int parse_attributes(char *word, uint8_t *out) {
    *out = 0;
    if (!strcmp(word, "-"))
        return 0;
    char *rest = word;
    for (char *a; (a = strsep(&rest, ","));) {
        size_t i = 0;
        while (i < COUNT(attribute_name) && strcmp(a, attribute_name[i].name) != 0)
            i++;
        if (i == COUNT(attribute_name))
            return -EINVAL;
        *out |= attribute_name[i].bit;
    }
    return 0;
}

/* True if a word begins a comment: a '#' that is no colour. */
static bool is_comment(const char *word) {
    int32_t unused;
    return word[0] == '#' && parse_colour(word, &unused) != 0;
}

static int parse_background(struct theme *t, const char *origin, int number, const char *word,
                            struct err *e) {
    t->light = !strcmp(word, "light");
    if (t->light || !strcmp(word, "dark"))
        return 0;
    return err_set(e, EINVAL, "%s:%d: the background must be dark or light", origin, number);
}

static int parse_line(struct theme *t, const char *origin, int number, char *line, struct err *e) {
    char *word[6];
    size_t words = 0;
    char *rest = line;
    for (char *w; words < COUNT(word) && (w = strsep(&rest, " \t\r"));) {
        if (is_comment(w) || (words == 0 && w[0] == '#'))
            break;
        if (*w)
            word[words++] = w;
    }
    if (words == 0)
        return 0;
    if (words == 2 && !strcmp(word[0], "background"))
        return parse_background(t, origin, number, word[1], e);
    if (words != 5)
        return err_set(e, EINVAL,
                       "%s:%d: a role takes five columns: "
                       "ROLE FOREGROUND BACKGROUND ATTRIBUTES MONO",
                       origin, number);
    int role = find_role(word[0]);
    if (role < 0)
        return err_set(e, EINVAL, "%s:%d: no such role: %s", origin, number, word[0]);
    struct theme_style s;
    if (parse_colour(word[1], &s.foreground) || parse_colour(word[2], &s.background))
        return err_set(e, EINVAL,
                       "%s:%d: a colour must be default, black, red, green, yellow, blue, magenta, "
                       "cyan or white, bright- and one of them, 0-255 or #rrggbb",
                       origin, number);
    if (parse_attributes(word[3], &s.attributes) || parse_attributes(word[4], &s.mono))
        return err_set(e, EINVAL,
                       "%s:%d: attributes are - or a list of bold, dim, reverse, underline", origin,
                       number);
    t->style[role] = s;
    return 0;
}

int theme_parse(struct theme *t, const char *origin, const char *text, struct err *e) {
    char *copy = strdup(text);
    if (!copy)
        return err_set(e, ENOMEM, "%s: no memory to read the theme", origin);
    char *rest = copy;
    int number = 0, err = 0;
    for (char *line; !err && (line = strsep(&rest, "\n"));)
        err = parse_line(t, origin, ++number, line, e);
    free(copy);
    return err;
}

const char *theme_role_name(enum role role) {
    return role_name[role];
}

/* Returns the text of a shipped theme; NULL if no theme has that name. */
static const char *find_shipped(const char *name) {
    for (size_t i = 0; theme_names[i]; i++)
        if (!strcmp(theme_names[i], name))
            return shipped_text[i];
    return NULL;
}

int theme_default(struct theme *t, struct err *e) {
    *t = (struct theme){.light = false};
    for (int i = 0; i < ROLES; i++)
        t->style[i] = (struct theme_style){THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0, 0};
    return theme_parse(t, "default.theme", find_shipped("default"), e);
}

static int not_found(const char *name, struct err *e) {
    char names[256] = "", directory[512];
    for (size_t i = 0; theme_names[i]; i++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", theme_names[i]);
    }
    home_path("XDG_CONFIG_HOME", ".config", "themes", directory, sizeof directory);
    return err_set(e, ENOENT, "no theme '%.80s': there are %s%s%s%s, and any file by its path",
                   name, names, directory[0] ? ", those of " : "", directory,
                   directory[0] ? " (*.theme)" : "");
}

#define THEME_BYTES (64 << 10)

/* Reads a theme from an open file. */
static int read_theme(FILE *f, const char *path, struct theme *t, struct err *e) {
    char *text = calloc(1, THEME_BYTES + 1);
    if (!text)
        return err_set(e, ENOMEM, "%s: no memory to read the theme", path);
    size_t n = fread(text, 1, THEME_BYTES, f);
    int err;
    if (ferror(f))
        err = err_set(e, errno, "%s: %s", path, strerror(errno));
    else if (n == THEME_BYTES || strlen(text) != n)
        err = err_set(e, EINVAL, "%s: not a theme, which is text of less than 64 KB", path);
    else
        err = theme_parse(t, path, text, e);
    free(text);
    return err;
}

int theme_load(const char *name, struct theme *t, struct err *e) {
    int err = theme_default(t, e);
    if (err || !name[0])
        return err;
    const char *text = find_shipped(name);
    if (text)
        return theme_parse(t, name, text, e);
    char directory[512], path[1024] = "";
    FILE *f = NULL;
    home_path("XDG_CONFIG_HOME", ".config", "themes", directory, sizeof directory);
    if (directory[0] && !strchr(name, '/')) {
        snprintf(path, sizeof path, "%s/%s.theme", directory, name);
        f = fopen(path, "re");
    }
    if (!f) {
        snprintf(path, sizeof path, "%s", name);
        f = fopen(path, "re");
    }
    if (!f && errno == ENOENT)
        return not_found(name, e);
    if (!f)
        return err_set(e, errno, "the theme %s cannot be read: %s", path, strerror(errno));
    err = read_theme(f, path, t, e);
    fclose(f);
    return err;
}
