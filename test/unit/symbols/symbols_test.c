/* Addresses of processes as they are: this one, children, a JVM. Files: symbols_files_test.c. */
#include "symbols/symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "test/unit/attach/java_child.h"
#include "test/unit/symbols/symbols_fixture.h"

/* Not inlined, not merged; long enough to have a middle. */
__attribute__((noinline)) static int static_function(volatile int *x) {
    for (int i = 0; i < 10; i++)
        *x += i ^ *x;
    return *x;
}

__attribute__((noinline)) int global_function(volatile int *x);
__attribute__((noinline)) int global_function(volatile int *x) {
    return static_function(x) + 1;
}

static void test_own_functions(void **state) {
    (void)state;
    volatile int x = 1;
    assert_int_not_equal(global_function(&x), 0);
    struct symbols *s = fixture_symbols(getpid());
    for (size_t offset = 0; offset < 8; offset++) {
        const char *name = fixture_name(s, (uintptr_t)static_function + offset, "symbols_test");
        assert_string_equal(name, "static_function");
    }
    struct symbol first, again;
    symbols_resolve(s, (uintptr_t)global_function, &first);
    symbols_resolve(s, (uintptr_t)global_function, &again);
    assert_string_equal(first.name, "global_function");
    assert_int_equal(first.language, SYMBOL_C);
    assert_true(first.exact);
    assert_ptr_equal(first.name, again.name);
    symbols_free(s);
}

/* The truth is what the dynamic linker says; of several names for one address any will do. */
static void test_functions_of_libc(void **state) {
    (void)state;
    static const char *const names[] = {"qsort",  "strtol",  "getenv",  "fopen",          "malloc",
                                        "printf", "opendir", "getline", "pthread_create", "execvp"};
    struct symbols *s = fixture_symbols(getpid());
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(libc, names[i]);
        struct symbol symbol;
        Dl_info info;
        assert_non_null(address);
        assert_int_not_equal(dladdr(address, &info), 0);
        symbols_resolve(s, (uintptr_t)address + 1, &symbol);
        assert_true(symbol.exact);
        assert_string_equal(symbol.module, strrchr(info.dli_fname, '/') + 1);
        if (strcmp(symbol.name, info.dli_sname) != 0 && strcmp(symbol.name, names[i]) != 0) {
            void *alias = dlsym(libc, symbol.name);
            assert_true(!alias || alias == address);
        }
    }
    dlclose(libc);
    symbols_free(s);
}

static void test_what_has_no_name(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *jit = mmap(NULL, 3 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *heap = malloc(100);
    assert_int_equal(munmap(jit + page, page), 0);
    struct symbols *s = fixture_symbols(getpid());
    assert_string_equal(fixture_name(s, (uintptr_t)jit, ""), "[unknown]!");
    assert_string_equal(fixture_name(s, (uintptr_t)jit + page, ""), "[unknown]!");
    assert_string_equal(fixture_name(s, (uintptr_t)heap, ""), "[unknown]!");
    assert_string_equal(fixture_name(s, 0, ""), "[unknown]!");
    assert_string_equal(fixture_name(s, INTPTR_MAX, ""), "[unknown]!");
    symbols_free(s);
    free(heap);
    munmap(jit, page);
    munmap(jit + 2 * page, page);
}

static void test_vdso(void **state) {
    (void)state;
    void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    uintptr_t address = vdso ? (uintptr_t)dlsym(vdso, "__vdso_clock_gettime") : 0;
    if (vdso)
        dlclose(vdso);
    if (!address)
        skip();
    struct symbols *s = fixture_symbols(getpid());
    const char *name = fixture_name(s, address + 1, "[vdso]");
    assert_non_null(strstr(name, "clock_gettime"));
    assert_null(strchr(name, '!'));
    symbols_free(s);
}

static void test_kernel(void **state) {
    (void)state;
    struct symbols *s = fixture_symbols(getpid());
    struct symbol symbol;
    unsigned long long address = 0, found;
    char type, name[256];
    FILE *f = fopen("/proc/kallsyms", "r");
    while (f && fscanf(f, "%llx %c %255s%*[^\n]", &found, &type, name) == 3) {
        if (strcmp(name, "vfs_read") == 0)
            address = found;
    }
    if (f)
        fclose(f);
    const char *trouble = symbols_kernel_trouble(s);
    symbols_resolve_kernel(s, address ? address + 4 : UINT64_C(0xffffffff81000000), &symbol);
    assert_int_equal(symbol.language, SYMBOL_KERNEL);
    assert_string_equal(symbol.module, "kernel");
    if (address) {
        assert_null(trouble);
        assert_string_equal(symbol.name, "vfs_read");
        assert_true(symbol.exact);
        symbols_resolve(s, address, &symbol); /* no user has memory there */
        assert_string_equal(symbol.name, "vfs_read");
    } else {
        assert_non_null(strstr(trouble, "kptr_restrict"));
        assert_string_equal(symbol.name, "[kernel]");
        assert_false(symbol.exact);
    }
    symbols_free(s);
}

/* A process that ends when we do. */
static pid_t start_child(void) {
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            pause();
        _exit(0);
    }
    return child;
}

