/* What a terminal sends becomes presses; whatever it sends, the next key is heard. */
#include "tui/terminal/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define BEGIN (1000 * MS)

/* Everything there is at once, and what time brings later on. Ends with -1. */
static void press_all(struct input *in, const char *bytes, size_t length, int32_t *out, int room) {
    uint64_t now = BEGIN;
    int n = 0;
    assert_int_equal(input_feed(in, bytes, length, now), length);
    for (int i = 0; i < 10000; i++) {
        int32_t press = input_next(in, now);
        if (press < 0 && !input_deadline(in))
            break;
        if (press < 0) {
            assert_true(input_deadline(in) > now); /* or the loop would spin */
            now = input_deadline(in);
        } else if (n < room - 1) {
            out[n++] = press;
        }
    }
    out[n] = -1;
    assert_int_equal(in->length, 0);
}

/* PRESS_NONE is left out. */
static void check(const char *bytes, size_t length, const int32_t *expected) {
    struct input in = {.length = 0};
    int32_t press[64];
    press_all(&in, bytes, length, press, 64);
    int at = 0;
    for (int i = 0; press[i] >= 0; i++) {
        if (press[i] == PRESS_NONE)
            continue;
        if (press[i] != expected[at])
            fail_msg("\"%s\": press %d is %x, not %x", bytes + 1, at, (unsigned)press[i],
                     (unsigned)expected[at]);
        at++;
    }
    if (expected[at] >= 0)
        fail_msg("\"%s\": %x is missing", bytes + 1, (unsigned)expected[at]);
}

#define CHECK(bytes, ...) check(bytes, sizeof(bytes) - 1, (const int32_t[]){__VA_ARGS__, -1})
#define F(n) (PRESS_F1 + (n)-1)

static void keys(void **unused) {
    (void)unused;
    CHECK("aZ \t", 'a', 'Z', ' ', PRESS_TAB);
    CHECK("\r\n\b\x7f", PRESS_ENTER, PRESS_ENTER, PRESS_BACKSPACE, PRESS_BACKSPACE);
    CHECK("\x0c", PRESS_CTRL('L'));
    CHECK("\033[A\033[B\033[C\033[D", PRESS_UP, PRESS_DOWN, PRESS_RIGHT, PRESS_LEFT);
    CHECK("\033OA\033OB\033OC\033OD", PRESS_UP, PRESS_DOWN, PRESS_RIGHT, PRESS_LEFT);
    CHECK("\033[H\033[F\033OH\033OF", PRESS_HOME, PRESS_END, PRESS_HOME, PRESS_END);
    CHECK("\033[1~\033[4~\033[7~\033[8~", PRESS_HOME, PRESS_END, PRESS_HOME, PRESS_END);
    CHECK("\033[5~\033[6~\033[3~\033[Z", PRESS_PAGE_UP, PRESS_PAGE_DOWN, PRESS_DELETE,
          PRESS_BACK_TAB);
    CHECK("\033[1;5A\033[5;2~", PRESS_UP, PRESS_PAGE_UP); /* with Control, with Shift */
    CHECK("\033Oj\033Ok\033Om\033On\033Oo\033Op\033Oy\033OM", '*', '+', '-', '.', '/', '0', '9',
          PRESS_ENTER);
    CHECK("\033", PRESS_ESCAPE);
    CHECK("\033x", PRESS_ESCAPE, 'x');
    CHECK("\033\033[A", PRESS_ESCAPE, PRESS_UP);
    CHECK("\033[2~\033[99~\033[1;2X$", '$'); /* keys that mean nothing */
}

static void function_keys(void **unused) {
    (void)unused;
    CHECK("\033OP\033OQ\033OR\033OS", F(1), F(2), F(3), F(4));
    CHECK("\033[P\033[1;2Q\033[R\033[S", F(1), F(2), F(3), F(4));
    CHECK("\033[11~\033[12~\033[13~\033[14~\033[15~", F(1), F(2), F(3), F(4), F(5));
    CHECK("\033[17~\033[18~\033[19~\033[20~\033[21~", F(6), F(7), F(8), F(9), F(10));
    CHECK("\033[23~\033[24~", F(11), F(12));
    CHECK("\033[[A\033[[B\033[[C\033[[D\033[[E", F(1), F(2), F(3), F(4), F(5));
}

/* What is cut off takes nothing of what comes behind it. */
static void cut_off(void **unused) {
    (void)unused;
    CHECK("\033O\033[A", PRESS_UP);
    CHECK("\033O\r", PRESS_ENTER);
    CHECK("\033O\xc3\xa4", 0xe4);
    CHECK("\033[[\033[B", PRESS_DOWN);
    CHECK("\033[[\tx", PRESS_TAB, 'x');
    CHECK("\033[1;\033[C", PRESS_RIGHT);
    CHECK("\033[1\r", PRESS_ENTER);
    CHECK("\033Oa", -1);
}

