#include "core/agent/walk/last_stack.h"

#include "core/agent/process/guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define FRAMES 40u /* of the ordinary stack */
#define FRAME_WORDS 8u
#define THREAD 0x7000u
#define PLACES_END (2 * LAST_PLACES)

/* A thread's stack, with its base at the end of a page that nothing follows. A frame has FRAME_WORDS
 * words, the return address at its end. */
struct target {
    struct last_stack *table;
    uint64_t *low, *base;
};

/* A piece of code begins with its compile id, behind the header of its block; here there is only one.
 * Return addresses lie behind. */
static struct {
    uint8_t used, padding[7];
    uint32_t compile_id;
} block;
static struct vm vm = {.at.heap_header_bytes = 8};
#define compile_id (block.compile_id)

static uintptr_t at(const uint64_t *word) {
    return (uintptr_t)word;
}

static uint64_t *slot_of(const struct target *t, uint32_t depth) {
    return t->base - (size_t)depth * FRAME_WORDS - 1;
}

/* `offset`: of the return address in the code. */
static void call(const struct target *t, uint32_t depth, uint64_t offset) {
    *slot_of(t, depth) = vm.code_low + offset;
}

static struct target begin(uint32_t frames) {
    size_t page = 4096, bytes = ((size_t)frames * FRAME_WORDS * 8 / page + 1) * page;
    struct target t = {.table = last_stacks_map()};
    block.used = 1;
    compile_id = 41;
    vm.code_low = (uintptr_t)&compile_id;
    uint8_t *p =
        mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_non_null(t.table);
    assert_int_equal(mprotect(p + bytes, page, PROT_NONE), 0);
    assert_int_equal(guarded_install(), 0);
    t.low = (uint64_t *)(void *)p;
    t.base = (uint64_t *)(void *)(p + bytes);
    for (uint32_t i = 0; i < frames; i++)
        call(&t, i, 0x100000 + i * 16);
    return t;
}

static void end(const struct target *t) {
    munmap(t->low, (size_t)((uint8_t *)t->base - (uint8_t *)t->low) + 4096);
    last_stacks_unmap(t->table);
    guarded_remove();
}

struct result {
    uint32_t walked, shared; /* frames */
    uint64_t frame[WIRE_FRAMES_MAX];
};

/* Walks a stack of `frames` frames as the walker does. A frame's word is its return address, so what
 * must come out is known. */
static void walk_as(const struct target *t, uintptr_t thread, uint32_t turn, uint32_t frames,
                    struct result *r) {
    const uint64_t *sp = slot_of(t, frames - 1) + 1 - FRAME_WORDS;
    struct last_stack *l = last_stack_enter(t->table, &vm, thread, turn, at(sp), at(t->base));
    uint32_t n = 0, from = LAST_NONE;
    uint64_t pc = 0x900;
    r->walked = r->shared = 0;
    for (uint32_t depth = frames; depth-- > 0; sp += FRAME_WORDS) {
        from = l ? last_stack_find(l, pc, at(sp), 0) : LAST_NONE;
        if (from != LAST_NONE)
            break;
        if (l)
            last_stack_arrive(l, pc, at(sp), n);
        r->frame[n++] = pc;
        pc = *slot_of(t, depth);
        if (!l)
            continue;
        last_stack_note_code(l, at(slot_of(t, depth)), pc, (uintptr_t)&compile_id, compile_id);
    }
    r->walked = n;
    if (from != LAST_NONE) {
        uint32_t word = l->place[from].frame;
        r->shared = WIRE_FRAMES_MAX - word;
        memcpy(&r->frame[n], &l->frame[word], r->shared * sizeof r->frame[0]);
    }
    if (l)
        last_stack_keep(l, r->frame, n, from);
    last_stack_leave(l);
    /* What was found is what a walk without it finds. */
    assert_int_equal(r->walked + r->shared, frames);
    assert_int_equal(r->frame[0], 0x900);
    for (uint32_t i = 1; i < frames; i++)
        assert_int_equal(r->frame[i], *slot_of(t, frames - i));
}

