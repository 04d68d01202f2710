/* Tables without a view: order, columns by the screen's width, heads, the mouse. */
#include "tui/model/thread_pools.h"
#include "tui/view/name_order.h"
#include "tui/view/table.h"
#include "tui/widget/row_order.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 20;
}

static void orders(void **unused) {
    (void)unused;
    enum { ROWS = 3000 };
    struct row_key *key = malloc(ROWS * sizeof *key);
    uint64_t seed = 1;
    for (int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            uint64_t k = next(&seed);
            key[i] = (struct row_key){.key = round == 0   ? k
                                             : round == 1 ? k % 7
                                             : round == 2 ? k << 40
                                                          : 5,
                                      .row = i};
        }
        assert_int_equal(row_order_sort(key, ROWS), 0);
        for (uint32_t i = 1; i < ROWS; i++)
            assert_true(key[i - 1].key < key[i].key ||
                        (key[i - 1].key == key[i].key && key[i - 1].row < key[i].row));
    }
    free(key);
    /* 1 and 4 are parents; of 4 come 0 and 3, of 1 comes 2; 5 is by itself. */
    uint32_t order[] = {3, 2, 5, 4, 0, 1};
    const uint32_t parent[] = {4, ROW_NO_PARENT, 1, 4, ROW_NO_PARENT, ROW_NO_PARENT};
    const uint32_t nested[] = {5, 4, 3, 0, 1, 2};
    assert_int_equal(row_order_nest(order, 6, parent), 0);
    assert_memory_equal(order, nested, sizeof nested);
}

static void keys(void **unused) {
    (void)unused;
    static const double number[] = {-1e9, -2, -1, -0.001, 0, 1e-9, 0.5, 1, 99.9, 1e12};
    for (size_t i = 1; i < sizeof number / sizeof number[0]; i++)
        assert_true(table_key(number[i - 1]) < table_key(number[i]));
    double zero = 0;
    assert_true(table_key(zero / zero) < table_key(-1e9));
    uint64_t last = 0, steps = 0;
    for (uint64_t most = 0; most < 1000000; most++) {
        uint64_t scale = table_scale(most);
        assert_true(scale >= most && scale >= last && (most < 10 || scale <= most * 2));
        steps += scale != last;
        last = scale;
    }
    assert_true(steps < 50);
    assert_true(table_scale(UINT64_MAX) == UINT64_MAX);
}

/* A view of numbers. */
enum { A, B, C, N, COLUMNS };

struct numbers {
    uint32_t count;
    double value[8][3];
    bool without_c;
};

static bool has(const void *rows, int column) {
    return column != C || !((const struct numbers *)rows)->without_c;
}

static const char *title(const void *rows, int column, int event, const struct canvas *c, char *out,
                         size_t size) {
    (void)rows, (void)event, (void)c;
    snprintf(out, size, "T%d", column);
    return out;
}

static uint64_t key(const void *rows, int column, int event, uint32_t row) {
    const struct numbers *v = rows;
    assert_int_equal(event, -1);
    return column == N ? row : table_key(v->value[row][column]);
}

static const char *text(const void *rows, uint32_t row, char *out, size_t size) {
    (void)rows;
    snprintf(out, size, "row %u", row);
    return out;
}

static void draw(const void *rows, struct canvas *c, int y, int x, int cols,
                 const struct table_slot *slot, uint32_t row) {
    const struct numbers *v = rows;
    char cell[32];
    if (slot->column == N) {
        canvas_text(c, y, x, cols, ROLE_TEXT, text(rows, row, cell, sizeof cell));
        return;
    }
    snprintf(cell, sizeof cell, "%g", v->value[row][slot->column]);
    canvas_right(c, y, x, cols, ROLE_NUMBER, cell);
}

static uint64_t item(const void *rows, uint32_t row) {
    return ((const struct numbers *)rows)->value[row][A] > 0 ? row : 100 + row;
}

static const struct table_column columns[] = {
    [A] = {.name = "a", .head = "AAA", .cols = 4},
    [B] = {.name = "bee", .cols = 5, .from_cols = 60},
    [C] = {.name = "c", .head = "C", .cols = 3, .cols_wide = 9, .leaves = 20, .left = true},
    [N] = {.name = "name", .head = "NAME", .cols = 8, .share = 1, .left = true, .ascending = true},
    {0},
};

static const struct table_type numbers_table = {.column = columns,
                                                .natural = A,
                                                .has = has,
                                                .title = title,
                                                .key = key,
                                                .draw = draw,
                                                .item = item,
                                                .text = text};

