/*
 * Files:
 *   emit      builder of records that all importers use: frames, threads, samples
 *   gunzip    contents of an input file, unpacked if gzipped, with a size limit
 *   import    import of profile files of other tools, with format detection
 *   importer  interface that the importer of each file format implements
 *
 * Reads profiles that other tools wrote, and turns them into the records of a recording
 * (core/wire/record.h). Any code that can replay a recording can read them.
 *
 *      file ─▶ format by its first bytes ─▶ its reader ─▶ records ─▶ decoder, or a recording
 *
 * A reader writes names before the samples that use them, one WIRE_JVM, and one WIRE_MARK per
 * event, so that the result describes itself. It gives invented addresses to frames that are not
 * Java methods, each with a WIRE_SYMBOL. Data that a format does not have (time, threads, lines) is
 * left out, never invented: without times, all samples have the same time.
 *
 * The file is treated as hostile. Lengths, counts and references are checked against the existing
 * data. Loops and memory are limited by the file's size. A cut file gives the data before the
 * cut. The file is read into memory as a whole, because a mapped file may shrink meanwhile. It
 * may be gzipped.
 *
 * Context: frontend only, any thread; blocks on the file.
 */
#ifndef JTOP_IMPORT_IMPORT_H
#define JTOP_IMPORT_IMPORT_H

#include "core/base/err.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Takes a record, which is aligned to 8 bytes and valid during the call. A non-zero result ends the
 * reading and becomes its result. */
typedef int import_record(void *arg, const void *record);

struct import_result {
    char format[16];  /* "jfr" */
    char damage[160]; /* where and why the file ends early; "": it is whole */
    char note[160];   /* anything else the user should know about how it was read; "": nothing */
};

/* Reports whether the file begins like one that import_file can read. */
bool import_knows(const char *path);

/* Returns advice for a file that import_file cannot read, as the end of a sentence; "":
 * no advice. */
const char *import_hint(const char *path);

/* Reads the whole file. -EINVAL with a message: the file has none of the formats, or is broken from
 * the start. A file that is only cut is not an error. */
int import_file(const char *path, import_record *each, void *arg, struct import_result *result,
                struct err *e);

#endif
