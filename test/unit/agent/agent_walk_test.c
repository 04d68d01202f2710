#include "core/agent/process/registers.h"
#include "core/agent/walk/unwind.h"
#include "core/agent/walk/walk_native.h"
#include "core/agent/walk/walk_stage.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#define WORD sizeof(uintptr_t)
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- unwind tables ---- */

#define BASE 0x200000001000u /* of the module; rows are relative to it */
#define STACK_WORDS 64

struct world {
    struct wire_unwind *unwind;
    uintptr_t stack[STACK_WORDS];
};

static uintptr_t at(const struct world *w, size_t word) {
    return (uintptr_t)&w->stack[word];
}

/* rows of one module of 4096 bytes */
static void set_rows(struct world *w, const struct wire_unwind_row *row, uint32_t rows) {
    struct wire_unwind *u = w->unwind;
    memcpy(&u->row[100], row, rows * sizeof *row);
    u->module[1][0] = (struct wire_unwind_module){0x1000, 0x2000, 0x1000, 0, 0};
    u->module[1][1] = (struct wire_unwind_module){BASE, BASE + 4096, BASE, 100, rows};
    u->module[1][2] = (struct wire_unwind_module){BASE + 8192, BASE + 12288, BASE, 0, 0};
    u->modules[1] = 3;
    u->rows = 100 + rows;
    u->current = 1;
    u->generation = 1;
}

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    w->unwind = mmap(NULL, WIRE_UNWIND_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(w->unwind, MAP_FAILED);
    for (size_t i = 0; i < STACK_WORDS; i++)
        w->stack[i] = 0x1000 + i;
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    munmap(w->unwind, WIRE_UNWIND_BYTES);
    free(w);
    return 0;
}

static const struct wire_unwind_row rows[] = {
    {.pc = 0, .cfa = WIRE_CFA_SP, .cfa_offset = 8, .fp_offset = WIRE_UNWIND_SAME, .ra_offset = -8},
    {.pc = 1, .cfa = WIRE_CFA_SP, .cfa_offset = 16, .fp_offset = -16, .ra_offset = -8},
    {.pc = 4, .cfa = WIRE_CFA_FP, .cfa_offset = 16, .fp_offset = -16, .ra_offset = -8},
    {.pc = 100, .cfa = WIRE_CFA_NONE},
    {.pc = 200, .cfa = WIRE_CFA_FP_DEREF, .cfa_offset = -8, .fp_offset = 0, .ra_offset = -8},
    {.pc = 300, .cfa = WIRE_CFA_SIGNAL},
    {.pc = 400, .cfa = WIRE_CFA_END},
    {.pc = 512, .cfa = WIRE_CFA_PLT, .fp_offset = WIRE_UNWIND_SAME, .ra_offset = -8},
    {.pc = 600, .cfa = WIRE_CFA_SP, .fp_offset = WIRE_UNWIND_SAME, .ra_offset = WIRE_UNWIND_SAME},
};

static void test_a_step_to_the_caller(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    uintptr_t limit = at(w, STACK_WORDS);
    /* The first instruction: only the return address is there. */
    struct native_frame f = {.pc = BASE, .sp = at(w, 4), .fp = 77, .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, limit, &f), UNWIND_CALLER);
    assert_int_equal(f.pc, w->stack[4]);
    assert_int_equal(f.sp, at(w, 5));
    assert_int_equal(f.fp, 77);
    assert_false(f.interrupted);
    /* Behind push: the caller's frame pointer is on the stack. */
    f = (struct native_frame){.pc = BASE + 1, .sp = at(w, 4), .fp = 77, .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, limit, &f), UNWIND_CALLER);
    assert_int_equal(f.pc, w->stack[5]);
    assert_int_equal(f.fp, w->stack[4]);
    assert_int_equal(f.sp, at(w, 6));
    /* With a frame pointer, wherever the stack pointer is by now. */
    f = (struct native_frame){.pc = BASE + 50, .sp = at(w, 2), .fp = at(w, 20)};
    assert_int_equal(unwind_step(w->unwind, limit, &f), UNWIND_CALLER);
    assert_int_equal(f.pc, w->stack[21]);
    assert_int_equal(f.fp, w->stack[20]);
    assert_int_equal(f.sp, at(w, 22));
    /* A realigned stack: where the frame begins is in a word below the frame pointer. */
    w->stack[19] = at(w, 30);
    f = (struct native_frame){.pc = BASE + 210, .sp = at(w, 2), .fp = at(w, 20)};
    assert_int_equal(unwind_step(w->unwind, limit, &f), UNWIND_CALLER);
    assert_int_equal(f.pc, w->stack[29]);
    assert_int_equal(f.fp, w->stack[20]);
    assert_int_equal(f.sp, at(w, 30));
}

