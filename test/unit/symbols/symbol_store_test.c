/* Symbol tables that several processes' symbols share. */
#include "symbols/symbol_store.h"

#include "symbols/symbols.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MOUNTS 1
#define THREADS 8

static atomic_int readings;

static struct elf_symbols *read_elf(void *arg) {
    struct elf_symbols *elf = NULL;
    atomic_fetch_add(&readings, 1);
    return elf_symbols_read(*(int *)arg, &elf) == 0 ? elf : NULL;
}

static struct symbol_file *get(struct symbol_store *s, int fd, uint64_t mounts) {
    return symbol_store_get(s, fd, mounts, read_elf, &fd);
}

static int open_self(void) {
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void read_once_and_freed_with_the_last(void **state) {
    (void)state;
    struct symbol_store *s = symbol_store_new();
    int fd = open_self();
    atomic_store(&readings, 0);
    struct symbol_file *a = get(s, fd, MOUNTS), *b = get(s, fd, MOUNTS);
    assert_ptr_equal(a, b);
    assert_non_null(symbol_file_elf(a));
    assert_int_equal(readings, 1);
    symbol_store_put(s, a);
    assert_true(symbol_file_elf(b)->table.count > 0);
    symbol_store_put(s, b);
    symbol_store_put(s, get(s, fd, MOUNTS));
    assert_int_equal(readings, 2);
    close(fd);
    symbol_store_free(s);
}

static void another_namespace_reads_for_itself(void **state) {
    (void)state;
    struct symbol_store *s = symbol_store_new();
    int fd = open_self();
    struct symbol_file *a = get(s, fd, MOUNTS), *b = get(s, fd, MOUNTS + 1);
    assert_ptr_not_equal(a, b);
    symbol_store_put(s, a);
    symbol_store_put(s, b);
    close(fd);
    symbol_store_free(s);
}

static void a_file_that_changed_is_another(void **state) {
    (void)state;
    struct symbol_store *s = symbol_store_new();
    FILE *f = tmpfile();
    int fd = fileno(f);
    struct symbol_file *a = get(s, fd, MOUNTS);
    assert_null(symbol_file_elf(a)); /* no ELF file at all, and that is kept too */
    atomic_store(&readings, 0);
    symbol_store_put(s, get(s, fd, MOUNTS));
    assert_int_equal(readings, 0);
    fputs("longer", f);
    fflush(f);
    struct symbol_file *b = get(s, fd, MOUNTS);
    assert_ptr_not_equal(a, b);
    symbol_store_put(s, a);
    symbol_store_put(s, b);
    assert_null(get(s, -1, MOUNTS));
    fclose(f);
    symbol_store_free(s);
}

static void *get_and_put(void *arg) {
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 50; i++) {
        struct symbol_file *f = get(arg, fd, MOUNTS);
        if (!f || !symbol_file_elf(f) || !symbol_file_elf(f)->table.count)
            abort();
        symbol_store_put(arg, f);
    }
    close(fd);
    return NULL;
}

static void many_at_once(void **state) {
    (void)state;
    struct symbol_store *s = symbol_store_new();
    pthread_t thread[THREADS];
    int fd = open_self();
    struct symbol_file *held = get(s, fd, MOUNTS);
    atomic_store(&readings, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, get_and_put, s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(readings, 0);
    symbol_store_put(s, held);
    close(fd);
    symbol_store_free(s);
}

static void names_are_the_same_with_and_without(void **state) {
    (void)state;
    struct symbol_store *store = symbol_store_new();
    struct symbols *own, *shared, *second;
    struct symbol a, b, c;
    struct err e;
    uint64_t here = (uint64_t)(uintptr_t)&names_are_the_same_with_and_without;
    assert_int_equal(symbols_open(getpid(), &own, &e), 0);
    assert_int_equal(symbols_open_shared(getpid(), store, &shared, &e), 0);
    assert_int_equal(symbols_open_shared(getpid(), store, &second, &e), 0);
    symbols_resolve(own, here, &a);
    symbols_resolve(shared, here, &b);
    symbols_free(shared);
    symbols_resolve(second, here, &c);
    assert_string_equal(a.name, "names_are_the_same_with_and_without");
    assert_string_equal(c.name, a.name);
    assert_string_equal(c.module, a.module);
    assert_true((symbols_kernel_trouble(own) == NULL) == (symbols_kernel_trouble(second) == NULL));
    symbols_free(own);
    symbols_free(second);
    symbol_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_once_and_freed_with_the_last),
        cmocka_unit_test(another_namespace_reads_for_itself),
        cmocka_unit_test(a_file_that_changed_is_another),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(names_are_the_same_with_and_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