static void mouse_is(struct input *in, const char *bytes, size_t length, uint64_t now_ns,
                     int action, int row, int col) {
    assert_int_equal(input_feed(in, bytes, length, now_ns), length);
    assert_int_equal(input_next(in, now_ns), PRESS_MOUSE);
    assert_int_equal(in->mouse.action, action);
    assert_int_equal(in->mouse.row, row);
    assert_int_equal(in->mouse.col, col);
}

#define MOUSE(in, bytes, ms, ...) mouse_is(in, bytes, sizeof(bytes) - 1, (ms)*MS, __VA_ARGS__)

static void mouse(void **unused) {
    (void)unused;
    struct input in = {.length = 0};
    MOUSE(&in, "\033[<0;7;3M", 10000, MOUSE_PRESS, 2, 6);
    MOUSE(&in, "\033[<64;300;200M", 10001, MOUSE_WHEEL_UP, 199, 299);
    MOUSE(&in, "\033[<65;1;1M", 10001, MOUSE_WHEEL_DOWN, 0, 0);
    MOUSE(&in, "\033[<35;2;2M", 10002, MOUSE_MOVE, 1, 1);
    MOUSE(&in, "\033[M !!", 20000, MOUSE_PRESS, 0, 0);
    MOUSE(&in, "\033[M`*%", 20001, MOUSE_WHEEL_UP, 4, 9);
    MOUSE(&in, "\033[Ma*%", 20002, MOUSE_WHEEL_DOWN, 4, 9);
    MOUSE(&in, "\033[<32;8;3M", 20003, MOUSE_DRAG, 2, 7);
    MOUSE(&in, "\033[<0;9;3m", 20004, MOUSE_RELEASE, 2, 8);
    MOUSE(&in, "\033[M@*%", 20005, MOUSE_DRAG, 4, 9);
    MOUSE(&in, "\033[M#*%", 20006, MOUSE_RELEASE, 4, 9);
    /* another button, down and up, nowhere, too few figures */
    CHECK("\033[<2;7;3M\033[<2;7;3m\033[<0;0;3M\033[<0;7M\033[M   x", 'x');
}

static void double_press(void **unused) {
    (void)unused;
    struct input in = {.length = 0};
    MOUSE(&in, "\033[<0;7;3M", 10000, MOUSE_PRESS, 2, 6);
    MOUSE(&in, "\033[<0;7;3M", 10400, MOUSE_TWICE, 2, 6);
    MOUSE(&in, "\033[<0;7;3M", 10500, MOUSE_PRESS, 2, 6); /* the third is a first one */
    MOUSE(&in, "\033[<0;7;3M", 10901, MOUSE_PRESS, 2, 6); /* too late */
    MOUSE(&in, "\033[<32;8;3M", 10910, MOUSE_DRAG, 2, 7); /* dragged in between */
    MOUSE(&in, "\033[<0;7;3M", 10920, MOUSE_PRESS, 2, 6);
    MOUSE(&in, "\033[<0;8;3M", 10950, MOUSE_PRESS, 2, 7); /* elsewhere */
    MOUSE(&in, "\033[M (#", 11000, MOUSE_TWICE, 2, 7);    /* whichever way it is told */
}

static void paste(void **unused) {
    (void)unused;
#define P(ch) ((ch) | PRESS_PASTED)
    CHECK("\033[200~q\ts\r\n\x1b[A\x03\xc3\xa4\033[201~q", P('q'), P(' '), P('s'), P(' '), P(' '),
          P('['), P('A'), P(0xe4), 'q');
    CHECK("\033[201~q", 'q');             /* an end without a beginning */
    CHECK("\033[200~ab", P('a'), P('b')); /* whose end got lost: for two seconds */
    struct input in = {.length = 0};
    int32_t press[8];
    press_all(&in, "\033[200~ab", 8, press, 8);
    assert_false(in.pasting);
    press_all(&in, "j", 1, press, 8);
    assert_int_equal(press[0], 'j');
#undef P
}

