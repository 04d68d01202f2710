/*
 * JFR files made by hand, and the records that come out of them.
 *
 *      struct jfr_file f = {0};
 *      jfr_file_chunk(&f);
 *      jfr_file_stack(&f, 7, …);        constants, kept until the chunk ends
 *      jfr_file_sample(&f, 1000, 7);
 *      jfr_file_end(&f);
 *
 * Context: tests and fuzz targets.
 */
#ifndef JTOP_TEST_JFR_FIXTURE_H
#define JTOP_TEST_JFR_FIXTURE_H

#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct jfr_file {
    struct text out;
    bool fixed;   /* numbers are not compressed */
    bool jdk_9;   /* the JDK's names of then */
    bool both;    /* as async-profiler 3: execution samples have a state, and wall is among them */
    size_t chunk; /* where it began */
    size_t event; /* the one being made */
    size_t metadata; /* in the chunk */
};

/* Types, by their place here; the first two are not constants'. */
enum jfr_file_type {
    T_METADATA,
    T_CONSTANTS,
    T_BOOLEAN,
    T_INT,
    T_LONG,
    T_STRING,
    T_CLASS,
    T_SYMBOL,
    T_THREAD,
    T_METHOD,
    T_FRAME_TYPE,
    T_FRAME,
    T_STACK,
    T_EXECUTION,
    T_ALLOC,
    T_ENTER,
    T_MALLOC,
    T_FREE,
    T_PAUSE,
    T_SETTING,
    T_LIVE,
    T_WALL,
    T_NATIVE,
    T_EVENT,
    T_STATE,
    T_TYPES
};

struct jfr_file_field {
    const char *name;
    enum jfr_file_type type;
    char how; /* 'p': constant, 'a': array, 'm': milliseconds */
};

static const struct {
    const char *name;
    struct jfr_file_field field[8];
} jfr_file_types[T_TYPES] = {
    [T_BOOLEAN] = {"boolean", {{0}}},
    [T_INT] = {"int", {{0}}},
    [T_LONG] = {"long", {{0}}},
    [T_STRING] = {"java.lang.String", {{0}}},
    [T_CLASS] = {"java.lang.Class", {{"name", T_SYMBOL, 'p'}}},
    [T_SYMBOL] = {"jdk.types.Symbol", {{"string", T_STRING, 0}}},
    [T_THREAD] = {"java.lang.Thread",
                  {{"osName", T_STRING, 0},
                   {"osThreadId", T_LONG, 0},
                   {"javaName", T_STRING, 0},
                   {"javaThreadId", T_LONG, 0},
                   {"virtual", T_BOOLEAN, 0}}},
    [T_METHOD] = {"jdk.types.Method",
                  {{"type", T_CLASS, 'p'}, {"name", T_SYMBOL, 'p'}, {"descriptor", T_SYMBOL, 'p'}}},
    [T_FRAME_TYPE] = {"jdk.types.FrameType", {{"description", T_STRING, 0}}},
    [T_FRAME] = {"jdk.types.StackFrame",
                 {{"method", T_METHOD, 'p'},
                  {"lineNumber", T_INT, 0},
                  {"type", T_FRAME_TYPE, 'p'}}},
    [T_STACK] = {"jdk.types.StackTrace", {{"truncated", T_BOOLEAN, 0}, {"frames", T_FRAME, 'a'}}},
    [T_EXECUTION] = {"jdk.ExecutionSample",
                     {{"startTime", T_LONG, 0},
                      {"sampledThread", T_THREAD, 'p'},
                      {"stackTrace", T_STACK, 'p'},
                      {"state", T_STATE, 'p'}}},
    [T_ALLOC] = {"jdk.ObjectAllocationSample",
                 {{"startTime", T_LONG, 0},
                  {"eventThread", T_THREAD, 'p'},
                  {"stackTrace", T_STACK, 'p'},
                  {"objectClass", T_CLASS, 'p'},
                  {"weight", T_LONG, 0}}},
    [T_ENTER] = {"jdk.JavaMonitorEnter",
                 {{"startTime", T_LONG, 0},
                  {"duration", T_LONG, 'm'},
                  {"eventThread", T_THREAD, 'p'},
                  {"stackTrace", T_STACK, 'p'},
                  {"monitorClass", T_CLASS, 'p'},
                  {"previousOwner", T_THREAD, 'p'},
                  {"address", T_LONG, 0}}},
    [T_MALLOC] = {"profiler.Malloc",
                  {{"startTime", T_LONG, 0},
                   {"eventThread", T_THREAD, 'p'},
                   {"stackTrace", T_STACK, 'p'},
                   {"address", T_LONG, 0},
                   {"size", T_LONG, 0}}},
    [T_FREE] = {"profiler.Free",
                {{"startTime", T_LONG, 0},
                 {"eventThread", T_THREAD, 'p'},
                 {"stackTrace", T_STACK, 'p'},
                 {"address", T_LONG, 0}}},
    [T_PAUSE] = {"jdk.GCPhasePause", {{"startTime", T_LONG, 0}, {"duration", T_LONG, 0}}},
    [T_SETTING] = {"jdk.ActiveSetting",
                   {{"startTime", T_LONG, 0},
                    {"id", T_LONG, 0},
                    {"name", T_STRING, 0},
                    {"value", T_STRING, 0}}},
    [T_LIVE] = {"profiler.LiveObject",
                {{"startTime", T_LONG, 0},
                 {"eventThread", T_THREAD, 'p'},
                 {"stackTrace", T_STACK, 'p'},
                 {"objectClass", T_CLASS, 'p'},
                 {"allocationSize", T_LONG, 0}}},
    [T_WALL] = {"profiler.WallClockSample",
                {{"startTime", T_LONG, 0},
                 {"sampledThread", T_THREAD, 'p'},
                 {"stackTrace", T_STACK, 'p'},
                 {"samples", T_INT, 0}}},
    [T_NATIVE] = {"jdk.NativeMethodSample",
                  {{"startTime", T_LONG, 0},
                   {"sampledThread", T_THREAD, 'p'},
                   {"stackTrace", T_STACK, 'p'}}},
    [T_EVENT] = {"profiler.EventSample",
                 {{"startTime", T_LONG, 0},
                  {"sampledThread", T_THREAD, 'p'},
                  {"stackTrace", T_STACK, 'p'},
                  {"event", T_STRING, 0},
                  {"weight", T_LONG, 0},
                  {"unit", T_STRING, 0}}},
    [T_STATE] = {"jdk.types.ThreadState", {{"name", T_STRING, 0}}},
};

