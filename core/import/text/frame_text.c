#include "core/import/text/frame_text.h"

#include <string.h>

#define WORD(s)                                                                                    \
    { s, sizeof(s) - 1 }
#define TEXT(s) ((struct wire_text)WORD(s))
#define NAME_MAX_BYTES (4 * WIRE_STRING_MAX) /* the rest of a name is cut anyway */

/* ---- pieces of names ---- */

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool in_identifier(char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || c == '_' || c == '$' || c == '-' ||
           (unsigned char)c >= 0x80;
}

static const char *last_of(struct wire_text t, char c) {
    return t.bytes ? memrchr(t.data, c, t.bytes) : NULL;
}

static const char *first_of(struct wire_text t, char c) {
    return t.bytes ? memchr(t.data, c, t.bytes) : NULL;
}

static struct wire_text up_to(struct wire_text t, const char *end) {
    return (struct wire_text){t.data, (size_t)(end - t.data)};
}

static struct wire_text from(struct wire_text t, const char *begin) {
    return (struct wire_text){begin, (size_t)(t.data + t.bytes - begin)};
}

static bool ends_in(struct wire_text t, struct wire_text ending) {
    return t.bytes >= ending.bytes &&
           memcmp(t.data + t.bytes - ending.bytes, ending.data, ending.bytes) == 0;
}

static bool begins_with(struct wire_text t, struct wire_text beginning) {
    return t.bytes >= beginning.bytes && memcmp(t.data, beginning.data, beginning.bytes) == 0;
}

static bool equal(struct wire_text t, struct wire_text u) {
    return t.bytes == u.bytes && begins_with(t, u);
}

/* ---- descriptors ---- */

static const struct {
    char code;
    struct wire_text name;
} primitives[] = {{'B', WORD("byte")},  {'C', WORD("char")}, {'D', WORD("double")},
                  {'F', WORD("float")}, {'I', WORD("int")},  {'J', WORD("long")},
                  {'S', WORD("short")}, {'V', WORD("void")}, {'Z', WORD("boolean")}};

static char primitive_code(struct wire_text name) {
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (equal(name, primitives[i].name))
            return primitives[i].code;
    return 0;
}

/* Returns the position behind the type descriptor at `at`, or NULL. */
static const char *behind_type(const char *at, const char *end) {
    while (at < end && *at == '[')
        at++;
    if (at == end)
        return NULL;
    if (*at == 'L') {
        const char *semicolon = memchr(at, ';', (size_t)(end - at));
        return semicolon ? semicolon + 1 : NULL;
    }
    return *at && strchr("BCDFIJSVZ", *at) ? at + 1 : NULL;
}

/* "(ILjava/lang/String;)V" */
static bool is_signature(struct wire_text t) {
    const char *at = t.data + 1, *end = t.data + t.bytes;
    if (t.bytes < 2 || t.data[0] != '(')
        return false;
    while (at && at < end && *at != ')')
        at = behind_type(at, end);
    if (!at || at >= end)
        return false;
    return at + 1 == end || behind_type(at + 1, end) == end;
}

struct name {
    size_t bytes;
    char data[NAME_MAX_BYTES];
};

static void add(struct name *n, struct wire_text t) {
    size_t room = sizeof n->data - n->bytes, taken = t.bytes < room ? t.bytes : room;
    memcpy(n->data + n->bytes, t.data, taken);
    n->bytes += taken;
}

static struct wire_text text_of(const struct name *n) {
    return (struct wire_text){n->data, n->bytes};
}

/* Adds the text with '/' between packages. */
static void add_slashed(struct name *n, struct wire_text t) {
    size_t begin = n->bytes;
    add(n, t);
    for (size_t i = begin; i < n->bytes; i++)
        if (n->data[i] == '.')
            n->data[i] = '/';
}

/* Adds "byte[]" as "[B", and "java.lang.String[]" as "[Ljava/lang/String;". `always`: a type that
 * is not an array is added as a descriptor, too. */
