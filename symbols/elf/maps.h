/*
 * /proc/PID/maps, read once and searchable by address.
 *
 * The target controls the text: paths may contain any byte, newlines appear as \012, and a file's
 * name may itself end in " (deleted)". Nothing here relies on a path except for printing it; a
 * caller that opens it checks device and inode.
 *
 * Context: frontend only, any thread; one writer per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_MAPS_H
#define JTOP_SYMBOLS_ELF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MAPS_TEXT_LIMIT = 64 << 20, /* bytes of maps text that are parsed; the rest is ignored */
};

struct mapping {
    uint64_t start;
    uint64_t end;    /* first byte after it; always > start */
    uint64_t offset; /* of `start` in the file, bytes */
    uint64_t inode;  /* 0: no file */
    uint32_t major;  /* of the file's device */
    uint32_t minor;
    bool executable;
    bool deleted;     /* the kernel added " (deleted)"; not part of `path` */
    const char *path; /* unescaped, "" if anonymous, "[vdso]", "[heap]", …; never NULL; belongs to
                         the struct maps */
};

struct maps {
    struct mapping *list; /* sorted by start, not overlapping */
    size_t count;
    char *text; /* the parsed text, split in place; the paths point into it */
};

/* Parses a copy of `length` bytes. Invalid lines are left out. Returns 0 or -ENOMEM. */
int maps_parse(const char *text, size_t length, struct maps *out);

/* Reads "maps" below a descriptor of /proc/PID. 0, or -errno; an empty file is -ESRCH, because that
 * is how a zombie's looks. */
int maps_read(int proc_fd, struct maps *out);

void maps_free(struct maps *m);

/* The mapping that contains `address`, or NULL. */
const struct mapping *maps_find(const struct maps *m, uint64_t address);

/* The last part of the mapping's path: "libc.so.6"; "" if it has none. */
const char *mapping_base_name(const struct mapping *m);

/* Whether the same bytes of the same file are at `address` in both. Either may be NULL. */
bool mapping_same_at(const struct mapping *a, const struct mapping *b, uint64_t address);

#endif
