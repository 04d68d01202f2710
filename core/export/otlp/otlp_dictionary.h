/*
 * The tables that the samples of an OTLP message refer to by number: strings, functions, locations,
 * stacks and attributes, each entry once. The dictionary is written while it grows, in pieces that
 * follow each other.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_EXPORT_OTLP_OTLP_DICTIONARY_H
#define JTOP_EXPORT_OTLP_OTLP_DICTIONARY_H

#include "core/base/text.h"
#include "core/export/export.h"
#include "core/export/frame_names.h"
#include "core/export/places.h"

#include <protobuf-c/protobuf-c.h>

/* Packs messages into a text. */
struct otlp_sink {
    ProtobufCBuffer buffer; /* must be first: the packer gets a pointer to it */
    struct text *out;
};

struct otlp_sink otlp_sink_of(struct text *out);

struct otlp_dictionary {
    struct text body; /* the Dictionary's fields, packed */
    const struct profile *p;
    const struct export_options *o;
    struct frame_names *names;
    struct places places;

    struct text texts; /* the strings with their NULs */
    size_t *string;    /* offset of each string in `texts`, by number */
    uint32_t strings, string_cap;
    struct index string_index;
    int32_t *function; /* function number of each printed name; 0: not written */
    uint32_t functions, function_cap;
    int32_t *mapping; /* string number of each mapping; there are few */
    uint32_t mappings, mapping_cap;
    uint32_t *stack_node; /* the call tree node of each stack */
    uint32_t stacks, stack_cap;
    struct index stack_index;
    int32_t attributes;
    int32_t frame_type[3], frame_tier[TIERS]; /* attribute numbers; 0: not written */
    struct profile_frame *frame;              /* scratch */
    int32_t *location;
    int error;
};

/* 0 or -ENOMEM. The caller must call otlp_dictionary_free in any case. */
int otlp_dictionary_begin(struct otlp_dictionary *d, const struct profile *p,
                          const struct export_options *o);
void otlp_dictionary_free(struct otlp_dictionary *d);

/* Each returns a number in its table; if there is no memory, it returns 0 and sets d->error. */
int32_t otlp_string(struct otlp_dictionary *d, const char *s);
int32_t otlp_stack(struct otlp_dictionary *d, const struct query *question, uint32_t node);
int32_t otlp_attribute_string(struct otlp_dictionary *d, const char *key, const char *value);
int32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value);

#endif