static void add_type(struct name *n, struct wire_text t, bool always) {
    size_t dimensions = 0;
    while (ends_in(t, TEXT("[]"))) {
        t.bytes -= 2;
        dimensions++;
    }
    char code = primitive_code(t);
    for (size_t i = 0; i < dimensions && i < 255; i++)
        add(n, TEXT("["));
    if (dimensions == 0 && !always) {
        add_slashed(n, t);
    } else if (code) {
        add(n, (struct wire_text){&code, 1});
    } else {
        add(n, TEXT("L"));
        add_slashed(n, t);
        add(n, TEXT(";"));
    }
}

/* Adds "(int, String)" as "(ILString;)". */
static void add_arguments(struct name *n, struct wire_text t) {
    add(n, TEXT("("));
    struct wire_text left = {t.data + 1, t.bytes - 2};
    while (left.bytes > 0) {
        const char *comma = first_of(left, ',');
        struct wire_text one = comma ? up_to(left, comma) : left;
        left = comma ? from(left, comma + 1) : (struct wire_text){0};
        while (left.bytes > 0 && left.data[0] == ' ')
            left = from(left, left.data + 1);
        add_type(n, one, true);
    }
    add(n, TEXT(")"));
}

/* ---- Java methods ---- */

struct java {
    struct wire_text class_name, method, signature;
};

/* Returns the text before its arguments, if it has any. */
static struct wire_text without_arguments(struct wire_text t) {
    const char *paren = first_of(t, '(');
    return paren && paren > t.data ? up_to(t, paren) : t;
}

/* Splits "Ljava/util/List;::get". Some scripts omit the L and write ':' for ';'. */
static bool split_colons(struct wire_text t, struct java *j) {
    const char *colons = t.bytes > 2 ? memmem(t.data, t.bytes, "::", 2) : NULL;
    if (!colons || !first_of(up_to(t, colons), '/') || first_of(t, '<') == t.data)
        return false;
    j->class_name = up_to(t, colons);
    bool semicolon = ends_in(j->class_name, TEXT(";"));
    if (j->class_name.data[0] == 'L' && (semicolon || begins_with(from(t, colons), TEXT(":::")))) {
        j->class_name.data++;
        j->class_name.bytes -= 1 + semicolon;
    }
    while (colons < t.data + t.bytes && *colons == ':')
        colons++;
    j->method = from(t, colons);
    return j->class_name.bytes > 0 && j->method.bytes > 0;
}

static bool split(struct wire_text t, struct java *j) {
    struct wire_text base = without_arguments(t);
    j->signature = from(t, base.data + base.bytes);
    if (split_colons(base, j))
        return true;
    const char *dot = last_of(base, '.');
    if (!dot || dot == base.data || dot + 1 == base.data + base.bytes)
        return false;
    j->class_name = up_to(base, dot);
    j->method = from(base, dot + 1);
    return true;
}

static bool is_method_name(struct wire_text t) {
    /* File name endings: they also follow a '.' in a path. */
    static const struct wire_text endings[] = {WORD("so"), WORD("c"),  WORD("cc"), WORD("cpp"),
                                               WORD("h"),  WORD("py"), WORD("js"), WORD("ts"),
                                               WORD("rs"), WORD("go"), WORD("rb"), WORD("php")};
    if (equal(t, TEXT("<init>")) || equal(t, TEXT("<clinit>")))
        return true;
    if (t.bytes == 0 || is_digit(t.data[0]) || t.data[0] == '-')
        return false;
    for (size_t i = 0; i < t.bytes; i++)
        if (!in_identifier(t.data[i]))
            return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (equal(t, endings[i]))
            return false;
    return true;
}

/* Removes the address from "Main$$Lambda/0x000012". */
static struct wire_text without_address(struct wire_text t) {
    const char *slash = last_of(t, '/');
    return slash && slash > t.data && slash + 1 < t.data + t.bytes && is_digit(slash[1])
               ? up_to(t, slash)
               : t;
}

