#include "core/agent/process/recent_set.h"
#include "core/agent/vm/vm_oop.h"
#include "core/agent/vm/vm_structs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define HEAP UINT64_C(0x40000000000) /* ZGC's heap base, and addresses in it */

/* The colours of a reference in x86_64's form: remapped bit 12 + i, others as they may be. */
static uint64_t coloured(uint64_t address, unsigned i, uint64_t others) {
    return address << (13 + i) | UINT64_C(1) << (12 + i) | (others & 0xff0);
}

static void test_coloured_references(void **state) {
    (void)state;
    static const uint64_t address[] = {HEAP, HEAP + 8, HEAP + 0x3fffffff8, HEAP * 2 - 8,
                                       UINT64_C(0x10000000000) + 0x12345678};
    for (size_t a = 0; a < sizeof address / sizeof *address; a++) {
        for (unsigned i = 0; i < 4; i++)
            for (uint64_t others = 0; others < 0x1000; others += 0x110)
                assert_int_equal(oop_uncolour_x86_64(coloured(address[a], i, others)), address[a]);
        /* Here the remapped bits are four, one of them off, and the address is above them all. */
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(oop_uncolour_aarch64(address[a] << 16 | (0xf ^ 1u << i) << 12 | 0x550),
                             address[a]);
    }
}

static void test_what_is_no_reference(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(oop_uncolour_x86_64(coloured(0, i, 0x550)), 0);
    assert_int_equal(oop_uncolour_x86_64(0), 0);
    /* An address without colours, two colours at once, one that is not aligned, one too high. */
    assert_int_equal(oop_uncolour_x86_64(HEAP), 0);
    assert_int_equal(oop_uncolour_x86_64(HEAP << 16 | 0x9000), 0);
    assert_int_equal(oop_uncolour_x86_64(coloured(HEAP + 4, 0, 0)), 0);
    assert_int_equal(oop_uncolour_x86_64(UINT64_C(1) << 63 | 1 << 12), 0);
    assert_int_equal(oop_uncolour_aarch64((HEAP + 4) << 16), 0);
    uint64_t highest = VM_ADDRESS_BITS == 48 ? UINT64_C(1) << 47 : 0; /* user space, or not */
    assert_int_equal(oop_uncolour_aarch64(UINT64_C(1) << 63), highest);
}

static void test_references_of_each_form(void **state) {
    (void)state;
    _Alignas(8) uint64_t object[2] = {1, 0}; /* a mark word that is not forwarded */
    _Alignas(8) uint64_t moved[2] = {0};
    uintptr_t at = (uintptr_t)object;
    uint64_t slot = at;
    struct oop_layout o = {.form = OOP_UNKNOWN};
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), 0);
    assert_int_equal(oop_in_handle(&o, (uintptr_t)&slot), 0);
    o.form = OOP_WIDE;
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), at);
    moved[0] = (uintptr_t)object | 3;
    slot = (uintptr_t)moved;
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), (uintptr_t)moved);
    o.forwarded = true;
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), at);
    assert_int_equal(oop_on_stack(&o, (uintptr_t)moved), at);
    moved[0] = 3; /* marked, not moved */
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), (uintptr_t)moved);
    o = (struct oop_layout){.form = OOP_NARROW, .narrow_base = at & ~0xfffful, .narrow_shift = 3};
    uint32_t narrow[2] = {(uint32_t)(at & 0xffff) >> 3, 0};
    slot = at;
    assert_int_equal(oop_in_field(&o, (uintptr_t)&narrow[0]), at);
    assert_int_equal(oop_in_field(&o, (uintptr_t)&narrow[1]), 0);
    assert_int_equal(oop_in_handle(&o, (uintptr_t)&slot), at);
    o = (struct oop_layout){.form = OOP_VIEWS, .finalizable = UINT64_C(1) << 45};
    slot = HEAP | UINT64_C(1) << 45;
    assert_int_equal(oop_in_field(&o, (uintptr_t)&slot), HEAP);
}

#define ENTRIES 1024u
#define FORWARDING_BYTES 64

