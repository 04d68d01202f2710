#include "core/source/source_file.h"

#include "core/base/clean_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTER_MAX 6 /* bytes of one character, as surrogates */

/* Returns the room for the text with its tabs as blanks, and sets the number of its lines. */
static size_t measure(const char *data, size_t size, uint32_t *lines) {
    size_t tabs = 0;
    *lines = size ? 1 : 0;
    for (size_t i = 0; i < size; i++) {
        tabs += data[i] == '\t';
        *lines += data[i] == '\n' && i + 1 < size;
    }
    return size + tabs * (SOURCE_TAB - 1) + 1;
}

/* Copies a line to `to`, and returns its length without NUL. The file may come from any user, so
 * its control characters must not reach the terminal. Cleaning never makes text longer, so it is
 * done in place. It needs the whole of the character at which it cuts. */
static size_t copy_line(char *to, const char *from, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < size && n < SOURCE_LINE_BYTES + CHARACTER_MAX; i++) {
        if (from[i] == '\t')
            do
                to[n++] = ' ';
            while (n % SOURCE_TAB);
        else
            to[n++] = from[i];
    }
    return clean_text(to, SOURCE_LINE_BYTES + 1, to, n);
}

int source_file_set(struct source_file *f, const char *data, size_t size, const char *origin) {
    if (size > SOURCE_BYTES_MAX)
        return -EFBIG;
    uint32_t lines;
    size_t room = measure(data, size, &lines), at = 0;
    char *text = malloc(room + lines + SOURCE_TAB);
    uint32_t *first = malloc((lines + (size_t)1) * sizeof *first);
    if (!text || !first) {
        free(text);
        free(first);
        return -ENOMEM;
    }
    const char *from = data, *end = data + size;
    for (uint32_t i = 0; i < lines; i++) {
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        size_t length = (size_t)((newline ? newline : end) - from);
        first[i] = (uint32_t)at;
        at += copy_line(text + at, from, length - (length && from[length - 1] == '\r'));
        text[at++] = '\0';
        from = newline ? newline + 1 : end;
    }
    *f = (struct source_file){.lines = lines, .text = text, .at = first};
    snprintf(f->origin, sizeof f->origin, "%s", origin);
    return 0;
}

void source_file_free(struct source_file *f) {
    free(f->text);
    free(f->at);
    *f = (struct source_file){0};
}

const char *source_file_line(const struct source_file *f, uint32_t line) {
    return line && line <= f->lines ? f->text + f->at[line - 1] : NULL;
}

static bool is_path_below(const char *s) {
    while (*s) {
        size_t n = strcspn(s, "/");
        if (n == 0 || (n <= 2 && !strncmp(s, "..", n)))
            return false;
        s += n;
        if (*s == '/' && !*++s)
            return false;
    }
    return true;
}

/* The part after '$' or '+' names no class with a file: "p/C$$Lambda/0x0000700001001000",
 * "p/C+0x0000700001001000". */
bool source_file_base(const char *class_name, unsigned nested, char *out, size_t size) {
    size_t outer = strcspn(class_name, "$+"), from = outer;
    while (from && class_name[from - 1] != '/')
        from--;
    if (!class_name[from])
        return false;
    /* A class name may begin with '$'. */
    size_t n = from + 1 + strcspn(class_name + from + 1, "$+");
    for (; nested; nested--) {
        if (class_name[n] != '$')
            return false;
        n += 1 + strcspn(class_name + n + 1, "$+");
    }
    if (n >= size)
        return false;
    memcpy(out, class_name, n);
    out[n] = '\0';
    return is_path_below(out);
}
