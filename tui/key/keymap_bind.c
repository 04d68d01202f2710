/* The keys in force: the default keys, changed by a config file. */
#include "tui/key/keymap.h"

#include "tui/terminal/press_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Returns the presses of a row. Rows beyond KEY_ROWS_MAX cannot be bound; a test checks their
 * number. */
static const int32_t *presses(const struct keymap *k, const struct key_binding *b) {
    size_t row = (size_t)(b - key_bindings);
    return k && row < KEY_ROWS_MAX && k->bound[row] ? k->press[row] : b->press;
}

const char *keymap_keys(const struct keymap *k, const struct key_binding *b) {
    size_t row = (size_t)(b - key_bindings);
    return k && row < KEY_ROWS_MAX && k->bound[row] ? k->keys[row] : b->keys;
}

enum command keymap_command(const struct keymap *k, int32_t press, unsigned scope) {
    if (press == PRESS_NONE)
        return COMMAND_NONE;
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        const int32_t *p = presses(k, b);
        for (int i = 0; i < KEY_PRESSES && (b->scope & scope); i++)
            if (p[i] == press)
                return b->command;
    }
    return COMMAND_NONE;
}

const char *keymap_key(const struct keymap *k, enum command command, unsigned scope, char *out) {
    out[0] = '\0';
    for (const struct key_binding *b = key_bindings; b->help && !out[0]; b++) {
        const char *keys = keymap_keys(k, b);
        if (b->command == command && (b->scope & scope))
            snprintf(out, KEY_TEXT, "%.*s", (int)strcspn(keys, " "), keys);
    }
    return out;
}

/* Binding. */

static bool is_among(const int32_t *press, int count, int32_t what) {
    for (int i = 0; i < count; i++)
        if (press[i] == what)
            return true;
    return false;
}

/* Returns the next word of `keys`, and moves `keys` behind it; "" at the end. */
static const char *next_word(const char **keys, char *out, size_t size) {
    *keys += strspn(*keys, " \t");
    size_t n = strcspn(*keys, " \t");
    snprintf(out, size, "%.*s", (int)n, *keys);
    *keys += n;
    return out;
}

static int too_many(const char *name, struct err *e) {
    return err_set(e, EINVAL, "%s has too many keys: the limit is %d", name, KEY_PRESSES - 1);
}

/* Parses the words of `keys` into presses, and writes how these are printed. */
static int parse_keys(const char *name, const char *keys, int32_t press[KEY_PRESSES],
                      char print[KEY_TEXT], int *count, struct err *e) {
    char word[32], one[PRESS_NAME_SIZE];
    *count = 0;
    print[0] = '\0';
    while (next_word(&keys, word, sizeof word)[0]) {
        int32_t p = press_parse(word);
        if (p == PRESS_NONE)
            return err_set(e, EINVAL, "there is no key \"%s\"; there are: %s", word, press_names);
        if (is_among(press, *count, p))
            continue;
        size_t used = strlen(print);
        if (*count == KEY_PRESSES)
            return too_many(name, e);
        press[(*count)++] = p;
        snprintf(print + used, KEY_TEXT - used, "%s%s", used ? " " : "", press_name(p, one));
    }
    return 0;
}

/* Adds the row's default presses that are not printed: ^C, which some terminals pass on. */
static bool add_unprinted(const struct key_binding *b, int32_t press[KEY_PRESSES], int count) {
    for (int i = 0; i < KEY_PRESSES && b->press[i]; i++) {
        const char *keys = b->keys;
        char word[32];
        bool printed = false;
        while (!printed && next_word(&keys, word, sizeof word)[0])
            printed = press_parse(word) == b->press[i];
        if (printed || is_among(press, count, b->press[i]))
            continue;
        if (count == KEY_PRESSES)
            return false;
        press[count++] = b->press[i];
    }
    return true;
}

static int no_such_name(const char *name, struct err *e) {
    return err_set(e, EINVAL, "unknown command \"%.40s\"; jtop-prof --print-config lists all",
                   name);
}

int keymap_bind(struct keymap *k, const char *name, const char *keys, struct err *e) {
    bool found = false;
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        size_t row = (size_t)(b - key_bindings);
        int count;
        if (strcmp(b->name, name) != 0 || row >= KEY_ROWS_MAX)
            continue;
        found = true;
        k->bound[row] = true;
        memset(k->press[row], 0, sizeof k->press[row]);
        int r = parse_keys(name, keys, k->press[row], k->keys[row], &count, e);
        if (r < 0)
            return r;
        if (!add_unprinted(b, k->press[row], count))
            return too_many(name, e);
    }
    return found ? 0 : no_such_name(name, e);
}

/* True if a row that the config file binds has this press, where `b` works too. */
static bool is_taken(const struct keymap *k, const bool *bound, const struct key_binding *b,
                     int32_t press) {
    for (const struct key_binding *other = key_bindings; other->help; other++) {
        size_t row = (size_t)(other - key_bindings);
        if (row < KEY_ROWS_MAX && bound[row] && (other->scope & b->scope) &&
            other->command != b->command && is_among(k->press[row], KEY_PRESSES, press))
            return true;
    }
    return false;
}

/* Writes the row's default keys, but those that are taken. */
static void keep_free(struct keymap *k, const bool *bound, const struct key_binding *b) {
    size_t row = (size_t)(b - key_bindings), n = 0;
    int count = 0;
    memset(k->press[row], 0, sizeof k->press[row]);
    k->keys[row][0] = '\0';
    for (int i = 0; i < KEY_PRESSES && b->press[i]; i++)
        if (!is_taken(k, bound, b, b->press[i]))
            k->press[row][count++] = b->press[i];
    const char *keys = b->keys;
    for (char word[32]; next_word(&keys, word, sizeof word)[0];)
        if (!is_taken(k, bound, b, press_parse(word)))
            n += (size_t)snprintf(k->keys[row] + n, KEY_TEXT - n, "%s%s", n ? " " : "", word);
    k->bound[row] = true;
}

void keymap_yield(struct keymap *k) {
    bool bound[KEY_ROWS_MAX];
    memcpy(bound, k->bound, sizeof bound);
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        size_t row = (size_t)(b - key_bindings);
        bool loses = false;
        for (int i = 0; row < KEY_ROWS_MAX && !bound[row] && i < KEY_PRESSES && b->press[i]; i++)
            loses = loses || is_taken(k, bound, b, b->press[i]);
        if (loses)
            keep_free(k, bound, b);
    }
}

bool keymap_clash(const struct keymap *k, const struct key_binding **a,
                  const struct key_binding **b, int32_t *press) {
    for (*a = key_bindings; (*a)->help; (*a)++) {
        const int32_t *mine = presses(k, *a);
        for (*b = *a + 1; (*a)->help && (*b)->help; (*b)++) {
            if (!((*a)->scope & (*b)->scope) || (*a)->command == (*b)->command)
                continue;
            for (int i = 0; i < KEY_PRESSES && mine[i]; i++) {
                *press = mine[i];
                if (is_among(presses(k, *b), KEY_PRESSES, mine[i]))
                    return true;
            }
        }
    }
    return false;
}
