/*
 * Files:
 *   environment     description of host, kernel, profiler and JVM command line
 *   feed            bounded queue of records to be sent to one viewer of a session
 *   recording       reader and writer of recording files (.jtop)
 *   recording_file  safe opening of a recording's output file (links, permissions)
 *
 * A recording is a file with the stream as it was read. Between the stream's records it contains
 * records with what a replay cannot ask the process for (names of addresses, the JVM's name, engine
 * and counters). Regular files are compressed, and uncompressed when they are read; pipes and other
 * special files get plain records. A file that was cut at any point is a valid recording up to the
 * last complete record, compressed or not: each flush ends on a byte boundary.
 *
 * Context: one thread at a time per struct. Blocks on the file.
 */
#ifndef JTOP_RECORD_RECORDING_H
#define JTOP_RECORD_RECORDING_H

#include "core/base/err.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording_writer;

/* Creates the file for a name that the user has given, or overwrites it; a device, a FIFO and
 * /dev/fd/N are allowed, too. Symbolic links are followed only if they belong to us or root, or are
 * in a directory that belongs to us alone. In a sticky directory another user's file is not
 * touched: -EPERM. -errno with a message that contains the path. */
int recording_create(const char *path, struct recording_writer **out, struct err *e);

/* Does the same for a generated name. Nothing may exist at that name, not even a dangling link:
 * -EEXIST. */
int recording_create_new(const char *path, struct recording_writer **out, struct err *e);

/* Appends one record; its header word contains its length. A failure (disk full) is stored, and
 * recording_flush and recording_finish report it. Nothing is written after it, so that the file
 * contains only complete records. */
void recording_write(struct recording_writer *w, const void *record);

/* Appends a WIRE_SYMBOL; `kind` is an enum method_kind. */
void recording_write_symbol(struct recording_writer *w, uint64_t address, uint32_t kind,
                            const char *name, const char *module);

/* Appends a WIRE_JVM, and a WIRE_ENVIRONMENT with the current state. */
void recording_write_jvm(struct recording_writer *w, uint32_t pid, const char *name,
                         const char *version);

/* Passes what was written to the kernel, so that it survives if this process is killed. */
int recording_flush(struct recording_writer *w, struct err *e);

/* Writes everything, closes the file, frees `w`. NULL is fine. */
int recording_finish(struct recording_writer *w, struct err *e);

struct recording_reader;

/* Opens a recording and checks its header. -EINVAL with a message: the file is not a recording. */
int recording_open(const char *path, struct recording_reader **out, struct err *e);

/* Copies the next record into `out` (at least WIRE_RECORD_BYTES_MAX bytes, 8-byte aligned). Returns
 * its length; 0 at the end, also if a file is cut or damaged: recording_damage then returns the
 * position. */
uint32_t recording_read(struct recording_reader *r, void *out);

/* Number of good bytes before a cut or damage; 0: no damage so far. */
uint64_t recording_damage(const struct recording_reader *r);

/* Valid at the end of the file: the file is undamaged, but nobody finished it. Its writer was
 * killed, or is still writing. */
bool recording_is_unfinished(const struct recording_reader *r);

/* NULL is fine. */
void recording_free(struct recording_reader *r);

#endif
