/* Rows made of frame sections: of ones put together by hand, and of the C library as readelf
 * understands them. Whether a stack can be walked by them is tested in unwind_walk_test.c. */
#include "symbols/unwind/unwind_table.h"

#include "test/unit/symbols/unwind_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { NONE, SP, FP, DEREF, PLT, SIGNAL, END };
enum { SAME = UNWIND_SAME };

struct expected {
    uint32_t pc;
    int cfa, cfa_offset, fp, ra;
};

static const uint8_t x86[] = {0x0c, 7, 8, 0x90, 1}; /* CFA rsp+8, ra at CFA-8 */
static const uint8_t arm64[] = {0x0c, 31, 0};       /* CFA sp+0, ra in x30 */

static void read_image(uint16_t machine, bool headers, const struct fixture_bytes *eh,
                       const struct fixture_bytes *debug, struct unwind_table *t) {
    static uint8_t memory[64 << 10];
    struct fixture_bytes file = {.data = memory, .cap = sizeof memory};
    fixture_elf(&file, machine, headers, eh ? eh->data : NULL, eh ? eh->n : 0,
                debug ? debug->data : NULL, debug ? debug->n : 0);
    assert_int_equal(unwind_table_read_memory(file.data, file.n, t), 0);
    assert_int_equal(t->address, CODE);
}

static void check_row(const struct unwind_table *t, const struct expected *e) {
    const struct unwind_row *r = unwind_table_find(t, e->pc);
    if (!r || r->cfa != e->cfa ||
        (e->cfa != NONE && (r->fp_offset != e->fp || r->ra_offset != e->ra)) ||
        r->cfa_offset != e->cfa_offset)
        print_error("at %#x: expected %d %d %d %d, found %d %d %d %d\n", e->pc, e->cfa,
                    e->cfa_offset, e->fp, e->ra, r ? r->cfa : -1, r ? r->cfa_offset : 0,
                    r ? r->fp_offset : 0, r ? r->ra_offset : 0);
    assert_non_null(r);
    assert_int_equal(r->cfa, e->cfa);
    assert_int_equal(r->cfa_offset, e->cfa_offset);
    if (e->cfa != NONE) {
        assert_int_equal(r->fp_offset, e->fp);
        assert_int_equal(r->ra_offset, e->ra);
    }
}

static void check_sound(const struct unwind_table *t) {
    for (size_t i = 1; i < t->count; i++)
        assert_true(t->rows[i - 1].pc < t->rows[i].pc);
    if (t->count)
        assert_int_equal(t->rows[t->count - 1].cfa, NONE);
}

/* One function of 0x100 bytes at CODE + 0x40. */
static void check_program(uint16_t machine, const char *augmentation, const uint8_t *program,
                          size_t n, const struct expected *e, size_t rows) {
    uint8_t memory[1024];
    struct fixture_bytes eh = {.data = memory, .cap = sizeof memory};
    struct unwind_table t;
    size_t cie = machine == EM_X86_64
                     ? fixture_cie(&eh, true, augmentation, 0x78, 16, x86, sizeof x86)
                     : fixture_cie(&eh, true, augmentation, 0x78, 30, arm64, sizeof arm64);
    fixture_fde(&eh, true, augmentation[0] == 'z', cie, CODE + 0x40, 0x100, program, n);
    for (int headers = 0; headers < 2; headers++) {
        read_image(machine, headers, &eh, NULL, &t);
        check_sound(&t);
        assert_null(unwind_table_find(&t, 0x3f));
        for (size_t i = 0; i < rows; i++) {
            struct expected at = e[i];
            at.pc += 0x40;
            check_row(&t, &at);
        }
        check_row(&t, &(struct expected){.pc = 0x140});
        unwind_table_free(&t);
    }
}

#define CHECK(machine, augmentation, program, ...)                                                 \
    do {                                                                                           \
        const struct expected rows[] = {__VA_ARGS__};                                              \
        check_program(machine, augmentation, (const uint8_t *)(program), sizeof(program) - 1,      \
                      rows, sizeof rows / sizeof rows[0]);                                         \
    } while (0)