/* A ZForwarding as the VM has it: start of its range, shift and number of entries, then those. */
struct fake_forwarding {
    uint64_t start, shift, entries, rest[5];
    uint64_t entry[ENTRIES];
};

static const struct zgc_layout forwarding_layout = {
    .start = 0, .shift = 8, .entries = 16, .forwarding_bytes = FORWARDING_BYTES};

static uint64_t entry(uint64_t number, uint64_t to) {
    return number << 46 | to << 1 | 1;
}

static void test_forwarded_objects(void **state) {
    (void)state;
    static struct fake_forwarding f = {.start = 6 << 21, .shift = 3, .entries = ENTRIES};
    uintptr_t at = (uintptr_t)&f;
    /* Where the VM's own hash puts the objects with these numbers. */
    f.entry[675] = entry(0, 0x1000);
    f.entry[1014] = entry(1, 0x2000);
    f.entry[788] = entry(77, 0x3000);   /* a stranger first */
    f.entry[789] = entry(1234, 0x4000); /* then 1234 */
    f.entry[559] = entry(0x3ffff, (UINT64_C(1) << 45) - 8);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, 6 << 21), 0x1000);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, (6 << 21) + 8), 0x2000);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, (6 << 21) + 1234 * 8), 0x4000);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, (6 << 21) + 0x3ffff * 8),
                     (UINT64_C(1) << 45) - 8);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, (6 << 21) + 16), 0);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, 5 << 21), 0); /* before its range */
    /* Nonsense ends the search, and so does a table without an end. */
    for (uint64_t n = 0; n < 70; n++) {
        f.entries = n == 64 ? 64 : 3 + n * n * 1000;
        zgc_forwarded(&forwarding_layout, at, 6 << 21);
    }
    f.entries = ENTRIES;
    for (uint32_t i = 0; i < ENTRIES; i++)
        f.entry[i] = entry(99, 8);
    assert_int_equal(zgc_forwarded(&forwarding_layout, at, 6 << 21), 0);
}

static void test_only_bad_colours_are_corrected(void **state) {
    (void)state;
    static struct fake_forwarding f = {.start = 0, .shift = 3, .entries = ENTRIES};
    f.entry[675] = entry(0, 0x1000);
    uintptr_t map[2] = {(uintptr_t)&f, 0};
    uint64_t bad = 0xf000 & ~UINT64_C(0x2000);
    struct zgc_layout z = forwarding_layout;
    z.known = true;
    z.tables = 1;
    z.table[0] = (struct zgc_table){.map = (uintptr_t)map, .slots = 2};
    z.bad_mask = (uintptr_t)&bad;
    z.offset_mask = HEAP - 1;
    assert_int_equal(zgc_current(&z, 0x1000, HEAP), HEAP + 0x1000);
    assert_int_equal(zgc_current(&z, 0x2000, HEAP), HEAP);
    assert_int_equal(zgc_current(&z, 0x1000, HEAP + 8), HEAP + 8);                 /* not moved */
    assert_int_equal(zgc_current(&z, 0x1000, HEAP + (1 << 21)), HEAP + (1 << 21)); /* no table */
    assert_int_equal(zgc_current(&z, 0x1000, HEAP + (9 << 21)), HEAP + (9 << 21)); /* no slot */
}

/* A String and its array, as an uncompressed VM has them. */
struct fake_string {
    uint64_t mark, klass;
    uint64_t value;
    uint8_t coder, pad[7];
};

struct fake_bytes {
    uint64_t mark;
    uint32_t klass, length;
    uint8_t data[1024];
};

static const struct oop_layout string_layout = {
    .form = OOP_WIDE,
    .string_value = offsetof(struct fake_string, value),
    .string_coder = offsetof(struct fake_string, coder),
    .bytes_length = offsetof(struct fake_bytes, length),
    .bytes_data = offsetof(struct fake_bytes, data),
};

static struct fake_bytes array;
static struct fake_string string;

