#include "core/agent/patch/bytecode.h"

#include "core/agent/patch/bytecode_code.h"
#include "core/agent/process/glob.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MAGIC 0xcafebabeu
#define VERSION_WITH_MAPS 50
#define VERSION_OLDEST 45 /* below 45.3 codes have another form */
#define MINOR_OLDEST 3
#define ADDED 9u        /* constants */
#define ADDED_TARGET 3u /* and for each target */

enum {
    CONSTANT_UTF8 = 1,
    CONSTANT_LONG = 5,
    CONSTANT_DOUBLE = 6,
    CONSTANT_CLASS = 7,
    CONSTANT_METHODREF = 10,
    CONSTANT_NAME_AND_TYPE = 12
};

/* Bytes behind the tag; 0: no such tag, or (Utf8) a length of its own. */
static const uint8_t constant_length[] = {
    [3] = 4,  [4] = 4,  [5] = 8,  [6] = 8,  [7] = 2,  [8] = 2,  [9] = 4,  [10] = 4,
    [11] = 4, [12] = 4, [15] = 3, [16] = 2, [17] = 4, [18] = 4, [19] = 2, [20] = 2,
};

struct class_file {
    const struct bytecode_request *q;
    const uint8_t **utf8; /* by constant: its length's two bytes, or NULL */
    uint16_t constants, version;
    struct bytecode_constants added; /* but `exit` */
    uint32_t exits;                  /* Methodref of the first target; ADDED_TARGET to the next */
    struct bytes_out out;
    struct bytecode_result *result;
};

/* The last constant may not be half a Long: our first one would be taken for the other half. */
static bool read_constants(struct class_file *f, struct bytes_in *in) {
    uint32_t i = 1;
    for (; i < f->constants && !in->bad; i++) {
        uint8_t tag = bytes_u1(in);
        if (tag == CONSTANT_UTF8) {
            f->utf8[i] = in->at;
            uint16_t length = bytes_u2(in);
            bytes_skip(in, length);
        } else if (tag < sizeof constant_length && constant_length[tag]) {
            bytes_skip(in, constant_length[tag]);
            i += tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE;
        } else {
            in->bad = true;
        }
    }
    return !in->bad && i == f->constants;
}

static const uint8_t *utf8_at(const struct class_file *f, uint16_t index) {
    return index < f->constants ? f->utf8[index] : NULL;
}

static bool constant_is(const struct class_file *f, uint16_t index, const char *text) {
    const uint8_t *utf8 = utf8_at(f, index);
    size_t n = strlen(text);
    return utf8 && (size_t)(utf8[0] << 8 | utf8[1]) == n && memcmp(utf8 + 2, text, n) == 0;
}

static enum bytecode_attribute attribute(const void *pool, uint16_t name) {
    const struct class_file *f = pool;
    if (!utf8_at(f, name))
        return ATTRIBUTE_BAD;
    if (constant_is(f, name, "LineNumberTable"))
        return ATTRIBUTE_LINES;
    if (constant_is(f, name, "LocalVariableTable") ||
        constant_is(f, name, "LocalVariableTypeTable"))
        return ATTRIBUTE_VARIABLES;
    return constant_is(f, name, "StackMapTable") ? ATTRIBUTE_STACK_MAP : ATTRIBUTE_OTHER;
}

static uint16_t put_text(struct class_file *f, uint16_t *next, const char *text) {
    bytes_put1(&f->out, CONSTANT_UTF8);
    bytes_put2(&f->out, (uint32_t)strlen(text));
    bytes_put(&f->out, text, strlen(text));
    return (*next)++;
}

static uint16_t put_constant(struct class_file *f, uint16_t *next, uint8_t tag, uint32_t a,
                             uint32_t b) {
    bytes_put1(&f->out, tag);
    bytes_put2(&f->out, a);
    if (tag != CONSTANT_CLASS)
        bytes_put2(&f->out, b);
    return (*next)++;
}

