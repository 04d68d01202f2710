/*
 * Files:
 *   emit      builder of records that all importers use: frames, threads, samples
 *   gunzip    contents of an input file, unpacked if gzipped, with a size limit
 *   import    import of profile files of other tools, with format detection
 *   importer  interface that the importer of each file format implements
 *
 * Profiles that others wrote, as the records of a recording (core/wire/record.h): whoever can replay
 * a recording can read them.
 *
 *      file ─▶ format by its first bytes ─▶ its reader ─▶ records ─▶ decoder, or a recording
 *
 * A reader gives names before the samples that have them, a WIRE_JVM and a WIRE_MARK an event, so
 * that the result says what it is of. Frames that are no Java methods become addresses of its own
 * making, each with a WIRE_SYMBOL. What a format does not have (time, threads, lines) is left out,
 * never made up: without times all samples are of one moment.
 *
 * The file is hostile: lengths, counts and references are checked against what is there, loops and
 * memory are bounded by the file's size, and a file that is cut yields what is before the cut.
 * It is read into memory as a whole, since one that is mapped may shrink meanwhile. It may be
 * gzipped.
 *
 * Context: frontend only, any thread; blocks on the file.
 */
#ifndef JTOP_IMPORT_IMPORT_H
#define JTOP_IMPORT_IMPORT_H

#include "core/base/err.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes a record, aligned to 8 bytes and valid for the call. Non-zero ends the reading with it. */
typedef int import_record(void *arg, const void *record);

struct import_result {
    char format[16];  /* "jfr" */
    char damage[160]; /* where and why it ends early; "": it is whole */
    char note[160];   /* what else one should know of how it was read; "": nothing */
};

/* Whether the file begins like one that import_file reads. */
bool import_knows(const char *path);

/* What can be done with a file that import_file does not read, as the end of a sentence; "": nothing is
 * known of it. */
const char *import_hint(const char *path);

/* Reads it all. -EINVAL with a message where it is none of the formats, or broken from the start
 * on. What is only cut is no error. */
int import_file(const char *path, import_record *each, void *arg, struct import_result *result,
                struct err *e);

#endif
