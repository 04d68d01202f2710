/*
 * The readers behind import_file, one source file each. import.c contains a table of them.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_IMPORTER_H
#define JTOP_IMPORT_IMPORTER_H

#include "core/import/import.h"

#include <stdint.h>

struct import_reader {
    const char *name;
    bool inflates; /* it takes a gzipped file as it is; other readers get the
                      uncompressed content */
    /* Reports whether a file begins like one of this format. `whole`: the bytes are the
     * whole file. */
    bool (*knows)(const uint8_t *head, size_t bytes, bool whole);
    /* `data` is the whole file, read-only. */
    int (*read)(const uint8_t *data, size_t bytes, import_record *each, void *arg,
                struct import_result *result, struct err *e);
};

extern const struct import_reader import_jfr, import_pprof, import_collapsed;

#endif