static void add_constants(struct class_file *f) {
    uint16_t next = f->constants;
    uint16_t type = put_text(f, &next, "(I)V");
    uint16_t name = put_text(f, &next, f->q->hook_class);
    uint16_t hooks = put_constant(f, &next, CONSTANT_CLASS, name, 0);
    name = put_text(f, &next, "enter");
    uint16_t call = put_constant(f, &next, CONSTANT_NAME_AND_TYPE, name, type);
    f->added.enter = put_constant(f, &next, CONSTANT_METHODREF, hooks, call);
    name = put_text(f, &next, "java/lang/Throwable");
    f->added.throwable = put_constant(f, &next, CONSTANT_CLASS, name, 0);
    f->added.stack_map_table = put_text(f, &next, "StackMapTable");
    f->exits = next + ADDED_TARGET - 1;
    for (uint32_t i = 0; i < f->q->targets; i++) {
        char exit[16];
        snprintf(exit, sizeof exit, "exit%u", f->q->target[i].exit);
        name = put_text(f, &next, exit);
        call = put_constant(f, &next, CONSTANT_NAME_AND_TYPE, name, type);
        put_constant(f, &next, CONSTANT_METHODREF, hooks, call);
    }
}

static void skip_attributes(struct bytes_in *in) {
    for (uint32_t n = bytes_u2(in); n > 0 && !in->bad; n--) {
        bytes_skip(in, 2);
        uint32_t length = bytes_u4(in);
        bytes_skip(in, length);
    }
}

/* The Code attribute in its new form; as it was where it would be too large. */
static int put_code(struct class_file *f, uint16_t name, const uint8_t *content, uint32_t length,
                    uint32_t target, bool constructor) {
    f->added.exit = (uint16_t)(f->exits + ADDED_TARGET * target);
    uint16_t id = atomic_fetch_add(f->q->ids, 1) & (uint16_t)~BYTECODE_CONSTRUCTOR;
    const struct bytecode_context c = {
        .id = constructor ? (uint16_t)(id | BYTECODE_CONSTRUCTOR) : id,
        .constants = &f->added,
        .attribute = attribute,
        .pool = f,
        .handler = !constructor,
        .maps = f->version >= VERSION_WITH_MAPS,
    };
    bytes_put2(&f->out, name);
    size_t begin = f->out.n + 4;
    bytes_put4(&f->out, 0);
    int r = bytecode_rewrite(&c, content, length, &f->out);
    if (r == 0) {
        f->result->methods++;
    } else if (r == -E2BIG && !f->out.failed) {
        f->result->oversized++;
        f->out.n = begin;
        bytes_put(&f->out, content, length);
        r = 0;
    }
    if (r == 0)
        bytes_set4(&f->out, begin - 4, (uint32_t)(f->out.n - begin));
    return r;
}

static int put_wanted_method(struct class_file *f, struct bytes_in *in, const uint8_t *begin,
                             uint32_t target, bool constructor) {
    bytes_put(&f->out, begin, (size_t)(in->at - begin));
    uint32_t n = bytes_u2(in);
    bool has_code = false;
    bytes_put2(&f->out, n);
    for (; n > 0 && !in->bad; n--) {
        const uint8_t *attribute_begin = in->at;
        uint16_t name = bytes_u2(in);
        uint32_t length = bytes_u4(in);
        const uint8_t *content = bytes_skip(in, length);
        if (!content || !utf8_at(f, name))
            return -EINVAL;
        if (constant_is(f, name, "Code") && !has_code) {
            has_code = true;
            int r = put_code(f, name, content, length, target, constructor);
            if (r < 0)
                return r;
        } else {
            bytes_put(&f->out, attribute_begin, (size_t)(in->at - attribute_begin));
        }
    }
    f->result->bodiless += !has_code;
    return 0;
}

static bool constant_matches(const struct class_file *f, uint16_t index, const char *pattern) {
    const uint8_t *utf8 = utf8_at(f, index);
    return utf8 && glob_matches(pattern, (const char *)utf8 + 2, (size_t)(utf8[0] << 8 | utf8[1]));
}

