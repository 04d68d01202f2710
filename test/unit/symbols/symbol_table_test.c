#include "symbols/elf/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct row {
    uint64_t start;
    uint32_t size; /* 0: none given, may reach 4 KiB */
    enum symbol_binding binding;
    const char *name;
    bool plt;
};

static struct symbol_table build(const struct row *rows, size_t count) {
    struct symbol_table t = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t base;
        assert_int_equal(symbol_table_names(&t, rows[i].name, strlen(rows[i].name), &base), 0);
        struct symbol_entry e = {
            .start = rows[i].start,
            .size = rows[i].size ? rows[i].size : 4096,
            .sized = rows[i].size != 0,
            .name = base,
            .plt = rows[i].plt,
        };
        assert_int_equal(symbol_table_add(&t, &e, rows[i].binding), 0);
    }
    symbol_table_finish(&t);
    return t;
}

static const char *find(const struct symbol_table *t, uint64_t address) {
    const struct symbol_entry *e = symbol_table_find(t, address);
    return e ? symbol_table_name(t, e) : "none";
}

static void test_covering(void **state) {
    (void)state;
    static const struct row rows[] = {
        {0x5000, 0, SYMBOL_LOCAL, "assembly", false},
        {0x1000, 0x100, SYMBOL_GLOBAL, "first", false},
        {0x1100, 0x7c, SYMBOL_GLOBAL, "second", false},
        {0x2000, 0x1000, SYMBOL_GLOBAL, "outer", false},
        {0x2400, 0x10, SYMBOL_LOCAL, "inner", false},
        {0x2800, 0, SYMBOL_LOCAL, "label", false},
        {0x5200, 0, SYMBOL_LOCAL, "more_assembly", false},
        {0x9000, 0, SYMBOL_LOCAL, "last", false},
    };
    struct symbol_table t = build(rows, sizeof rows / sizeof *rows);
    static const struct {
        uint64_t address;
        const char *name;
    } cases[] = {
        {0xfff, "none"},           {0x1000, "first"},
        {0x10ff, "first"},         {0x1100, "second"},
        {0x117f, "second"},        {0x117c, "second"}, /* padding */
        {0x1180, "none"},                              /* a static function of a stripped file */
        {0x1fff, "none"},          {0x2400, "inner"},
        {0x2410, "outer"}, /* not the padding of what is inside */
        {0x2900, "outer"}, /* a label does not end its function */
        {0x51ff, "assembly"},      {0x5200, "more_assembly"},
        {0x61ff, "more_assembly"}, {0x6200, "none"},
        {0x9fff, "last"},          {0xa000, "none"},
        {UINT64_MAX, "none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(find(&t, cases[i].address), cases[i].name);
    symbol_table_free(&t);
}

static void test_best_of_several_names(void **state) {
    (void)state;
    static const struct row rows[] = {
        {0x1000, 16, SYMBOL_LOCAL, "__GI_memcpy", false},
        {0x1000, 16, SYMBOL_WEAK, "memcpy_weak", false},
        {0x1000, 16, SYMBOL_GLOBAL, "__memcpy", false},
        {0x1000, 16, SYMBOL_GLOBAL, "memcpy_with_long_name", false},
        {0x1000, 16, SYMBOL_GLOBAL, "memcpy", false},
        {0x1000, 0, SYMBOL_GLOBAL, "m", false},
        {0x1000, 16, SYMBOL_GLOBAL, "p", true},
        {0x1000, 16, SYMBOL_GLOBAL, "", false},
    };
    size_t count = sizeof rows / sizeof *rows;
    for (size_t turn = 0; turn < count; turn++) {
        struct row turned[8];
        for (size_t i = 0; i < count; i++)
            turned[i] = rows[(i + turn) % count];
        struct symbol_table t = build(turned, count);
        assert_int_equal(t.count, 1);
        assert_string_equal(find(&t, 0x1008), "memcpy");
        symbol_table_free(&t);
    }
}

static void test_more_after_finish(void **state) {
    (void)state;
    static const struct row rows[] = {{0x1000, 16, SYMBOL_GLOBAL, "exported", false}};
    struct symbol_table t = build(rows, 1);
    uint32_t base;
    assert_int_equal(symbol_table_names(&t, "hidden", 6, &base), 0);
    struct symbol_entry e = {.start = 0x800, .size = 16, .sized = true, .name = base};
    assert_int_equal(symbol_table_add(&t, &e, SYMBOL_LOCAL), 0);
    symbol_table_finish(&t);
    assert_string_equal(find(&t, 0x800), "hidden");
    assert_string_equal(find(&t, 0x1000), "exported");
    e.name = (uint32_t)t.names_length;
    assert_int_equal(symbol_table_add(&t, &e, SYMBOL_LOCAL),
                     0); /* a name out of bounds: left out */
    assert_int_equal(t.count, 2);
    symbol_table_free(&t);
    assert_string_equal(find(&t, 0x800), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covering),
        cmocka_unit_test(test_best_of_several_names),
        cmocka_unit_test(test_more_after_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