static struct numbers numbers = {.count = 4,
                                 .value = {{9, 1, -1}, {7, 3, 0.5}, {5, 2, 0.8}, {3, 4, 0.6}}};

static const struct model model = {.question.event = 0};

static struct table_rows rows_of(struct numbers *v) {
    return (struct table_rows){.rows = v, .count = v->count, .in_order = true, .model = &model};
}

/* The columns on screen as "a@2+4 name@7+33". */
static const char *layout(struct table *t, int cols, char *out, size_t size) {
    const struct table_rows r = rows_of(&numbers);
    size_t n = 0;
    table_lay_out(t, cols, &r);
    for (int i = 0; i < t->slots; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s@%d+%d", i ? " " : "",
                              columns[t->slot[i].column].name, t->slot[i].x, t->slot[i].cols);
    return out;
}

static void lays_out(void **unused) {
    (void)unused;
    static const struct {
        const char *asked;
        int cols;
        const char *shown;
    } want[] = {
        {"", 40, "a@2+4 c@7+3 name@11+29"},
        {"", 30, "a@2+4 name@7+23"}, /* c would leave the name 19 */
        {"", 60, "a@2+4 bee@7+5 c@13+3 name@17+43"},
        {"", 140, "a@2+4 bee@7+5 c@13+9 name@23+117"},
        {"name,a", 40, "name@2+33 a@36+4"},
        {"c, bee", 40, "c@2+3 bee@6+5 name@12+28"}, /* a row has a name; room is what counts */
        {"bee,nonsense,bee", 20, "bee@2+5 name@8+12"},
        {"bee", 19, "name@2+17"}, /* 12 are left at least */
        {"nonsense", 40, "a@2+4 c@7+3 name@11+29"},
        {",, ,", 30, "a@2+4 name@7+23"},
    };
    char shown[256];
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct table t;
        table_init(&t, &numbers_table, want[i].asked);
        assert_string_equal(layout(&t, want[i].cols, shown, sizeof shown), want[i].shown);
    }
    struct table t;
    table_init(&t, &numbers_table, "");
    numbers.without_c = true;
    assert_string_equal(layout(&t, 40, shown, sizeof shown), "a@2+4 name@7+33");
    numbers.without_c = false;
    for (int cols = 0; cols < 12; cols++) /* absurd, but whole */
        layout(&t, cols, shown, sizeof shown);
    assert_true(table_has_column(&methods_table, "self,total", 4));
    assert_false(table_has_column(&methods_table, "selfish", 7));
    assert_true(table_has_column(&threads_table, "blocked", 7));
}

/* Rows from the first place on, as digits. */
static const char *places(const struct table *t, char out[16]) {
    uint32_t i = 0;
    for (; table_row(t, i) != TABLE_NONE; i++)
        out[i] = (char)('0' + table_row(t, i));
    out[i] = '\0';
    return out;
}

static void press(struct table *t, enum mouse_action action, int row, int col) {
    const struct table_rows r = rows_of(&numbers);
    const struct area a = {.row = 5, .col = 0, .rows = 10, .cols = 60};
    const struct mouse m = {.action = action, .row = row, .col = col};
    assert_int_equal(table_mouse(t, a, &m, &r), VIEW_DONE);
}

