#include "core/export/web/html_lines.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define COMMON_MAX 90u

static const unsigned types[FRAME_CLASSES] = {
    [CLASS_INTERPRETED] = 0, [CLASS_JAVA] = 1,   [CLASS_INLINED] = 2,
    [CLASS_NATIVE] = 3,      [CLASS_CPP] = 4,    [CLASS_KERNEL] = 5,
    [CLASS_C1] = 6,          [CLASS_THREAD] = 3, [CLASS_ERROR] = 3,
};

void html_lines_add(struct html_lines *l, uint32_t depth, uint32_t name, enum frame_class c,
                    uint64_t value) {
    uint32_t level = depth + 1;
    uint64_t key = (uint64_t)(name + 1) << 3 | types[c];
    if (level == l->level + 1)
        text_addf(&l->frames, "u(%" PRIu64 ",%" PRIu64 ")\n", key, value);
    else if (level == l->level)
        text_addf(&l->frames, "n(%" PRIu64 ",%" PRIu64 ")\n", key, value);
    else
        text_addf(&l->frames, "f(%" PRIu64 ",%" PRIu32 ",0,%" PRIu64 ")\n", key, level, value);
    l->level = level;
    l->depth = l->depth > level ? l->depth : level;
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
    text_add_n(out, l->frames.data ? l->frames.data : "", l->frames.len);
    text_add(out, "\n</script>\n");
    out->failed |= l->frames.failed;
    text_free(&l->frames);
}
