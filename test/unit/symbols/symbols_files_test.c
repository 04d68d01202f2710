/* Libraries built for the purpose: what is stripped, split, replaced, and planted. */
#include "symbols/symbols.h"

#include "symbols/elf/target_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test/unit/symbols/symbols_fixture.h"

static void check_all(const char *library, const uintptr_t *a, const char *hidden,
                      const char *label) {
    struct symbols *s = fixture_symbols(getpid());
    char placeholder[300];
    snprintf(placeholder, sizeof placeholder, "[%s]!", library);
    assert_string_equal(fixture_name(s, a[LIB_EXPORTED] + 1, library), "lib_exported");
    assert_string_equal(fixture_name(s, a[LIB_HIDDEN], library), hidden ? hidden : placeholder);
    assert_string_equal(fixture_name(s, a[LIB_HIDDEN] + 9, library), hidden ? hidden : placeholder);
    assert_string_equal(fixture_name(s, a[LIB_LABEL] + 150, library), label ? label : placeholder);
    assert_string_equal(fixture_name(s, a[LIB_PICK], library), "lib_picked");
    assert_string_equal(fixture_name(s, a[LIB_DATA], library), placeholder);
    symbols_free(s);
}

static void test_whole_library(void **state) {
    (void)state;
    const uintptr_t *a;
    fixture_build("whole.so", "");
    void *library = fixture_load("whole.so", &a);
    check_all("whole.so", a, "lib_hidden", "lib_label");
    dlclose(library);
    /* Addresses in the file that are not offsets in it. */
    fixture_build("shifted.so", "-Wl,-Ttext-segment=0x10000000");
    library = fixture_load("shifted.so", &a);
    check_all("shifted.so", a, "lib_hidden", "lib_label");
    dlclose(library);
}

/* Static functions between the exported ones must not go by their neighbours' names. */
static void test_stripped_library(void **state) {
    (void)state;
    const uintptr_t *a;
    fixture_build("stripped.so", "-s -Wl,--build-id=none");
    void *library = fixture_load("stripped.so", &a);
    check_all("stripped.so", a, NULL, NULL);
    dlclose(library);
}

/* Where objdump sees "NAME@plt" in a file; 0 where it does not. */
static uint64_t plt_address(const char *library, const char *name) {
    char command[512], line[1024];
    unsigned long long address = 0;
    snprintf(command, sizeof command,
             "objdump -d '%s/%s' | grep '<%s@plt>:' | tail -1 | cut -d' ' -f1", fixture_dir,
             library, name);
    FILE *f = popen(command, "r");
    if (f && fgets(line, sizeof line, f))
        address = strtoull(line, NULL, 16);
    if (f)
        pclose(f);
    return address;
}

static void test_plt(void **state) {
    (void)state;
    static const char *const flags[] = {
        "-Wl,-z,lazy",
#ifdef __x86_64__
        "-Wl,-z,lazy -fcf-protection=none",
        "-Wl,-z,lazy,-z,ibtplt -fcf-protection=full", /* the jumps are in .plt.sec */
        "-Wl,-z,now -s",
#endif
    };
    int checked = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char name[32];
        const uintptr_t *a;
        Dl_info info;
        snprintf(name, sizeof name, "plt%zu.so", i);
        fixture_build(name, flags[i]);
        uint64_t address = plt_address(name, "getppid");
        void *library = fixture_load(name, &a);
        assert_int_not_equal(dladdr((const void *)a, &info), 0);
        struct symbols *s = fixture_symbols(getpid());
        if (address) {
            const char *found = fixture_name(s, (uintptr_t)info.dli_fbase + address + 4, name);
            if (strcmp(found, "getppid@plt") == 0)
                checked++;
            else /* .plt.got has no relocations of its own to tell by */
                assert_non_null(strchr(found, '!'));
        }
        symbols_free(s);
        dlclose(library);
    }
    assert_true(checked >= 1);
#ifdef __x86_64__
    assert_true(checked >= 3);
#endif
}

static void build_split(const char *name, const char *flags) {
    fixture_build(name, flags);
    assert_true(
        fixture_run("N=%s; objcopy --only-keep-debug $N $N.debug && strip --strip-all $N && "
                    "objcopy --add-gnu-debuglink=$N.debug $N",
                    name));
}

