/*
 * Files:
 *   environment     description of host, kernel, profiler and JVM command line
 *   feed            bounded queue of records to be sent to one viewer of a session
 *   recording       reader and writer of recording files (.jtop)
 *   recording_file  safe opening of a recording's output file (links, permissions)
 *
 * A recording: the stream as it was read, in a file, with what a replay cannot ask the process
 * for (names of addresses, the JVM's name, engine and counters) as records in between. Regular
 * files are compressed, which is undone in reading; pipes and the like get the records as they are.
 * A file that was cut anywhere is a good recording up to the last whole record, compressed or not:
 * each flush ends on a byte.
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

/* Creates the file of a name that somebody gave, or writes over it; a device, a FIFO and /dev/fd/N
 * are fine too. Symbolic links are followed only where they are ours or root's, or in a directory
 * that is ours alone; in a sticky directory another user's file is left alone: -EPERM. -errno with
 * a message that names the path. */
int recording_create(const char *path, struct recording_writer **out, struct err *e);

/* Of a name that was made up: there must be nothing there, a dangling link neither: -EEXIST. */
int recording_create_new(const char *path, struct recording_writer **out, struct err *e);

/* Appends one record, whose header word says its length. A failure (disk full) is kept and told
 * by recording_flush and recording_finish; nothing is written after it, so that the file stays
 * whole records. */
void recording_write(struct recording_writer *w, const void *record);

/* Appends a WIRE_SYMBOL; `kind` is an enum method_kind. */
void recording_write_symbol(struct recording_writer *w, uint64_t address, uint32_t kind,
                            const char *name, const char *module);

/* Appends a WIRE_JVM, and a WIRE_ENVIRONMENT of this moment. */
void recording_write_jvm(struct recording_writer *w, uint32_t pid, const char *name,
                         const char *version);

/* Hands what was written to the kernel, so that it survives our own death. */
int recording_flush(struct recording_writer *w, struct err *e);

/* Writes everything out, closes, frees. NULL is fine. */
int recording_finish(struct recording_writer *w, struct err *e);

struct recording_reader;

/* Opens a recording and checks its header. Whatever is no recording: -EINVAL with a message. */
int recording_open(const char *path, struct recording_reader **out, struct err *e);

/* Copies the next record into `out` (at least WIRE_RECORD_BYTES_MAX bytes, 8-byte aligned).
 * Returns its length; 0 at the end, which is also where a file is cut or damaged: then
 * recording_damage says where. */
uint32_t recording_read(struct recording_reader *r, void *out);

/* Bytes of the file that were good before a cut or damage; 0: it is whole so far. */
uint64_t recording_damage(const struct recording_reader *r);

/* At the end: it was whole, but nobody finished it. Its writer was killed, or goes on. */
bool recording_is_unfinished(const struct recording_reader *r);

/* NULL is fine. */
void recording_free(struct recording_reader *r);

#endif
