#include "core/agent/walk/frame_cache.h"

#include "core/agent/process/guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define PLACES 20000u

/* A compiled method as the cache reads it. */
struct block {
    uint64_t length;
    uint8_t used, padding[7];
    uint64_t code[8];
    uint32_t compile_id;
};

static struct block block;

/* Return addresses are offsets of the code here. */
static struct vm vm = {.at = {.heap_header_bytes = offsetof(struct block, code),
                              .heap_used = offsetof(struct block, used),
                              .nmethod_compile_id = offsetof(struct block, compile_id) -
                                                    offsetof(struct block, code)}};

static struct code code_of(const struct block *b) {
    return (struct code){.kind = CODE_COMPILED, .blob = (uintptr_t)b->code, .frame_words = 12};
}

static void keep(struct frame_cache *c, uintptr_t pc, uint32_t turn) {
    const struct code code = code_of(&block);
    struct cached_place place = {.frames = 2, .frame = {pc, pc + 1}};
    assert_true(frame_cache_begin(&vm, &code, vm.code_low + pc, turn, &place));
    frame_cache_keep(c, &vm, &place);
}

static void begin(void) {
    block = (struct block){.used = 1, .compile_id = 41};
    vm.code_low = (uintptr_t)&block - 4096;
    assert_int_equal(guarded_install(), 0);
}

static void what_was_kept_is_found(void **state) {
    (void)state;
    struct frame_cache *c = frame_cache_map();
    struct cached_place p;
    begin();
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x1000, 0, &p));
    keep(c, 0x1000, 0);
    assert_true(frame_cache_find(c, &vm, vm.code_low + 0x1000, 0, &p));
    assert_int_equal(p.frames, 2);
    assert_int_equal(p.frame[1], 0x1001);
    assert_int_equal(p.frame_words, 12);
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x1001, 0, &p));
    /* More places than there is room for: those that are found are the right ones. */
    uint32_t found = 0;
    for (uintptr_t pc = 1; pc <= PLACES; pc++)
        keep(c, pc * 16, 0);
    for (uintptr_t pc = 1; pc <= PLACES; pc++)
        if (frame_cache_find(c, &vm, vm.code_low + pc * 16, 0, &p)) {
            assert_int_equal(p.frame[0], pc * 16);
            found++;
        }
    assert_in_range(found, 2000, 4096);
    frame_cache_unmap(c);
    guarded_remove();
}

static void other_code_at_its_place_is_not_it(void **state) {
    (void)state;
    struct frame_cache *c = frame_cache_map();
    struct cached_place p;
    begin();
    keep(c, 0x1000, 3);
    block.compile_id++;
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x1000, 3, &p));
    block.compile_id--;
    block.used = 0; /* freed: the rest of the block stays as it was */
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x1000, 3, &p));
    block.used = 1;
    assert_true(frame_cache_find(c, &vm, vm.code_low + 0x1000, 3, &p));
    /* Its method ids may have been given to other methods. */
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x1000, 4, &p));
    /* Its memory may be gone, when it is read and later. */
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct code code = {.kind = CODE_COMPILED,
                              .blob = (uintptr_t)memory + offsetof(struct block, code)};
    struct cached_place gone = {.frames = 1};
    assert_false(frame_cache_begin(&vm, &code, vm.code_low + 0x2000, 3, &gone));
    *(struct block *)memory = (struct block){.used = 1, .compile_id = 7};
    vm.code_low = (uintptr_t)memory;
    assert_true(frame_cache_begin(&vm, &code, vm.code_low + 0x2000, 3, &gone));
    frame_cache_keep(c, &vm, &gone);
    assert_true(frame_cache_find(c, &vm, vm.code_low + 0x2000, 3, &p));
    assert_int_equal(p.blob, code.blob);
    munmap(memory, 4096);
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x2000, 3, &p));
    /* It may go while it is read. */
    vm.code_low = (uintptr_t)&block - 4096;
    const struct code alive = code_of(&block);
    struct cached_place torn = {.frames = 1};
    assert_true(frame_cache_begin(&vm, &alive, vm.code_low + 0x3000, 3, &torn));
    block.compile_id++;
    frame_cache_keep(c, &vm, &torn);
    block.compile_id--;
    assert_false(frame_cache_find(c, &vm, vm.code_low + 0x3000, 3, &p));
    frame_cache_unmap(c);
    guarded_remove();
}

/* What the small numbers of an entry can't say. */
static void what_has_no_room_is_not_kept(void **state) {
    (void)state;
    struct frame_cache *c = frame_cache_map();
    const struct code code = code_of(&block);
    struct cached_place p;
    begin();
    for (int i = 0; i < 4; i++) {
        struct cached_place place = {.frames = 1};
        assert_true(frame_cache_begin(&vm, &code, vm.code_low + 0x1000, 0, &place));
        place.frame_words = i == 1 ? UINT16_MAX + 1u : 12;
        place.frames = i == 2 ? CACHED_FRAMES_MAX + 1 : 1;
        place.pc += i == 3 ? UINT64_C(1) << 32 : 0;
        frame_cache_keep(c, &vm, &place);
        assert_int_equal(frame_cache_find(c, &vm, place.pc, 0, &p), i == 0);
        frame_cache_unmap(c);
        c = frame_cache_map();
    }
    frame_cache_unmap(c);
    guarded_remove();
}

static void without_compile_ids_nothing_is_kept(void **state) {
    (void)state;
    struct vm old = vm;
    struct cached_place p, place = {.frames = 1};
    const struct code code = code_of(&block);
    begin();
    old.at.nmethod_compile_id = -1;
    assert_false(frame_cache_begin(&old, &code, vm.code_low + 0x1000, 0, &place));
    assert_true(frame_cache_begin(&vm, &code, vm.code_low + 0x1000, 0, &place));
    frame_cache_keep(NULL, &vm, &place);
    assert_false(frame_cache_find(NULL, &vm, vm.code_low + 0x1000, 0, &p));
    frame_cache_unmap(NULL);
    guarded_remove();
}

/* ---- several handlers at once ---- */

static struct frame_cache *shared;
static _Atomic uint32_t wrong, right, ended;

static void *write_places(void *arg) {
    (void)arg;
    for (uint32_t round = 0; round < 2000; round++)
        for (uintptr_t pc = 1; pc <= 64; pc++)
            keep(shared, pc << 20, 0);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

static void *read_places(void *arg) {
    (void)arg;
    struct cached_place p;
    while (atomic_load(&ended) < 2)
        for (uintptr_t pc = 1; pc <= 64; pc++)
            if (frame_cache_find(shared, &vm, vm.code_low + (pc << 20), 0, &p)) {
                bool whole = p.frame[0] == pc << 20 && p.frame[1] == (pc << 20) + 1;
                atomic_fetch_add(whole ? &right : &wrong, 1);
            }
    return NULL;
}

static void halves_of_two_places_are_never_found(void **state) {
    (void)state;
    pthread_t thread[4];
    shared = frame_cache_map();
    begin();
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, i < 2 ? write_places : read_places, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
    assert_true(right > 0);
    frame_cache_unmap(shared);
    guarded_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_found),
        cmocka_unit_test(other_code_at_its_place_is_not_it),
        cmocka_unit_test(what_has_no_room_is_not_kept),
        cmocka_unit_test(without_compile_ids_nothing_is_kept),
        cmocka_unit_test(halves_of_two_places_are_never_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
