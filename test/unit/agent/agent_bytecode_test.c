/* Calls put into methods: exact bytes for small ones, and for whole class files that everything but
 * the calls is what it was, wherever it lies now. */
#include "core/agent/patch/bytecode.h"
#include "core/agent/process/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/agent/class_reader.h"
#include "test/unit/tier.h"

#define CORPUS "test/fuzz/corpus/agent_bytecode"

static const struct bytecode_target every = {"*", NULL, 0};
static _Atomic uint16_t ids;
static const struct bytecode_request all = {"H", &ids, &every, 1};

/* A class with one method: what is in its Code attribute. */
struct sample {
    uint16_t version, name, flags; /* name: NAME … */
    const uint8_t *code;
    uint32_t length;
    const uint8_t *rest; /* exceptions and attributes; NULL: none of both */
    uint32_t rest_length;
};

enum { METHOD = 5, CODE = 7, STACK_MAP, LINES, VARIABLES, CONSTRUCTOR, CONSTANTS };
enum { ENTER = CONSTANTS + 5, THROWABLE = ENTER + 2, OUR_STACK_MAP, EXIT = OUR_STACK_MAP + 3 };

static void put_text(struct bytes_out *o, const char *text) {
    bytes_put1(o, 1);
    bytes_put2(o, (uint32_t)strlen(text));
    bytes_put(o, text, strlen(text));
}

static void put_constants(struct bytes_out *o, uint32_t more) {
    static const char *const text[] = {
        "m", "()V", "Code", "StackMapTable", "LineNumberTable", "LocalVariableTable", "<init>"};
    bytes_put2(o, CONSTANTS + more);
    put_text(o, "T");
    bytes_put(o, "\7\0\1", 3);
    put_text(o, "java/lang/Object");
    bytes_put(o, "\7\0\3", 3);
    for (int i = 0; i < 7; i++)
        put_text(o, text[i]);
    for (uint32_t i = 0; i < more; i++)
        put_text(o, "");
}

static struct bytes_out make(const struct sample *s, uint32_t more_constants) {
    struct bytes_out o = {0};
    bytes_put4(&o, 0xcafebabe);
    bytes_put4(&o, s->version ? s->version : 52);
    put_constants(&o, more_constants);
    bytes_put(&o, "\0\x21\0\2\0\4\0\0\0\0\0\1", 12); /* flags, this, super, no fields; a method */
    bytes_put2(&o, s->flags);
    bytes_put2(&o, s->name ? s->name : METHOD);
    bytes_put2(&o, METHOD + 1);
    bytes_put2(&o, s->code ? 1 : 0);
    if (s->code) {
        bytes_put2(&o, CODE);
        bytes_put4(&o, 8 + s->length + (s->rest ? s->rest_length : 4));
        bytes_put4(&o, 1); /* max_stack 0, max_locals 1 */
        bytes_put4(&o, s->length);
        bytes_put(&o, s->code, s->length);
        bytes_put(&o, s->rest ? s->rest : (const uint8_t *)"\0\0\0\0",
                  s->rest ? s->rest_length : 4);
    }
    bytes_put2(&o, 0);
    assert_false(o.failed);
    return o;
}

static struct bytecode_result change(const struct sample *s, int expected) {
    struct bytecode_result r;
    struct bytes_out o = make(s, 0);
    ids = 7;
    assert_int_equal(bytecode_add_calls(o.at, (uint32_t)o.n, &all, &r), expected);
    bytes_end(&o);
    return r;
}

static uint32_t check_file(const uint8_t *file, uint32_t length) {
    struct bytecode_result r;
    struct code before, after;
    uint32_t n = 0;
    assert_int_equal(bytecode_add_calls(file, length, &all, &r), 0);
    assert_non_null(r.file.at);
    while (find_code(file, length, n, &before)) {
        assert_true(find_code(r.file.at, (uint32_t)r.file.n, n++, &after));
        same_code(&before, &after);
    }
    assert_int_equal(n, r.methods);
    bytes_end(&r.file);
    return n;
}