static inline void jfr_file_big(char *to, uint64_t n, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0; n >>= 8)
        to[i] = (char)(n & 0xff);
}

/* `bytes`: where numbers are of fixed width. */
static inline void jfr_file_number(struct jfr_file *f, uint64_t n, unsigned bytes) {
    char raw[9];
    unsigned len = 0;
    if (f->fixed) {
        jfr_file_big(raw, n, bytes);
        len = bytes;
    } else {
        for (; n > 0x7f && len < 8; n >>= 7)
            raw[len++] = (char)(n | 0x80);
        raw[len++] = (char)n;
    }
    text_add_n(&f->out, raw, len);
}

static inline void jfr_file_long(struct jfr_file *f, uint64_t n) {
    jfr_file_number(f, n, 8);
}

static inline void jfr_file_int(struct jfr_file *f, uint64_t n) {
    jfr_file_number(f, n, 4);
}

static inline void jfr_file_byte(struct jfr_file *f, unsigned n) {
    char b = (char)n;
    text_add_n(&f->out, &b, 1);
}

/* As UTF-8; NULL: null. */
static inline void jfr_file_string(struct jfr_file *f, const char *s) {
    jfr_file_byte(f, s ? 3 : 0);
    if (s) {
        jfr_file_int(f, strlen(s));
        text_add_n(&f->out, s, strlen(s));
    }
}

/* An event's size is written with four bytes whatever it is. */
static inline void jfr_file_begin(struct jfr_file *f, uint64_t type) {
    f->event = f->out.len;
    text_add_n(&f->out, "\0\0\0\0", 4);
    jfr_file_long(f, type);
}

static inline void jfr_file_finish(struct jfr_file *f) {
    uint64_t n = f->out.len - f->event;
    char *at = f->out.data + f->event;
    if (f->fixed)
        jfr_file_big(at, n, 4);
    else
        for (unsigned i = 0; i < 4; i++, n >>= 7)
            at[i] = (char)(i < 3 ? n | 0x80 : n);
}

/* ---- constants ---- */

static inline void jfr_file_checkpoint(struct jfr_file *f, unsigned pools) {
    jfr_file_begin(f, T_CONSTANTS);
    jfr_file_long(f, 0); /* start */
    jfr_file_long(f, 0); /* duration */
    jfr_file_long(f, 0); /* the one before */
    jfr_file_byte(f, 1);
    jfr_file_int(f, pools);
}

static inline void jfr_file_pool(struct jfr_file *f, enum jfr_file_type type, unsigned count) {
    jfr_file_long(f, type);
    jfr_file_int(f, count);
}

static inline void jfr_file_symbol(struct jfr_file *f, uint64_t number, const char *s) {
    jfr_file_long(f, number);
    jfr_file_string(f, s);
}

