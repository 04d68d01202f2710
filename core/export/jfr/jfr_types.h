/*
 * The table of a JFR file's types: jfr_types.c has its rows, jfr_metadata.c writes them.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_TYPES_H
#define JTOP_EXPORT_JFR_JFR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define JFR_FIELDS 21

/* What a number means. */
enum jfr_content { PLAIN, TICKS, DURATION, MILLIS, MILLIS_SINCE, BYTES, ADDRESS, PERCENT };

struct jfr_field {
    const char *name, *type;
    const char *label; /* NULL: none */
    bool pool;         /* a number of the type's constants */
    bool array;
    enum jfr_content content;
};

struct jfr_type_row {
    const char *name;
    const char *super; /* NULL: none */
    bool simple;       /* stands for its only field */
    const char *label, *category;
    struct jfr_field field[JFR_FIELDS];
};

extern const struct jfr_type_row jfr_types[];
extern const uint32_t jfr_type_count;

#endif