static void test_a_return_address_belongs_to_its_call(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    struct native_frame f = {.pc = BASE + 100, .sp = at(w, 2), .fp = at(w, 20)};
    /* The call ended the function: row 100 is the next one's. */
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_CALLER);
    f = (struct native_frame){.pc = BASE + 100, .sp = at(w, 2), .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_NO_ROW);
}

static void test_lazy_plt_entries(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    struct native_frame f = {.pc = BASE + 512 + 6, .sp = at(w, 4), .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_CALLER);
    assert_int_equal(f.sp, at(w, 5));
    f = (struct native_frame){.pc = BASE + 512 + 11, .sp = at(w, 4), .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_CALLER);
    assert_int_equal(f.pc, w->stack[5]);
    assert_int_equal(f.sp, at(w, 6));
}

static void test_leaf_with_a_link_register(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    struct native_frame f = {
        .pc = BASE + 604, .sp = at(w, 4), .fp = 77, .lr = 0x4711, .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_CALLER);
    assert_int_equal(f.pc, 0x4711);
    assert_int_equal(f.sp, at(w, 4)); /* it has no frame */
    assert_int_equal(f.fp, 77);
    /* No frame that called has its return address in a register: this would go on forever. */
    f = (struct native_frame){.pc = BASE + 604, .sp = at(w, 4), .lr = 0x4711};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_BAD);
}

static void test_ends_and_gaps(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    static const struct {
        uintptr_t pc;
        enum unwind_result result;
    } expected[] = {
        {BASE + 150, UNWIND_NO_ROW},   {BASE + 310, UNWIND_SIGNAL}, {BASE + 410, UNWIND_END},
        {BASE + 4096, UNWIND_NO_ROW},  {BASE - 1, UNWIND_NO_ROW},   {0, UNWIND_NO_ROW},
        {BASE + 8200, UNWIND_NO_ROW},  {0x1800, UNWIND_NO_ROW},     {UINTPTR_MAX, UNWIND_NO_ROW},
        {BASE + 12288, UNWIND_NO_ROW},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct native_frame f = {.pc = expected[i].pc, .sp = at(w, 4), .interrupted = true};
        struct native_frame before = f;
        assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), expected[i].result);
        assert_memory_equal(&f, &before, sizeof f);
    }
    /* The outermost frame of some threads has a return address of 0 instead. */
    w->stack[4] = 0;
    struct native_frame f = {.pc = BASE, .sp = at(w, 4), .interrupted = true};
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_END);
    /* Nothing was ever written, or there are no tables. */
    w->unwind->generation = 0;
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_NO_ROW);
    assert_int_equal(unwind_step(NULL, at(w, 60), &f), UNWIND_NO_ROW);
}

