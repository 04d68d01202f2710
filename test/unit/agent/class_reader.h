/*
 * A second reader of class files, for what bytecode_add_calls makes of them: the same instructions,
 * jumps and exception tables, with calls in between. Fails the running cmocka test where that is
 * not so. The files are well formed.
 */
#ifndef JTOP_TEST_CLASS_READER_H
#define JTOP_TEST_CLASS_READER_H

#include "core/agent/process/bytes.h"

#include <string.h>

#define CODE_MAX 65536

struct code {
    const uint8_t *at;
    uint32_t length, constants;
    struct bytes_in rest; /* exceptions and attributes */
    bool constructor;
};

static bool text_is(const uint8_t *utf8, const char *text) {
    return utf8 && utf8[1] == strlen(text) && memcmp(utf8 + 2, text, utf8[1]) == 0;
}

static void skip_attributes(struct bytes_in *in) {
    for (int n = bytes_u2(in); n > 0; n--) {
        bytes_u2(in);
        bytes_skip(in, bytes_u4(in));
    }
}

/* The n-th method that has code; false: there are fewer. */
static bool find_code(const uint8_t *file, uint32_t bytes, uint32_t n, struct code *c) {
    static const uint8_t lengths[] = {
        [3] = 4,  [4] = 4,  [5] = 8,  [6] = 8,  [7] = 2,  [8] = 2,  [9] = 4,  [10] = 4,
        [11] = 4, [12] = 4, [15] = 3, [16] = 2, [17] = 4, [18] = 4, [19] = 2, [20] = 2};
    static const uint8_t *utf8[CODE_MAX];
    struct bytes_in in = {file + 8, file + bytes, false};
    c->constants = bytes_u2(&in);
    for (uint32_t i = 1; i < c->constants; i++) {
        uint8_t tag = bytes_u1(&in);
        utf8[i] = tag == 1 ? in.at : NULL;
        bytes_skip(&in, tag == 1 ? bytes_u2(&in) : lengths[tag]);
        i += tag == 5 || tag == 6;
    }
    bytes_skip(&in, 6);
    bytes_skip(&in, 2u * bytes_u2(&in));
    for (int fields = bytes_u2(&in); fields > 0; fields--) {
        bytes_skip(&in, 6);
        skip_attributes(&in);
    }
    for (int methods = bytes_u2(&in); methods > 0; methods--) {
        bytes_u2(&in);
        const uint8_t *name = utf8[bytes_u2(&in)];
        bytes_u2(&in);
        for (int k = bytes_u2(&in); k > 0; k--) {
            bool is_code = text_is(utf8[bytes_u2(&in)], "Code");
            uint32_t length = bytes_u4(&in);
            struct bytes_in body = {in.at, in.at + length, false};
            bytes_skip(&in, length);
            if (!is_code || n-- > 0)
                continue;
            bytes_u4(&body);
            c->length = bytes_u4(&body);
            c->at = bytes_skip(&body, c->length);
            c->rest = body;
            c->constructor = text_is(name, "<init>");
            assert_false(in.bad || body.bad);
            return true;
        }
    }
    assert_false(in.bad);
    return false;
}

static uint32_t u4(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* JVMS 6.5, as runs of opcodes of one length. */
static uint32_t length_at(const struct code *c, uint32_t pc) {
    static const uint8_t run[][3] = {
        {0, 15, 1},    {16, 16, 2},   {17, 17, 3},   {18, 18, 2},   {19, 20, 3},
        {21, 25, 2},   {26, 53, 1},   {54, 58, 2},   {59, 131, 1},  {132, 132, 3},
        {133, 152, 1}, {153, 168, 3}, {169, 169, 2}, {172, 177, 1}, {178, 184, 3},
        {185, 186, 5}, {187, 187, 3}, {188, 188, 2}, {189, 189, 3}, {190, 191, 1},
        {192, 193, 3}, {194, 195, 1}, {197, 197, 4}, {198, 199, 3}, {200, 201, 5}};
    uint8_t op = c->at[pc];
    const uint8_t *at = c->at + (pc / 4 + 1) * 4;
    if (op == 170)
        return (uint32_t)(at - (c->at + pc)) + 12 + 4 * (u4(at + 8) - u4(at + 4) + 1);
    if (op == 171)
        return (uint32_t)(at - (c->at + pc)) + 8 + 8 * u4(at + 4);
    if (op == 196)
        return c->at[pc + 1] == 132 ? 6 : 4;
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++)
        if (op >= run[i][0] && op <= run[i][1])
            return run[i][2];
    fail_msg("opcode %u at %u", op, pc);
    return 0;
}

#define CALL 8u /* sipush; invokestatic; nop; nop */

static bool is_call(const struct code *c, uint32_t pc, uint32_t old_constants) {
    return pc + CALL <= c->length && c->at[pc] == 17 && c->at[pc + 3] == 184 &&
           (uint32_t)(c->at[pc + 4] << 8 | c->at[pc + 5]) >= old_constants;
}