static void test_debug_link(void **state) {
    (void)state;
    static const struct {
        const char *name, *prepare;
        bool found;
    } cases[] = {
        {"beside.so", "true", true},
        {"below.so", "mkdir -p .debug && mv below.so.debug .debug/", true},
        {"changed.so", "echo >>changed.so.debug", false}, /* the CRC is another now */
        {"gone.so", "rm gone.so.debug", false},
        {"fifo.so", "rm fifo.so.debug && mkfifo fifo.so.debug", false},
        {"swapped.so", "objcopy --only-keep-debug whole.so swapped.so.debug", false},
        {"empty.so", ":> empty.so.debug", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uintptr_t *a;
        char distinct[64]; /* no two files alike */
        snprintf(distinct, sizeof distinct, "-Wl,--build-id=none -DN=%zu -g -Wl,-soname,n%zu", i,
                 i);
        build_split(cases[i].name, distinct);
        assert_true(fixture_run("%s", cases[i].prepare));
        void *library = fixture_load(cases[i].name, &a);
        bool found = cases[i].found;
        check_all(cases[i].name, a, found ? "lib_hidden" : NULL, found ? "lib_label" : NULL);
        dlclose(library);
    }
    /* With a build-id that is what counts. */
    const uintptr_t *a;
    build_split("id.so", "-Wl,--build-id=sha1");
    assert_true(fixture_run("echo >>id.so.debug"));
    void *library = fixture_load("id.so", &a);
    check_all("id.so", a, "lib_hidden", "lib_label");
    dlclose(library);
    build_split("id2.so", "-Wl,--build-id=sha1,-soname,id2");
    assert_true(fixture_run("cp id.so.debug id2.so.debug"));
    library = fixture_load("id2.so", &a);
    check_all("id2.so", a, NULL, NULL);
    dlclose(library);
}

/* A child with the directory "root" as its root, and, if `container`, in a mount namespace of its
 * own, so that only /proc/PID/root leads to its files. Sends the addresses of its lib.so. */
static pid_t start_apart(bool container, uintptr_t a[LIB_ADDRESSES]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char root[300];
        snprintf(root, sizeof root, "%s/root", fixture_dir);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (container &&
            (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
             mount(root, root, NULL, MS_BIND, NULL) || chdir(root) ||
             syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH)))
            _exit(1);
        if (!container && chroot(root))
            _exit(2);
        if (chdir("/"))
            _exit(3);
        void *library = dlopen("/lib.so", RTLD_NOW);
        const void *addresses = library ? dlsym(library, "lib_addresses") : NULL;
        size_t bytes = LIB_ADDRESSES * sizeof *a;
        if (!addresses || write(ends[1], addresses, bytes) != (ssize_t)bytes)
            _exit(4);
        while (getppid() == parent)
            pause();
        _exit(0);
    }
    close(ends[1]);
    ssize_t bytes = LIB_ADDRESSES * (ssize_t)sizeof *a;
    assert_int_equal(read(ends[0], a, (size_t)bytes), bytes);
    close(ends[0]);
    return child;
}

static void stop_child(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_other_roots(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    build_split("root/lib.so", "-Wl,--build-id=0x0123456789abcdef");
    assert_true(fixture_run("mkdir -p root/usr/lib/debug/.build-id/01 && mv root/lib.so.debug "
                            "root/usr/lib/debug/.build-id/01/23456789abcdef.debug"));
    /* Where a path as we see it would lead inside the other root: a library much like it. */
    assert_true(fixture_run("mkdir -p root/%s/root && sed s/lib_hidden/lib_nidden/g lib.c >n.c && "
                            "cc -shared -fPIC -O1 -fno-toplevel-reorder -o root/%s/root/lib.so n.c",
                            fixture_dir, fixture_dir));
    for (int container = 0; container < 2; container++) {
        uintptr_t a[LIB_ADDRESSES];
        pid_t child = start_apart(container, a);
        struct symbols *s = fixture_symbols(child);
        assert_string_equal(fixture_name(s, a[LIB_EXPORTED], "lib.so"), "lib_exported");
        assert_string_equal(fixture_name(s, a[LIB_HIDDEN], "lib.so"), "lib_hidden");
        symbols_free(s);
        s = fixture_symbols(child); /* and when it ended before anyone asked */
        stop_child(child);
        assert_int_equal(symbols_refresh(s), -ESRCH);
        assert_string_equal(fixture_name(s, a[LIB_HIDDEN], "lib.so"), "lib_hidden");
        symbols_free(s);
    }
}

/* Whether the kernel lets us open a mapped file whatever became of its path. */
static bool may_open_map_files(const uintptr_t *address) {
    struct target_files t;
    struct maps m;
    char path[64];
    assert_int_equal(target_files_open(getpid(), &t, NULL), 0);
    assert_int_equal(maps_read(t.proc, &m), 0);
    const struct mapping *mapping = maps_find(&m, *address);
    snprintf(path, sizeof path, "map_files/%lx-%lx", (unsigned long)mapping->start,
             (unsigned long)mapping->end);
    int fd = openat(t.proc, path, O_RDONLY);
    close(fd);
    maps_free(&m);
    target_files_close(&t);
    return fd >= 0;
}

static void test_replaced_files(void **state) {
    (void)state;
    static const char *const tricks[] = {
        "mv replacement.so $N",        "rm $N && mkfifo $N",   "rm $N && mkdir $N",
        "rm $N && ln -s /dev/zero $N", "rm $N && ln -s $N $N", "rm $N",
    };
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++) {
        char name[32];
        const uintptr_t *a;
        snprintf(name, sizeof name, "replaced%zu.so", i);
        fixture_build(name, "");
        /* The same length of everything, so that a mix-up would show. */
        assert_true(
            fixture_run("sed s/lib_hidden/lib_nidden/g lib.c >n.c && "
                        "cc -shared -fPIC -O1 -fno-toplevel-reorder -o replacement.so n.c"));
        void *library = fixture_load(name, &a);
        bool may_open = may_open_map_files(&a[LIB_HIDDEN]);
        assert_true(fixture_run("N=%s; %s", name, tricks[i]));
        struct symbols *s = fixture_symbols(getpid());
        char expected[64];
        snprintf(expected, sizeof expected, may_open ? "lib_hidden" : "[%s]!", name);
        assert_string_equal(fixture_name(s, a[LIB_HIDDEN], name), expected);
        symbols_free(s);
        dlclose(library);
    }
}