static void test_programs_x86_64(void **state) {
    (void)state;
    /* push rbp; mov rbp, rsp; … ; leave; ret */
    CHECK(EM_X86_64, "", "\x41\x0e\x10\x86\x02\x43\x0d\x06\x4a\x0c\x07\x08", {0, SP, 8, SAME, -8},
          {1, SP, 16, -16, -8}, {3, SP, 16, -16, -8}, {4, FP, 16, -16, -8}, {13, FP, 16, -16, -8},
          {14, SP, 8, -16, -8}, {255, SP, 8, -16, -8});
    /* an early return: remember_state, back to the CIE's rules, restore_state */
    CHECK(EM_X86_64, "", "\x02\x10\x0e\x20\x86\x02\x0a\x03\x20\x00\x0e\x08\xc6\x41\x0b",
          {0x0f, SP, 8, SAME, -8}, {0x10, SP, 32, -16, -8}, {0x2f, SP, 32, -16, -8},
          {0x30, SP, 8, SAME, -8}, {0x31, SP, 32, -16, -8});
    /* signed and extended forms, and a large frame */
    CHECK(EM_X86_64, "",
          "\x04\x10\x00\x00\x00\x12\x07\x7c\x11\x06\x04\x41\x13\x80\x40\x41\x0e\x80\x80\x04\x41"
          "\x2f\x06\x02",
          {0x10, SP, 32, -32, -8}, {0x11, SP, 65536, -32, -8}, {0x12, SP, 65536, -32, -8},
          {0x13, SP, 65536, 16, -8});
    /* a realigned stack: CFA = *(rbp - 8), rbp saved at rbp + 0; before that by way of r10 */
    CHECK(EM_X86_64, "", "\x45\x0c\x0a\x00\x49\x10\x06\x02\x76\x00\x44\x0f\x03\x76\x78\x06",
          {0, SP, 8, SAME, -8}, {5, NONE, 0, 0, 0}, {14, NONE, 0, 0, 0}, {18, DEREF, -8, 0, -8});
    /* saved relative to the frame pointer is saved relative to the CFA while that is, too */
    CHECK(EM_X86_64, "", "\x0c\x06\x10\x10\x06\x02\x76\x70", {0, FP, 16, -32, -8});
    /* no caller; in a way that rows cannot say; offsets that do not fit */
    CHECK(EM_X86_64, "", "\x07\x10\x48\x05\x10\x01\x48\x09\x06\x03\x48\xc6\x48\x14\x06\x01",
          {0, END, 0, SAME, SAME}, {8, SP, 8, SAME, -8}, {16, NONE, 0, 0, 0}, {24, SP, 8, SAME, -8},
          {32, NONE, 0, 0, 0});
    CHECK(EM_X86_64, "", "\x05\x06\xff\x1f\x48\x05\x06\x81\x20\x48\x08\x06\x48\x08\x10",
          {0, SP, 8, -32760, -8}, {8, NONE, 0, 0, 0}, {16, SP, 8, SAME, -8}, {24, NONE, 0, 0, 0});
    CHECK(EM_X86_64, "zS", "", {0, SIGNAL, 0, SAME, SAME}, {255, SIGNAL, 0, SAME, SAME});
    /* nonsense is not known, but what came before it is */
    CHECK(EM_X86_64, "", "\x48\x3f\x48\x0e\x10", {0, SP, 8, SAME, -8}, {8, NONE, 0, 0, 0});
    CHECK(EM_X86_64, "", "\x48\x0b", {0, SP, 8, SAME, -8}, {8, NONE, 0, 0, 0});
    CHECK(EM_X86_64, "", "\x48\x0e\x10\x04\xff\xff\xff\xff\x0e\x20", {0, SP, 8, SAME, -8},
          {255, SP, 16, SAME, -8});
}