static struct result result;

static void walk(const struct target *t, uint32_t frames) {
    walk_as(t, THREAD, 0, frames, &result);
}

static void what_has_not_changed_is_taken(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    walk(&t, FRAMES);
    assert_int_equal(result.shared, 0);
    walk(&t, FRAMES);
    assert_int_equal(result.shared, FRAMES);
    /* Deeper, and back: what stood before is known. */
    walk(&t, FRAMES - 10);
    assert_in_range(result.walked, 1, 2);
    call(&t, FRAMES - 10, 0x500000);
    walk(&t, FRAMES);
    assert_in_range(result.walked, 10, 12);
    walk(&t, FRAMES);
    assert_int_equal(result.walked, 0);
    end(&t);
}

static void a_changed_word_ends_it(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    walk(&t, FRAMES);
    for (uint32_t depth = 30; depth > 12; depth -= 3) {
        *slot_of(&t, depth) += 16;
        walk(&t, FRAMES);
        assert_in_range(result.shared, depth - 1, depth + 1);
        /* The frames above were kept again. */
        walk(&t, FRAMES);
        assert_int_equal(result.shared, FRAMES);
    }
    end(&t);
}

static void other_code_ends_it(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    walk(&t, FRAMES);
    compile_id++;
    walk(&t, FRAMES);
    assert_int_equal(result.shared, 0);
    while (result.shared == 0)
        walk(&t, FRAMES);
    block.used = 0; /* freed: its id is still there */
    walk(&t, FRAMES);
    assert_int_equal(result.shared, 0);
    end(&t);
}

/* The code's memory may be gone, and so may a method's. */
static void what_cannot_be_read_ends_it(void **state) {
    (void)state;
    for (int method = 0; method < 2; method++) {
        struct target t = begin(FRAMES);
        const uint64_t *sp = slot_of(&t, 0) + 1 - FRAME_WORDS;
        uint64_t frame = 7;
        void *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const struct method_view view = {.method = (uintptr_t)gone, .identity = 1};
        vm.code_low = (uintptr_t)gone;
        call(&t, 0, 16);
        struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        last_stack_arrive(l, 0x900, at(sp), 0);
        if (method)
            last_stack_note_method(l, &view);
        else
            last_stack_note_code(l, at(slot_of(&t, 0)), *slot_of(&t, 0), (uintptr_t)gone, 7);
        last_stack_keep(l, &frame, 1, LAST_NONE);
        assert_int_equal(l->first, PLACES_END - 1);
        last_stack_leave(l);
        munmap(gone, 4096);
        l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        assert_non_null(l);
        assert_int_equal(last_stack_find(l, 0x900, at(sp), 0), LAST_NONE);
        last_stack_leave(l);
        end(&t);
    }
}

/* An address is kept as a small number: code that is too far away is not kept. */
static void code_elsewhere_is_not_kept(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    const uint64_t *sp = slot_of(&t, 0) + 1 - FRAME_WORDS;
    const uint64_t frame = 7;
    for (int i = 0; i < 3; i++) {
        uint64_t far = i == 0 ? 0 : UINT64_C(1) << 32;
        struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        call(&t, 0, 16 + (i == 1 ? far : 0));
        last_stack_arrive(l, 0x900, at(sp), 0);
        last_stack_note_code(l, at(slot_of(&t, 0)), *slot_of(&t, 0),
                             (uintptr_t)&compile_id + (i == 2 ? far : 0), compile_id);
        last_stack_keep(l, &frame, 1, LAST_NONE);
        assert_int_equal(l->first < PLACES_END, i == 0);
        last_stack_leave(l);
    }
    end(&t);
}

static void it_is_one_threads_of_one_turn(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    walk(&t, FRAMES);
    walk_as(&t, THREAD, 1, FRAMES, &result);
    assert_int_equal(result.shared, 0);
    walk_as(&t, THREAD, 1, FRAMES, &result);
    assert_int_equal(result.shared, FRAMES);
    /* Another thread that has the same place in the table. */
    for (uintptr_t other = THREAD + 8; other < THREAD + 8 * 4096; other += 8) {
        walk_as(&t, other, 1, FRAMES, &result);
        assert_true(result.shared == 0);
    }
    end(&t);
}

