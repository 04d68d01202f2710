/* The protection of memory: as the map has it, and as the kernel says at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/agent/process/memory_map.h"

static void test_protection(void **state) {
    (void)state;
    static const int want[] = {
        PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE, PROT_READ | PROT_EXEC, PROT_WRITE, PROT_READ};
    enum { PAGES = sizeof want / sizeof want[0] };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct memory_map m;
    char *p = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++)
        assert_int_equal(mprotect(p + i * page, page, want[i]), 0);
    assert_int_equal(munmap(p + (PAGES - 1) * page, page), 0);
    assert_int_equal(memory_map_open(&m), 0);
    assert_int_equal(memory_map_read(&m), 0);
    for (size_t i = 0; i < PAGES; i++) {
        for (size_t at = 0; at < page; at += page - 1) {
            int expected = i == PAGES - 1 ? -1 : want[i];
            assert_int_equal(memory_map_protection(&m, (uintptr_t)p + i * page + at), expected);
            assert_int_equal(memory_protection((uintptr_t)p + i * page + at), expected);
        }
    }
    memory_map_close(&m);
    assert_int_equal(memory_protection(0), -1);
    assert_int_equal(memory_protection(UINTPTR_MAX), -1);
    munmap(p, (PAGES - 1) * page);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_protection)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