/* Instructions by number, calls of ours left out. place[pc]: the number of the one at pc, or behind
 * the call there; -1: none begins there. Returns how many. */
static uint32_t number(const struct code *c, uint32_t old_constants, int32_t *place,
                       uint32_t *calls) {
    uint32_t n = 0;
    *calls = 0;
    for (uint32_t i = 0; i <= c->length; i++)
        place[i] = -1;
    for (uint32_t pc = 0; pc < c->length;) {
        place[pc] = (int32_t)n;
        if (is_call(c, pc, old_constants)) {
            assert_int_equal(c->at[pc + 6] | c->at[pc + 7], 0);
            ++*calls;
            pc += CALL;
        } else {
            pc += length_at(c, pc);
            n++;
        }
    }
    place[c->length] = (int32_t)n;
    return n;
}

/* Target by number of the jump of `bytes` bytes at `at`. */
static int32_t target(const struct code *c, const int32_t *place, uint32_t pc, uint32_t at,
                      int bytes) {
    int32_t offset =
        bytes == 4 ? (int32_t)u4(c->at + at) : (int16_t)(c->at[at] << 8 | c->at[at + 1]);
    int64_t to = (int64_t)pc + offset;
    assert_in_range(to, 0, c->length);
    assert_int_not_equal(place[to], -1);
    return place[to];
}

static void same_jump(const struct code *a, const int32_t *pa, uint32_t i, uint32_t at_a,
                      const struct code *b, const int32_t *pb, uint32_t k, uint32_t at_b,
                      int bytes) {
    assert_int_equal(target(a, pa, i, at_a, bytes), target(b, pb, k, at_b, bytes));
}

/* One instruction: the same but for its distances. */
static void same_instruction(const struct code *a, const int32_t *pa, uint32_t i,
                             const struct code *b, const int32_t *pb, uint32_t k) {
    uint32_t n = length_at(a, i);
    uint8_t op = a->at[i];
    assert_int_equal(op, b->at[k]);
    assert_int_equal(n, length_at(b, k));
    if ((op >= 153 && op <= 168) || op == 198 || op == 199) {
        same_jump(a, pa, i, i + 1, b, pb, k, k + 1, 2);
    } else if (op == 200 || op == 201) {
        same_jump(a, pa, i, i + 1, b, pb, k, k + 1, 4);
    } else if (op == 170 || op == 171) {
        uint32_t head = (i / 4 + 1) * 4 - i;
        same_jump(a, pa, i, i + head, b, pb, k, k + head, 4);
        for (uint32_t at = head + 4; at < n; at += 4) {
            bool jump = op == 170 ? at >= head + 12 : at >= head + 8 && (at - head) % 8 == 4;
            if (jump)
                same_jump(a, pa, i, i + at, b, pb, k, k + at, 4);
            else
                assert_memory_equal(a->at + i + at, b->at + k + at, 4);
        }
    } else {
        assert_memory_equal(a->at + i, b->at + k, n);
    }
}

static void same_exceptions(struct code *a, const int32_t *pa, struct code *b, const int32_t *pb) {
    uint32_t n = bytes_u2(&a->rest);
    assert_int_equal(bytes_u2(&b->rest), n + !b->constructor);
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            assert_int_equal(pa[bytes_u2(&a->rest)], pb[bytes_u2(&b->rest)]);
        assert_int_equal(bytes_u2(&a->rest), bytes_u2(&b->rest));
    }
    if (b->constructor)
        return;
    uint32_t handler = b->length - (CALL + 1);
    assert_int_equal(bytes_u2(&b->rest), (int)CALL);
    assert_int_equal(bytes_u2(&b->rest), handler);
    assert_int_equal(bytes_u2(&b->rest), handler);
    assert_int_equal(bytes_u2(&b->rest), 0);
}

/* Every return has its call before it, and nothing else has. */
static void same_code(struct code *a, struct code *b) {
    static int32_t pa[CODE_MAX + 1], pb[CODE_MAX + 1];
    uint32_t none, calls, returns = 0, i = 0, k = 0;
    uint32_t na = number(a, a->constants, pa, &none);
    uint32_t nb = number(b, a->constants, pb, &calls);
    assert_int_equal(none, 0);
    assert_int_equal(nb, na + !b->constructor);
    assert_true(is_call(b, 0, a->constants));
    for (k = CALL; i < a->length; i += length_at(a, i), k += length_at(b, k)) {
        bool is_return = a->at[i] >= 172 && a->at[i] <= 177;
        returns += is_return;
        assert_int_equal(is_call(b, k, a->constants), is_return);
        k += is_return ? CALL : 0;
        same_instruction(a, pa, i, b, pb, k);
    }
    assert_int_equal(calls, 1 + returns + !b->constructor);
    if (!b->constructor)
        assert_int_equal(b->at[b->length - 1], 191);
    same_exceptions(a, pa, b, pb);
}

#endif
