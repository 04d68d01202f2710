/* Whether a stack can be walked by the rows: this process's own, at every single instruction of a
 * piece of work in our code and in the C library's, through a signal's frame, and in the vdso. */
#include "symbols/unwind/unwind_files.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { FRAMES = 200, MODULES = 256 };

/* The tables of the process, as a reader of a JVM would have them. */
static struct {
    struct unwind_files *files;
    struct {
        struct unwind_mapping mapping;
        struct unwind_table table;
        uint64_t base;
    } module[MODULES];
    size_t count;
} tables;

static int load_tables(void **state) {
    (void)state;
    struct err e;
    const struct unwind_mapping *list;
    size_t count;
    if (unwind_files_open(getpid(), &tables.files, &e) ||
        unwind_files_list(tables.files, &list, &count))
        return -1;
    for (size_t i = 0; i < count && tables.count < MODULES; i++) {
        struct unwind_table t;
        uint64_t base;
        bool built;
        if (unwind_files_table(tables.files, &list[i], &t, &built))
            continue;
        if (!unwind_table_base(&t, list[i].offset, list[i].begin, &base)) {
            unwind_table_free(&t);
            continue;
        }
        tables.module[tables.count].mapping = list[i];
        tables.module[tables.count].table = t;
        tables.module[tables.count++].base = base;
    }
    return 0;
}

static int free_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < tables.count; i++)
        unwind_table_free(&tables.module[i].table);
    unwind_files_close(tables.files);
    return 0;
}

/* What was opened is what is mapped, each file once, libc in front of what is larger. */
static void test_files(void **state) {
    (void)state;
    const struct unwind_mapping *list;
    size_t count;
    bool vdso = false;
    assert_int_equal(unwind_files_list(tables.files, &list, &count), 0);
    assert_true(count >= 3);
    uintptr_t function = (uintptr_t)&gnu_get_libc_version;
    assert_true(function >= list[0].begin && function < list[0].end);
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].begin < list[i].end);
        uintptr_t own = getauxval(AT_SYSINFO_EHDR);
        vdso |= own >= list[i].begin && own < list[i].end;
    }
    assert_true(vdso || !getauxval(AT_SYSINFO_EHDR));
    uint32_t libc = list[0].file;
    assert_int_equal(unwind_files_list(tables.files, &list, &count), 0);
    assert_int_equal(list[0].file, libc);
    struct unwind_files *u;
    struct err e = {0};
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    assert_int_equal(unwind_files_open(gone, &u, &e), -ESRCH);
    assert_true(e.message[0] != '\0');
}

#if defined(__x86_64__)

static const struct unwind_row *find_row(uint64_t pc) {
    for (size_t i = 0; i < tables.count; i++)
        if (pc >= tables.module[i].mapping.begin && pc < tables.module[i].mapping.end &&
            pc - tables.module[i].base <= UINT32_MAX)
            return unwind_table_find(&tables.module[i].table,
                                     (uint32_t)(pc - tables.module[i].base));
    return NULL;
}

struct frame {
    uint64_t pc, sp, fp;
    bool exact; /* else pc is a return address */
};

static uint64_t load(uint64_t address) {
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value); // NOLINT
    return value;
}

/* 1: *f is the caller now, 0: there is none, -1: not known. */
static int step(struct frame *f) {
    const struct unwind_row *r = find_row(f->exact ? f->pc : f->pc - 1);
    uint64_t cfa = 0, fp = f->fp;
    if (!r)
        return -1;
    switch (r->cfa) {
    case UNWIND_CFA_SP:
        cfa = f->sp + (uint64_t)(int64_t)r->cfa_offset;
        break;
    case UNWIND_CFA_FP:
        cfa = f->fp + (uint64_t)(int64_t)r->cfa_offset;
        break;
    case UNWIND_CFA_FP_DEREF:
        cfa = load(f->fp + (uint64_t)(int64_t)r->cfa_offset);
        break;
    case UNWIND_CFA_PLT:
        cfa = f->sp + 8 + ((f->pc & 15) >= 11 ? 8 : 0);
        break;
    case UNWIND_CFA_SIGNAL: {
        const ucontext_t *c = (const void *)(uintptr_t)f->sp; // NOLINT
        *f = (struct frame){(uint64_t)c->uc_mcontext.gregs[REG_RIP],
                            (uint64_t)c->uc_mcontext.gregs[REG_RSP],
                            (uint64_t)c->uc_mcontext.gregs[REG_RBP], true};
        return 1;
    }
    case UNWIND_CFA_END:
        return 0;
    default:
        return -1;
    }
    if (cfa <= f->sp)
        return -1;
    if (r->fp_offset != UNWIND_SAME)
        fp = load((r->cfa == UNWIND_CFA_FP_DEREF ? f->fp : cfa) + (uint64_t)r->fp_offset);
    *f = (struct frame){load(cfa + (uint64_t)r->ra_offset), cfa, fp, false};
    return 1;
}

/* Fills `pc` with return addresses, leaf first; their number, or -1 where the walk breaks off. */
static int walk(struct frame f, uint64_t pc[FRAMES]) {
    for (int n = 0; n < FRAMES; n++) {
        int r = step(&f);
        if (r <= 0)
            return r < 0 ? -1 : n;
        pc[n] = f.pc;
    }
    return -1;
}

static struct frame frame_of(const ucontext_t *c) {
    const greg_t *r = c->uc_mcontext.gregs;
    return (struct frame){(uint64_t)r[REG_RIP], (uint64_t)r[REG_RSP], (uint64_t)r[REG_RBP], true};
}