static bool read_text(const void *data, uint32_t bytes, uint8_t coder, struct oop_text *out) {
    memset(&array, 0xee, sizeof array);
    array.length = bytes;
    memcpy(array.data, data, bytes < sizeof array.data ? bytes : sizeof array.data);
    string = (struct fake_string){.value = (uintptr_t)&array, .coder = coder};
    return oop_read_text(&string_layout, (uintptr_t)&string, out);
}

static void expect_text(const struct oop_text *t, size_t max, const char *expected) {
    uint8_t out[1024];
    memset(out, 0x7e, sizeof out);
    size_t n = oop_text_utf8(t, out, max);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(out, expected, n);
    assert_int_equal(out[n], 0x7e);
}

static void test_names(void **state) {
    (void)state;
    struct oop_text t;
    assert_true(read_text("task-1", 6, 0, &t));
    expect_text(&t, 256, "task-1");
    expect_text(&t, 4, "task");
    assert_true(read_text("", 0, 0, &t));
    expect_text(&t, 256, "");
    assert_true(read_text("\0t\xe4sk\xff\x7f", 7, 0, &t));
    expect_text(&t, 256, "\xc0\x80t\xc3\xa4sk\xc3\xbf\x7f");
    expect_text(&t, 3, "\xc0\x80t"); /* no half characters */
    static const uint16_t wide[] = {'a', 0x4e16, 0xd83d, 0xde00, 0x7ff, 0, 0xd83d};
    assert_true(read_text(wide, sizeof wide, 1, &t));
    expect_text(&t, 256, "a\xe4\xb8\x96\xed\xa0\xbd\xed\xb8\x80\xdf\xbf\xc0\x80\xed\xa0\xbd");
    expect_text(&t, 9, "a\xe4\xb8\x96"); /* nor half pairs */
    expect_text(&t, 10, "a\xe4\xb8\x96\xed\xa0\xbd\xed\xb8\x80");
}

static void test_long_names_and_no_names(void **state) {
    (void)state;
    struct oop_text t;
    char text[1024];
    memset(text, 'x', sizeof text);
    assert_true(read_text(text, 1000, 0, &t));
    assert_int_equal(t.units, OOP_TEXT_UNITS);
    assert_true(read_text(text, 1000, 1, &t));
    assert_int_equal(t.units, OOP_TEXT_UNITS);
    assert_false(read_text(text, 7, 1, &t)); /* half a character */
    assert_false(read_text(text, 4, 2, &t)); /* no such coder */
    assert_false(read_text(text, 0x80000000, 0, &t));
    string.value = 0;
    assert_false(oop_read_text(&string_layout, (uintptr_t)&string, &t));
    string.value = (uintptr_t)&array + 1;
    assert_false(oop_read_text(&string_layout, (uintptr_t)&string, &t));
}

static uint64_t spread(uint64_t i) {
    return i * UINT64_C(0x9e3779b97f4a7c15) ^ i << 7;
}

/* What was put in lately is there, nothing else is, and it never fills up. */
static void test_recent_set(void **state) {
    (void)state;
    struct recent_set *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const uint64_t capacity = (uint64_t)RECENT_SET_ROWS * RECENT_SET_WAYS;
    assert_false(recent_set_has(s, 0));
    recent_set_add(s, 0);
    assert_true(recent_set_has(s, 0));
    for (uint64_t i = 1; i < 20 * capacity; i++) {
        assert_false(recent_set_has(s, spread(i)));
        recent_set_add(s, spread(i));
        assert_true(recent_set_has(s, spread(i)));
    }
    uint64_t kept = 0;
    for (uint64_t i = 20 * capacity - capacity / 2; i < 20 * capacity; i++)
        kept += recent_set_has(s, spread(i));
    assert_true(kept > capacity / 2 * 8 / 10);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coloured_references),
        cmocka_unit_test(test_what_is_no_reference),
        cmocka_unit_test(test_references_of_each_form),
        cmocka_unit_test(test_forwarded_objects),
        cmocka_unit_test(test_only_bad_colours_are_corrected),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_names_and_no_names),
        cmocka_unit_test(test_recent_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
