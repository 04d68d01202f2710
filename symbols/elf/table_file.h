/*
 * Symbol tables that are kept in files for later processes (core/base/cache_file.h): to map one
 * takes a hundredth of the time that it takes to make it.
 *
 *      head   magic, sizes
 *      id     what the table was made from; it is compared as a whole
 *      more   what else is kept with the table
 *      entries, names
 *
 * Context: frontend only, any thread while no thread changes the environment.
 */
#ifndef JTOP_SYMBOLS_ELF_TABLE_FILE_H
#define JTOP_SYMBOLS_ELF_TABLE_FILE_H

#include "symbols/elf/symbol_table.h"

enum {
    TABLE_FILE_SYMBOLS = 1000,       /* a smaller table is made as fast */
    TABLE_FILE_BYTES_MAX = 32 << 20, /* a larger one is not kept */
};

struct table_file {
    const char
        *magic; /* up to 15 characters. Change them if the same source gives another table, or
                          the layout of an entry or of `more` changes */
    const char *folder, *prefix; /* all files of the folder have names that begin with `prefix` */
    const char *name;
    int most; /* files in the folder */
    const void *id;
    size_t id_bytes; /* a multiple of 8, as `more_bytes` */
    void *more;
    size_t more_bytes;
};

/* Maps the table into the empty `t`, and fills `more`. False: there is none that is of this source
 * and sound. */
bool table_file_load(const struct table_file *f, struct symbol_table *t);
/* Keeps a finished table, unless it is small or very large. */
void table_file_store(const struct table_file *f, const struct symbol_table *t);

#endif
