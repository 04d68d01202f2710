/* Files that are made, or change, to harm who reads them: whatever the format. */
#include "test/unit/import/import_fixture.h"

#include "core/import/emit.h"
#include "core/import/jfr/jfr_stack.h"
#include "core/import/text/frame_text.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

/* ---- files ---- */

static int cut_it(void *arg, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    assert_int_equal(truncate(arg, 0), 0);
    return 0;
}

static void a_file_may_shrink_below_its_reader(void **state) {
    (void)state;
    char path[] = "/tmp/jtop-import-XXXXXX";
    int fd = mkstemp(path);
    struct import_result result;
    struct err e = {0};
    assert_true(fd >= 0);
    for (unsigned i = 0; i < 100000; i++)
        assert_true(dprintf(fd, "main;f%u 1\n", i % 10) > 0);
    assert_int_equal(import_file(path, cut_it, path, &result, &e), 0);
    assert_string_equal(result.damage, "");
    close(fd);
    unlink(path);
}

static void what_no_memory_holds_is_said(void **state) {
    (void)state;
    char path[] = "/tmp/jtop-import-XXXXXX";
    int fd = mkstemp(path);
    struct import_result result;
    struct err e = {0};
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "FLR", 4), 4);
    if (ftruncate(fd, (off_t)8 << 40) == 0) {
        assert_true(import_knows(path)); /* by its beginning */
        assert_int_equal(import_file(path, cut_it, path, &result, &e), -ENOMEM);
        assert_non_null(strstr(e.message, "8388608 MB do not fit"));
    }
    close(fd);
    unlink(path);
}

/* ---- names ---- */

struct told_so_far {
    uint64_t bytes;
    uint32_t records;
};

static int count(void *arg, const void *record) {
    struct told_so_far *t = arg;
    uint64_t word;
    memcpy(&word, record, sizeof word);
    t->bytes += wire_header_length(word);
    t->records++;
    return 0;
}

/* 3 KB of names, which a file has once, at each of 65,000 lines. */
static void lines_are_not_as_long_as_their_method(void **state) {
    (void)state;
    static char name[WIRE_STRING_MAX];
    struct told_so_far told = {0};
    struct emit *m = emit_open(count, &told);
    const struct wire_text t = {name, sizeof name};
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    assert_non_null(m);
    memset(name, 'x', sizeof name);
    for (uint32_t line = 1; line <= 65000; line++)
        assert_int_equal(wire_frame_type(emit_java(m, WIRE_FRAME_C2, t, t, t, line)),
                         WIRE_FRAME_C2);
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    assert_true(after < before + (32u << 20)); /* and not 200 MB */
    assert_true(told.bytes < 140u << 20);
    assert_int_equal(emit_failure(m), 0);
    emit_close(m);
}

/* What is held ends somewhere, and then says so. */
static void methods_have_a_bound(void **state) {
    (void)state;
    static char name[WIRE_STRING_MAX];
    struct told_so_far told = {0};
    struct emit *m = emit_open(count, &told);
    uint64_t frame = 0;
    uint32_t i;
    assert_non_null(m);
    memset(name, 'x', sizeof name);
    for (i = 0; i < 200000 && wire_frame_type(frame) != WIRE_FRAME_ERROR; i++) {
        const struct wire_text t = {name, sizeof name};
        memcpy(name, &i, sizeof i);
        frame = emit_java(m, WIRE_FRAME_C2, t, t, t, 0);
    }
    assert_in_range(i, 50000, 100000);
    assert_int_equal(frame, wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME));
    assert_int_equal(emit_failure(m), 0);
    emit_close(m);
}

/* What is behind the text is not its own. */
static void a_name_may_end_in_a_dot(void **state) {
    (void)state;
    struct told_so_far told = {0};
    struct emit *m = emit_open(count, &told);
    const struct frame_text about = {.leaf = true, .class_leaf = true};
    assert_non_null(m);
    assert_int_equal(wire_frame_type(frame_text_emit(m, (struct wire_text){"foo.Xyz", 7}, &about)),
                     WIRE_FRAME_CLASS);
    assert_int_not_equal(
        wire_frame_type(frame_text_emit(m, (struct wire_text){"foo.Xyz", 4}, &about)),
        WIRE_FRAME_CLASS);
    emit_close(m);
}

/* ---- JFR: constants are of one kind, and read once ---- */

