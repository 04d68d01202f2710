/* Files that are cut short, damaged, or made to harm. Sound ones: symbols_files_test.c. */
#include "symbols/elf/elf_symbols.h"
#include "test/unit/symbols/cache_fixture.h"
#include "test/unit/tier.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct file {
    unsigned char *data;
    size_t size;
};

/* This program: it has .symtab, .dynsym, a PLT and a build-id. */
static int setup(void **state) {
    static struct file self;
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    self.size = (size_t)st.st_size;
    self.data = malloc(self.size);
    if (!self.data || read(fd, self.data, self.size) != (ssize_t)self.size)
        return -1;
    close(fd);
    *state = &self;
    return 0;
}

static int teardown(void **state) {
    free(((struct file *)*state)->data);
    return 0;
}

/* Asks everything there is to ask; returns whether the file was accepted. */
static bool use(struct elf_symbols *s, size_t size) {
    for (uint64_t offset = 0; offset < size; offset += 61) {
        const struct symbol_entry *e = elf_symbols_find(s, offset);
        if (e)
            assert_true(strlen(symbol_table_name(&s->table, e)) > 0);
    }
    elf_symbols_find(s, UINT64_MAX);
    assert_true(s->build_id_length <= ELF_BUILD_ID);
    elf_symbols_free(s);
    return true;
}

static bool read_memory(const void *data, size_t size) {
    struct elf_symbols *s;
    return elf_symbols_read_memory(data, size, &s) == 0 && use(s, size);
}

static void test_whole(void **state) {
    const struct file *f = *state;
    struct elf_symbols *s;
    assert_int_equal(elf_symbols_read_memory(f->data, f->size, &s), 0);
    assert_true(s->has_symtab);
    assert_true(s->build_id_length == 0 || s->build_id_length >= 8);
    assert_true(s->segment_count >= 1);
    assert_true(s->table.count > 20);
    use(s, f->size);
}

/* Bytes between two places to cut or damage: a thousand places (some hundred in the fast tier), or
 * each 512th byte of a file that is smaller. An odd number of words, so that all kinds of fields
 * are met. */
static size_t step(const struct file *f) {
    size_t bytes = f->size / (tier_is_fast() ? 300 : 1000) / 8 * 8 + 8;
    return bytes < 512 ? 512 : bytes | 8;
}

static void test_cut_in_many_places(void **state) {
    const struct file *f = *state;
    size_t by = step(f);
    int fd = memfd_create("cut", MFD_CLOEXEC);
    assert_int_equal(write(fd, f->data, f->size), f->size);
    for (size_t size = f->size / by * by; size > 0; size -= by) {
        struct elf_symbols *s;
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
        if (elf_symbols_read(fd, &s) == 0)
            use(s, size);
        read_memory(f->data, size);
    }
    struct elf_symbols *s;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(elf_symbols_read(fd, &s), -EINVAL);
    close(fd);
}

static void test_damaged_in_many_places(void **state) {
    const struct file *f = *state;
    size_t by = step(f);
    for (size_t at = 0; at + 8 <= f->size; at += by) {
        static const unsigned char patterns[] = {0x00, 0xff, 0x7f};
        unsigned char kept[8];
        memcpy(kept, f->data + at, sizeof kept);
        memset(f->data + at, patterns[at / by % 3], sizeof kept);
        read_memory(f->data, f->size);
        memcpy(f->data + at, kept, sizeof kept);
    }
}

/* Every byte of the file header and every few of the section headers, one at a time. */
static void test_damaged_headers(void **state) {
    const struct file *f = *state;
    Elf64_Ehdr h;
    memcpy(&h, f->data, sizeof h);
    size_t sections = (size_t)h.e_shnum * h.e_shentsize, by = tier_is_fast() ? 11 : 3;
    for (size_t i = 0; i < sizeof h + sections; i += i < sizeof h ? 1 : by) {
        unsigned char *p = i < sizeof h ? f->data + i : f->data + h.e_shoff + (i - sizeof h);
        unsigned char kept = *p;
        *p = kept ^ (i % 2 ? 0xff : 0x04);
        read_memory(f->data, f->size);
        *p = kept;
    }
    assert_true(read_memory(f->data, f->size));
}

