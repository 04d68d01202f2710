#include "core/profile/table/method_table.h"

#include "core/base/grow.h"
#include "core/profile/table/index.h"
#include "core/profile/table/strings.h"

#include <stdlib.h>
#include <string.h>

/* Limits on what a hostile process can make us keep. */
#define NAME_BYTES_MAX ((size_t)512 << 20)
#define ERROR_BYTES_MAX ((size_t)128 << 10)
#define ERRORS_MAX 256u

struct method_table {
    struct method *method;
    uint32_t count, cap;
    struct index index;
    struct strings strings,
        errors; /* errors have their own room, because the names that replace lost details are
                   needed even then */
};

static const struct method unknown_method = {METHOD_ERROR, "", "[unknown]", "", ""};

struct method_table *method_table_new(void) {
    struct method_table *t = calloc(1, sizeof *t);
    if (t) {
        t->strings.limit = NAME_BYTES_MAX;
        t->errors.limit = ERROR_BYTES_MAX;
    }
    return t;
}

void method_table_free(struct method_table *t) {
    if (!t)
        return;
    free(t->method);
    index_free(&t->index);
    strings_free(&t->strings);
    strings_free(&t->errors);
    free(t);
}

void method_table_limit(struct method_table *t, size_t bytes) {
    t->strings.limit = bytes < NAME_BYTES_MAX ? bytes : NAME_BYTES_MAX;
}

static uint32_t hash_of(struct method_table *t, const struct method *m) {
    uint64_t h = index_seed(&t->index) + (uint64_t)m->kind;
    h = hash_bytes(h, m->class_name, strlen(m->class_name));
    h = hash_bytes(h, m->name, strlen(m->name));
    h = hash_bytes(h, m->signature, strlen(m->signature));
    return (uint32_t)hash_bytes(h, m->module, strlen(m->module));
}

static bool same(const struct method *a, const struct method *b) {
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->signature, b->signature) == 0 &&
           strcmp(a->module, b->module) == 0;
}

static bool intern_text(struct strings *s, const char **text) {
    *text = strings_intern(s, *text);
    return *text != NULL;
}

uint32_t method_table_intern(struct method_table *t, enum method_kind kind, const char *class_name,
                             const char *name, const char *signature, const char *module) {
    struct method m = {
        .kind = (unsigned)kind < METHOD_KINDS ? kind : METHOD_ERROR,
        .class_name = class_name ? class_name : "",
        .name = name ? name : "",
        .signature = signature ? signature : "",
        .module = module ? module : "",
    };
    uint32_t hash = hash_of(t, &m), pos = hash, id;
    while ((id = index_next(&t->index, hash, &pos)) != INDEX_NONE)
        if (same(&t->method[id], &m))
            return id;
    struct strings *names = m.kind == METHOD_ERROR ? &t->errors : &t->strings;
    uint32_t most = METHOD_TABLE_MAX + (m.kind == METHOD_ERROR ? ERRORS_MAX : 0);
    if (t->count >= most || index_reserve(&t->index) != 0 || !GROW(t->method, t->count, t->cap))
        return METHOD_NONE;
    if (!intern_text(names, &m.class_name) || !intern_text(names, &m.name) ||
        !intern_text(names, &m.signature) || !intern_text(names, &m.module))
        return METHOD_NONE;
    t->method[t->count] = m;
    index_put(&t->index, hash, t->count);
    return t->count++;
}

const struct method *method_table_get(const struct method_table *t, uint32_t id) {
    return id < t->count ? &t->method[id] : &unknown_method;
}

uint32_t method_table_count(const struct method_table *t) {
    return t->count;
}

bool method_is_jdk(const struct method *m) {
    static const char *const prefix[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(m->class_name, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}