static void test_only_regular_files_are_opened(void **state) {
    (void)state;
    assert_true(
        fixture_run("mkfifo pipe && mkdir dir && echo x >dir/file && ln -s /dir/file inside &&"
                    " ln -s /etc/passwd outside && ln -s ../../../../etc/passwd above"));
    int root = open(fixture_dir, O_PATH | O_DIRECTORY), slash = open("/", O_PATH | O_DIRECTORY);
    assert_int_equal(target_files_open_below(root, "/pipe"), -EINVAL);
    assert_int_equal(target_files_open_below(root, "/dir"), -EINVAL);
    assert_int_equal(target_files_open_below(slash, "/dev/null"), -EINVAL);
    assert_int_equal(target_files_open_below(root, "/missing"), -ENOENT);
    assert_int_equal(target_files_open_below(-1, "/dir/file"), -EACCES);
    assert_true(target_files_open_below(root, "/outside") < 0);
    assert_true(target_files_open_below(root, "/above") < 0);
    int file = target_files_open_below(root, "/dir/file");
    assert_true(file >= 0);
    char c;
    assert_int_equal(read(file, &c, 1), 1);
    close(file);
    close(root);
    close(slash);
}

/* Maps the code of a library that is loaded a second time, over `place` unless that is NULL.
 * Returns where `address` is in there. */
static uintptr_t map_again(const char *name, uintptr_t address, uintptr_t place) {
    struct maps m;
    char path[512];
    int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/%s", fixture_dir, name);
    int fd = open(path, O_RDONLY);
    assert_int_equal(maps_read(proc, &m), 0);
    const struct mapping *code = maps_find(&m, address);
    uintptr_t into = address - code->start;
    void *start = place ? (void *)(place - into) : NULL;
    void *mapped = mmap(start, code->end - code->start, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | (place ? MAP_FIXED : 0), fd, (off_t)code->offset);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    maps_free(&m);
    close(fd);
    close(proc);
    return (uintptr_t)mapped + into;
}

/* A library loaded later is found without being told; one that took the place of another, after
 * being told. Names handed out before stay readable. */
static void test_mappings_that_change(void **state) {
    (void)state;
    const uintptr_t *a, *b;
    struct symbol before, after;
    fixture_build("early.so", "");
    assert_true(fixture_run("sed 's/lib_exported/lib_explored/g' lib.c >later.c && "
                            "cc -shared -fPIC -O1 -fno-toplevel-reorder -o later.so later.c"));
    struct symbols *s = fixture_symbols(getpid());
    void *early = fixture_load("early.so", &a), *later = fixture_load("later.so", &b);
    uintptr_t address = map_again("early.so", a[LIB_EXPORTED], 0);
    symbols_resolve(s, address, &before);
    assert_string_equal(before.name, "lib_exported");

    assert_int_equal(map_again("later.so", b[LIB_EXPORTED], address), address);
    symbols_resolve(s, address, &after);
    assert_ptr_equal(after.name, before.name); /* nobody told */
    assert_int_equal(symbols_refresh(s), 0);
    symbols_resolve(s, address, &after);
    assert_string_equal(after.name, "lib_explored");
    assert_string_equal(after.module, "later.so");

    uintptr_t page = address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    munmap((void *)page, 1);
    assert_int_equal(symbols_refresh(s), 0);
    assert_string_equal(fixture_name(s, address, ""), "[unknown]!");
    dlclose(early);
    dlclose(later);
    assert_int_equal(symbols_refresh(s), 0); /* the files are let go of */
    assert_string_equal(before.name, "lib_exported");
    assert_string_equal(before.module, "early.so");
    assert_string_equal(after.name, "lib_explored");
    symbols_free(s);
}

static int setup(void **state) {
    alarm(100); /* a FIFO that was opened after all would hold us for ever */
    return fixture_setup(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_library),
        cmocka_unit_test(test_stripped_library),
        cmocka_unit_test(test_plt),
        cmocka_unit_test(test_debug_link),
        cmocka_unit_test(test_other_roots),
        cmocka_unit_test(test_replaced_files),
        cmocka_unit_test(test_only_regular_files_are_opened),
        cmocka_unit_test(test_mappings_that_change),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
