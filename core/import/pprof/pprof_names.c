#include "core/import/pprof/pprof_names.h"

#include "core/import/text/frame_text.h"

#include <core/export/pprof/profile.pb-c.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX (1u << 24)        /* maximum number of entries in each table */
#define MESSAGE_MAX ((size_t)4 << 20) /* maximum size of one entry in bytes */
#define TEXT(s) ((struct wire_text){s, sizeof(s) - 1})

/* Finds entries by id. Ids can be any number, but mostly count up from 1 in order. */
struct id {
    uint64_t id;
    uint32_t at;
};

struct ids {
    struct id *id;
    uint32_t count, room;
};

struct function {
    struct wire_text name, file;
};

struct line {
    uint64_t function;
    uint32_t line;
};

struct location {
    uint64_t mapping;
    uint32_t line, lines; /* entries of names.line, leaf first */
    bool made;            /* their frames are in names.frame */
};

struct pprof_names {
    struct wire_text *string, *mapping;
    struct function *function;
    struct location *location;
    struct line *line;
    uint64_t *frame; /* by line; the frames used if the line is not a leaf */
    uint32_t strings, mappings, functions, locations, lines;
    uint32_t string_room, mapping_room, function_room, location_room, line_room;
    struct ids mapping_ids, function_ids, location_ids;
    struct wire_text program;
    bool program_is_jvm;
};

/* ---- tables ---- */

/* Makes room for one more entry. 0, -ENOMEM or -E2BIG. */
static int grow(void *array, uint32_t count, uint32_t *room, size_t size) {
    void **data = array;
    if (count < *room)
        return 0;
    if (count >= ENTRIES_MAX)
        return -E2BIG;
    uint32_t more = *room ? *room * 2 : 256;
    void *larger = realloc(*data, more * size);
    if (!larger)
        return -ENOMEM;
    *data = larger;
    *room = more;
    return 0;
}

static int add_id(struct ids *t, uint64_t id, uint32_t at) {
    int r = grow(&t->id, t->count, &t->room, sizeof *t->id);
    if (r == 0)
        t->id[t->count++] = (struct id){id, at};
    return r;
}

