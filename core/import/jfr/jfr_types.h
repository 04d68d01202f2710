/*
 * The types of a chunk as its metadata event describes them: a tree of elements with attributes,
 * names and values being numbers of one table of strings (core/export/jfr/jfr_types.c draws it).
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_TYPES_H
#define JTOP_IMPORT_JFR_JFR_TYPES_H

#include "core/import/jfr/jfr_cursor.h"

enum jfr_form {
    JFR_STRUCT,
    JFR_BYTE, /* boolean too */
    JFR_CHAR,
    JFR_SHORT,
    JFR_INT,
    JFR_LONG,
    JFR_FLOAT,
    JFR_DOUBLE,
    JFR_STRING,
};

struct jfr_type;

struct jfr_field {
    const char *name;
    uint64_t type_id;
    struct jfr_type *type; /* NULL: not described; then nothing that has it can be read */
    bool pool;             /* a number of the type's constants */
    bool array;
    uint64_t ns; /* of one unit, of a time span; 0: ticks, or none */
};

/* A constant: where its value is in the file. */
struct jfr_constant {
    uint64_t number;
    const uint8_t *at;
    uint64_t known; /* what a reader made of it; 0: nothing yet */
};

#define JFR_NO_EVENT 0xffu

struct jfr_type {
    uint64_t id;
    const char *name;
    enum jfr_form form;
    struct jfr_field *field;
    uint32_t fields, cap;
    uint8_t event; /* for the reader of events: which one; JFR_NO_EVENT at first */
    /* its constants, see jfr_pools.h */
    struct jfr_constant *constant;
    uint32_t constants, room;
};

struct jfr_types {
    struct jfr_type *type; /* by id */
    uint32_t count, cap;
    char *text;        /* of all names */
    const char **name; /* the table of strings */
    uint64_t names;
};

/* `c` is a metadata event's, behind its type. 0, -ENOMEM, or -EINVAL: it is damaged. */
int jfr_types_read(struct jfr_types *t, struct jfr_cursor c);
void jfr_types_free(struct jfr_types *t);

/* NULL: there is none. */
struct jfr_type *jfr_type_by_id(const struct jfr_types *t, uint64_t id);
/* By the name of today; JDK 9 had other packages. */
struct jfr_type *jfr_type_by_name(const struct jfr_types *t, const char *name);

/* ---- values ---- */

#define JFR_FIELDS 32 /* of those beyond nothing is kept */

struct jfr_value {
    uint64_t number;   /* of numbers (a float's bits), and of constants; 0 for others */
    const uint8_t *at; /* its first byte */
};

/* -1: there is none, or it is beyond those that are kept. `name` NULL: there is none. */
int jfr_field_of(const struct jfr_type *t, const char *name);

/* Reads all fields of a struct. False: it is damaged. */
bool jfr_value_read(struct jfr_cursor *c, const struct jfr_type *t, struct jfr_value v[JFR_FIELDS]);
bool jfr_value_skip(struct jfr_cursor *c, const struct jfr_type *t);

#endif
