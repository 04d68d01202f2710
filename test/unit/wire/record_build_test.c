/* Records of names, put together: whole, aligned, and read back as they were meant. */
#include "core/wire/record_build.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t room[WIRE_RECORD_BYTES_MAX / 8 + 1];

/* Filled with what must not be left in it. */
static void *fresh(void) {
    memset(room, 0xee, sizeof room);
    return room;
}

static void whole(enum wire_type type, size_t bytes) {
    assert_int_equal(wire_header_type(room[0]), type);
    assert_int_equal(wire_header_length(room[0]), (bytes + 7) & ~(size_t)7);
    for (size_t i = bytes; i & 7; i++)
        assert_int_equal(((const uint8_t *)room)[i], 0);
    assert_int_equal(((const uint8_t *)room)[(bytes + 7) & ~(size_t)7], 0xee);
}

static void a_method(void **state) {
    (void)state;
    const uint16_t lines[] = {0, 7, 3, 9};
    const struct wire_method *w = (const void *)room;
    record_build_method(fresh(), 5, wire_text_of("a/B"), wire_text_of("f"), wire_text_of("()V"),
                        lines, sizeof lines);
    whole(WIRE_METHOD, sizeof *w + 3 + 1 + 3 + 1 + sizeof lines); /* lines are aligned */
    assert_int_equal(w->method_id, 5);
    assert_memory_equal(w->bytes, "a/Bf()V\0", 8);
    assert_memory_equal(w->bytes + 8, lines, sizeof lines);
    assert_int_equal(w->line_bytes, sizeof lines);
    record_build_method(fresh(), 5, wire_text_of("a/B"), wire_text_of("f"), wire_text_of("()V"),
                        NULL, 0);
    whole(WIRE_METHOD, sizeof *w + 7);
    assert_int_equal(w->line_bytes, 0);
}

static void lines_that_do_not_fit(void **state) {
    (void)state;
    static uint8_t lines[WIRE_RECORD_BYTES_MAX];
    const struct wire_method *w = (const void *)room;
    record_build_method(fresh(), 5, wire_text_of("a/B"), wire_text_of("f"), wire_text_of("()V"),
                        lines, sizeof lines);
    whole(WIRE_METHOD, sizeof *w + 7);
    assert_int_equal(w->line_bytes, 0);
}

static void the_others(void **state) {
    (void)state;
    const struct wire_class *c = (const void *)room;
    record_build_class(fresh(), 8, wire_text_of("[B"));
    whole(WIRE_CLASS, sizeof *c + 2);
    assert_int_equal(c->class_id, 8);
    assert_memory_equal(c->bytes, "[B", c->name_bytes);
    const struct wire_stub *s = (const void *)room;
    record_build_stub(fresh(), 0x7f00, wire_text_of("vtable stub"));
    whole(WIRE_STUB, sizeof *s + 11);
    assert_int_equal(s->begin, 0x7f00);
    const struct wire_symbol *y = (const void *)room;
    record_build_symbol(fresh(), 0x1234, 3, wire_text_of("read"), wire_text_of("libc.so.6"));
    whole(WIRE_SYMBOL, sizeof *y + 13);
    assert_memory_equal(y->bytes, "readlibc.so.6", 13);
    assert_int_equal(y->kind, 3);
    const struct wire_thread *t = (const void *)room;
    record_build_thread(fresh(), 77, 12, WIRE_THREAD_VIRTUAL, (struct wire_text){NULL, 0});
    whole(WIRE_THREAD, sizeof *t);
    assert_int_equal(t->tid, 77);
    assert_int_equal(t->java_id, 12);
    assert_int_equal(t->flags, WIRE_THREAD_VIRTUAL);
    assert_int_equal(t->name_bytes, 0);
}

/* At the limit, one less and one more; and not in the middle of a character. */
static void long_names_are_cut(void **state) {
    (void)state;
    char name[WIRE_STRING_MAX + 8];
    for (size_t n = WIRE_STRING_MAX - 1; n <= WIRE_STRING_MAX + 1; n++) {
        memset(name, 'x', sizeof name);
        name[n] = '\0';
        assert_int_equal(wire_text_of(name).bytes, n < WIRE_STRING_MAX ? n : WIRE_STRING_MAX);
    }
    memcpy(name + WIRE_STRING_MAX - 2, "\xe2\x82\xac", 4);
    assert_int_equal(wire_text_of(name).bytes, WIRE_STRING_MAX - 2);
    const struct wire_method *w = (const void *)room;
    memset(name, 'x', sizeof name);
    name[WIRE_STRING_MAX + 7] = '\0';
    record_build_method(fresh(), 1, wire_text_of(name), wire_text_of(name), wire_text_of(name),
                        NULL, 0);
    whole(WIRE_METHOD, sizeof *w + 3 * WIRE_STRING_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method),
        cmocka_unit_test(lines_that_do_not_fit),
        cmocka_unit_test(the_others),
        cmocka_unit_test(long_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