static void test_plt(void **state) {
    (void)state;
    CHECK(EM_X86_64, "",
          "\x0e\x10\x46\x0e\x18\x4a\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22",
          {0, SP, 16, SAME, -8}, {6, SP, 24, SAME, -8}, {16, PLT, 0, SAME, -8},
          {255, PLT, 0, SAME, -8});
    /* entries that push in another place */
    CHECK(EM_X86_64, "", "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x39\x2a\x33\x24\x22",
          {0, SP, 8, SAME, -8}, {8, SP, 8, SAME, -8}, {9, SP, 16, SAME, -8}, {15, SP, 16, SAME, -8},
          {16, SP, 8, SAME, -8}, {255, SP, 16, SAME, -8});
    CHECK(EM_X86_64, "", "\x0f\x0b\x77\x08\x80\x00\x3f\x1b\x3b\x2a\x33\x24\x22",
          {0, NONE, 0, 0, 0});
}

static void test_programs_aarch64(void **state) {
    (void)state;
    /* paciasp; stp x29, x30, [sp, -32]!; mov x29, sp; … ; ldp; ret */
    CHECK(EM_AARCH64, "",
          "\x44\x2d\x44\x0e\x20\x9d\x04\x9e\x03\x44\x0d\x1d\x50\xde\xdd\x0c\x1f\x00",
          {0, SP, 0, SAME, SAME}, {4, SP, 0, SAME, SAME}, {8, SP, 32, -32, -24},
          {12, FP, 32, -32, -24}, {28, SP, 0, SAME, SAME});
    CHECK(EM_AARCH64, "zB", "\x07\x1e", {0, END, 0, SAME, SAME});
    CHECK(EM_AARCH64, "zS", "", {0, SIGNAL, 0, SAME, SAME});
    CHECK(EM_AARCH64, "", "\x09\x1e\x05", {0, NONE, 0, 0, 0});
}

/* .eh_frame counts where both know a function; gaps are not known; neighbours alike are one. */
static void test_two_sections(void **state) {
    (void)state;
    uint8_t memory[2][1024];
    struct fixture_bytes eh = {.data = memory[0], .cap = 1024};
    struct fixture_bytes debug = {.data = memory[1], .cap = 1024};
    struct unwind_table t;
    size_t cie = fixture_cie(&eh, true, "", 0x78, 16, x86, sizeof x86);
    fixture_fde(&eh, true, false, cie, CODE + 0x300, 0x100, "\x0e\x10", 2);
    fixture_fde(&eh, true, false, cie, CODE + 0x200, 0x100, "\x0e\x10", 2);
    fixture_fde(&eh, true, false, cie, CODE + CODE_BYTES - 1, 2, "\x0e\x30", 2); /* no code */
    fixture_word(&debug, 0, 4);                                                  /* padding */
    cie = fixture_cie(&debug, false, "", 0x78, 16, x86, sizeof x86);
    fixture_fde(&debug, false, false, cie, CODE + 0x180, 0x100, "\x0e\x20", 2);
    fixture_fde(&debug, false, false, cie, CODE + 0x300, 0x180, "\x0e\x20", 2);
    fixture_fde(&debug, false, false, cie, CODE + 0x500, 0x10, "\x0e\x20", 2);
    read_image(EM_X86_64, true, &eh, &debug, &t);
    check_sound(&t);
    static const struct expected e[] = {{0x180, SP, 32, SAME, -8}, {0x27f, SP, 32, SAME, -8},
                                        {0x280, SP, 16, SAME, -8}, {0x3ff, SP, 16, SAME, -8},
                                        {0x400, SP, 32, SAME, -8}, {0x47f, SP, 32, SAME, -8},
                                        {0x480, NONE, 0, 0, 0},    {0x4ff, NONE, 0, 0, 0},
                                        {0x500, SP, 32, SAME, -8}, {0x510, NONE, 0, 0, 0}};
    for (size_t i = 0; i < sizeof e / sizeof e[0]; i++)
        check_row(&t, &e[i]);
    assert_int_equal(t.count, 6);
    assert_int_equal(t.covered, 0x300 + 0x10);
    unwind_table_free(&t);
}