static void exact_bytes(void **state) {
    (void)state;
    static const uint8_t code[] = {0xb1};
    static const uint8_t expected[] = {
        0,    2,     0,   1,  /* max_stack: the number, and what is thrown */
        0,    0,     0,   26, /* bytes */
        0x11, 0,     7,   0xb8,
        0,    ENTER, 0,   0, /* sipush; invokestatic; nop; nop */
        0x11, 0,     7,   0xb8,
        0,    EXIT,  0,   0, /**/
        0xb1,                /* return */
        0x11, 0,     7,   0xb8,
        0,    EXIT,  0,   0, /**/
        0xbf,                /* handler */
        0,    1,     0,   8,
        0,    17,    0,   17,
        0,    0, /* its range */
        0,    1,     0,   OUR_STACK_MAP,
        0,    0,     0,   12, /**/
        0,    1,     255, 0,
        17,   0,     0,   0,
        1,    7,     0,   THROWABLE, /**/
        0,    0 /* the class's own attributes */};
    struct bytecode_result r = change(&(struct sample){.code = code, .length = 1}, 0);
    assert_int_equal(r.methods, 1);
    assert_memory_equal(r.file.at + (uint32_t)r.file.n - sizeof expected, expected,
                        sizeof expected);
    bytes_end(&r.file);
}

/* goto 4; nop (a frame); return (a frame), with lines and a variable. */
static void tables_move_along(void **state) {
    (void)state;
    static const uint8_t code[] = {0xa7, 0, 4, 0, 0xb1};
    static const uint8_t rest[] = {
        0, 0,         0, 3, 0, STACK_MAP, 0, 0, 0, 4, 0, 2,  3, 0,               /* at 3, at 4 */
        0, LINES,     0, 0, 0, 10,        0, 2, 0, 0, 0, 50, 0, 4, 0, 51,        /* 0: 50, 4: 51 */
        0, VARIABLES, 0, 0, 0, 12,        0, 1, 0, 3, 0, 2,  0, 5, 0, 5,  0, 0}; /* [3, 5) */
    static const uint8_t expected[] = {
        0,   3, 0, STACK_MAP, 0, 0,  0, 18, 0, 3,         251, 0,         11, 251, 0, 0,
        255, 0, 8, 0,         0, 0,  1, 7,  0, THROWABLE, 0,   LINES,     0,  0,   0, 10,
        0,   2, 0, 0,         0, 50, 0, 12, 0, 51,        0,   VARIABLES, 0,  0,   0, 12,
        0,   1, 0, 11,        0, 10, 0, 5,  0, 5,         0,   0,         0,  0};
    struct bytecode_result r = change(
        &(struct sample){.code = code, .length = 5, .rest = rest, .rest_length = sizeof rest}, 0);
    assert_memory_equal(r.file.at + (uint32_t)r.file.n - sizeof expected, expected,
                        sizeof expected);
    bytes_end(&r.file);
}

/* Jumps of every kind, at every place a switch may have to be padded to. */
static void jumps(void **state) {
    (void)state;
    for (uint32_t nops = 0; nops < 8; nops++) {
        uint8_t code[96] = {0};
        uint32_t n = nops;
        static const uint8_t first[] = {0xb1, 0x84, 0, 1, 0xc4, 0x84, 1, 0, 1, 0};
        memcpy(code + n, first, sizeof first); /* return; iinc; wide iinc */
        n += sizeof first;
        uint32_t table = n;
        code[n] = 0xaa;
        n = (n / 4 + 1) * 4;
        uint32_t to[] = {0u - table, 7, 8, nops - table, 0}; /* default, low, high, two targets */
        for (int i = 0; i < 5; i++, n += 4)
            for (int k = 0; k < 4; k++)
                code[n + (uint32_t)k] = (uint8_t)(to[i] >> (24 - 8 * k));
        code[n++] = 0xc8; /* goto_w to the first return */
        uint32_t back = nops - (n - 1);
        for (int k = 0; k < 4; k++)
            code[n++] = (uint8_t)(back >> (24 - 8 * k));
        code[n++] = 0xa8; /* jsr to the beginning */
        code[n] = (uint8_t)((0x10001 - n) >> 8);
        code[n + 1] = (uint8_t)(0x10001 - n);
        n += 2;
        code[n++] = 0xab; /* lookupswitch with nothing to look up, the last thing */
        uint32_t at = n - 1;
        n = (n + 3) / 4 * 4;
        memset(code + n, 0xff, 3);
        code[n + 3] = (uint8_t)(nops - at);
        n += 8;
        struct bytes_out o = make(&(struct sample){.version = 49, .code = code, .length = n}, 0);
        assert_int_equal(check_file(o.at, (uint32_t)o.n), 1);
        bytes_end(&o);
    }
}