static void test_refused(void **state) {
    const struct file *f = *state;
    struct elf_symbols *s;
    Elf64_Ehdr good, bad;
    memcpy(&good, f->data, sizeof good);
    for (int i = 0; i < 7; i++) {
        bad = good;
        switch (i) {
        case 0: /* the count would be in section 0: up to 2^64 of them */
            bad.e_shnum = 0;
            break;
        case 1:
            bad.e_shnum = 0xff00;
            break;
        case 2:
            bad.e_phnum = PN_XNUM;
            break;
        case 3: /* section headers over the file header */
            bad.e_shoff = 16;
            break;
        case 4:
            bad.e_shoff = UINT64_MAX - 63;
            break;
        case 5:
            bad.e_ident[EI_DATA] = bad.e_ident[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
            break;
        default:
            bad.e_shentsize = 1;
        }
        memcpy(f->data, &bad, sizeof bad);
        assert_int_equal(elf_symbols_read_memory(f->data, f->size, &s), -EINVAL);
    }
    memcpy(f->data, &good, sizeof good);
    assert_int_equal(elf_symbols_read_memory("\x7f"
                                             "ELF",
                                             4, &s),
                     -EINVAL);
    assert_int_equal(elf_symbols_read_memory("!<arch>\n0123456789012345678901234567890123456789012"
                                             "34567890123456789",
                                             68, &s),
                     -EINVAL);
}

/* A sparse file costs its maker nothing; it must not cost us its size. */
static void test_huge_file(void **state) {
    const struct file *f = *state;
    struct elf_symbols *s;
    int fd = memfd_create("huge", MFD_CLOEXEC);
    assert_int_equal(write(fd, f->data, f->size), f->size);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    assert_int_equal(elf_symbols_read(fd, &s), -EFBIG);
    assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
    assert_int_equal(elf_symbols_read(fd, &s), 0);
    assert_true(symbol_table_bytes(&s->table) < f->size);
    use(s, f->size);

    /* Symbol and string tables that claim to fill it. */
    Elf64_Ehdr h;
    memcpy(&h, f->data, sizeof h);
    for (size_t i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr section;
        size_t at = h.e_shoff + i * sizeof section;
        memcpy(&section, f->data + at, sizeof section);
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_STRTAB) {
            section.sh_offset = 1 << 24;
            section.sh_size = UINT64_C(22000000) * sizeof(Elf64_Sym);
        }
        assert_int_equal(pwrite(fd, &section, sizeof section, (off_t)at), sizeof section);
    }
    assert_int_equal(elf_symbols_read(fd, &s), 0);
    assert_int_equal(s->table.count, 0);
    use(s, f->size);
    close(fd);
}

static void test_no_regular_file(void **state) {
    (void)state;
    struct elf_symbols *s;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(elf_symbols_read(ends[0], &s), -EINVAL);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(elf_symbols_read(-1, &s), -EBADF);
}

/* ---- what is kept for later processes ---- */

enum { MANY = 1500 };

/* As if it had been read from a file. */
static struct elf_symbols *make_many(void) {
    struct elf_symbols *s = calloc(1, sizeof *s);
    char name[32];
    uint32_t at;
    assert_non_null(s);
    s->has_symtab = true;
    s->segment_count = 1;
    s->segments[0].size = MANY * 16;
    s->segments[0].address = 0x1000;
    strcpy(s->debug_link, "libmany.debug");
    for (int i = 0; i < MANY; i++) {
        int length = snprintf(name, sizeof name, "function_%d", i);
        assert_int_equal(symbol_table_names(&s->table, name, (size_t)length, &at), 0);
        struct symbol_entry e = {
            .start = 0x1000 + (uint64_t)i * 16, .size = 16, .name = at, .sized = true};
        assert_int_equal(symbol_table_add(&s->table, &e, SYMBOL_LOCAL), 0);
    }
    symbol_table_finish(&s->table);
    return s;
}

/* A file is kept from the moment on when another change would get another time. */
static void await_identity(int fd, struct elf_identity *id) {
    while (!elf_identify(fd, id))
        usleep(10000);
}

static void keep(int fd, const struct elf_symbols *s, struct elf_identity *id) {
    await_identity(fd, id);
    elf_symbols_keep(s, fd, id);
}

static bool is_kept(int fd, const struct elf_identity *id) {
    struct elf_symbols *s = elf_symbols_kept(fd, id);
    elf_symbols_free(s);
    return s != NULL;
}

/* A copy of this program, which has a build-id. */
static int copy_self(void) {
    char path[] = "/tmp/elf_symbols_test.XXXXXX", buffer[65536];
    int fd = mkstemp(path), self = open("/proc/self/exe", O_RDONLY);
    ssize_t n;
    assert_true(fd >= 0 && self >= 0);
    unlink(path);
    while ((n = read(self, buffer, sizeof buffer)) > 0)
        assert_int_equal(write(fd, buffer, (size_t)n), n);
    close(self);
    return fd;
}