static void test_a_stack_that_makes_no_sense(void **state) {
    struct world *w = *state;
    set_rows(w, rows, COUNT(rows));
    uintptr_t limit = at(w, 60);
    const struct native_frame bad[] = {
        {.pc = BASE + 50, .sp = at(w, 10), .fp = at(w, 2)},        /* away from the base */
        {.pc = BASE + 50, .sp = at(w, 10), .fp = at(w, 8)},        /* no way at all */
        {.pc = BASE + 50, .sp = at(w, 10), .fp = at(w, 20) + 4},   /* between words */
        {.pc = BASE + 50, .sp = at(w, 10), .fp = limit},           /* past the stack */
        {.pc = BASE + 50, .sp = at(w, 10), .fp = UINTPTR_MAX - 7}, /* around the end */
        {.pc = BASE + 50, .sp = at(w, 10), .fp = 0},
        {.pc = BASE, .sp = limit, .interrupted = true},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct native_frame f = bad[i];
        assert_int_equal(unwind_step(w->unwind, limit, &f), UNWIND_BAD);
        assert_memory_equal(&f, &bad[i], sizeof f);
    }
}

static void test_tables_that_make_no_sense(void **state) {
    struct world *w = *state;
    const struct wire_unwind_row odd[] = {
        {.pc = 0, .cfa = WIRE_CFA_SP, .cfa_offset = INT32_MIN, .ra_offset = -8},
        {.pc = 10, .cfa = WIRE_CFA_SP, .cfa_offset = INT32_MAX, .ra_offset = -8},
        {.pc = 20, .cfa = WIRE_CFA_SP, .cfa_offset = 16, .ra_offset = 8}, /* the caller's frame */
        {.pc = 30, .cfa = WIRE_CFA_SP, .cfa_offset = 16, .ra_offset = -4096},
        {.pc = 40, .cfa = WIRE_CFA_SP, .cfa_offset = 16, .ra_offset = -7},
        {.pc = 50, .cfa = WIRE_CFA_SP, .cfa_offset = 16, .fp_offset = 0, .ra_offset = -8},
        {.pc = 60, .cfa = 200, .cfa_offset = 16, .ra_offset = -8},
    };
    set_rows(w, odd, COUNT(odd));
    for (uintptr_t pc = 0; pc < 70; pc += 10) {
        struct native_frame f = {.pc = BASE + pc, .sp = at(w, 4), .interrupted = true};
        assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_BAD);
    }
    struct wire_unwind_module *m = &w->unwind->module[1][1];
    struct native_frame f = {.pc = BASE, .sp = at(w, 4), .interrupted = true};
    set_rows(w, rows, COUNT(rows));
    m->first_row = UINT32_MAX;
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_NO_ROW);
    set_rows(w, rows, COUNT(rows));
    m->rows = UINT32_MAX;
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_NO_ROW);
    set_rows(w, rows, COUNT(rows));
    m->base = BASE + 1;
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_NO_ROW);
    set_rows(w, rows, COUNT(rows));
    w->unwind->modules[1] = UINT32_MAX; /* the rest is zero: not sorted any more */
    unwind_step(w->unwind, at(w, 60), &f);
    set_rows(w, rows, COUNT(rows));
    w->unwind->current = UINT32_MAX; /* any odd number is the second list */
    assert_int_equal(unwind_step(w->unwind, at(w, 60), &f), UNWIND_CALLER);
}

/* ---- native frames by frame pointers ---- */

static struct libraries libraries = {.range[0] = {{BASE, BASE + 4096}}, .count[0] = 1};
#define ENTRY_WRAPPER (-1) /* words from the call stub's frame pointer */
static const struct vm vm = {
    .code_low = 0x10000, .code_high = 0x20000, .at.entry_wrapper = ENTRY_WRAPPER};

/* Frames of 6 words whose return addresses are `pc`, from word 0 on. */
static void make_chain(struct world *w, const uintptr_t *pc, size_t n) {
    for (size_t i = 0; i < n; i++) {
        w->stack[6 * i + 4] = at(w, 6 * (i + 1) + 4);
        w->stack[6 * i + 5] = pc[i];
    }
}