/* A stack's frames follow, each by the next function. */
static inline void jfr_file_stack(struct jfr_file *f, uint64_t number, bool cut, unsigned frames) {
    jfr_file_long(f, number);
    jfr_file_byte(f, cut);
    jfr_file_int(f, frames);
}

static inline void jfr_file_frame(struct jfr_file *f, uint64_t method, unsigned line,
                                  uint64_t type) {
    jfr_file_long(f, method);
    jfr_file_int(f, line);
    jfr_file_long(f, type);
}

static inline void jfr_file_numbers(struct jfr_file *f, const uint64_t *n, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        jfr_file_long(f, n[i]);
}

/* An event all of whose fields are longs or constants. */
#define jfr_file_event(f, type, ...)                                                               \
    do {                                                                                           \
        const uint64_t n_[] = {__VA_ARGS__};                                                       \
        jfr_file_begin(f, type);                                                                   \
        jfr_file_numbers(f, n_, sizeof n_ / sizeof n_[0]);                                         \
        jfr_file_finish(f);                                                                        \
    } while (0)

static inline void jfr_file_setting(struct jfr_file *f, uint64_t of, const char *name,
                                    const char *value) {
    jfr_file_begin(f, T_SETTING);
    jfr_file_long(f, 0);
    jfr_file_long(f, of);
    jfr_file_string(f, name);
    jfr_file_string(f, value);
    jfr_file_finish(f);
}

/* On thread 1, with stack 1. */
static inline void jfr_file_event_sample(struct jfr_file *f, uint64_t time, const char *event,
                                         uint64_t weight, const char *unit) {
    jfr_file_begin(f, T_EVENT);
    jfr_file_numbers(f, (const uint64_t[]){time, 1, 1}, 3);
    jfr_file_string(f, event);
    jfr_file_long(f, weight);
    jfr_file_string(f, unit);
    jfr_file_finish(f);
}

/* ---- types ---- */

static inline void jfr_file_word(struct jfr_file *f, struct text *table, unsigned *count,
                                 const char *s) {
    struct jfr_file t = {.out = *table, .fixed = f->fixed};
    jfr_file_string(&t, s);
    *table = t.out;
    jfr_file_int(f, (*count)++);
}

static inline void jfr_file_attribute(struct jfr_file *f, struct text *table, unsigned *count,
                                      const char *key, const char *value) {
    jfr_file_word(f, table, count, key);
    jfr_file_word(f, table, count, value);
}

static inline const char *jfr_file_type_name(const struct jfr_file *f, unsigned type, char *to) {
    const char *name = jfr_file_types[type].name;
    if (f->both && (type == T_WALL || type == T_NATIVE))
        return "none";
    if (!f->jdk_9 || strncmp(name, "jdk.", 4) != 0)
        return name;
    const char *package =
        strncmp(name, "jdk.types.", 10) == 0 ? "com.oracle.jfr." : "com.oracle.jdk.";
    return strcat(strcpy(to, package), name + 4);
}

static inline void jfr_file_tree(struct jfr_file *f, struct text *table, unsigned *words) {
    char id[8], name[64];
    jfr_file_word(f, table, words, "root");
    jfr_file_int(f, 0);
    jfr_file_int(f, T_TYPES - T_BOOLEAN);
    for (unsigned type = T_BOOLEAN; type < T_TYPES; type++) {
        const struct jfr_file_field *field = jfr_file_types[type].field;
        unsigned fields = 0;
        while (fields < 8 && field[fields].name && (f->both || field[fields].type != T_STATE))
            fields++;
        jfr_file_word(f, table, words, "class");
        jfr_file_int(f, 2);
        jfr_file_attribute(f, table, words, "name", jfr_file_type_name(f, type, name));
        jfr_file_attribute(
            f, table, words, "id",
            (id[0] = (char)('0' + type / 10), id[1] = (char)('0' + type % 10), id[2] = 0, id));
        jfr_file_int(f, fields);
        for (; fields > 0; fields--, field++) {
            jfr_file_word(f, table, words, "field");
            jfr_file_int(f, field->how == 'p' || field->how == 'a' ? 3 : 2);
            jfr_file_attribute(f, table, words, "name", field->name);
            jfr_file_attribute(f, table, words, "class",
                               (id[0] = (char)('0' + field->type / 10),
                                id[1] = (char)('0' + field->type % 10), id));
            if (field->how == 'p')
                jfr_file_attribute(f, table, words, "constantPool", "true");
            if (field->how == 'a')
                jfr_file_attribute(f, table, words, "dimension", "1");
            jfr_file_int(f, field->how == 'm');
            if (field->how == 'm') {
                jfr_file_word(f, table, words, "annotation");
                jfr_file_int(f, 1);
                jfr_file_attribute(f, table, words, "value", "MILLISECONDS");
                jfr_file_int(f, 0);
            }
        }
    }
}