/* Another thread's stack may be gone: its words are not read. Here reading them would be fatal. */
static void words_elsewhere_are_not_read(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    const uint64_t *sp = slot_of(&t, 0) + 1 - FRAME_WORDS;
    const uint64_t frame[2] = {1, 2};
    const uintptr_t slot[] = {at(t.base), at(t.base) + 64, at(sp) - 8};
    for (size_t i = 0; i < 3; i++) {
        struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        assert_non_null(l);
        last_stack_arrive(l, 0x900, at(sp), 0);
        last_stack_note(l, slot[i], 0);
        last_stack_keep(l, frame, 2, LAST_NONE);
        last_stack_leave(l);
        l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        assert_int_equal(last_stack_find(l, 0x900, at(sp), 0), LAST_NONE);
        last_stack_leave(l);
    }
    /* A place below the stack pointer is not one of this stack, whatever it has read. */
    struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    last_stack_arrive(l, 0x900, at(sp) - 64, 0);
    last_stack_keep(l, frame, 1, LAST_NONE);
    last_stack_leave(l);
    l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    assert_int_equal(last_stack_find(l, 0x900, at(sp) - 64, 0), LAST_NONE);
    last_stack_leave(l);
    end(&t);
}

static void a_frame_pointer_that_matters_is_compared(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    const uint64_t *sp = slot_of(&t, 0) + 1 - FRAME_WORDS;
    const uint64_t frame = 1;
    uint64_t *slot = slot_of(&t, 0) - 1;
    *slot = 0x123450;
    struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    last_stack_arrive(l, 0x900, at(sp), 0);
    last_stack_note_fp(l, 0x123450, at(slot));
    last_stack_keep(l, &frame, 1, LAST_NONE);
    last_stack_leave(l);
    l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    assert_int_equal(last_stack_find(l, 0x900, at(sp), 0x123460), LAST_NONE);
    last_stack_leave(l);
    l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    assert_int_equal(last_stack_find(l, 0x900, at(sp), 0x123450), PLACES_END - 1);
    last_stack_leave(l);
    *slot = 0x123458;
    l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    assert_int_equal(last_stack_find(l, 0x900, at(sp), 0x123450), LAST_NONE);
    last_stack_leave(l);
    end(&t);
}

/* Interpreted frames and entries have several words, some have none of their own. */
static void places_have_any_number_of_checks(void **state) {
    (void)state;
    static const uint32_t checks[] = {1, 0, 6, 2, 0, 0, 1, 3}; /* leaf first */
    enum { PLACES = sizeof checks / sizeof checks[0] };
    struct target t = begin(FRAMES);
    const uint64_t *sp = t.base - (size_t)PLACES * FRAME_WORDS;
    const uint64_t frame[PLACES] = {0};
    /* Which place the changed word belongs to; PLACES: none was changed. */
    for (uint32_t changed = 0; changed <= PLACES; changed++) {
        struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, changed, at(sp), at(t.base));
        assert_non_null(l);
        for (uint32_t i = 0; i < PLACES; i++) {
            last_stack_arrive(l, i, at(sp + (size_t)i * FRAME_WORDS), i);
            for (uint32_t k = 0; k < checks[i]; k++)
                last_stack_note(l, at(sp + (size_t)i * FRAME_WORDS + k),
                                sp[(size_t)i * FRAME_WORDS + k]);
        }
        last_stack_keep(l, frame, PLACES, LAST_NONE);
        assert_int_equal(l->first, PLACES_END - PLACES);
        last_stack_leave(l);
        if (changed < PLACES)
            t.base[-(ptrdiff_t)((PLACES - changed) * FRAME_WORDS)]++;
        l = last_stack_enter(t.table, &vm, THREAD, changed, at(sp), at(t.base));
        assert_non_null(l);
        bool noticed = changed < PLACES && checks[changed] > 0;
        assert_int_equal(l->valid, PLACES_END - PLACES + (noticed ? changed + 1 : 0));
        last_stack_leave(l);
    }
    end(&t);
}

