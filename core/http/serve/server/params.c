#include "core/http/serve/server/params.h"

#include "core/base/utf8.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define NAME_SHOWN 40 /* characters of a name in a message */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place. Returns the new length, or -EINVAL. */
static int decode(char *text) {
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in != '%') {
            *out++ = *in == '+' ? ' ' : *in;
            continue;
        }
        int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
        if (low < 0)
            return -EINVAL;
        *out++ = (char)(high << 4 | low);
        in += 2;
    }
    int length = (int)(out - text);
    *out = '\0';
    return length;
}

static bool is_text(const char *text, size_t length) {
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t code;
        size = utf8_decode(text + at, length - at, &code);
        if (size == 0 || !utf8_is_shown(code))
            return false;
    }
    return true;
}

/* A name that is safe to quote: text from the network may contain anything. */
static const char *shown(const char *name, char out[NAME_SHOWN + 1]) {
    size_t i = 0;
    for (; i < NAME_SHOWN && name[i]; i++)
        out[i] = (char)(name[i] > ' ' && name[i] < 0x7f ? name[i] : '?');
    out[i] = '\0';
    return out;
}

static int read_one(struct params *p, char *piece, struct err *e) {
    char quoted[NAME_SHOWN + 1];
    char *value = strchr(piece, '=');
    if (value)
        *value++ = '\0';
    if (p->count == PARAMS_MAX)
        return err_set(e, E2BIG, "more than %d parameters", PARAMS_MAX);
    int name_length = decode(piece);
    if (name_length <= 0 || !is_text(piece, (size_t)name_length))
        return err_set(e, EINVAL, "%s: not a parameter's name", shown(piece, quoted));
    int length = value ? decode(value) : 0;
    if (length < 0)
        return err_set(e, EINVAL, "%s: a %% without two hexadecimal digits", shown(piece, quoted));
    if (length > PARAMS_VALUE_MAX)
        return err_set(e, E2BIG, "%s: longer than %d bytes", shown(piece, quoted),
                       PARAMS_VALUE_MAX);
    if (value && !is_text(value, (size_t)length))
        return err_set(e, EINVAL, "%s: not UTF-8, or a control character in it",
                       shown(piece, quoted));
    p->item[p->count].name = piece;
    p->item[p->count].value = value ? value : "";
    p->item[p->count++].used = false;
    return 0;
}

int params_read(struct params *p, char *form, struct err *e) {
    int r = 0;
    for (char *piece = form; piece && r == 0;) {
        char *next = strchr(piece, '&');
        if (next)
            *next++ = '\0';
        if (*piece)
            r = read_one(p, piece, e);
        piece = next;
    }
    return r;
}

const char *params_text(struct params *p, const char *name) {
    const char *found = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        if (strcmp(p->item[i].name, name) != 0)
            continue;
        p->item[i].used = true;
        found = found ? found : p->item[i].value;
    }
    return found;
}

bool params_flag(struct params *p, const char *name) {
    static const char *const no[] = {"false", "0", "no", "off"};
    const char *text = params_text(p, name);
    for (size_t i = 0; text && i < sizeof no / sizeof no[0]; i++)
        if (strcasecmp(text, no[i]) == 0)
            return false;
    return text != NULL;
}

int params_number(struct params *p, const char *name, uint64_t least, uint64_t most, uint64_t *out,
                  struct err *e) {
    const char *text = params_text(p, name);
    if (!text)
        return 0;
    uint64_t n = 0;
    bool good = *text != '\0';
    for (const char *c = text; good && *c; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        good = *c >= '0' && *c <= '9' && n <= (UINT64_MAX - digit) / 10;
        n = good ? n * 10 + digit : n;
    }
    if (!good || n < least || n > most)
        return err_set(e, EINVAL, "%s: \"%.60s\" is not a whole number from %llu to %llu", name,
                       text, (unsigned long long)least, (unsigned long long)most);
    *out = n;
    return 1;
}

const char *params_unused(const struct params *p) {
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->item[i].used)
            return p->item[i].name;
    return NULL;
}
