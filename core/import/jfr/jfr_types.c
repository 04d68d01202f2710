#include "core/import/jfr/jfr_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32   /* maximum depth of elements within elements */
#define NESTING_MAX 16 /* maximum depth of structs within structs */

/* ---- the tree of elements ---- */

struct tree {
    struct jfr_types *types;
    struct jfr_cursor c;
    bool no_memory;
};

struct attributes {
    const char *name, *id, *class, *pool, *dimension, *value;
};

static const char *word(struct tree *t) {
    uint64_t n = jfr_cursor_number(&t->c, 4);
    if (n >= t->types->names) {
        t->c.bad = true;
        return "";
    }
    return t->types->name[n];
}

static uint64_t id_of(const char *digits) {
    return digits ? strtoull(digits, NULL, 10) : 0;
}

static struct attributes attributes(struct tree *t) {
    struct attributes a = {0};
    uint64_t count = jfr_cursor_number(&t->c, 4);
    for (uint64_t i = 0; i < count && !t->c.bad; i++) {
        const char *key = word(t), *value = word(t);
        const char **place = !strcmp(key, "name")           ? &a.name
                             : !strcmp(key, "id")           ? &a.id
                             : !strcmp(key, "class")        ? &a.class
                             : !strcmp(key, "constantPool") ? &a.pool
                             : !strcmp(key, "dimension")    ? &a.dimension
                             : !strcmp(key, "value")        ? &a.value
                                                            : NULL;
        if (place)
            *place = value;
    }
    return a;
}

static enum jfr_form form_of(const char *name) {
    static const struct {
        const char *name;
        enum jfr_form form;
    } forms[] = {{"boolean", JFR_BYTE},  {"byte", JFR_BYTE},
                 {"char", JFR_CHAR},     {"short", JFR_SHORT},
                 {"int", JFR_INT},       {"long", JFR_LONG},
                 {"float", JFR_FLOAT},   {"double", JFR_DOUBLE},
                 {"string", JFR_STRING}, {"java.lang.String", JFR_STRING}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (!strcmp(name, forms[i].name))
            return forms[i].form;
    return JFR_STRUCT;
}

static void add_type(struct tree *t, const struct attributes *a) {
    struct jfr_types *k = t->types;
    if (k->count == k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 256;
        struct jfr_type *type = realloc(k->type, cap * sizeof *type);
        if (!type) {
            t->no_memory = true;
            return;
        }
        k->type = type;
        k->cap = cap;
    }
    k->type[k->count++] = (struct jfr_type){
        .id = id_of(a->id), .name = a->name, .form = form_of(a->name), .event = JFR_NO_EVENT};
}

static void add_field(struct tree *t, const struct attributes *a) {
    struct jfr_type *k = &t->types->type[t->types->count - 1];
    if (k->fields == k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 8;
        struct jfr_field *field = realloc(k->field, cap * sizeof *field);
        if (!field) {
            t->no_memory = true;
            return;
        }
        k->field = field;
        k->cap = cap;
    }
    k->field[k->fields++] = (struct jfr_field){
        .name = a->name,
        .type_id = id_of(a->class),
        .pool = a->pool && !strcmp(a->pool, "true"),
        .array = a->dimension && strcmp(a->dimension, "0") != 0,
    };
}

static uint64_t unit_ns(const char *unit) {
    return !unit                           ? 0
           : !strcmp(unit, "NANOSECONDS")  ? 1
           : !strcmp(unit, "MICROSECONDS") ? 1000
           : !strcmp(unit, "MILLISECONDS") ? 1000000
           : !strcmp(unit, "SECONDS")      ? 1000000000
                                           : 0;
}

/* What an element describes depends on the element that contains it. */
enum place { ANYWHERE, IN_TYPE, IN_FIELD };

static void element(struct tree *t, enum place in, unsigned depth) {
    const char *name = word(t);
    struct attributes a = attributes(t);
    enum place inside = ANYWHERE;
    if (t->c.bad || t->no_memory)
        return;
    if (!strcmp(name, "class") && in == ANYWHERE && a.name) {
        add_type(t, &a);
        inside = IN_TYPE;
    } else if (!strcmp(name, "field") && in == IN_TYPE && a.name) {
        add_field(t, &a);
        inside = IN_FIELD;
    } else if (in == IN_FIELD && !strcmp(name, "annotation")) {
        struct jfr_type *k = &t->types->type[t->types->count - 1];
        uint64_t ns = unit_ns(a.value);
        if (ns)
            k->field[k->fields - 1].ns = ns;
    }
    uint64_t children = jfr_cursor_number(&t->c, 4);
    if (children && depth == DEPTH_MAX)
        t->c.bad = true;
    for (uint64_t i = 0; i < children && !t->c.bad && !t->no_memory; i++)
        element(t, inside, depth + 1);
}

/* ---- the table of strings ---- */

/* A string takes at least one byte, and each byte of the file gives at most three bytes of text. */
static int read_names(struct jfr_types *t, struct jfr_cursor *c) {
    uint64_t names = jfr_cursor_number(c, 4);
    size_t left = jfr_cursor_left(c);
    if (c->bad || names > left)
        return -EINVAL;
    t->name = calloc((size_t)names + 1, sizeof *t->name);
    t->text = malloc(left * 4 + 1);
    if (!t->name || !t->text)
        return -ENOMEM;
    char *to = t->text;
    for (; t->names < names; t->names++) {
        struct jfr_string s = jfr_cursor_string(c);
        if (c->bad)
            return -EINVAL;
        t->name[t->names] = to;
        to += jfr_string_copy(&s, c, to, (size_t)(t->text + left * 4 - to));
        *to++ = '\0';
    }
    return 0;
}

/* ---- the whole metadata event ---- */

static int by_id(const void *a, const void *b) {
    const struct jfr_type *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void resolve(struct jfr_types *t) {
    if (t->count)
        qsort(t->type, t->count, sizeof *t->type, by_id);
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t j = 0; j < t->type[i].fields; j++)
            t->type[i].field[j].type = jfr_type_by_id(t, t->type[i].field[j].type_id);
}

int jfr_types_read(struct jfr_types *t, struct jfr_cursor c) {
    struct tree tree = {.types = t};
    *t = (struct jfr_types){0};
    jfr_cursor_number(&c, 8); /* start */
    jfr_cursor_number(&c, 8); /* duration */
    jfr_cursor_number(&c, 8); /* id of the metadata */
    int r = read_names(t, &c);
    tree.c = c;
    if (r == 0)
        element(&tree, ANYWHERE, 0);
    if (r == 0 && (tree.c.bad || tree.no_memory))
        r = tree.no_memory ? -ENOMEM : -EINVAL;
    if (r < 0)
        jfr_types_free(t);
    else
        resolve(t);
    return r;
}

void jfr_types_free(struct jfr_types *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        free(t->type[i].field);
        free(t->type[i].constant);
    }
    free(t->type);
    free(t->text);
    free(t->name);
    *t = (struct jfr_types){0};
}

