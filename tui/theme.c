#include "tui/theme.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path is seen from the directory of the Makefile, where the compiler runs. */
__asm__(".pushsection .rodata\n"
        "theme_shipped:\n"
        ".incbin \"themes/default.theme\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char theme_shipped[];

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

static int parse_colour(const char *word, int16_t *out) {
    if (!strcmp(word, "default")) {
        *out = THEME_DEFAULT_COLOUR;
        return 0;
    }
    for (size_t i = 0; i < COUNT(colour_name); i++) {
        if (!strcmp(word, colour_name[i])) {
            *out = (int16_t)i;
            return 0;
        }
    }
    char *end;
    long n = strtol(word, &end, 10);
    if (end == word || *end || n < 0 || n > 255)
        return -EINVAL;
    *out = (int16_t)n;
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

static int parse_line(struct theme *t, const char *origin, int number, char *line, struct err *e) {
    char *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    char *word[6];
    size_t words = 0;
    char *rest = line;
    for (char *w; words < COUNT(word) && (w = strsep(&rest, " \t\r"));)
        if (*w)
            word[words++] = w;
    if (words == 0)
        return 0;
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
                       "%s:%d: a colour is default, black, red, green, yellow, blue, "
                       "magenta, cyan, white or 0-255",
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

int theme_default(struct theme *t, struct err *e) {
    for (int i = 0; i < ROLES; i++)
        t->style[i] = (struct theme_style){THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0, 0};
    return theme_parse(t, "default.theme", theme_shipped, e);
}