/* Cut anywhere, or with any byte another one: no worse than refused. */
static void damage(const uint8_t *file, uint32_t n) {
    for (uint32_t i = 0; i < n; i += tier_is_fast() ? 7 : 1) {
        struct bytecode_result r;
        uint8_t *copy = malloc(n - 1);
        memcpy(copy, file, n - 1);
        copy[i % (n - 1)] ^= (uint8_t)(1u << i % 8);
        if (bytecode_add_calls(copy, n - 1, &all, &r) == 0)
            bytes_end(&r.file);
        if (bytecode_add_calls(copy, i, &all, &r) == 0)
            bytes_end(&r.file);
        free(copy);
    }
}

/* What is named refused-* was once taken, and came out as what is refused. */
static void class_files(void **state) {
    (void)state;
    static uint8_t file[1 << 20];
    uint32_t files = 0, methods = 0;
    DIR *d = opendir(CORPUS);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        snprintf(path, sizeof path, CORPUS "/%s", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        if (!f)
            continue;
        uint32_t n = (uint32_t)fread(file, 1, sizeof file, f);
        fclose(f);
        files++;
        if (strncmp(e->d_name, "refused-", 8) == 0) {
            struct bytecode_result r;
            assert_int_equal(bytecode_add_calls(file, n, &all, &r), -EINVAL);
        } else {
            methods += check_file(file, n);
        }
        damage(file, n);
    }
    closedir(d);
    assert_true(files >= 4 && methods > 40);
}

static void refused(void **state) {
    (void)state;
    static const uint8_t bad[][8] = {{202},
                                     {0xa7, 0, 4, 0, 0xb1},
                                     {0xa7, 0, 3, 0xb8, 0, 0},
                                     {0x99, 0xff, 0xff, 0xb1},
                                     {0xaa, 0, 0, 0},
                                     {0xa7, 0, 1, 0xb1},
                                     {0xab, 0, 0, 0, 0, 0, 0, 0},
                                     {0xc4},
                                     {0x11, 0}};
    static const uint32_t length[] = {1, 5, 5, 4, 4, 4, 8, 1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool good = i == 1; /* that one is fine, and shows that the others might be */
        struct bytecode_result r =
            change(&(struct sample){.code = bad[i], .length = length[i]}, good ? 0 : -EINVAL);
        assert_int_equal(r.file.at != NULL, good);
        bytes_end(&r.file);
    }
    static const uint8_t code[] = {0xb1};
    change(&(struct sample){.version = 44, .code = code, .length = 1}, -EINVAL);
    struct bytecode_result r;
    struct bytes_out o = make(&(struct sample){.code = code, .length = 1}, 65535 - CONSTANTS - 11);
    assert_int_equal(bytecode_add_calls(o.at, (uint32_t)o.n, &all, &r), -EINVAL);
    bytes_end(&o);
}

/* A Long has two places among the constants, also where it is the last one. */
static void long_constant_at_the_end(void **state) {
    (void)state;
    static const uint8_t code[] = {0xb1};
    struct bytes_out o = make(&(struct sample){.code = code, .length = 1}, 0), constants = {0};
    put_constants(&constants, 0);
    size_t end = 8 + constants.n;
    for (uint32_t places = 1; places <= 2; places++) {
        struct bytecode_result r;
        struct bytes_out with = {0};
        bytes_put(&with, o.at, end);
        bytes_set2(&with, 8, CONSTANTS + places);
        bytes_put(&with, "\5\0\0\0\0\0\0\0", 9);
        bytes_put(&with, o.at + end, o.n - end);
        assert_int_equal(bytecode_add_calls(with.at, (uint32_t)with.n, &all, &r),
                         places == 2 ? 0 : -EINVAL);
        bytes_end(&r.file);
        if (places == 2)
            assert_int_equal(check_file(with.at, (uint32_t)with.n), 1);
        bytes_end(&with);
    }
    bytes_end(&constants);
    bytes_end(&o);
}

