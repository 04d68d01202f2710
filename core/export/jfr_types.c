/*
 * The types of a JFR file, which describes itself: a tree of named elements with attributes, all
 * strings of one table.
 *
 *      root ─┬─ metadata ─── class* (id, name, superType, simpleType) ─┬─ annotation*
 *            │                                                         └─ field* ─── annotation*
 *            └─ region (locale, gmtOffset)
 *
 * Names of types and fields are the JDK's where it has them, so that its tools know them; those
 * beginning with "profiler." are async-profiler's.
 */
#include "core/export/jfr_write.h"

#include <stdio.h>
#include <string.h>

/* What a number means. */
enum content { PLAIN, TICKS, DURATION, MILLIS, MILLIS_SINCE, BYTES, ADDRESS };

struct field {
    const char *name, *type;
    const char *label; /* NULL: none */
    bool pool;         /* a number of the type's constants */
    bool array;
    enum content content;
};

#define FIELDS 11
#define EVENT "jdk.jfr.Event"
#define ANNOTATION "java.lang.annotation.Annotation"

struct type {
    const char *name;
    const char *super; /* NULL: none */
    bool simple;       /* stands for its only field */
    const char *label, *category;
    struct field field[FIELDS];
};

#define START                                                                                      \
    { "startTime", "long", "Start Time", false, false, TICKS }
#define LASTS                                                                                      \
    { "duration", "long", "Duration", false, false, DURATION }
#define THREAD                                                                                     \
    { "eventThread", "java.lang.Thread", "Event Thread", true, false, PLAIN }
#define STACK                                                                                      \
    { "stackTrace", "jdk.types.StackTrace", "Stack Trace", true, false, PLAIN }
#define CONSTANT(name, type)                                                                       \
    { name, type, NULL, true, false, PLAIN }
#define VALUE(name, type)                                                                          \
    { name, type, NULL, false, false, PLAIN }
#define CLASS(name, label)                                                                         \
    { name, "java.lang.Class", label, true, false, PLAIN }
#define SIZE(name, label)                                                                          \
    { name, "long", label, false, false, BYTES }
#define AT(label)                                                                                  \
    { "address", "long", label, false, false, ADDRESS }