struct walked {
    struct native_frame f;
    uint64_t frame[32];
    struct stack s;
    struct registers interrupted;
    enum native_stop stop;
    bool exact;
};

static void walk(struct world *w, struct native_bounds b, enum wire_walk mode, struct walked *out) {
    struct walker walker = {.vm = &vm, .libraries = &libraries, .walk = mode};
    out->f =
        (struct native_frame){.pc = BASE + 1, .sp = at(w, 0), .fp = at(w, 4), .interrupted = true};
    out->s = (struct stack){.frame = out->frame, .max = COUNT(out->frame)};
    out->stop = native_walk(&walker, &b, &out->f, &out->interrupted, &out->s, &out->exact);
}

static void test_frame_pointers(void **state) {
    struct world *w = *state;
    struct walked r;
    struct native_bounds all = {.limit = at(w, STACK_WORDS)};
    const uintptr_t to_java[] = {BASE + 10, BASE + 20, 0x12345};
    make_chain(w, to_java, 3);
    walk(w, all, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_CODE);
    assert_int_equal(r.f.pc, 0x12345);
    assert_int_equal(r.f.sp, at(w, 18));
    assert_int_equal(r.s.n, 2);
    assert_int_equal(r.frame[0], wire_frame_address(WIRE_FRAME_NATIVE, BASE + 10));
    assert_int_equal(r.frame[1], wire_frame_address(WIRE_FRAME_NATIVE, BASE + 20));
    walk(w, all, WIRE_WALK_NO, &r);
    assert_int_equal(r.stop, NATIVE_CODE);
    assert_int_equal(r.s.n, 0);
    /* Not past what is known to be Java's. */
    walk(w, (struct native_bounds){.limit = at(w, 10)}, WIRE_WALK_VM, &r);
    assert_int_equal(r.s.n, 1);
    assert_int_equal(r.stop, NATIVE_LOST);
    /* To a word that is no code, and to the end of a thread. */
    const uintptr_t to_nothing[] = {BASE + 10, 0x999999};
    make_chain(w, to_nothing, 2);
    walk(w, all, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_LOST);
    assert_int_equal(r.s.n, 1);
    const uintptr_t to_end[] = {BASE + 10, BASE + 20};
    make_chain(w, to_end, 2);
    w->stack[10] = 0;
    walk(w, all, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_END);
    assert_int_equal(r.s.n, 2);
    /* A chain that leads back. */
    w->stack[10] = at(w, 4);
    walk(w, all, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_LOST);
}

/* Only what the tables say is exact: a frame pointer may lead past the nearest Java frames. */
static void test_whether_the_caller_is_exact(void **state) {
    struct world *w = *state;
    uint64_t frame[8];
    struct registers interrupted;
    struct walker walker = {.vm = &vm, .libraries = &libraries, .unwind = w->unwind};
    struct native_bounds b = {.limit = at(w, STACK_WORDS)};
    for (int tables = 0; tables < 2; tables++) {
        struct native_frame f = {
            .pc = BASE + 50, .sp = at(w, 0), .fp = at(w, 4), .interrupted = true};
        struct stack s = {.frame = frame, .max = COUNT(frame)};
        bool exact = false;
        make_chain(w, (uintptr_t[]){BASE + 50, tables ? BASE + 50 : BASE + 150, 0x12345}, 3);
        set_rows(w, rows, COUNT(rows));
        assert_int_equal(native_walk(&walker, &b, &f, &interrupted, &s, &exact), NATIVE_CODE);
        assert_int_equal(exact, tables);
        assert_int_equal(f.pc, 0x12345);
    }
}