/* A thread of tid 2 and constant 1, and stacks whose frames' type is `kind`. */
struct chunk {
    struct jfr_chunk chunk;
    struct jfr_type type[5];
    struct jfr_field tid, frames, of_frame[2];
    struct jfr_constant constant[5];
    uint8_t bytes[8];
};

static void make_chunk(struct chunk *c, unsigned kind) {
    static const char *const names[5] = {"java.lang.Class", "java.lang.Thread",
                                         "jdk.types.StackTrace", "jdk.types.StackFrame", "long"};
    *c = (struct chunk){.bytes = {2, 1, 1, 1, 1}};
    c->chunk = (struct jfr_chunk){.begin = c->bytes, .end = c->bytes + sizeof c->bytes};
    c->chunk.types = (struct jfr_types){.type = c->type, .count = 5};
    for (unsigned i = 0; i < 5; i++) {
        c->constant[i] = (struct jfr_constant){.number = 1, .at = c->bytes};
        c->type[i] = (struct jfr_type){
            .id = i, .name = names[i], .constant = &c->constant[i], .constants = 1};
    }
    c->type[4].form = JFR_LONG;
    c->tid = (struct jfr_field){.name = "osThreadId", .type = &c->type[4]};
    c->type[1].field = &c->tid;
    c->type[1].fields = 1;
    c->frames = (struct jfr_field){.name = "frames", .type = &c->type[3], .array = true};
    c->type[2].field = &c->frames;
    c->type[2].fields = 1;
    c->of_frame[0] = (struct jfr_field){.name = "method", .type = &c->type[4], .pool = true};
    c->of_frame[1] = (struct jfr_field){.name = "type", .type = &c->type[kind], .pool = true};
    c->type[3].field = c->of_frame;
    c->type[3].fields = 2;
}

static void threads_are_no_kinds_of_frames(void **state) {
    (void)state;
    struct told_so_far told = {0};
    struct emit *m = emit_open(count, &told);
    for (unsigned kind = 0; kind < 5; kind++) {
        struct chunk c;
        struct jfr_names n;
        uint32_t frames;
        bool whole;
        make_chunk(&c, kind);
        jfr_names_open(&n, &c.chunk, m, count, &told);
        assert_int_equal(jfr_names_thread(&n, 1).tid, 2);
        const uint64_t *stack = jfr_names_stack(&n, 1, &frames, &whole);
        assert_int_equal(stack != NULL, kind > 2);
        jfr_names_close(&n);
    }
    emit_close(m);
}

static void a_thread_is_read_once(void **state) {
    (void)state;
    struct told_so_far told = {0};
    struct emit *m = emit_open(count, &told);
    struct chunk c;
    struct jfr_names n;
    make_chunk(&c, 4);
    jfr_names_open(&n, &c.chunk, m, count, &told);
    assert_int_equal(jfr_names_thread(&n, 1).tid, 2);
    c.bytes[0] = 6;
    assert_int_equal(jfr_names_thread(&n, 1).tid, 2);
    assert_int_equal(jfr_names_thread(&n, 2).tid, 0);
    jfr_names_close(&n);
    emit_close(m);
}

/* A text of a megabyte is not gone through by each who wants its beginning. */
static void text_is_not_read_to_its_end(void **state) {
    (void)state;
    uint8_t bytes[] = {JFR_STRING_CHARS, 3, 'a', 'b', 'c', 'd'};
    struct jfr_cursor c = {.at = bytes, .end = bytes + sizeof bytes};
    struct jfr_string s = jfr_cursor_peek_string(&c);
    char out[8];
    assert_int_equal(s.n, 3);
    assert_ptr_equal(c.at, bytes + 2);
    assert_int_equal(jfr_string_copy(&s, &c, out, sizeof out), 3);
    assert_memory_equal(out, "abc", 3);
    c = (struct jfr_cursor){.at = bytes, .end = bytes + 4};
    assert_int_equal(jfr_cursor_peek_string(&c).encoding, JFR_STRING_NULL);
    assert_true(c.bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_may_shrink_below_its_reader),
        cmocka_unit_test(what_no_memory_holds_is_said),
        cmocka_unit_test(lines_are_not_as_long_as_their_method),
        cmocka_unit_test(methods_have_a_bound),
        cmocka_unit_test(a_name_may_end_in_a_dot),
        cmocka_unit_test(threads_are_no_kinds_of_frames),
        cmocka_unit_test(a_thread_is_read_once),
        cmocka_unit_test(text_is_not_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