/* Work is paid for with bytes: programs that are run over and over end somewhere. */
static void test_costly_files(void **state) {
    (void)state;
    enum { PROGRAM = 16 << 10, FDES = 1000 };
    static uint8_t memory[60 << 10], program[PROGRAM];
    struct fixture_bytes eh = {.data = memory, .cap = sizeof memory};
    struct unwind_table t;
    memset(program, 0x0a, sizeof program); /* remember_state, over and over */
    size_t cie = fixture_cie(&eh, true, "", 0x78, 16, program, sizeof program);
    for (uint64_t i = 0; i < FDES; i++)
        fixture_fde(&eh, true, false, cie, CODE + i * 16, 16, "\x0e\x10", 2);
    read_image(EM_X86_64, true, &eh, NULL, &t);
    check_sound(&t);
    assert_true(t.count <= 1); /* it overflows what can be remembered, and all is unknown */
    unwind_table_free(&t);
    memset(program, 0x41, sizeof program); /* advance by one */
    for (size_t i = 0; i + 1 < sizeof program; i += 3) {
        program[i + 1] = 0x0e;
        program[i + 2] = (uint8_t)(i & 0x7f);
    }
    eh.n = 0;
    cie = fixture_cie(&eh, true, "", 0x78, 16, x86, sizeof x86);
    for (uint64_t i = 0; i < 3; i++)
        fixture_fde(&eh, true, false, cie, CODE + i * PROGRAM, PROGRAM, program, sizeof program);
    read_image(EM_X86_64, true, &eh, NULL, &t);
    check_sound(&t);
    assert_in_range(t.count, PROGRAM / 3 * 3 - 3, PROGRAM / 3 * 3 + 9);
    unwind_table_free(&t);
    /* a CIE that is its own FDE's FDE, and lengths that lead out of the section */
    static const uint32_t broken[] = {12, 4, 0, 0, 16, 20, 0, 0, 0, 0, 0xfffffff0, 0};
    struct fixture_bytes b = {.data = memory, .cap = sizeof memory};
    fixture_put(&b, broken, sizeof broken);
    read_image(EM_X86_64, true, &b, NULL, &t);
    assert_int_equal(t.count, 0);
    unwind_table_free(&t);
}

static void test_bases(void **state) {
    (void)state;
    uint64_t base;
    struct unwind_table t = {.address = 0x401000, .segment_count = 2};
    t.segments[0].offset = 0x1040, t.segments[0].size = 0x5000, t.segments[0].address = 0x401040;
    t.segments[1].offset = 0x8000, t.segments[1].size = 0x100, t.segments[1].address = 0x409000;
    assert_true(unwind_table_base(&t, 0x1000, 0x7f0000001000, &base));
    assert_int_equal(base, 0x7f0000001000);
    assert_true(unwind_table_base(&t, 0x3000, 0x7f0000003000, &base));
    assert_int_equal(base, 0x7f0000001000);
    assert_true(unwind_table_base(&t, 0x8000, 0x7f0000009000, &base));
    assert_int_equal(base, 0x7f0000001000);
    assert_false(unwind_table_base(&t, 0x9000, 0x7f000000a000, &base));
}

/* The C library, line by line as readelf explains it. */

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/libc-"))
        return 0;
    *(const char **)arg = info->dlpi_name;
    return 1;
}

struct columns {
    int fp, ra; /* which they are; 0: not among them */
};

static struct columns read_columns(char *line) {
    struct columns c = {0};
    int i = 0;
    for (char *at = strtok(line, " \n"); at; at = strtok(NULL, " \n"), i++) {
        if (strcmp(at, "rbp") == 0 || strcmp(at, "x29") == 0)
            c.fp = i;
        else if (strcmp(at, "ra") == 0)
            c.ra = i;
    }
    return c;
}

