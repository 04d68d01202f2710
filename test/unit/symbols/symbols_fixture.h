/*
 * A library built by the test, so that the truth about its symbols is known: exported and static
 * functions, an assembly label without a size, an IFUNC, a call through the PLT.
 *
 * Everything lies in a directory of its own, which fixture_teardown() removes.
 */
#ifndef JTOP_TEST_SYMBOLS_FIXTURE_H
#define JTOP_TEST_SYMBOLS_FIXTURE_H

#include "symbols/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What lib_addresses[] holds, in order. */
enum { LIB_EXPORTED, LIB_HIDDEN, LIB_LABEL, LIB_PICK, LIB_DATA, LIB_ADDRESSES };

static const char lib_source[] =
    "int getppid(void);\n"
    "volatile int lib_data = 7;\n"
    "__attribute__((noinline)) int lib_exported(int x) { return x * lib_data + 1; }\n"
    "static __attribute__((noinline)) int lib_hidden(int x) {\n"
    "    for (int i = 0; i < x; i++) lib_data += i * x;\n"
    "    return lib_data; }\n"
    "static int (*lib_pick(void))(int) { return lib_hidden; }\n"
    "int lib_picked(int) __attribute__((ifunc(\"lib_pick\")));\n"
    "int lib_calls(void) { return getppid() + lib_hidden(3); }\n"
    "__asm__(\".text\\n.p2align 6\\n.skip 64\\nlib_label:\\n.skip 200\\n\");\n"
    "extern const char lib_label[];\n"
    "const void *const lib_addresses[] = {lib_exported, lib_hidden, lib_label, lib_pick,\n"
    "                                     (const void *)&lib_data};\n";

static char fixture_dir[256];

/* Runs a shell command in the directory; false (and its output) when it fails. */
__attribute__((unused, format(printf, 1, 2))) static bool fixture_run(const char *fmt, ...) {
    char command[2048], whole[2560];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "cd '%s' && { %s; } >log 2>&1 || { cat log; false; }",
             fixture_dir, command);
    return system(whole) == 0;
}

/* Builds lib.c in the directory as `name`, with more flags for the linker or compiler. */
__attribute__((unused)) static void fixture_build(const char *name, const char *flags) {
    assert_true(fixture_run("mkdir -p $(dirname %s) && cc -shared -fPIC -O1 "
                            "-fno-toplevel-reorder -o %s lib.c %s",
                            name, name, flags));
}

__attribute__((unused)) static int fixture_setup(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(fixture_dir, sizeof fixture_dir, "%s/symbols_test.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(fixture_dir))
        return -1;
    char path[300];
    snprintf(path, sizeof path, "%s/lib.c", fixture_dir);
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fputs(lib_source, f);
    return fclose(f);
}

__attribute__((unused)) static int fixture_teardown(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_dir);
    return system(command);
}

/* Loads a library of the directory into this process; `*addresses` is its lib_addresses. */
__attribute__((unused)) static void *fixture_load(const char *name, const uintptr_t **addresses) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture_dir, name);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    *addresses = dlsym(library, "lib_addresses");
    assert_non_null(*addresses);
    return library;
}

__attribute__((unused)) static struct symbols *fixture_symbols(pid_t pid) {
    struct symbols *s;
    struct err e = {0};
    int rc = symbols_open(pid, &s, &e);
    assert_string_equal(e.message, "");
    assert_int_equal(rc, 0);
    return s;
}

/* What an address is called: "name", or "name!" where it is not exact. */
__attribute__((unused)) static const char *fixture_name(struct symbols *s, uintptr_t address,
                                                        const char *module) {
    static char text[1100];
    struct symbol symbol;
    symbols_resolve(s, address, &symbol);
    assert_string_equal(symbol.module, module);
    snprintf(text, sizeof text, "%s%s", symbol.name, symbol.exact ? "" : "!");
    return text;
}

#endif
