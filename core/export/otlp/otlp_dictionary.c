#include "core/export/otlp/otlp_dictionary.h"

#include "core/base/hash.h"
#include "core/export/formats.h"

#include <core/export/otlp/otlp.pb-c.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_JVM, TYPE_NATIVE, TYPE_KERNEL };

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data) {
    struct otlp_sink *sink = (struct otlp_sink *)(void *)buffer;
    text_add_n(sink->out, (const char *)data, size);
}

struct otlp_sink otlp_sink_of(struct text *out) {
    return (struct otlp_sink){.buffer = {append}, .out = out};
}

static void emit(struct otlp_dictionary *d, const Otlp__Dictionary *piece) {
    struct otlp_sink sink = otlp_sink_of(&d->body);
    (void)otlp__dictionary__pack_to_buffer(piece, &sink.buffer);
}

static int32_t out_of_memory(struct otlp_dictionary *d) {
    d->error = -ENOMEM;
    return 0;
}

/* Grows *list until index `at` fits. New entries are all zeroes. */
static bool reserve(void *list, uint32_t at, uint32_t *cap, size_t size) {
    if (at < *cap)
        return true;
    uint32_t more = at < UINT32_MAX / 2 - 1024 ? at * 2 + 1024 : UINT32_MAX;
    char *grown = realloc(*(void **)list, more * size);
    if (!grown)
        return false;
    memset(grown + *cap * size, 0, (more - *cap) * size);
    *(void **)list = grown;
    *cap = more;
    return true;
}

int32_t otlp_string(struct otlp_dictionary *d, const char *s) {
    size_t len = strlen(s);
    uint64_t seed = index_seed(&d->string_index);
    uint32_t hash = (uint32_t)hash_bytes(seed, s, len), pos = hash, id;
    while ((id = index_next(&d->string_index, hash, &pos)) != INDEX_NONE)
        if (!strcmp(d->texts.data + d->string[id], s))
            return (int32_t)id;
    if (d->strings >= INT32_MAX || index_reserve(&d->string_index) != 0 ||
        !reserve(&d->string, d->strings, &d->string_cap, sizeof *d->string))
        return out_of_memory(d);
    d->string[d->strings] = d->texts.len;
    text_add_n(&d->texts, s, len + 1);
    if (d->texts.failed)
        return out_of_memory(d);
    index_put(&d->string_index, hash, d->strings);

    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    char *string = (char *)(uintptr_t)s;
    piece.n_string_table = 1;
    piece.string_table = &string;
    emit(d, &piece);
    return (int32_t)d->strings++;
}

static int32_t add_attribute(struct otlp_dictionary *d, const char *key, Otlp__AnyValue *value) {
    Otlp__Attribute attribute = OTLP__ATTRIBUTE__INIT, *one = &attribute;
    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    attribute.key_strindex = key ? otlp_string(d, key) : 0;
    attribute.value = value;
    piece.n_attribute_table = 1;
    piece.attribute_table = &one;
    emit(d, &piece);
    return d->attributes++;
}

int32_t otlp_attribute_string(struct otlp_dictionary *d, const char *key, const char *value) {
    Otlp__AnyValue any = OTLP__ANY_VALUE__INIT;
    any.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
    any.string_value = (char *)(uintptr_t)value;
    return add_attribute(d, key, &any);
}

int32_t otlp_attribute_number(struct otlp_dictionary *d, const char *key, int64_t value) {
    Otlp__AnyValue any = OTLP__ANY_VALUE__INIT;
    any.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
    any.int_value = value;
    return add_attribute(d, key, &any);
}

static int32_t mapping_of(struct otlp_dictionary *d, const char *module) {
    int32_t name = module[0] ? otlp_string(d, module) : 0;
    /* Search from the end: a frame's library is mostly that of the frame before. */
    for (uint32_t i = d->mappings; name && i-- > 0;)
        if (d->mapping[i] == name)
            return (int32_t)i;
    if (!name)
        return 0;
    if (!reserve(&d->mapping, d->mappings, &d->mapping_cap, sizeof *d->mapping))
        return out_of_memory(d);
    Otlp__Mapping mapping = OTLP__MAPPING__INIT, *one = &mapping;
    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    mapping.filename_strindex = name;
    piece.n_mapping_table = 1;
    piece.mapping_table = &one;
    emit(d, &piece);
    d->mapping[d->mappings] = name;
    return (int32_t)d->mappings++;
}

static int32_t function_of(struct otlp_dictionary *d, const struct place *at,
                           const struct method *m) {
    uint64_t tier[TIERS] = {0};
    tier[at->tier] = 1;
    const struct frame_printed *name = frame_names_get(d->names, at->method, tier);
    if (!name || !reserve(&d->function, name->id, &d->function_cap, sizeof *d->function))
        return out_of_memory(d);
    if (!d->function[name->id]) {
        Otlp__Function function = OTLP__FUNCTION__INIT, *one = &function;
        Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
        char source[512];
        places_source(m, source, sizeof source);
        function.name_strindex = function.system_name_strindex = otlp_string(d, name->text);
        function.filename_strindex = source[0] ? otlp_string(d, source) : 0;
        piece.n_function_table = 1;
        piece.function_table = &one;
        emit(d, &piece);
        d->function[name->id] = (int32_t)d->functions++;
    }
    return d->function[name->id];
}

static int32_t frame_type_of(struct otlp_dictionary *d, enum method_kind kind) {
    static const char *const name[] = {"jvm", "native", "kernel"};
    int type = kind == METHOD_JAVA || kind == METHOD_CLASS ? TYPE_JVM
               : kind == METHOD_KERNEL                     ? TYPE_KERNEL
                                                           : TYPE_NATIVE;
    if (!d->frame_type[type])
        d->frame_type[type] = otlp_attribute_string(d, "profile.frame.type", name[type]);
    return d->frame_type[type];
}