/* Everything below `base` is what the process looks like all the time. */
static struct {
    uint64_t base[FRAMES];
    int base_frames;
    unsigned steps, wrong, deepest, in_libc, unsayable;
    uint64_t first_wrong;
    const struct unwind_mapping *libc;
    unsigned handled;
} seen;

static bool ends_as_known(const uint64_t *pc, int n) {
    return n >= seen.base_frames &&
           memcmp(pc + n - seen.base_frames, seen.base, (size_t)seen.base_frames * sizeof *pc) == 0;
}

/* A function whose stack is aligned by hand finds its caller by a third register for a few
 * instructions, which rows cannot say. It has a section to itself. */
extern const char __start_realigned_text[], __stop_realigned_text[];
/* So has the one that pushes where the compiler does not know. */
extern const char __start_trap_text[], __stop_trap_text[];

static bool is_within(uint64_t pc, const char *begin, const char *end) {
    return pc >= (uintptr_t)begin && pc < (uintptr_t)end;
}

static void on_instruction(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)info;
    uint64_t pc[FRAMES];
    struct frame f = frame_of(context);
    int n = walk(f, pc);
    const struct unwind_row *r = find_row(f.pc);
    seen.steps++;
    if (n > (int)seen.deepest)
        seen.deepest = (unsigned)n;
    if (f.pc >= seen.libc->begin && f.pc < seen.libc->end)
        seen.in_libc++;
    if (ends_as_known(pc, n) || is_within(f.pc, __start_trap_text, __stop_trap_text))
        return;
    if (is_within(f.pc, __start_realigned_text, __stop_realigned_text) && r &&
        r->cfa == UNWIND_CFA_NONE) {
        seen.unsayable++;
        return;
    }
    if (seen.wrong++ == 0)
        seen.first_wrong = f.pc;
}

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)info, (void)context;
    ucontext_t here;
    uint64_t pc[FRAMES];
    getcontext(&here);
    struct frame f = frame_of(&here);
    if (ends_as_known(pc, walk(f, pc)))
        seen.handled++;
}

static volatile int sink;

__attribute__((noinline)) static int compare(const void *a, const void *b) {
    int x, y;
    memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
    sink += x;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static void with_alloca(size_t n) {
    volatile char *p = __builtin_alloca(n);
    p[0] = 1;
    sink += p[n - 1];
}

__attribute__((noinline, section("realigned_text"))) static void
realigned(int a, int b, int c, int d, int e, int f, int g, size_t n) {
    _Alignas(64) volatile char buffer[128];
    volatile char *p = __builtin_alloca(n);
    buffer[a] = (char)(b + c + d + e + f + g);
    p[0] = buffer[a];
    with_alloca(n);
    sink += p[0];
}

__attribute__((noinline)) static void deep(int n) {
    volatile int local[16];
    local[n & 15] = n;
    if (n)
        deep(n - 1);
    sink += local[n & 15];
}

__attribute__((noinline)) static void work(void) {
    int list[40];
    char text[64];
    struct timespec t;
    for (int i = 0; i < 40; i++)
        list[i] = (i * 7919) % 41;
    qsort(list, 40, sizeof *list, compare);
    with_alloca(100);
    realigned(1, 2, 3, 4, 5, 6, 7, 50);
    deep(30);
    snprintf(text, sizeof text, "%g %s", 3.14159 * list[0], "text");
    sink += (int)strtod(text, NULL) + (int)strlen(text);
    clock_gettime(CLOCK_MONOTONIC, &t);
    raise(SIGUSR1);
    free(malloc(100));
}

__attribute__((noinline, section("trap_text"))) static void trap_flag(bool on) {
    __asm__ volatile("sub $128, %%rsp; pushfq; andq $~0x100, (%%rsp); orq %0, (%%rsp); popfq; "
                     "add $128, %%rsp"
                     :
                     : "r"(on ? UINT64_C(0x100) : 0)
                     : "memory", "cc");
}

static void install(int signo, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction a = {.sa_flags = SA_SIGINFO};
    a.sa_sigaction = handler;
    sigemptyset(&a.sa_mask);
    assert_int_equal(sigaction(signo, &a, NULL), 0);
}

static void test_every_instruction(void **state) {
    (void)state;
    ucontext_t here;
    uint64_t pc[FRAMES];
    install(SIGTRAP, on_instruction);
    install(SIGUSR1, on_signal);
    getcontext(&here);
    struct frame f = frame_of(&here);
    /* This function's caller and all that are behind it; main is not the last of them. */
    assert_int_equal(step(&f), 1);
    int n = walk(f, pc);
    assert_in_range(n, 3, FRAMES);
    seen.base_frames = n;
    seen.libc = &tables.module[0].mapping;
    memcpy(seen.base, pc, (size_t)n * sizeof *pc);
    work(); /* what is resolved at its first call is resolved now; counts nothing */
    seen.handled = 0;
    trap_flag(true);
    work();
    trap_flag(false);
    if (seen.wrong)
        print_error("%u of %u instructions, the first at %#llx\n", seen.wrong, seen.steps,
                    (unsigned long long)seen.first_wrong);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.handled, 1);
    assert_true(seen.steps > 5000 && seen.deepest > 30 && seen.in_libc > 1000);
    assert_true(seen.unsayable < 20);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
#if defined(__x86_64__)
        cmocka_unit_test(test_every_instruction),
#endif
    };
    return cmocka_run_group_tests(tests, load_tables, free_tables);
}