/* Symbols as if they were all in the program with this build-id. */
static struct elf_symbols *many_of(int fd) {
    struct elf_symbols *self, *s = make_many();
    assert_int_equal(elf_symbols_read(fd, &self), 0);
    assert_true(self->build_id_length > 0);
    memcpy(s->build_id, self->build_id, sizeof s->build_id);
    s->build_id_length = self->build_id_length;
    elf_symbols_free(self);
    return s;
}

static void test_what_was_read_is_kept(void **state) {
    (void)state;
    char name[32];
    struct elf_identity id, old;
    int fd = copy_self();
    struct elf_symbols *s = many_of(fd);
    await_identity(fd, &id);
    assert_false(is_kept(fd, &id));
    s->has_symtab = false; /* a debug file may be installed any time */
    keep(fd, s, &id);
    assert_false(is_kept(fd, &id));
    s->has_symtab = true;
    old = id;
    old.second--; /* it was changed while it was read */
    elf_symbols_keep(s, fd, &old);
    assert_false(is_kept(fd, &id));
    keep(fd, s, &id);
    elf_symbols_free(s);
    s = elf_symbols_kept(fd, &id);
    assert_non_null(s);
    assert_true(s->has_symtab);
    assert_string_equal(s->debug_link, "libmany.debug");
    for (uint32_t i = 0; i < MANY; i++) {
        const struct symbol_entry *e = elf_symbols_find(s, i * 16 + 5);
        snprintf(name, sizeof name, "function_%u", i);
        assert_non_null(e);
        assert_string_equal(symbol_table_name(&s->table, e), name);
    }
    assert_null(elf_symbols_find(s, MANY * 16));
    elf_symbols_free(s);
    close(fd);
}

static void test_another_file_is_not_it(void **state) {
    (void)state;
    struct elf_identity id, other;
    int fd = copy_self();
    struct elf_symbols *s = many_of(fd);
    keep(fd, s, &id);
    assert_true(is_kept(fd, &id));
    for (int i = 0; i < 5; i++) {
        other = id;
        other.device += i == 0;
        other.inode += i == 1;
        other.size += i == 2;
        other.second += i == 3;
        other.nanosecond += i == 4;
        assert_false(is_kept(fd, &other));
    }
    /* The same identity, and another build-id. */
    s->build_id[0]++;
    elf_symbols_keep(s, fd, &id);
    assert_false(is_kept(fd, &id));
    s->build_id_length = 0;
    elf_symbols_keep(s, fd, &id);
    assert_false(is_kept(fd, &id));
    elf_symbols_free(s);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, 0), 1);
    assert_int_equal(pwrite(fd, &byte, 1, 0), 1);
    assert_false(elf_identify(fd, &other)); /* it has just been changed */
    assert_false(elf_identify(-1, &other));
    close(fd);
}

/* What the kept file says about the file, and not about its symbols. */
static void test_what_was_kept_is_checked(void **state) {
    (void)state;
    static const size_t places[] = {offsetof(struct elf_symbols, segment_count),
                                    offsetof(struct elf_symbols, build_id_length)};
    const uint64_t many = UINT32_MAX;
    struct elf_identity id;
    int fd = copy_self();
    struct elf_symbols *s = many_of(fd);
    char path[300];
    for (size_t i = 0; i < 3; i++) {
        keep(fd, s, &id);
        assert_true(is_kept(fd, &id));
        snprintf(path, sizeof path, "%s/jtop-prof/symbols/elf-%llx-%llx", base,
                 (unsigned long long)id.device, (unsigned long long)id.inode);
        int kept = open(path, O_RDWR);
        off_t rest = 56 + sizeof id;
        char text[sizeof s->debug_link];
        memset(text, 'x', sizeof text);
        assert_true(kept >= 0);
        if (i < 2)
            assert_int_equal(pwrite(kept, &many, 4, rest + (off_t)places[i]), 4);
        else
            assert_int_equal(pwrite(kept, text, sizeof text,
                                    rest + (off_t)offsetof(struct elf_symbols, debug_link)),
                             sizeof text);
        close(kept);
        assert_false(is_kept(fd, &id));
    }
    elf_symbols_free(s);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut_in_many_places),
        cmocka_unit_test(test_damaged_in_many_places),
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_huge_file),
        cmocka_unit_test(test_no_regular_file),
        cmocka_unit_test_setup_teardown(test_what_was_read_is_kept, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_another_file_is_not_it, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_what_was_kept_is_checked, make_base, remove_base),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