static int32_t frame_tier_of(struct otlp_dictionary *d, uint8_t tier) {
    static const char *const name[TIERS] = {[TIER_INTERPRETED] = "interpreted",
                                            [TIER_C1] = "c1",
                                            [TIER_C2] = "c2",
                                            [TIER_INLINED] = "inlined"};
    if (!name[tier])
        return 0;
    if (!d->frame_tier[tier])
        d->frame_tier[tier] = otlp_attribute_string(d, "jtop_prof.frame.tier", name[tier]);
    return d->frame_tier[tier];
}

static void add_location(struct otlp_dictionary *d, const struct place *at) {
    const struct method *m = method_table_get(profile_methods_const(d->p), at->method);
    Otlp__Line line = OTLP__LINE__INIT, *lines = &line;
    Otlp__Location location = OTLP__LOCATION__INIT, *one = &location;
    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    int32_t attribute[2] = {frame_type_of(d, m->kind), frame_tier_of(d, at->tier)};
    line.function_index = function_of(d, at, m);
    line.line = at->line;
    location.mapping_index = mapping_of(d, m->module);
    location.n_lines = 1;
    location.lines = &lines;
    location.n_attribute_indices = attribute[1] ? 2 : 1;
    location.attribute_indices = attribute;
    piece.n_location_table = 1;
    piece.location_table = &one;
    emit(d, &piece);
}

static void add_stack(struct otlp_dictionary *d, const struct query *question, uint32_t node) {
    Otlp__Stack stack = OTLP__STACK__INIT, *one = &stack;
    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    uint32_t frames = history_stack(d->p, question, node, d->frame);
    for (uint32_t i = 0; i < frames; i++) {
        const struct profile_frame *f = &d->frame[i];
        const struct place at = {f->method, f->line, f->tier < TIERS ? f->tier : 0};
        bool is_new;
        uint32_t number = places_number(&d->places, at, &is_new);
        if (number >= INT32_MAX) {
            d->error = -ENOMEM;
            return;
        }
        if (is_new)
            add_location(d, &at);
        d->location[i] = (int32_t)number + 1;
    }
    stack.n_location_indices = frames;
    stack.location_indices = d->location;
    piece.n_stack_table = 1;
    piece.stack_table = &one;
    emit(d, &piece);
}

int32_t otlp_stack(struct otlp_dictionary *d, const struct query *question, uint32_t node) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&d->stack_index), node, 0), pos = hash, id;
    while ((id = index_next(&d->stack_index, hash, &pos)) != INDEX_NONE)
        if (d->stack_node[id] == node)
            return (int32_t)id;
    if (d->stacks >= INT32_MAX || index_reserve(&d->stack_index) != 0 ||
        !reserve(&d->stack_node, d->stacks, &d->stack_cap, sizeof *d->stack_node))
        return out_of_memory(d);
    index_put(&d->stack_index, hash, d->stacks);
    d->stack_node[d->stacks] = node;
    add_stack(d, question, node);
    return (int32_t)d->stacks++;
}

/* Adds the empty entry that every table begins with. */
static void add_nothings(struct otlp_dictionary *d) {
    Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings = &mapping;
    Otlp__Location location = OTLP__LOCATION__INIT, *locations = &location;
    Otlp__Function function = OTLP__FUNCTION__INIT, *functions = &function;
    Otlp__Link link = OTLP__LINK__INIT, *links = &link;
    Otlp__Attribute attribute = OTLP__ATTRIBUTE__INIT, *attributes = &attribute;
    Otlp__Stack stack = OTLP__STACK__INIT, *stacks = &stack;
    Otlp__Dictionary piece = OTLP__DICTIONARY__INIT;
    (void)otlp_string(d, "");
    piece.n_mapping_table = piece.n_location_table = piece.n_function_table = 1;
    piece.n_link_table = piece.n_attribute_table = piece.n_stack_table = 1;
    piece.mapping_table = &mappings;
    piece.location_table = &locations;
    piece.function_table = &functions;
    piece.link_table = &links;
    piece.attribute_table = &attributes;
    piece.stack_table = &stacks;
    emit(d, &piece);
    d->functions = d->mappings = d->stacks = 1;
    d->attributes = 1;
}

int otlp_dictionary_begin(struct otlp_dictionary *d, const struct profile *p,
                          const struct export_options *o) {
    *d = (struct otlp_dictionary){.p = p, .o = o};
    d->names = frame_names_new(profile_methods_const(p), formats_name_style(o) | NAME_DOTTED,
                               o->annotate, NULL);
    d->frame = malloc(PROFILE_STACK_MAX * sizeof *d->frame);
    d->location = malloc(PROFILE_STACK_MAX * sizeof *d->location);
    if (!d->names || !d->frame || !d->location ||
        !reserve(&d->mapping, 0, &d->mapping_cap, sizeof *d->mapping) ||
        !reserve(&d->stack_node, 0, &d->stack_cap, sizeof *d->stack_node))
        return -ENOMEM;
    add_nothings(d);
    return d->error;
}

void otlp_dictionary_free(struct otlp_dictionary *d) {
    frame_names_free(d->names);
    places_free(&d->places);
    index_free(&d->string_index);
    index_free(&d->stack_index);
    text_free(&d->body);
    text_free(&d->texts);
    free(d->string);
    free(d->function);
    free(d->mapping);
    free(d->stack_node);
    free(d->frame);
    free(d->location);
}
