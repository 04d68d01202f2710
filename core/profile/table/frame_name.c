#include "core/profile/table/frame_name.h"

#include "core/base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Writes up to a limit and keeps counting beyond it. Once something did not fit, nothing more is
 * written, so the text is never cut inside a character. */
struct out {
    char *data;
    size_t size;
    size_t len; /* without the limit */
    bool full;
};

static void put(struct out *o, const char *bytes, size_t n) {
    if (!o->full && n < o->size - o->len)
        memcpy(o->data + o->len, bytes, n);
    else if (!o->full) {
        o->full = true;
        if (o->size)
            o->data[o->len] = '\0';
    }
    o->len += n;
}

/* Writes text from another process. */
static void put_text(struct out *o, const char *text, size_t n) {
    while (n > 0) {
        uint32_t code;
        size_t bytes = utf8_decode(text, n, &code);
        if (bytes == 0 || !utf8_is_shown(code))
            put(o, "?", 1);
        else
            put(o, text, bytes);
        bytes = bytes ? bytes : 1;
        text += bytes;
        n -= bytes;
    }
}

static void put_string(struct out *o, const char *text) {
    put_text(o, text, strlen(text));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Returns where the suffix of a hidden class begins: "/0x00007f…", or "/123456" in JDK 8,
 * in printed names. '+' instead of '/' is used in the VM's symbol since JDK 15, and '.' in
 * its descriptor (source: Class.descriptorString(), JDK 15; InstanceKlass::external_name(),
 * JDK 8-26). */
static size_t hidden_suffix(const char *name, size_t n) {
    size_t i = n;
    while (i > 0 && (is_digit(name[i - 1]) || (name[i - 1] >= 'a' && name[i - 1] <= 'f') ||
                     name[i - 1] == 'x'))
        i--;
    if (i < 2 || i >= n || !is_digit(name[i]))
        return n;
    bool hex = n - i > 2 && name[i + 1] == 'x';
    return strchr(hex ? "/+." : "/+", name[i - 1]) ? i - 1 : n;
}

static bool ends_with(const char *name, size_t n, const char *ending) {
    size_t size = strlen(ending);
    return n >= size && memcmp(name + n - size, ending, size) == 0;
}

static bool is_word(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!is_digit(s[i]) && !((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') && s[i] != '_')
            return false;
    return n > 0;
}

/* Returns the length without the hash, number or random word that libraries append to the names of
 * generated classes: CGLIB (Spring), Byte Buddy (Hibernate, Mockito), Javassist, Jackson. */
static size_t without_tag(const char *name, size_t n) {
    static const char *const before[] = {"CGLIB$$",
                                         "$ByteBuddy$",
                                         "$auxiliary$",
                                         "$MockitoMock$",
                                         "$HibernateProxy$",
                                         "$HibernateBasicProxy$",
                                         "$HibernateInstantiator$",
                                         "$HibernateAccessOptimizer$",
                                         "_$$_jvst",
                                         "_$$_javassist_",
                                         "4JacksonSerializer",
                                         "4JacksonDeserializer"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        size_t size = strlen(before[i]);
        const char *at = n > size ? memmem(name, n, before[i], size) : NULL;
        if (!at || !is_word(at + size, n - size - (size_t)(at - name)))
            continue;
        while (at[size - 1] == '$' || at[size - 1] == '_')
            size--;
        return (size_t)(at - name) + size;
    }
    return n;
}

/* Returns the length without the address, and without the counter of generated classes:
 * Main$$Lambda$14, $Proxy3, GeneratedMethodAccessor12. */
static size_t normalized_length(const char *name, size_t n) {
    static const char *const counted[] = {"$Proxy", "GeneratedMethodAccessor",
                                          "GeneratedConstructorAccessor",
                                          "GeneratedSerializationConstructorAccessor"};
    n = without_tag(name, hidden_suffix(name, n));
    size_t end = n;
    while (end > 0 && is_digit(name[end - 1]))
        end--;
    if (end == n)
        return n;
    if (ends_with(name, end, "$$Lambda$"))
        return end - 1;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (ends_with(name, end, counted[i]))
            return end;
    return n;
}

/* Writes a class that is not an array, by its internal name. */
static void put_plain_class(struct out *o, const char *name, size_t n, unsigned style) {
    if (style & NAME_NORMALIZE)
        n = normalized_length(name, n);
    size_t suffix = hidden_suffix(name, n), start = 0;
    for (size_t i = 0; style & NAME_SIMPLE && i < suffix; i++)
        if (name[i] == '/')
            start = i + 1;
    while (start < suffix) {
        const char *slash = memchr(name + start, '/', suffix - start);
        size_t end = slash ? (size_t)(slash - name) : suffix;
        put_text(o, name + start, end - start);
        if (slash)
            put(o, style & NAME_DOTTED ? "." : "/", 1);
        start = end + (slash != NULL);
    }
    if (suffix < n) {
        put(o, "/", 1);
        put_text(o, name + suffix + 1, n - suffix - 1);
    }
}

static const char *primitive(char code) {
    static const struct {
        char code;
        const char *name;
    } table[] = {{'B', "byte"}, {'C', "char"},  {'D', "double"},  {'F', "float"}, {'I', "int"},
                 {'J', "long"}, {'S', "short"}, {'Z', "boolean"}, {'V', "void"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code)
            return table[i].name;
    return NULL;
}

/* Length of the type descriptor at `d`; 0 if it is not one (source: JVMS 4.3). */
static size_t descriptor_length(const char *d) {
    size_t n = strspn(d, "[");
    if (d[n] == 'L') {
        const char *end = strchr(d + n, ';');
        return end ? (size_t)(end - d) + 1 : 0;
    }
    return primitive(d[n]) ? n + 1 : 0;
}

/* Writes one type descriptor of a known length, in the form of Java source. */
static void put_descriptor(struct out *o, const char *d, size_t n, unsigned style) {
    size_t dimensions = strspn(d, "[");
    if (d[dimensions] == 'L')
        put_plain_class(o, d + dimensions + 1, n - dimensions - 2, style);
    else
        put_string(o, primitive(d[dimensions]));
    while (dimensions-- > 0)
        put(o, "[]", 2);
}

static void put_class(struct out *o, const char *name, unsigned style) {
    size_t n = strlen(name);
    if (name[0] == '[' && descriptor_length(name) == n)
        put_descriptor(o, name, n, style);
    else
        put_plain_class(o, name, n, style);
}

/* Writes "(IJLjava/lang/String;)V" as (int, long, String) if names are dotted, otherwise
 * unchanged. */
static void put_signature(struct out *o, const char *signature, unsigned style) {
    const char *d = signature + 1;
    if (!(style & NAME_DOTTED) || signature[0] != '(') {
        put_string(o, signature);
        return;
    }
    put(o, "(", 1);
    for (size_t n; *d && *d != ')' && (n = descriptor_length(d)) > 0; d += n) {
        if (d != signature + 1)
            put(o, ", ", 2);
        put_descriptor(o, d, n, style | NAME_SIMPLE);
    }
    put(o, ")", 1);
}

size_t frame_name(const struct method *m, unsigned style, char *out, size_t size) {
    struct out o = {.data = out, .size = size};
    bool native = m->kind == METHOD_NATIVE || m->kind == METHOD_CPP || m->kind == METHOD_KERNEL;
    if (native && style & NAME_LIBRARY && *m->module) {
        put_string(&o, m->module);
        put(&o, "`", 1);
    }
    if (m->kind == METHOD_CLASS) {
        put_class(&o, *m->name ? m->name : m->class_name, style | NAME_DOTTED);
    } else {
        if (*m->class_name) {
            put_class(&o, m->class_name, style);
            put(&o, ".", 1);
        }
        put_string(&o, m->name);
        if ((m->kind == METHOD_JAVA || m->kind == METHOD_COMPILING) && style & NAME_SIGNATURE)
            put_signature(&o, m->signature, style);
    }
    if (style & NAME_MARKS && (m->kind == METHOD_KERNEL || m->kind == METHOD_CLASS))
        put_string(&o, m->kind == METHOD_KERNEL || *m->module ? "_[k]" : "_[i]");
    if (!o.full && size)
        out[o.len] = '\0';
    return o.len;
}