static bool looks_like_java(const struct java *j) {
    struct wire_text c = without_address(j->class_name);
    const char *dot = last_of(c, '.'), *slash = last_of(c, '/'), *last = dot ? dot : slash;
    char separator = dot ? '.' : '/', before = separator;
    if (!is_method_name(j->method) || c.bytes == 0 || (dot && slash))
        return false;
    for (size_t i = 0; i < c.bytes; before = c.data[i++])
        if (c.data[i] == separator ? before == separator : !in_identifier(c.data[i]))
            return false;
    if (c.data[c.bytes - 1] == separator)
        return false;
    bool small_class = is_lower(last ? last[1] : c.data[0]);
    bool capital = is_upper(j->method.data[0]);
    if (slash)
        return !(small_class && capital);
    return !small_class && !capital && !is_digit(last ? last[1] : c.data[0]) &&
           (!dot || !is_upper(c.data[0]));
}

static uint64_t emit_method(struct emit *m, enum wire_frame_type tier, const struct java *j,
                            uint32_t line) {
    struct name class_name = {.bytes = 0}, signature = {.bytes = 0};
    struct wire_text s = j->signature;
    add_slashed(&class_name, j->class_name);
    if (is_signature(s))
        add(&signature, s);
    else if (ends_in(s, TEXT(")")) && !first_of(s, ':'))
        add_arguments(&signature, s);
    return emit_java(m, tier, text_of(&class_name), j->method, text_of(&signature), line);
}

/* ---- any frame ---- */

/* Removes a mark such as "_[j]" from the end and returns its letter; 0: there is no mark. */
static char take_mark(struct wire_text *t) {
    char mark = t->bytes >= 5 ? t->data[t->bytes - 2] : '\0';
    if (!mark || !strchr("01jik", mark) || t->data[t->bytes - 1] != ']' ||
        t->data[t->bytes - 3] != '[' || t->data[t->bytes - 4] != '_')
        return 0;
    t->bytes -= 4;
    return mark;
}

static bool is_class(struct wire_text t, char mark, bool expected) {
    const char *slash = last_of(t, '/'), *dot = last_of(t, '.');
    if (first_of(t, '('))
        return false;
    if (!mark &&
        (!expected || first_of(t, ':') || first_of(t, '`') || first_of(t, ' ') || t.data[0] == '['))
        return false;
    if (ends_in(t, TEXT("[]")))
        return true;
    if (dot && slash)
        return dot < slash; /* java/lang/String.equals is not a class */
    if (dot)
        return dot + 1 < t.data + t.bytes && is_upper(dot[1]) &&
               !is_upper(t.data[0]); /* String.equals is not a class either */
    return mark == 'k' ? slash != NULL : mark == 'i' || slash || is_upper(t.data[0]);
}

static enum wire_frame_type tier_of(char mark) {
    switch (mark) {
    case '0':
        return WIRE_FRAME_INTERPRETED;
    case '1':
        return WIRE_FRAME_C1;
    case 'j':
        return WIRE_FRAME_C2;
    case 'i':
        return WIRE_FRAME_INLINED;
    default:
        return WIRE_FRAME_NATIVE_METHOD;
    }
}

static uint64_t emit_function(struct emit *m, enum wire_frame_type type, struct wire_text t,
                              struct wire_text module) {
    const char *tick = first_of(t, '`');
    if (tick && tick > t.data && tick + 1 < t.data + t.bytes && !first_of(up_to(t, tick), ' '))
        return emit_native(m, type, from(t, tick + 1), up_to(t, tick));
    return emit_native(m, type, t, module);
}

uint64_t frame_text_emit(struct emit *m, struct wire_text t, const struct frame_text *about) {
    struct wire_text whole = t;
    struct java j;
    if (t.bytes == 0)
        return emit_native(m, WIRE_FRAME_NATIVE, TEXT("[unknown]"), about->module);
    char mark = take_mark(&t);
    bool leaf_mark = mark == 'i' || mark == 'k' || !mark;
    if (about->leaf && leaf_mark && !about->java && !about->native &&
        is_class(t, mark, about->class_leaf)) {
        struct name n = {.bytes = 0};
        add_type(&n, t, false);
        return emit_class(m, text_of(&n));
    }
    if (mark == 'k')
        return emit_function(m, WIRE_FRAME_KERNEL, t, about->module);
    if (!about->native && split(t, &j) && (mark || about->java || looks_like_java(&j)))
        return emit_method(m, tier_of(mark), &j, about->line);
    return emit_function(m, WIRE_FRAME_NATIVE, mark ? whole : t, about->module);
}