/* False: a rule of a kind that rows cannot say. */
static bool read_rule(const char *text, int *offset) {
    *offset = UNWIND_SAME;
    if (text[0] == 'c')
        *offset = atoi(text + 1);
    return text[0] == 'c' || strcmp(text, "u") == 0 || strcmp(text, "s") == 0;
}

static bool read_line(char *line, const struct columns *c, struct expected *e, uint64_t *loc) {
    char *word[40] = {0};
    int n = 0;
    for (char *at = strtok(line, " \n"); at && n < 40; at = strtok(NULL, " \n"))
        if (at[0] != '(') /* "r10 (r10)" */
            word[n++] = at;
    if (n < 2 || n <= c->fp || n <= c->ra) /* the section's end */
        return false;
    *loc = strtoull(word[0], NULL, 16);
    *e = (struct expected){.fp = UNWIND_SAME, .ra = UNWIND_SAME};
    if (c->ra && strcmp(word[c->ra], "u") == 0) {
        e->cfa = END;
        return true;
    }
    if ((c->fp && !read_rule(word[c->fp], &e->fp)) || (c->ra && !read_rule(word[c->ra], &e->ra)))
        return false;
    e->cfa = strncmp(word[1], "rsp+", 4) == 0 || strncmp(word[1], "sp+", 3) == 0    ? SP
             : strncmp(word[1], "rbp+", 4) == 0 || strncmp(word[1], "x29+", 4) == 0 ? FP
                                                                                    : NONE;
    const char *plus = strchr(word[1], '+');
    e->cfa_offset = plus ? atoi(plus + 1) : 0;
    return e->cfa != NONE;
}

static void test_as_readelf_says(void **state) {
    (void)state;
    const char *path = NULL;
    char command[512], line[1024], signal_cie[16] = "";
    dl_iterate_phdr(find_libc, &path);
    assert_non_null(path);
    struct unwind_table t;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(unwind_table_read(fd, -1, &t), 0);
    close(fd);
    check_sound(&t);
    snprintf(command, sizeof command, "readelf --wide --debug-dump=frames-interp '%s' 2>/dev/null",
             path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    struct columns c = {0};
    bool fde = false, signal = false;
    unsigned compared = 0, different = 0;
    while (fgets(line, sizeof line, f)) {
        char *at;
        if ((at = strstr(line, " CIE "))) {
            fde = false;
            if (strchr(at, 'S'))
                snprintf(signal_cie, sizeof signal_cie, "%.8s", line);
        } else if ((at = strstr(line, " FDE cie="))) {
            fde = true;
            signal = signal_cie[0] && strncmp(at + 9, signal_cie, 8) == 0;
        } else if (strstr(line, " LOC ")) {
            c = read_columns(line);
        } else if (fde && line[0] != ' ' && line[0] != '\n' && line[0] != 'C') {
            struct expected e;
            uint64_t loc = 0;
            bool sayable = read_line(line, &c, &e, &loc);
            if (signal)
                e = (struct expected){.cfa = SIGNAL, .fp = UNWIND_SAME, .ra = UNWIND_SAME};
            else if (!sayable)
                continue;
            const struct unwind_row *r = unwind_table_find(&t, (uint32_t)(loc - t.address));
            compared++;
            bool same = r && r->cfa == e.cfa && r->cfa_offset == e.cfa_offset &&
                        r->fp_offset == e.fp && r->ra_offset == e.ra;
            if (e.cfa == END || e.cfa == SIGNAL)
                same = r && r->cfa == e.cfa;
            if (!same && different++ < 10)
                print_error("%#llx: readelf: %d %d %d %d\n", (unsigned long long)loc, e.cfa,
                            e.cfa_offset, e.fp, e.ra);
        }
    }
    pclose(f);
    assert_int_equal(different, 0);
    assert_true(compared > 5000);
    unwind_table_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_x86_64),  cmocka_unit_test(test_plt),
        cmocka_unit_test(test_programs_aarch64), cmocka_unit_test(test_two_sections),
        cmocka_unit_test(test_costly_files),     cmocka_unit_test(test_bases),
        cmocka_unit_test(test_as_readelf_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