struct jfr_type *jfr_type_by_id(const struct jfr_types *t, uint64_t id) {
    struct jfr_type key = {.id = id};
    return t->count ? bsearch(&key, t->type, t->count, sizeof *t->type, by_id) : NULL;
}

static struct jfr_type *type_called(const struct jfr_types *t, const char *first,
                                    const char *rest) {
    size_t n = strlen(first);
    for (uint32_t i = 0; i < t->count; i++)
        if (!strncmp(t->type[i].name, first, n) && !strcmp(t->type[i].name + n, rest))
            return &t->type[i];
    return NULL;
}

struct jfr_type *jfr_type_by_name(const struct jfr_types *t, const char *name) {
    static const struct {
        const char *now, *jdk_9;
    } packages[] = {{"jdk.types.", "com.oracle.jfr.types."}, {"jdk.", "com.oracle.jdk."}};
    struct jfr_type *found = type_called(t, name, "");
    for (size_t i = 0; !found && i < sizeof packages / sizeof packages[0]; i++) {
        size_t n = strlen(packages[i].now);
        if (!strncmp(name, packages[i].now, n))
            found = type_called(t, packages[i].jdk_9, name + n);
    }
    return found;
}

/* ---- values ---- */

int jfr_field_of(const struct jfr_type *t, const char *name) {
    for (uint32_t i = 0; t && name && i < t->fields && i < JFR_FIELDS; i++)
        if (!strcmp(t->field[i].name, name))
            return (int)i;
    return -1;
}

static void skip_field(struct jfr_cursor *c, const struct jfr_field *f, unsigned depth);

/* Returns the number, if the type is a number. A struct without fields is damage: an array of it
 * would have elements of no bytes. */
static uint64_t read_plain(struct jfr_cursor *c, const struct jfr_type *t, unsigned depth) {
    switch (t->form) {
    case JFR_BYTE:
        return jfr_cursor_byte(c);
    case JFR_CHAR:
    case JFR_SHORT:
        return jfr_cursor_number(c, 2);
    case JFR_INT:
        return jfr_cursor_number(c, 4);
    case JFR_LONG:
        return jfr_cursor_number(c, 8);
    case JFR_FLOAT:
        jfr_cursor_skip(c, 4);
        return 0;
    case JFR_DOUBLE:
        jfr_cursor_skip(c, 8);
        return 0;
    case JFR_STRING:
        jfr_cursor_string(c);
        return 0;
    case JFR_STRUCT:
        break;
    }
    if (t->fields == 0 || depth == NESTING_MAX)
        c->bad = true;
    for (uint32_t i = 0; i < t->fields && !c->bad; i++)
        skip_field(c, &t->field[i], depth + 1);
    return 0;
}

static uint64_t read_one(struct jfr_cursor *c, const struct jfr_field *f, unsigned depth) {
    if (f->pool)
        return jfr_cursor_number(c, 8);
    if (!f->type) {
        c->bad = true;
        return 0;
    }
    return read_plain(c, f->type, depth);
}

static void skip_field(struct jfr_cursor *c, const struct jfr_field *f, unsigned depth) {
    if (!f->array) {
        read_one(c, f, depth);
        return;
    }
    uint64_t count = jfr_cursor_number(c, 4);
    for (uint64_t i = 0; i < count && !c->bad; i++)
        read_one(c, f, depth);
}

bool jfr_value_read(struct jfr_cursor *c, const struct jfr_type *t,
                    struct jfr_value v[JFR_FIELDS]) {
    for (uint32_t i = 0; i < t->fields && !c->bad; i++) {
        struct jfr_value value = {.at = c->at};
        if (t->field[i].array)
            skip_field(c, &t->field[i], 0);
        else
            value.number = read_one(c, &t->field[i], 0);
        if (i < JFR_FIELDS)
            v[i] = value;
    }
    return !c->bad;
}

bool jfr_value_skip(struct jfr_cursor *c, const struct jfr_type *t) {
    read_plain(c, t, 0);
    return !c->bad;
}
