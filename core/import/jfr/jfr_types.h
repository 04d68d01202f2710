/*
 * The types of a chunk, as its metadata event describes them: a tree of elements with attributes.
 * Names and values are numbers of strings in one table. (core/export/jfr/jfr_types.c has a
 * diagram.)
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_TYPES_H
#define JTOP_IMPORT_JFR_JFR_TYPES_H

#include "core/import/jfr/jfr_cursor.h"

enum jfr_form {
    JFR_STRUCT,
    JFR_BYTE, /* also boolean */
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
    struct jfr_type *type; /* NULL: the type is not described; values with such a field
                              cannot be read */
    bool pool;             /* the value is the number of one of the type's constants */
    bool array;
    uint64_t ns; /* for a time span: ns per unit; 0: the unit is ticks, or it is not a time span */
};

/* A constant: its number, and where its value is in the file. */
struct jfr_constant {
    uint64_t number;
    const uint8_t *at;
    uint64_t known; /* what a reader has made of it; 0: nothing yet */
};

#define JFR_NO_EVENT 0xffu

struct jfr_type {
    uint64_t id;
    const char *name;
    enum jfr_form form;
    struct jfr_field *field;
    uint32_t fields, cap;
    uint8_t event; /* for the reader of events: the row of this type; initially JFR_NO_EVENT */
    /* its constants, see jfr_chunk.h */
    struct jfr_constant *constant;
    uint32_t constants, room;
};

struct jfr_types {
    struct jfr_type *type; /* sorted by id */
    uint32_t count, cap;
    char *text;        /* the text of all names */
    const char **name; /* the table of strings */
    uint64_t names;
};

/* `c`: the cursor of a metadata event, behind its type. 0, -ENOMEM, or -EINVAL: the event is
 * damaged. */
int jfr_types_read(struct jfr_types *t, struct jfr_cursor c);
void jfr_types_free(struct jfr_types *t);

/* NULL: there is no such type. */
struct jfr_type *jfr_type_by_id(const struct jfr_types *t, uint64_t id);
/* Finds a type by its current name; JDK 9 used other packages. */
struct jfr_type *jfr_type_by_name(const struct jfr_types *t, const char *name);

/* ---- values ---- */

#define JFR_FIELDS 32 /* fields beyond this number are not kept */

struct jfr_value {
    uint64_t number;   /* of numbers (for a float, its bits) and of constants; 0 for other types */
    const uint8_t *at; /* the first byte of the value */
};

/* Returns the index of a field. -1: there is no such field, it is beyond those that are kept, or
 * `name` is NULL. */
int jfr_field_of(const struct jfr_type *t, const char *name);

/* Reads all fields of a struct. False: the struct is damaged. */
bool jfr_value_read(struct jfr_cursor *c, const struct jfr_type *t, struct jfr_value v[JFR_FIELDS]);
bool jfr_value_skip(struct jfr_cursor *c, const struct jfr_type *t);

#endif