static void of_a_deep_stack_the_part_next_to_the_entry_is_kept(void **state) {
    (void)state;
    const uint32_t deep = LAST_PLACES + 1500;
    struct target t = begin(deep);
    for (int i = 0; i < 3; i++)
        walk(&t, deep);
    assert_in_range(result.shared, LAST_PLACES - 1500, LAST_PLACES);
    uint32_t shared = result.shared;
    *slot_of(&t, 100) += 16;
    walk(&t, deep);
    assert_in_range(result.shared, 99, 101);
    while (result.shared < shared)
        walk(&t, deep);
    end(&t);
}

static void more_checks_than_there_is_room_for(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    const uint64_t *sp = t.base - (size_t)FRAMES * FRAME_WORDS;
    uint64_t frame[FRAMES] = {0};
    struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    for (uint32_t i = 0; i < FRAMES; i++, sp += FRAME_WORDS) {
        last_stack_arrive(l, i, at(sp), i);
        for (uint32_t n = 0; n < 1000; n++)
            last_stack_note(l, at(sp), *sp);
    }
    last_stack_keep(l, frame, FRAMES, LAST_NONE);
    assert_in_range(PLACES_END - l->first, 1, LAST_CHECKS / 1000);
    assert_int_equal(l->place[PLACES_END - 1].pc, FRAMES - 1);
    last_stack_leave(l);
    end(&t);
}

static void handlers_do_not_wait(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    const uint64_t *sp = t.base - (size_t)FRAMES * FRAME_WORDS;
    struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
    assert_null(last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base)));
    last_stack_leave(l);
    last_stack_leave(NULL);
    assert_null(last_stack_enter(NULL, &vm, THREAD, 0, at(sp), at(t.base)));
    walk(&t, FRAMES);
    end(&t);
}

/* A thread whose stacks have nothing in common has them kept ever less often, and at once again when
 * they have. */
static void stacks_without_a_common_part_cost_little(void **state) {
    (void)state;
    struct target t = begin(FRAMES);
    uint32_t entered = 0;
    for (uint32_t round = 0; round < 400; round++) {
        for (uint32_t i = 0; i < FRAMES; i++)
            call(&t, i, 0x100000 + (round * FRAMES + i) * 16);
        const uint64_t *sp = slot_of(&t, FRAMES - 1) + 1 - FRAME_WORDS;
        struct last_stack *l = last_stack_enter(t.table, &vm, THREAD, 0, at(sp), at(t.base));
        entered += l != NULL;
        if (l) {
            last_stack_leave(l);
            walk(&t, FRAMES);
        }
    }
    assert_in_range(entered, 20, 60);
    uint32_t walks = 0;
    do {
        walk(&t, FRAMES);
        walks++;
    } while (result.shared < FRAMES);
    assert_in_range(walks, 1, 40);
    walk(&t, FRAMES);
    assert_int_equal(result.shared, FRAMES);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_not_changed_is_taken),
        cmocka_unit_test(a_changed_word_ends_it),
        cmocka_unit_test(other_code_ends_it),
        cmocka_unit_test(what_cannot_be_read_ends_it),
        cmocka_unit_test(code_elsewhere_is_not_kept),
        cmocka_unit_test(it_is_one_threads_of_one_turn),
        cmocka_unit_test(words_elsewhere_are_not_read),
        cmocka_unit_test(a_frame_pointer_that_matters_is_compared),
        cmocka_unit_test(places_have_any_number_of_checks),
        cmocka_unit_test(of_a_deep_stack_the_part_next_to_the_entry_is_kept),
        cmocka_unit_test(more_checks_than_there_is_room_for),
        cmocka_unit_test(handlers_do_not_wait),
        cmocka_unit_test(stacks_without_a_common_part_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
