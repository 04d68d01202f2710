/*
 * The table of the types in a JFR file: jfr_types.c contains its rows, jfr_metadata.c writes them.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_TYPES_H
#define JTOP_EXPORT_JFR_JFR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define JFR_FIELDS 21

/* The meaning of a number. */
enum jfr_content { PLAIN, TICKS, DURATION, MILLIS, MILLIS_SINCE, BYTES, ADDRESS, PERCENT };

struct jfr_field {
    const char *name, *type;
    const char *label; /* NULL: none */
    bool pool;         /* the value is the number of a constant of this type */
    bool array;
    enum jfr_content content;
};

struct jfr_type_row {
    const char *name;
    const char *super; /* NULL: none */
    bool simple;       /* a value has the form of its only field */
    const char *label, *category;
    struct jfr_field field[JFR_FIELDS];
};

extern const struct jfr_type_row jfr_types[];
extern const uint32_t jfr_type_count;

#endif