static void sorts(void **unused) {
    (void)unused;
    const struct table_rows r = rows_of(&numbers);
    const struct area a = {.row = 5, .col = 0, .rows = 10, .cols = 60};
    struct canvas c = {.ascii_lines = true};
    struct table t;
    char seen[16];
    setlocale(LC_CTYPE, "C.UTF-8");
    assert_int_equal(canvas_resize(&c, 24, 60), 0);
    table_init(&t, &numbers_table, "");
    table_sort(&t, &r);
    assert_string_equal(places(&t, seen), "0123");
    table_command(&t, COMMAND_DOWN, &r); /* on row 1 it stays */
    table_command(&t, COMMAND_SORT, &r);
    assert_string_equal(places(&t, seen), "3120");
    assert_int_equal(table_selected(&t), 1);
    table_command(&t, COMMAND_REVERSE, &r);
    assert_string_equal(places(&t, seen), "0213");
    table_command(&t, COMMAND_SORT, &r); /* c, the largest first again */
    assert_string_equal(places(&t, seen), "2310");
    assert_int_equal(table_selected(&t), 1);
    table_command(&t, COMMAND_SORT, &r); /* names */
    assert_string_equal(places(&t, seen), "0123");
    table_command(&t, COMMAND_SORT, &r); /* round */
    assert_int_equal(t.sort, A);
    assert_int_equal(table_draw(&t, &c, a, &r), 7);
    press(&t, MOUSE_PRESS, 5, 9);
    assert_string_equal(places(&t, seen), "3120");
    press(&t, MOUSE_PRESS, 5, 9);
    assert_string_equal(places(&t, seen), "0213");
    press(&t, MOUSE_PRESS, 8, 30);
    assert_int_equal(table_selected(&t), 1);
    press(&t, MOUSE_WHEEL_DOWN, 8, 30);
    assert_int_equal(table_selected(&t), 3);
    canvas_clear(&c);
    table_draw(&t, &c, a, &r);
    struct text shown = {0};
    canvas_dump(&c, &shown);
    assert_non_null(strstr(shown.data, "   AAA    T1^C   NAME\n"
                                       "     9     1  -1 row 0\n"
                                       "     5     2 0.8 row 2\n"
                                       "     7     3 0.5 row 1\n"
                                       ">    3     4 0.6 row 3\n"));
    text_free(&shown);
    const struct mouse outside = {.row = 3, .col = 9};
    assert_int_equal(table_mouse(&t, a, &outside, &r), VIEW_IGNORED);
    const struct mouse twice = {.action = MOUSE_TWICE, .row = 6, .col = 9};
    assert_int_equal(table_mouse(&t, a, &twice, &r), VIEW_GO);
    table_seek(&t, 2);
    table_sort(&t, &r);
    assert_int_equal(table_selected(&t), 2);
    table_seek(&t, 77); /* not there yet: the cursor stays, until it is or somebody moves */
    table_sort(&t, &r);
    assert_int_equal(table_selected(&t), 2);
    assert_true(t.seeks);
    table_command(&t, COMMAND_UP, &r);
    assert_false(t.seeks);
    table_free(&t);
    canvas_free(&c);
}

/* Names come in portions, and are in order after each. */
static void names(void **unused) {
    (void)unused;
    static struct method methods[600];
    static char name[600][32], class_name[600][32];
    struct model m = {.methods = methods};
    struct name_order o = {0};
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 600; i++) {
        snprintf(name[i], sizeof name[i], "m%u", (unsigned)(next(&seed) % 50));
        snprintf(class_name[i], sizeof class_name[i], "p%u/C%u", (unsigned)(next(&seed) % 9),
                 (unsigned)(next(&seed) % 9));
        methods[i] = (struct method){.kind = i % 5 ? METHOD_JAVA : METHOD_NATIVE,
                                     .class_name = i % 5 ? class_name[i] : "",
                                     .name = name[i],
                                     .signature = i % 2 ? "()V" : "",
                                     .module = ""};
    }
    for (uint32_t count = 1; count <= 600; count += 1 + count / 3) {
        m.method_count = count;
        assert_int_equal(name_order_update(&o, &m), 0);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(o.rank[o.id[i]], i);
        for (uint32_t i = 1; i < count; i++) {
            char a[80], b[80];
            frame_name(&methods[o.id[i - 1]], NAME_DOTTED, a, sizeof a);
            frame_name(&methods[o.id[i]], NAME_DOTTED, b, sizeof b);
            assert_true(strcmp(a, b) <= 0);
        }
    }
    assert_true(name_order_rank(&o, 599) > name_order_rank(&o, o.id[0]));
    name_order_free(&o);
}

static void folds_names(void **unused) {
    (void)unused;
    static const char *const name[][2] = {
        {"http-worker-12", "http-worker-#"},
        {"pool-1-thread-22", "pool-#-thread-#"},
        {"G1 Conc#0", "G1 Conc#"},
        {"C# main", "C# main"},
        {"C2 CompilerThread0", "C2 CompilerThread#"},
        {"C2", "C#"},
        {"worker 3 of 7", "worker # of #"},
        {"", ""},
        {"007", "#"},
        {"[tid=4711]", "[tid=#]"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        assert_string_equal(thread_pools_fold_name(name[i][0], out, sizeof out), name[i][1]);
    assert_string_equal(thread_pools_fold_name("worker-12", out, 5), "work");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders), cmocka_unit_test(keys),  cmocka_unit_test(lays_out),
        cmocka_unit_test(sorts),  cmocka_unit_test(names), cmocka_unit_test(folds_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
