/*
 * What an OTLP message's samples refer to by number: strings, functions, locations, stacks and
 * attributes, each once. Written as it grows, in pieces that follow each other.
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

/* For packing messages into a text. */
struct otlp_sink {
    ProtobufCBuffer buffer; /* first: it is what the packer is given */
    struct text *out;
};

struct otlp_sink otlp_sink_of(struct text *out);

struct otlp_dictionary {
    struct text body; /* the Dictionary's fields, packed */
    const struct profile *p;
    const struct export_options *o;
    struct frame_names *names;
    struct places places;

    struct text texts; /* the strings with their NULs … */
    size_t *string;    /* … each one's place in it, by number */
    uint32_t strings, string_cap;
    struct index string_index;
    int32_t *function; /* number of a printed name's; 0: not written */
    uint32_t functions, function_cap;
    int32_t *mapping; /* its string; few of them */
    uint32_t mappings, mapping_cap;
    uint32_t *stack_node; /* the call tree's node of each stack */
    uint32_t stacks, stack_cap;
    struct index stack_index;
    int32_t attributes;
    int32_t frame_type[3], frame_tier[TIERS]; /* attributes; 0: not written */
    struct profile_frame *frame;              /* scratch */
    int32_t *location;
    int error;
};

/* 0 or -ENOMEM; otlp_dictionary_free is due in any case. */
int otlp_dictionary_begin(struct otlp_dictionary *d, const struct profile *p,
                          const struct export_options *o);
void otlp_dictionary_free(struct otlp_dictionary *d);

/* All return a number in their table; 0, and d->error, without memory. */
int32_t otlp_string(struct otlp_dictionary *d, const char *s);
int32_t otlp_stack(struct otlp_dictionary *d, const struct query *question, uint32_t node);
int32_t otlp_attribute_string(struct otlp_dictionary *d, const char *key, const char *value);
int32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value);

#endif