/* The first target that the method is one of; their number: none. */
static uint32_t target_of(const struct class_file *f, uint16_t name, uint16_t signature) {
    const struct bytecode_target *t = f->q->target;
    uint32_t i = 0;
    while (i < f->q->targets &&
           (!constant_matches(f, name, t[i].method) ||
            (t[i].signature && *t[i].signature && !constant_matches(f, signature, t[i].signature))))
        i++;
    return i;
}

static int put_methods(struct class_file *f, struct bytes_in *in) {
    uint32_t n = bytes_u2(in);
    bytes_put2(&f->out, n);
    for (; n > 0 && !in->bad; n--) {
        const uint8_t *begin = in->at;
        bytes_skip(in, 2);
        uint16_t name = bytes_u2(in);
        uint16_t signature = bytes_u2(in);
        /* What names nothing would name one of the constants that are added. */
        if (!utf8_at(f, name) || !utf8_at(f, signature))
            return -EINVAL;
        uint32_t target = target_of(f, name, signature);
        int r = 0;
        if (target < f->q->targets) {
            r = put_wanted_method(f, in, begin, target, constant_is(f, name, "<init>"));
        } else {
            skip_attributes(in);
            if (!in->bad)
                bytes_put(&f->out, begin, (size_t)(in->at - begin));
        }
        if (r < 0)
            return r;
    }
    return in->bad ? -EINVAL : 0;
}

static int put_class(struct class_file *f, struct bytes_in *in, const uint8_t *constants_begin) {
    bytes_put(&f->out, constants_begin, (size_t)(in->at - constants_begin));
    add_constants(f);
    const uint8_t *begin = in->at;
    bytes_skip(in, 6); /* access flags, this, super */
    uint32_t interfaces = bytes_u2(in);
    bytes_skip(in, 2 * (size_t)interfaces);
    for (uint32_t fields = bytes_u2(in); fields > 0 && !in->bad; fields--) {
        bytes_skip(in, 6);
        skip_attributes(in);
    }
    if (in->bad)
        return -EINVAL;
    bytes_put(&f->out, begin, (size_t)(in->at - begin));
    int r = put_methods(f, in);
    if (r == 0)
        bytes_put(&f->out, in->at, (size_t)(in->end - in->at));
    return r;
}

static int change(struct class_file *f, const uint8_t *file, uint32_t length) {
    struct bytes_in in = {file, file + length, false};
    uint32_t magic = bytes_u4(&in);
    uint16_t minor = bytes_u2(&in);
    f->version = bytes_u2(&in);
    f->constants = bytes_u2(&in);
    const uint8_t *constants_begin = in.at;
    bool old =
        f->version < VERSION_OLDEST || (f->version == VERSION_OLDEST && minor < MINOR_OLDEST);
    uint32_t added = ADDED + ADDED_TARGET * f->q->targets;
    if (in.bad || magic != MAGIC || old || f->constants == 0 || f->constants + added > UINT16_MAX)
        return -EINVAL;
    f->utf8 = bytes_alloc(f->constants * sizeof *f->utf8);
    if (!f->utf8)
        return -ENOMEM;
    bytes_put(&f->out, file, 8);
    bytes_put2(&f->out, f->constants + added);
    int r = read_constants(f, &in) ? put_class(f, &in, constants_begin) : -EINVAL;
    bytes_free(f->utf8, f->constants * sizeof *f->utf8);
    return f->out.failed ? -ENOMEM : r;
}

int bytecode_add_calls(const uint8_t *file, uint32_t length, const struct bytecode_request *q,
                       struct bytecode_result *out) {
    struct class_file f = {.q = q, .result = out};
    *out = (struct bytecode_result){0};
    int r = change(&f, file, length);
    if (r < 0 || !out->methods)
        bytes_end(&f.out);
    if (r < 0)
        *out = (struct bytecode_result){0};
    out->file = f.out;
    return r;
}