static int by_id(const void *a, const void *b) {
    const struct id *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_ids(struct ids *t) {
    for (uint32_t i = 1; i < t->count; i++)
        if (by_id(&t->id[i - 1], &t->id[i]) > 0) {
            qsort(t->id, t->count, sizeof *t->id, by_id);
            return;
        }
}

/* UINT32_MAX: there is no such id. */
static uint32_t find(const struct ids *t, uint64_t id) {
    if (id >= 1 && id <= t->count && t->id[id - 1].id == id)
        return t->id[id - 1].at;
    for (uint32_t low = 0, high = t->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (t->id[middle].id == id)
            return t->id[middle].at;
        if (t->id[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

/* ---- reading ---- */

static int add_string(struct pprof_names *n, const struct pprof_field *f) {
    int r = grow(&n->string, n->strings, &n->string_room, sizeof *n->string);
    if (r == 0)
        n->string[n->strings++] = (struct wire_text){(const char *)f->data, f->bytes};
    return r;
}

struct wire_text pprof_string(const struct pprof_names *n, int64_t at) {
    return at >= 0 && at < n->strings ? n->string[at] : (struct wire_text){0};
}

static int add_mapping(struct pprof_names *n, const struct pprof_field *f) {
    Pprof__Mapping *m = pprof__mapping__unpack(NULL, f->bytes, f->data);
    if (!m)
        return 0;
    int r = grow(&n->mapping, n->mappings, &n->mapping_room, sizeof *n->mapping);
    if (r == 0)
        r = add_id(&n->mapping_ids, m->id, n->mappings);
    if (r == 0)
        n->mapping[n->mappings++] = pprof_string(n, m->filename);
    pprof__mapping__free_unpacked(m, NULL);
    return r;
}

static int add_function(struct pprof_names *n, const struct pprof_field *f) {
    Pprof__Function *m = pprof__function__unpack(NULL, f->bytes, f->data);
    if (!m)
        return 0;
    int r = grow(&n->function, n->functions, &n->function_room, sizeof *n->function);
    if (r == 0)
        r = add_id(&n->function_ids, m->id, n->functions);
    if (r == 0)
        n->function[n->functions++] =
            (struct function){.name = pprof_string(n, m->name ? m->name : m->system_name),
                              .file = pprof_string(n, m->filename)};
    pprof__function__free_unpacked(m, NULL);
    return r;
}

static int add_line(struct pprof_names *n, uint64_t function, int64_t line) {
    int r = grow(&n->line, n->lines, &n->line_room, sizeof *n->line);
    if (r == 0)
        n->line[n->lines++] = (struct line){
            .function = function, .line = line > 0 && line < INT32_MAX ? (uint32_t)line : 0};
    return r;
}

/* A location without lines gets one line without a function: the place is known, but not
 * its name. */
static int add_location(struct pprof_names *n, const struct pprof_field *f) {
    Pprof__Location *m = pprof__location__unpack(NULL, f->bytes, f->data);
    if (!m)
        return 0;
    struct location one = {.mapping = m->mapping_id, .line = n->lines};
    int r = m->n_line ? 0 : add_line(n, 0, 0);
    for (size_t i = 0; i < m->n_line && r == 0; i++)
        r = add_line(n, m->line[i]->function_id, m->line[i]->line);
    one.lines = n->lines - one.line;
    if (r == 0)
        r = grow(&n->location, n->locations, &n->location_room, sizeof *n->location);
    if (r == 0)
        r = add_id(&n->location_ids, m->id, n->locations);
    if (r == 0)
        n->location[n->locations++] = one;
    pprof__location__free_unpacked(m, NULL);
    return r;
}

/* Reads all messages of one field, which are all of the same kind. */
static int read_field(struct pprof_names *n, const struct gunzip *b, uint32_t number,
                      int (*add)(struct pprof_names *, const struct pprof_field *)) {
    struct pprof_field f;
    size_t at = 0;
    int r = 0;
    while (r == 0 && pprof_field_next(b->data, b->bytes, &at, &f) > 0)
        if (f.number == number && f.wire == PPROF_BYTES && f.bytes <= MESSAGE_MAX)
            r = add(n, &f);
    return r;
}

int pprof_names_read(const struct gunzip *b, struct pprof_names **out, struct err *e) {
    struct pprof_names *n = calloc(1, sizeof *n);
    int r = n ? read_field(n, b, 6, add_string) : -ENOMEM;
    if (r == 0)
        r = read_field(n, b, 3, add_mapping);
    if (r == 0)
        r = read_field(n, b, 5, add_function);
    if (r == 0)
        r = read_field(n, b, 4, add_location);
    if (r == 0) {
        n->frame = malloc(((size_t)n->lines + 1) * sizeof *n->frame);
        r = n->frame ? 0 : -ENOMEM;
    }
    *out = n;
    if (r < 0) {
        pprof_names_free(n);
        *out = NULL;
        return r == -E2BIG
                   ? err_set(e, EINVAL, "the file has more than %u names of one kind", ENTRIES_MAX)
                   : err_set(e, ENOMEM, "no memory for the file's names");
    }
    sort_ids(&n->mapping_ids);
    sort_ids(&n->function_ids);
    sort_ids(&n->location_ids);
    n->program = n->mappings ? n->mapping[0] : (struct wire_text){0};
    n->program_is_jvm = n->program.bytes && memmem(n->program.data, n->program.bytes, " (pid ", 6);
    return 0;
}

void pprof_names_free(struct pprof_names *n) {
    if (!n)
        return;
    free(n->string);
    free(n->mapping);
    free(n->function);
    free(n->location);
    free(n->line);
    free(n->frame);
    free(n->mapping_ids.id);
    free(n->function_ids.id);
    free(n->location_ids.id);
    free(n);
}

struct wire_text pprof_program(const struct pprof_names *n) {
    return n->program;
}

/* ---- frames ---- */

static bool is_java_file(struct wire_text t) {
    static const char *const ending[] = {".java", ".kt", ".kts", ".scala", ".groovy", ".clj"};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        size_t n = strlen(ending[i]);
        if (t.bytes > n && memcmp(t.data + t.bytes - n, ending[i], n) == 0)
            return true;
    }
    return false;
}

/* Returns the library's base name. In our own files the first mapping has the JVM's name, which is
 * not a library. */
static struct wire_text module_of(const struct pprof_names *n, uint64_t id) {
    uint32_t at = find(&n->mapping_ids, id);
    if (at == UINT32_MAX || (at == 0 && n->program_is_jvm))
        return (struct wire_text){0};
    struct wire_text t = n->mapping[at];
    const char *slash = t.bytes ? memrchr(t.data, '/', t.bytes) : NULL;
    if (slash)
        t = (struct wire_text){slash + 1, (size_t)(t.data + t.bytes - slash - 1)};
    return t;
}

/* Names a place without a function "[libfoo.so]", as go tool pprof does. */
static uint64_t emit_nameless(struct emit *m, struct wire_text module) {
    char name[WIRE_STRING_MAX];
    size_t n = module.bytes < sizeof name - 2 ? module.bytes : sizeof name - 2;
    if (n == 0)
        return emit_native(m, WIRE_FRAME_NATIVE, TEXT("[unknown]"), module);
    name[0] = '[';
    memcpy(name + 1, module.data, n);
    name[n + 1] = ']';
    return emit_native(m, WIRE_FRAME_NATIVE, (struct wire_text){name, n + 2}, module);
}

static uint64_t emit_line(struct pprof_names *n, struct emit *m, const struct location *l,
                          const struct line *line, bool leaf, bool class_leaf) {
    uint32_t at = line->function ? find(&n->function_ids, line->function) : UINT32_MAX;
    struct wire_text module = module_of(n, l->mapping);
    if (at == UINT32_MAX || n->function[at].name.bytes == 0)
        return emit_nameless(m, module);
    const struct function *f = &n->function[at];
    struct frame_text about = {.leaf = leaf, .line = line->line, .module = module};
    about.java = is_java_file(f->file);
    about.native = f->file.bytes > 0 && !about.java;
    about.class_leaf = class_leaf && !about.java && module.bytes == 0;
    return frame_text_emit(m, f->name, &about);
}

uint32_t pprof_location_frames(struct pprof_names *n, struct emit *m, uint64_t id, bool leaf,
                               bool class_leaf, uint64_t *frame, uint32_t room) {
    uint32_t at = find(&n->location_ids, id);
    if (at == UINT32_MAX) {
        if (room > 0)
            frame[0] = emit_nameless(m, (struct wire_text){0});
        return room > 0;
    }
    struct location *l = &n->location[at];
    for (uint32_t i = 0; i < l->lines && !l->made; i++)
        n->frame[l->line + i] = emit_line(n, m, l, &n->line[l->line + i], false, false);
    l->made = true;
    uint32_t frames = l->lines < room ? l->lines : room;
    memcpy(frame, n->frame + l->line, frames * sizeof *frame);
    if (frames > 0 && leaf)
        frame[0] = emit_line(n, m, l, &n->line[l->line], true, class_leaf);
    return frames;
}
