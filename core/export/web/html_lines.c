#include "core/export/web/html_lines.h"

#include "core/export/json_text.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define COMMON_MAX 90u
#define NUMBER_BYTES 10 /* of a number in base 128, at most */

static const unsigned types[FRAME_CLASSES] = {
    [CLASS_INTERPRETED] = 0, [CLASS_JAVA] = 1,   [CLASS_INLINED] = 2,
    [CLASS_NATIVE] = 3,      [CLASS_CPP] = 4,    [CLASS_KERNEL] = 5,
    [CLASS_C1] = 6,          [CLASS_THREAD] = 3, [CLASS_ERROR] = 3,
};

void html_lines_add(struct html_lines *l, uint32_t depth, uint32_t name, enum frame_class c,
                    uint64_t value) {
    const uint64_t numbers[] = {depth + 1, (uint64_t)(name + 1) << 3 | types[c], value};
    char bytes[3 * NUMBER_BYTES];
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t left = numbers[i];
        for (; left > 0x7f; left >>= 7)
            bytes[n++] = (char)(left | 0x80);
        bytes[n++] = (char)left;
    }
    text_add_n(&l->frames, bytes, n);
    l->depth = l->depth > depth + 1 ? l->depth : depth + 1;
}

static uint64_t next_number(const char **at) {
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char c = (unsigned char)*(*at)++;
        n |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return n;
    }
}

/* Writes a letter with numbers: "f(17,3,0,250)". */
static void add_line(struct text *out, char letter, const uint64_t *number, unsigned numbers) {
    char line[4 * (JSON_TEXT_DIGITS + 1) + 8] = {letter, '('};
    size_t n = 2;
    for (unsigned i = 0; i < numbers; i++) {
        n += json_text_digits(number[i], line + n);
        line[n++] = i + 1 < numbers ? ',' : ')';
    }
    line[n++] = '\n';
    text_add_n(out, line, n);
}

static void add_frames(struct text *out, const struct text *frames) {
    const char *at = frames->data;
    uint64_t last = 0;
    while (at && at < frames->data + frames->len && !out->failed) {
        uint64_t level = next_number(&at), key = next_number(&at), value = next_number(&at);
        if (level == last + 1)
            add_line(out, 'u', (uint64_t[]){key, value}, 2);
        else if (level == last)
            add_line(out, 'n', (uint64_t[]){key, value}, 2);
        else
            add_line(out, 'f', (uint64_t[]){key, level, 0, value}, 4);
        last = level;
    }
}

/* Returns the length without the mark, because the type contains the same information. */
static size_t bare_length(const char *name) {
    size_t n = strlen(name);
    bool marked = n > 4 && name[n - 4] == '_' && name[n - 3] == '[' && name[n - 1] == ']' &&
                  strchr("k01ji", name[n - 2]);
    return marked ? n - 4 : n;
}

/* Returns the length of the common prefix. Only ASCII counts: readers count characters,
 * not bytes. */
static size_t common(const char *a, size_t n, const char *b, size_t m) {
    size_t i = 0;
    while (i < n && i < m && i < COMMON_MAX && a[i] == b[i] && !((unsigned char)a[i] & 0x80))
        i++;
    return i;
}

/* Escapes what would end the line or the script element, or begin another element. */
static void add_char(struct text *out, const char *at, char before) {
    char escaped[] = {'\\', *at};
    bool tag = before == '<' && (*at == '/' || *at == '!' || !strncasecmp(at, "script", 6));
    if (*at == '\'' || *at == '\\' || tag)
        text_add_n(out, escaped, 2);
    else if ((unsigned char)*at < ' ')
        text_add_n(out, " ", 1);
    else
        text_add_n(out, at, 1);
}

static void add_names(struct text *out, const struct frame_names *names) {
    const char *last = "";
    size_t last_length = 0;
    for (uint32_t i = 0; i < frame_names_count(names); i++) {
        const char *name = frame_names_by_id(names, i)->text;
        size_t n = bare_length(name), shared = common(last, last_length, name, n);
        char before = (char)(' ' + shared);
        text_add(out, ",\n'");
        add_char(out, &before, ' ');
        for (size_t k = shared; k < n; before = name[k++])
            add_char(out, name + k, before);
        text_add(out, "'");
        last = name;
        last_length = n;
    }
}

void html_lines_write(struct html_lines *l, struct text *out, const struct frame_names *names,
                      uint64_t whole) {
    text_addf(out,
              "<script type=\"text/plain\">\nconst levels = Array(%" PRIu32 ");\nconst cpool = [\n",
              l->depth + 1);
    text_add(out, "'all'");
    add_names(out, names);
    text_addf(out, "\n];\n\nf(3,0,0,%" PRIu64 ")\n", whole);
    out->failed |= l->frames.failed;
    add_frames(out, &l->frames);
    text_add(out, "\n</script>\n");
    text_free(&l->frames);
}