/* One byte at a time, with as long between them as a bad line takes. */
static void pieces(void **unused) {
    (void)unused;
    static const struct {
        const char *bytes;
        int32_t press;
    } cases[] = {{"\xc3\xa4", 0xe4},
                 {"\xe4\xbe\xa1", 0x4fa1},
                 {"\xf0\x9f\x98\x80", 0x1f600},
                 {"\033[1;5A", PRESS_UP},
                 {"\033OP", F(1)},
                 {"\033[[E", F(5)},
                 {"\033[<0;7;3M", PRESS_MOUSE},
                 {"\033[M !!", PRESS_MOUSE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct input in = {.length = 0};
        uint64_t now = BEGIN;
        size_t length = strlen(cases[i].bytes);
        for (size_t k = 0; k < length; k++) {
            input_feed(&in, cases[i].bytes + k, 1, now);
            int32_t press = input_next(&in, now);
            if (press != (k + 1 < length ? -1 : cases[i].press))
                fail_msg("case %zu, byte %zu: %x", i, k, (unsigned)press);
            now += 30 * MS;
        }
    }
    CHECK("\xc3"
          "a",
          'a');
    CHECK("\xe4\xbe", -1);
    CHECK("\xc3\033[A", PRESS_UP);
    CHECK("\xc0\x80\xed\xa0\x80\xf5\xff"
          "a",
          'a'); /* overlong, a surrogate, beyond Unicode */
}

static void answers(void **unused) {
    (void)unused;
    struct input in = {.length = 0};
    int32_t press[8];
    static const char text[] = "\033[0n\033[?2026;2$y\033]11;rgb:0/0/0\033\\\033P>|xterm\033\\"
                               "\033_Gi=1\033\\\033]0;title\007\033[?1;2c";
    press_all(&in, text, sizeof text - 1, press, 8);
    assert_int_equal(press[0], -1);
    assert_int_equal(in.alive, 1);
    assert_true(in.synchronizes);
    CHECK("\033]52;c;\033[A", PRESS_UP); /* cut off */
}

/* Alt and a key that would begin a string: what is typed next is not taken for it. */
static void alt(void **unused) {
    (void)unused;
    CHECK("\033]jk", 'j', 'k');
    CHECK("\033Pq", 'q');
    CHECK("\033_\xc3\xa4\r", 0xe4, PRESS_ENTER);
    CHECK("\033]", -1);
    struct input in = {.length = 0};
    uint64_t now = BEGIN;
    int heard = 0;
    input_feed(&in, "\033]", 2, now);
    for (int i = 0; i < 40; i++, now += 30 * MS) { /* a key that is held down */
        for (int32_t press; (press = input_next(&in, now)) >= 0;)
            heard += press == 'j';
        if (now - BEGIN > 500 * MS)
            assert_int_equal(in.length, 0);
        input_feed(&in, "j", 1, now);
    }
    assert_int_equal(heard, 39);
}

/* Anything, in pieces of any length, at any time: what is pending is gone in a while, and then a
 * key is a key. */
static void garbage(void **unused) {
    (void)unused;
    static const char often[] = "\033\033\033[[]OP_<?;M~m0129A\x07\\\x80\xc3\xe4\xf0";
    unsigned seed = 1;
    struct input in = {.length = 0};
    uint64_t now = BEGIN;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t length = (size_t)(rand_r(&seed) % (int)sizeof bytes), fed = 0;
        for (size_t i = 0; i < length; i++)
            bytes[i] = rand_r(&seed) % 3 ? often[(size_t)rand_r(&seed) % (sizeof often - 1)]
                                         : (char)rand_r(&seed);
        while (fed < length) {
            size_t n = input_feed(&in, bytes + fed, length - fed, now);
            assert_true(n > 0); /* as the header promises */
            fed += n;
            for (int presses = 0; input_next(&in, now) >= 0; presses++)
                assert_true(presses <= INPUT_BYTES);
        }
        now += (uint64_t)(rand_r(&seed) % 300) * MS;
        if (round % 16)
            continue;
        for (int i = 0; input_deadline(&in); i++) {
            assert_true(i <= 2 * INPUT_BYTES);
            now = input_deadline(&in) > now ? input_deadline(&in) : now;
            while (input_next(&in, now) >= 0)
                ;
        }
        assert_int_equal(in.length, 0);
        input_feed(&in, "q", 1, now);
        assert_int_equal(input_next(&in, now), 'q');
    }
}

/* More than there is room for is not taken, and is not lost. */
static void full(void **unused) {
    (void)unused;
    static char many[INPUT_BYTES + 100];
    struct input in = {.length = 0};
    memset(many, 'x', sizeof many);
    assert_int_equal(input_feed(&in, many, sizeof many, BEGIN), INPUT_BYTES);
    for (int i = 0; i < INPUT_BYTES; i++)
        assert_int_equal(input_next(&in, BEGIN), 'x');
    assert_int_equal(input_next(&in, BEGIN), -1);
    memset(many, '1', sizeof many); /* parameters without an end */
    memcpy(many, "\033[", 2);
    input_feed(&in, many, sizeof many, BEGIN);
    while (input_next(&in, BEGIN) >= 0)
        ;
    assert_true(in.length < INPUT_BYTES);
}

/* Keys of the terminal's entry come first, and the longest of them counts. */
static void own_keys(void **unused) {
    (void)unused;
    static const struct input_key own[] = {
        {"\033[P", PRESS_DELETE}, {"\033[MX", F(6)}, {"\033[M", F(5)}, {"\033w", PRESS_HOME}};
    struct input in = {.key = own, .keys = sizeof own / sizeof own[0]};
    static const int32_t expected[] = {PRESS_DELETE, F(6), F(5), PRESS_HOME, PRESS_UP, F(1), -1};
    int32_t press[64];
    static const char bytes[] = "\033[P\033[MX\033[M\033w\033[A\033OP";
    press_all(&in, bytes, sizeof bytes - 1, press, 64);
    assert_memory_equal(press, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),    cmocka_unit_test(function_keys), cmocka_unit_test(cut_off),
        cmocka_unit_test(mouse),   cmocka_unit_test(double_press),  cmocka_unit_test(paste),
        cmocka_unit_test(pieces),  cmocka_unit_test(answers),       cmocka_unit_test(alt),
        cmocka_unit_test(garbage), cmocka_unit_test(full),          cmocka_unit_test(own_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