static void stop_child(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_dead_process_keeps_its_names(void **state) {
    (void)state;
    pid_t child = start_child();
    struct symbols *s = fixture_symbols(child);
    assert_string_equal(fixture_name(s, (uintptr_t)static_function, "symbols_test"),
                        "static_function");
    assert_int_equal(symbols_refresh(s), 0);
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(symbols_refresh(s), -ESRCH); /* not yet waited for */
    waitpid(child, NULL, 0);
    assert_int_equal(symbols_refresh(s), -ESRCH);
    assert_string_equal(fixture_name(s, (uintptr_t)static_function, "symbols_test"),
                        "static_function");
    assert_string_equal(fixture_name(s, (uintptr_t)global_function, "symbols_test"),
                        "global_function");
    /* A file nobody asked about while it lived. */
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    uintptr_t address = (uintptr_t)dlsym(libc, "qsort");
    assert_string_equal(fixture_name(s, address, "libc.so.6"), "qsort");
    dlclose(libc);
    symbols_free(s);
}

static void test_processes_that_cannot_be_read(void **state) {
    (void)state;
    struct symbols *s;
    struct err e = {0};
    pid_t gone = start_child();
    stop_child(gone);
    assert_int_equal(symbols_open(gone, &s, &e), -ESRCH);
    assert_non_null(strstr(e.message, "no process"));
    if (geteuid() != 0)
        skip();
    pid_t child = fork(); /* as another user: pid 1 is root's */
    if (child == 0) {
        bool denied = setgid(65534) == 0 && setuid(65534) == 0 &&
                      symbols_open(1, &s, &e) == -EACCES && strstr(e.message, "as root");
        _exit(denied ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void test_nothing_asked(void **state) {
    (void)state;
    symbols_free(NULL);
    struct symbols *s = fixture_symbols(getpid());
    symbols_free(s); /* nothing was asked */
}

/* Where `nm` says a dynamic symbol of a file is; 0 where it does not. */
static uint64_t nm_address(const char *path, const char *name) {
    char command[600], line[1024], found[512];
    unsigned long long value, address = 0;
    snprintf(command, sizeof command, "nm -D --defined-only '%s'", path);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%llx %*c %511[^@\n]", &value, found) == 2 && strcmp(found, name) == 0)
            address = value;
    }
    if (f)
        pclose(f);
    return address;
}

static void test_libjvm(void **state) {
    (void)state;
    char path[64], line[1024], library[512] = "";
    unsigned long long start = 0, offset;
    if (!java_setup())
        skip();
    struct java_child jvm = java_start((struct java_options){.option = {"-Xmx32m"}});
    assert_true(jvm.pid > 0);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)jvm.pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (!library[0] && fgets(line, sizeof line, f)) {
        if (!strstr(line, "/libjvm.so") ||
            sscanf(line, "%llx-%*x %*s %llx %*s %*s %511s", &start, &offset, library) != 3)
            continue;
        assert_int_equal(offset, 0);
    }
    fclose(f);
    assert_string_not_equal(library, "");
    struct symbols *s = fixture_symbols(jvm.pid);
    static const char *const names[] = {"JNI_CreateJavaVM", "JVM_Sleep", "JVM_IHashCode"};
    int checked = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t value = nm_address(library, names[i]);
        if (!value)
            continue; /* newer JDKs have dropped some */
        const char *name = fixture_name(s, (uintptr_t)(start + value + 1), "libjvm.so");
        assert_string_equal(name, names[i]);
        checked++;
    }
    assert_true(checked > 0);
    java_stop(&jvm);
    symbols_free(s);
    java_teardown();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_functions),
        cmocka_unit_test(test_functions_of_libc),
        cmocka_unit_test(test_what_has_no_name),
        cmocka_unit_test(test_vdso),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_dead_process_keeps_its_names),
        cmocka_unit_test(test_processes_that_cannot_be_read),
        cmocka_unit_test(test_nothing_asked),
        cmocka_unit_test(test_libjvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
