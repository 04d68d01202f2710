/* Writes the metadata event: the table of jfr_types.c in the form of a tree. */
#include "core/export/jfr/jfr_types.h"
#include "core/export/jfr/jfr_write.h"

#include <stdio.h>
#include <string.h>

uint32_t jfr_type(const char *name) {
    for (uint32_t i = 0; i < jfr_type_count; i++)
        if (!strcmp(jfr_types[i].name, name))
            return i + JFR_TYPES_BEGIN;
    return 0;
}

struct metadata {
    struct text tree;
    struct jfr_names names; /* all strings; an index here is one less than the number from
                               jfr_name */
};

static void word(struct metadata *m, const char *s) {
    jfr_number(&m->tree, jfr_name(&m->names, s, strlen(s)) - 1);
}

/* Begins an element. The caller then adds its attributes and the number of its children. */
static void element(struct metadata *m, const char *name, unsigned attributes) {
    word(m, name);
    jfr_number(&m->tree, attributes);
}

static void attribute(struct metadata *m, const char *key, const char *value) {
    word(m, key);
    word(m, value);
}

static void attribute_type(struct metadata *m, const char *key, const char *type) {
    char id[16];
    snprintf(id, sizeof id, "%u", (unsigned)jfr_type(type));
    attribute(m, key, id);
}

static void children(struct metadata *m, unsigned n) {
    jfr_number(&m->tree, n);
}

/* `value` NULL: the annotation has no value. */
static void annotation(struct metadata *m, const char *type, const char *key, const char *value) {
    element(m, "annotation", value ? 2 : 1);
    attribute_type(m, "class", type);
    if (value)
        attribute(m, key, value);
    children(m, 0);
}

/* Adds a category. "Java Virtual Machine/Profiling" gives two levels. */
static void category(struct metadata *m, const char *path) {
    size_t first = strcspn(path, "/");
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)first, path);
    element(m, "annotation", path[first] ? 3 : 2);
    attribute_type(m, "class", "jdk.jfr.Category");
    attribute(m, "value-0", part);
    if (path[first])
        attribute(m, "value-1", path + first + 1);
    children(m, 0);
}

static void content_of(struct metadata *m, enum jfr_content content) {
    static const struct {
        const char *type, *value;
    } of[] = {
        [TICKS] = {"jdk.jfr.Timestamp", "TICKS"},
        [DURATION] = {"jdk.jfr.Timespan", "TICKS"},
        [MILLIS] = {"jdk.jfr.Timespan", "MILLISECONDS"},
        [MILLIS_SINCE] = {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH"},
        [BYTES] = {"jdk.jfr.DataAmount", "BYTES"},
        [ADDRESS] = {"jdk.jfr.MemoryAddress", NULL},
        [PERCENT] = {"jdk.jfr.Percentage", NULL},
    };
    if (content != PLAIN)
        annotation(m, of[content].type, "value", of[content].value);
}

static void add_field(struct metadata *m, const struct jfr_field *f) {
    element(m, "field", 2u + f->pool + f->array);
    attribute(m, "name", f->name);
    attribute_type(m, "class", f->type);
    if (f->pool)
        attribute(m, "constantPool", "true");
    if (f->array)
        attribute(m, "dimension", "1");
    children(m, (f->label ? 1u : 0u) + (f->content != PLAIN ? 1u : 0u));
    if (f->label)
        annotation(m, "jdk.jfr.Label", "value", f->label);
    content_of(m, f->content);
}

static void add_type(struct metadata *m, const struct jfr_type_row *t) {
    unsigned fields = 0;
    while (fields < JFR_FIELDS && t->field[fields].name)
        fields++;
    element(m, "class", 2u + (t->super != NULL) + t->simple);
    attribute_type(m, "id", t->name);
    attribute(m, "name", t->name);
    if (t->super)
        attribute(m, "superType", t->super);
    if (t->simple)
        attribute(m, "simpleType", "true");
    children(m, fields + (t->label != NULL) + (t->category != NULL));
    if (t->label)
        annotation(m, "jdk.jfr.Label", "value", t->label);
    if (t->category)
        category(m, t->category);
    for (unsigned i = 0; i < fields; i++)
        add_field(m, &t->field[i]);
}

void jfr_metadata(struct text *out, uint64_t ticks) {
    struct metadata m = {0};
    element(&m, "root", 0);
    children(&m, 2);
    element(&m, "metadata", 0);
    children(&m, jfr_type_count);
    for (uint32_t i = 0; i < jfr_type_count; i++)
        add_type(&m, &jfr_types[i]);
    element(&m, "region", 2);
    attribute(&m, "locale", "en_US");
    attribute(&m, "gmtOffset", "0");
    children(&m, 0);

    size_t at = jfr_begin(out);
    jfr_number(out, JFR_EVENT_METADATA);
    jfr_number(out, ticks);
    jfr_number(out, 0); /* duration */
    /* Id of the metadata: if two chunks have the same id, the JDK mixes up their constants. */
    jfr_number(out, ticks + 1);
    jfr_number(out, m.names.count);
    for (uint32_t i = 1; i <= m.names.count; i++)
        jfr_string(out, jfr_name_text(&m.names, i));
    text_add_n(out, m.tree.data, m.tree.len);
    jfr_end(out, at);
    out->failed |= m.tree.failed | m.names.bytes.failed;
    text_free(&m.tree);
    jfr_names_free(&m.names);
}