static const struct type types[] = {
    {"boolean", NULL, false, NULL, NULL, {{0}}},
    {"char", NULL, false, NULL, NULL, {{0}}},
    {"float", NULL, false, NULL, NULL, {{0}}},
    {"double", NULL, false, NULL, NULL, {{0}}},
    {"byte", NULL, false, NULL, NULL, {{0}}},
    {"short", NULL, false, NULL, NULL, {{0}}},
    {"int", NULL, false, NULL, NULL, {{0}}},
    {"long", NULL, false, NULL, NULL, {{0}}},
    {"java.lang.String", NULL, false, NULL, NULL, {{0}}},
    {"java.lang.Class",
     NULL,
     false,
     "Java Class",
     NULL,
     {CONSTANT("classLoader", "jdk.types.ClassLoader"), CONSTANT("name", "jdk.types.Symbol"),
      CONSTANT("package", "jdk.types.Package"), VALUE("modifiers", "int")}},
    {"java.lang.Thread",
     NULL,
     false,
     "Thread",
     NULL,
     {VALUE("osName", "java.lang.String"), VALUE("osThreadId", "long"),
      VALUE("javaName", "java.lang.String"), VALUE("javaThreadId", "long"),
      CONSTANT("group", "jdk.types.ThreadGroup"), VALUE("virtual", "boolean")}},
    {"jdk.types.ThreadGroup",
     NULL,
     false,
     "Thread Group",
     NULL,
     {CONSTANT("parent", "jdk.types.ThreadGroup"), VALUE("name", "java.lang.String")}},
    {"jdk.types.ClassLoader",
     NULL,
     false,
     "Java Class Loader",
     NULL,
     {CLASS("type", NULL), CONSTANT("name", "jdk.types.Symbol")}},
    {"jdk.types.FrameType",
     NULL,
     true,
     "Frame type",
     NULL,
     {VALUE("description", "java.lang.String")}},
    {"jdk.types.ThreadState",
     NULL,
     true,
     "Java Thread State",
     NULL,
     {VALUE("name", "java.lang.String")}},
    {"jdk.types.StackTrace",
     NULL,
     false,
     "Stacktrace",
     NULL,
     {VALUE("truncated", "boolean"), {"frames", "jdk.types.StackFrame", NULL, false, true, PLAIN}}},
    {"jdk.types.StackFrame",
     NULL,
     false,
     NULL,
     NULL,
     {CONSTANT("method", "jdk.types.Method"), VALUE("lineNumber", "int"),
      VALUE("bytecodeIndex", "int"), CONSTANT("type", "jdk.types.FrameType")}},
    {"jdk.types.Method",
     NULL,
     false,
     "Java Method",
     NULL,
     {CLASS("type", NULL), CONSTANT("name", "jdk.types.Symbol"),
      CONSTANT("descriptor", "jdk.types.Symbol"), VALUE("modifiers", "int"),
      VALUE("hidden", "boolean")}},
    {"jdk.types.Package", NULL, false, "Package", NULL, {CONSTANT("name", "jdk.types.Symbol")}},
    {"jdk.types.Symbol", NULL, true, "Symbol", NULL, {VALUE("string", "java.lang.String")}},

    {"jdk.jfr.Label", ANNOTATION, false, NULL, NULL, {VALUE("value", "java.lang.String")}},
    {"jdk.jfr.Category",
     ANNOTATION,
     false,
     NULL,
     NULL,
     {{"value", "java.lang.String", NULL, false, true, PLAIN}}},
    {"jdk.jfr.Timestamp", ANNOTATION, false, NULL, NULL, {VALUE("value", "java.lang.String")}},
    {"jdk.jfr.Timespan", ANNOTATION, false, NULL, NULL, {VALUE("value", "java.lang.String")}},
    {"jdk.jfr.DataAmount", ANNOTATION, false, NULL, NULL, {VALUE("value", "java.lang.String")}},
    {"jdk.jfr.MemoryAddress", ANNOTATION, false, NULL, NULL, {{0}}},

    {"jdk.ExecutionSample",
     EVENT,
     false,
     "Method Profiling Sample",
     "Java Virtual Machine/Profiling",
     {START,
      {"sampledThread", "java.lang.Thread", "Thread", true, false, PLAIN},
      STACK,
      {"state", "jdk.types.ThreadState", "Thread State", true, false, PLAIN}}},
    {"profiler.WallClockSample",
     EVENT,
     false,
     "Wall Clock Sample",
     "Java Virtual Machine/Profiling",
     {START,
      {"sampledThread", "java.lang.Thread", "Thread", true, false, PLAIN},
      STACK,
      {"samples", "int", "Samples", false, false, PLAIN}}},
    {"jdk.ObjectAllocationSample",
     EVENT,
     false,
     "Object Allocation Sample",
     "Java Application",
     {START, THREAD, STACK, CLASS("objectClass", "Object Class"), SIZE("weight", "Sample Weight")}},
    {"profiler.LiveObject",
     EVENT,
     false,
     "Live Object",
     "Java Virtual Machine/Profiling",
     {START, THREAD, STACK, CLASS("objectClass", "Object Class"),
      SIZE("allocationSize", "Allocation Size")}},
    {"jdk.JavaMonitorEnter",
     EVENT,
     false,
     "Java Monitor Blocked",
     "Java Application",
     {START,
      LASTS,
      THREAD,
      STACK,
      CLASS("monitorClass", "Monitor Class"),
      {"previousOwner", "java.lang.Thread", "Previous Monitor Owner", true, false, PLAIN},
      AT("Monitor Address")}},
    {"jdk.ThreadPark",
     EVENT,
     false,
     "Java Thread Park",
     "Java Application",
     {START,
      LASTS,
      THREAD,
      STACK,
      CLASS("parkedClass", "Class Parked On"),
      {"timeout", "long", "Park Timeout", false, false, DURATION},
      {"until", "long", "Park Until", false, false, MILLIS_SINCE},
      AT("Address of Object Parked")}},
    {"profiler.Malloc",
     EVENT,
     false,
     "malloc",
     "Java Virtual Machine/Native Memory",
     {START, THREAD, STACK, AT("Address"), SIZE("size", "Size")}},
    {"profiler.NativeLock",
     EVENT,
     false,
     "pthread Lock",
     "Java Virtual Machine/Profiling",
     {START, LASTS, THREAD, STACK, AT("Address")}},
    {"jdk.ActiveRecording",
     EVENT,
     false,
     "Flight Recording",
     "Flight Recorder",
     {START,
      LASTS,
      THREAD,
      VALUE("id", "long"),
      VALUE("name", "java.lang.String"),
      VALUE("destination", "java.lang.String"),
      {"maxAge", "long", "Max Age", false, false, MILLIS},
      SIZE("maxSize", "Max Size"),
      {"recordingStart", "long", "Start Time", false, false, MILLIS_SINCE},
      {"recordingDuration", "long", "Recording Duration", false, false, MILLIS}}},
    {"jdk.ActiveSetting",
     EVENT,
     false,
     "Recording Setting",
     "Flight Recorder",
     {START, LASTS, THREAD, VALUE("id", "long"), VALUE("name", "java.lang.String"),
      VALUE("value", "java.lang.String")}},
};