static inline void jfr_file_metadata(struct jfr_file *f) {
    struct jfr_file tree = {.fixed = f->fixed, .jdk_9 = f->jdk_9, .both = f->both};
    struct text table = {0};
    unsigned words = 0;
    jfr_file_tree(&tree, &table, &words);
    f->metadata = f->out.len - f->chunk;
    jfr_file_begin(f, T_METADATA);
    jfr_file_long(f, 0);
    jfr_file_long(f, 0);
    jfr_file_long(f, 1);
    jfr_file_int(f, words);
    text_add_n(&f->out, table.data, table.len);
    text_add_n(&f->out, tree.out.data, tree.out.len);
    jfr_file_finish(f);
    text_free(&table);
    text_free(&tree.out);
}

/* ---- chunks ---- */

#define JFR_FILE_START_NS UINT64_C(1700000000000000000)

/* Begins one; ticks are us, and the first is 1,000. */
static inline void jfr_file_chunk(struct jfr_file *f) {
    char header[68] = "FLR";
    f->chunk = f->out.len;
    jfr_file_big(header + 4, 2, 2);
    jfr_file_big(header + 32, JFR_FILE_START_NS, 8);
    jfr_file_big(header + 40, UINT64_C(2000000000), 8);
    jfr_file_big(header + 48, 1000, 8);
    jfr_file_big(header + 56, 1000000, 8);
    header[67] = (char)!f->fixed;
    text_add_n(&f->out, header, sizeof header);
}

static inline void jfr_file_end(struct jfr_file *f) {
    jfr_file_metadata(f);
    jfr_file_big(f->out.data + f->chunk + 8, f->out.len - f->chunk, 8);
    jfr_file_big(f->out.data + f->chunk + 24, f->metadata, 8);
}

/* A chunk's names: method 1 is a/B.m of class 1, 2 is n of no class, 3 is a/B.k; frame types 1 "JIT
 * compiled", 2 "Native", 3 "Inlined", 4 "Kernel", 5 "Error"; thread 1 "main" with tid 11, 2 virtual;
 * stack 1 is m:5 ← k:6, stack 2 is n ← m:7, stack 3 is "[no_caller]", cut; states 1 to 3. */
static inline void jfr_file_names(struct jfr_file *f) {
    static const char *const symbols[] = {"a/B", "m", "()V", "n", "", "k", "[no_caller]"};
    static const char *const types[] = {"JIT compiled", "Native", "Inlined", "Kernel", "Error"};
    static const uint64_t methods[4][4] = {{1, 1, 2, 3}, {2, 2, 4, 3}, {3, 1, 6, 3}, {4, 2, 7, 3}};
    static const char *const states[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING"};
    jfr_file_checkpoint(f, 7);
    jfr_file_pool(f, T_STATE, 3);
    for (unsigned i = 0; i < 3; i++)
        jfr_file_symbol(f, i + 1, states[i]);
    jfr_file_pool(f, T_SYMBOL, 7);
    for (unsigned i = 0; i < 7; i++)
        jfr_file_symbol(f, i + 1, symbols[i]);
    jfr_file_pool(f, T_FRAME_TYPE, 5);
    for (unsigned i = 0; i < 5; i++)
        jfr_file_symbol(f, i + 1, types[i]);
    jfr_file_pool(f, T_CLASS, 2);
    jfr_file_numbers(f, (const uint64_t[]){1, 1, 2, 5}, 4);
    jfr_file_pool(f, T_METHOD, 4);
    for (unsigned i = 0; i < 4; i++)
        jfr_file_numbers(f, methods[i], 4);
    jfr_file_pool(f, T_STACK, 3);
    jfr_file_stack(f, 1, false, 2);
    jfr_file_frame(f, 1, 5, 3);
    jfr_file_frame(f, 3, 6, 1);
    jfr_file_stack(f, 2, false, 2);
    jfr_file_frame(f, 2, 0, 2);
    jfr_file_frame(f, 1, 7, 1);
    jfr_file_stack(f, 3, true, 1);
    jfr_file_frame(f, 4, 0, 5);
    jfr_file_pool(f, T_THREAD, 2);
    jfr_file_long(f, 1);
    jfr_file_string(f, "java");
    jfr_file_long(f, 11);
    jfr_file_string(f, "main");
    jfr_file_long(f, 1);
    jfr_file_byte(f, 0);
    jfr_file_long(f, 2);
    jfr_file_string(f, NULL);
    jfr_file_long(f, 0);
    jfr_file_string(f, "v");
    jfr_file_long(f, 99);
    jfr_file_byte(f, 1);
    jfr_file_finish(f);
}

#endif