/* With our constants a name that is not there would be one of them. */
static void names_of_attributes(void **state) {
    (void)state;
    static const uint8_t code[] = {0xb1};
    static const struct {
        uint8_t name;
        int expected;
    } c[] = {{METHOD, 0},          {0, -EINVAL},     {2, -EINVAL},
             {CONSTANTS, -EINVAL}, {ENTER, -EINVAL}, {OUR_STACK_MAP, -EINVAL},
             {STACK_MAP, 0},       {CONSTRUCTOR, 0}, {UINT8_MAX, -EINVAL}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        const uint8_t rest[] = {0, 0, 0, 1, 0, c[i].name, 0, 0, 0, 2, 0, 0};
        struct bytecode_result r = change(
            &(struct sample){.code = code, .length = 1, .rest = rest, .rest_length = sizeof rest},
            c[i].expected);
        assert_int_equal(r.methods, c[i].expected == 0);
        bytes_end(&r.file);
    }
}

static void too_large(void **state) {
    (void)state;
    static uint8_t code[CODE_MAX];
    struct bytecode_result r;
    memset(code, 0, sizeof code);
    code[0] = 0xa7; /* as far as it goes, over a return */
    code[1] = 0x7f;
    code[2] = 0xff;
    code[100] = 0xb1;
    code[32767] = 0xb1;
    r = change(&(struct sample){.code = code, .length = 32768}, 0);
    assert_int_equal(r.oversized, 1);
    assert_null(r.file.at);
    memset(code, 0, 3);
    code[65534] = 0xb1;
    r = change(&(struct sample){.code = code, .length = 65535}, 0);
    assert_int_equal(r.oversized, 1);
    assert_null(r.file.at);
}

/* As many tables of lines as there can be, and a stack map that would be one more attribute. */
static void too_many_attributes(void **state) {
    (void)state;
    static const uint8_t code[] = {0xb1}, empty[] = {0, LINES, 0, 0, 0, 2, 0, 0};
    for (uint32_t n = UINT16_MAX - 1; n <= UINT16_MAX; n++) {
        struct bytes_out rest = {0};
        bytes_put2(&rest, 0);
        bytes_put2(&rest, n);
        for (uint32_t i = 0; i < n; i++)
            bytes_put(&rest, empty, sizeof empty);
        struct bytecode_result r = change(
            &(struct sample){
                .code = code, .length = 1, .rest = rest.at, .rest_length = (uint32_t)rest.n},
            0);
        assert_int_equal(r.methods, n < UINT16_MAX);
        assert_int_equal(r.oversized, n == UINT16_MAX);
        bytes_end(&r.file);
        bytes_end(&rest);
    }
}

static void which_methods(void **state) {
    (void)state;
    static const uint8_t code[] = {0xb1};
    static const struct {
        struct bytecode_target target;
        struct sample s;
        uint32_t methods, bodiless;
    } c[] = {
        {{"m", "()V", 0}, {.code = code, .length = 1}, 1, 0},
        {{"m", "", 0}, {.code = code, .length = 1}, 1, 0},
        {{"m", "()I", 0}, {.code = code, .length = 1}, 0, 0},
        {{"m", "()*", 0}, {.code = code, .length = 1}, 1, 0},
        {{"mm", NULL, 0}, {.code = code, .length = 1}, 0, 0},
        {{"m*", NULL, 0}, {.code = code, .length = 1}, 1, 0},
        {{"m", NULL, 0}, {.flags = 0x100}, 0, 1},
        {{"<init>", NULL, 0}, {.name = CONSTRUCTOR, .code = code, .length = 1}, 1, 0},
        {{"<in*", NULL, 0}, {.name = CONSTRUCTOR, .code = code, .length = 1}, 1, 0},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct bytecode_result r;
        struct bytes_out o = make(&c[i].s, 0);
        const struct bytecode_request q = {"H", &ids, &c[i].target, 1};
        assert_int_equal(bytecode_add_calls(o.at, (uint32_t)o.n, &q, &r), 0);
        assert_int_equal(r.methods, c[i].methods);
        assert_int_equal(r.bodiless, c[i].bodiless);
        assert_int_equal(r.file.at != NULL, c[i].methods > 0);
        if (r.file.at)
            assert_int_equal(check_file(o.at, (uint32_t)o.n), 1);
        bytes_end(&r.file);
        bytes_end(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_bytes),
        cmocka_unit_test(tables_move_along),
        cmocka_unit_test(jumps),
        cmocka_unit_test(class_files),
        cmocka_unit_test(refused),
        cmocka_unit_test(long_constant_at_the_end),
        cmocka_unit_test(names_of_attributes),
        cmocka_unit_test(too_large),
        cmocka_unit_test(too_many_attributes),
        cmocka_unit_test(which_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