#define TYPES (sizeof types / sizeof types[0])
#define FIRST_ID 10 /* 0 and 1 are the metadata's and the checkpoint's */

uint32_t jfr_type(const char *name) {
    for (uint32_t i = 0; i < TYPES; i++)
        if (!strcmp(types[i].name, name))
            return i + FIRST_ID;
    return 0;
}

struct metadata {
    struct text tree;
    struct jfr_names names; /* of everything; an index here is one less than jfr_name's */
};

static void word(struct metadata *m, const char *s) {
    jfr_number(&m->tree, jfr_name(&m->names, s, strlen(s)) - 1);
}

/* Then come the attributes and the number of children. */
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

/* `value` NULL: it has none. */
static void annotation(struct metadata *m, const char *type, const char *key, const char *value) {
    element(m, "annotation", value ? 2 : 1);
    attribute_type(m, "class", type);
    if (value)
        attribute(m, key, value);
    children(m, 0);
}

/* "Java Virtual Machine/Profiling": two of them. */
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

static void content_of(struct metadata *m, enum content content) {
    static const struct {
        const char *type, *value;
    } of[] = {
        [TICKS] = {"jdk.jfr.Timestamp", "TICKS"},
        [DURATION] = {"jdk.jfr.Timespan", "TICKS"},
        [MILLIS] = {"jdk.jfr.Timespan", "MILLISECONDS"},
        [MILLIS_SINCE] = {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH"},
        [BYTES] = {"jdk.jfr.DataAmount", "BYTES"},
        [ADDRESS] = {"jdk.jfr.MemoryAddress", NULL},
    };
    if (content != PLAIN)
        annotation(m, of[content].type, "value", of[content].value);
}

static void add_field(struct metadata *m, const struct field *f) {
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

static void add_type(struct metadata *m, const struct type *t) {
    unsigned fields = 0;
    while (fields < FIELDS && t->field[fields].name)
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
    children(&m, TYPES);
    for (size_t i = 0; i < TYPES; i++)
        add_type(&m, &types[i]);
    element(&m, "region", 2);
    attribute(&m, "locale", "en_US");
    attribute(&m, "gmtOffset", "0");
    children(&m, 0);

    size_t at = jfr_begin(out);
    jfr_number(out, JFR_EVENT_METADATA);
    jfr_number(out, ticks);
    jfr_number(out, 0); /* duration */
    jfr_number(out, 1); /* which metadata */
    jfr_number(out, m.names.count);
    for (uint32_t i = 1; i <= m.names.count; i++)
        jfr_string(out, jfr_name_text(&m.names, i));
    text_add_n(out, m.tree.data, m.tree.len);
    jfr_end(out, at);
    out->failed |= m.tree.failed | m.names.bytes.failed;
    text_free(&m.tree);
    jfr_names_free(&m.names);
}