static void test_a_wrapper_between_the_frames(void **state) {
    struct world *w = *state;
    struct walked r;
    const uintptr_t pc[] = {BASE + 10, BASE + 20, BASE + 30};
    make_chain(w, pc, 3);
    /* It lies in the frame that returns to BASE + 20, of words 6 to 11. */
    walk(w, (struct native_bounds){at(w, STACK_WORDS), at(w, 8)}, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_WRAPPER);
    assert_int_equal(r.f.pc, BASE + 10);
    assert_int_equal(r.s.n, 1);
    walk(w, (struct native_bounds){at(w, STACK_WORDS), at(w, 20)}, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_WRAPPER);
    assert_int_equal(r.f.pc, BASE + 30);
    /* The frame at word 16 is the call stub's: this chain has left out all of Java. */
    w->stack[16 + ENTRY_WRAPPER] = at(w, 20);
    walk(w, (struct native_bounds){at(w, STACK_WORDS), at(w, 20)}, WIRE_WALK_VM, &r);
    assert_int_equal(r.stop, NATIVE_LOST);
    assert_int_equal(r.f.pc, BASE + 20);
}

/* The trampoline that a handler returns to. */
static const uint8_t trampoline[16] =
#if defined(__x86_64__)
    {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
#else
    {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
#endif

static void set_registers(ucontext_t *u, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
    registers_set_pc(u, pc);
#if defined(__x86_64__)
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    u->uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
#else
    u->uc_mcontext.sp = sp;
    u->uc_mcontext.regs[29] = fp;
#endif
}

static void test_what_a_handler_interrupted(void **state) {
    (void)state;
    static struct {
        uintptr_t handler[6]; /* its frame: the saved frame pointer and the way back are last */
        uint8_t siginfo[REGISTERS_UCONTEXT_OFFSET + 8];
        ucontext_t context;
        uintptr_t rest[64];
    } stack;
    uintptr_t way_back = (uintptr_t)trampoline;
    struct libraries loaded = {.range[0] = {{way_back, way_back + sizeof trampoline}},
                               .count[0] = 1};
    struct walker walker = {.vm = &vm, .libraries = &loaded};
    uintptr_t from = (uintptr_t)&stack.handler[6] + REGISTERS_UCONTEXT_OFFSET;
    stack.handler[4] = 1234; /* not a frame's: the handler's caller is the kernel */
    stack.handler[5] = way_back;
    ucontext_t context = {0};
    set_registers(&context, 0x12345, (uintptr_t)&stack.rest[10], 99);
    memcpy((void *)from, &context, sizeof context);
    struct native_bounds b = {.limit = (uintptr_t)&stack.rest[64]};
    struct native_frame f = {.pc = way_back,
                             .sp = (uintptr_t)stack.handler,
                             .fp = (uintptr_t)&stack.handler[4],
                             .interrupted = true};
    uint64_t frame[8];
    struct registers r = {0};
    struct stack s = {.frame = frame, .max = COUNT(frame)};
    assert_int_equal(native_walk(&walker, &b, &f, &r, &s, NULL), NATIVE_CODE);
    assert_true(f.interrupted);
    assert_int_equal(f.pc, 0x12345);
    assert_int_equal(f.sp, (uintptr_t)&stack.rest[10]);
    assert_int_equal(f.fp, 99);
    assert_int_equal(r.pc, 0x12345);
    assert_int_equal(s.n, 1); /* the trampoline */
    /* What it says leads away from the stack's base. */
    set_registers(&context, 0x12345, (uintptr_t)stack.handler, 99);
    memcpy((void *)from, &context, sizeof context);
    f = (struct native_frame){.pc = way_back, .sp = (uintptr_t)&stack.handler[6]};
    assert_int_equal(native_walk(&walker, &b, &f, &r, &s, NULL), NATIVE_LOST);
}

static void test_a_full_stack(void **state) {
    struct world *w = *state;
    uintptr_t pc[8];
    for (size_t i = 0; i < COUNT(pc); i++)
        pc[i] = BASE + i;
    make_chain(w, pc, COUNT(pc));
    struct walker walker = {.vm = &vm, .libraries = &libraries};
    struct native_bounds b = {.limit = at(w, STACK_WORDS)};
    struct native_frame f = {.pc = BASE, .sp = at(w, 0), .fp = at(w, 4), .interrupted = true};
    uint64_t frame[4];
    struct registers interrupted;
    struct stack s = {.frame = frame, .max = COUNT(frame)};
    assert_int_equal(native_walk(&walker, &b, &f, &interrupted, &s, NULL), NATIVE_FULL);
    assert_int_equal(s.n, 3); /* one place is left to say so */
}

/* ---- stages ---- */

static struct stage_code code_of(const void *bytes, size_t n, uint32_t pc, bool prologue) {
    struct stage_code c = {.pc = pc, .prologue = prologue};
    memcpy(c.byte, bytes, n);
    return c;
}

static void test_stages_of_x86_64(void **state) {
    (void)state;
    /* mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20; (the body) */
    static const uint8_t c2[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,
                                 0x55, 0x48, 0x83, 0xec, 0x20, 0x90, 0x90};
    static const struct {
        uint32_t pc;
        enum frame_stage stage;
    } prologue[] = {{0, STAGE_NONE}, {7, STAGE_NONE}, {8, STAGE_PUSHED}, {12, STAGE_WHOLE}};
    for (size_t i = 0; i < COUNT(prologue); i++) {
        struct stage_code c = code_of(c2, sizeof c2, prologue[i].pc, true);
        assert_int_equal(stage_x86_64(&c), prologue[i].stage);
    }
    /* sub rsp, 0x18; mov [rsp+0x10], rbp: whole from the subtraction on. */
    static const uint8_t small[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10};
    struct stage_code c = code_of(small, sizeof small, 4, true);
    assert_int_equal(stage_x86_64(&c), STAGE_WHOLE);
    /* nop; add rsp, 0x20; pop rbp; cmp rsp, [r15+0x450]; ja slow; ret */
    static const uint8_t new_poll[] = {0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x50,
                                       0x04, 0x00, 0x00, 0x0f, 0x87, 0x10, 0x00, 0x00, 0x00, 0xc3};
    /* …; mov r10, the polling page; test [r10], eax; ret */
    static const uint8_t far_poll[] = {0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0xba, 0x00, 0x10,
                                       0x7f, 0x2c, 0x10, 0x7f, 0x00, 0x00, 0x41, 0x85, 0x02, 0xc3};
    static const uint8_t rethrow[] = {0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d,
                                      0xe9, 0x01, 0x02, 0x03, 0x04};
    static const struct {
        const uint8_t *bytes;
        size_t n;
        uint32_t pc;
        enum frame_stage stage;
    } epilogue[] = {
        {new_poll, sizeof new_poll, 0, STAGE_WHOLE},  {new_poll, sizeof new_poll, 1, STAGE_WHOLE},
        {new_poll, sizeof new_poll, 5, STAGE_PUSHED}, {new_poll, sizeof new_poll, 6, STAGE_NONE},
        {new_poll, sizeof new_poll, 13, STAGE_NONE},  {new_poll, sizeof new_poll, 19, STAGE_NONE},
        {far_poll, sizeof far_poll, 6, STAGE_NONE},   {far_poll, sizeof far_poll, 16, STAGE_NONE},
        {rethrow, sizeof rethrow, 6, STAGE_NONE},     {rethrow, sizeof rethrow, 5, STAGE_PUSHED},
    };
    for (size_t i = 0; i < COUNT(epilogue); i++) {
        c = code_of(epilogue[i].bytes, epilogue[i].n, epilogue[i].pc, false);
        assert_int_equal(stage_x86_64(&c), epilogue[i].stage);
    }
}

#define NOP 0xd503201fu
#define PACIASP 0xd503233fu
#define AUTIASP 0xd50323bfu
#define SUB_SP_48 0xd100c3ffu
#define ADD_SP_48 0x9100c3ffu
#define STP_FP_LR_32 0xa9027bfdu /* stp x29, x30, [sp, #32] */
#define LDP_FP_LR_32 0xa9427bfdu /* ldp x29, x30, [sp, #32] */
#define PUSH_FP_LR 0xa9bf7bfdu   /* stp x29, x30, [sp, #-16]! */
#define POP_FP_LR 0xa8c17bfdu    /* ldp x29, x30, [sp], #16 */
#define SUB_SP_X9 0xcb2963ffu
#define ADD_SP_X9 0x8b2963ffu
#define LDR_POLL 0xf9425788u
#define CMP_SP_X8 0xeb2863ffu
#define B_HI 0x54000108u
#define RET 0xd65f03c0u
#define NONE STAGE_NONE
#define WHOLE STAGE_WHOLE
#define PUSHED STAGE_PUSHED
#define SP STAGE_ALLOCATED

static void check_aarch64(const uint32_t *code, size_t n, bool prologue,
                          const enum frame_stage *expected) {
    for (uint32_t i = 0; i < n; i++) {
        struct stage_code c = code_of(code, n * sizeof *code, 4 * i, prologue);
        assert_int_equal(stage_aarch64(&c), expected[i]);
    }
}

static void test_stages_of_aarch64(void **state) {
    (void)state;
    static const uint32_t small[] = {NOP, PACIASP, SUB_SP_48, STP_FP_LR_32, NOP};
    static const enum frame_stage small_stage[] = {NONE, NONE, NONE, SP, WHOLE};
    check_aarch64(small, COUNT(small), true, small_stage);
    static const uint32_t large[] = {NOP, PUSH_FP_LR, NOP, SUB_SP_X9, NOP};
    static const enum frame_stage large_stage[] = {NONE, NONE, PUSHED, PUSHED, WHOLE};
    check_aarch64(large, COUNT(large), true, large_stage);
    static const uint32_t leave[] = {NOP,      LDP_FP_LR_32, ADD_SP_48, AUTIASP,
                                     LDR_POLL, CMP_SP_X8,    B_HI,      RET};
    static const enum frame_stage leave_stage[] = {WHOLE, WHOLE, SP, NONE, NONE, NONE, NONE, NONE};
    check_aarch64(leave, COUNT(leave), false, leave_stage);
    static const uint32_t leave_large[] = {NOP, ADD_SP_X9, POP_FP_LR, LDR_POLL, RET};
    static const enum frame_stage leave_large_stage[] = {WHOLE, WHOLE, PUSHED, NONE, NONE};
    check_aarch64(leave_large, COUNT(leave_large), false, leave_large_stage);
    /* Behind one way out begins other code, whose frame stands. */
    static const uint32_t two[] = {LDP_FP_LR_32, ADD_SP_48,    RET,       NOP,
                                   NOP,          LDP_FP_LR_32, ADD_SP_48, RET};
    static const enum frame_stage two_stage[] = {WHOLE, SP, NONE, WHOLE, WHOLE, WHOLE, SP, NONE};
    check_aarch64(two, COUNT(two), false, two_stage);
}

int main(void) {
    /* Guarded loads are plain ones here: what walks look at has to be there. */
    if (mmap((void *)BASE, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
             -1, 0) != (void *)BASE)
        return 1;
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_step_to_the_caller),
        TEST(test_a_return_address_belongs_to_its_call),
        TEST(test_lazy_plt_entries),
        TEST(test_leaf_with_a_link_register),
        TEST(test_ends_and_gaps),
        TEST(test_a_stack_that_makes_no_sense),
        TEST(test_tables_that_make_no_sense),
        TEST(test_frame_pointers),
        TEST(test_whether_the_caller_is_exact),
        TEST(test_a_wrapper_between_the_frames),
        TEST(test_a_full_stack),
        cmocka_unit_test(test_what_a_handler_interrupted),
        cmocka_unit_test(test_stages_of_x86_64),
        cmocka_unit_test(test_stages_of_aarch64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
