/*
 * Files:
 *   spool       size-limited queue of unsent messages, in memory and on disk
 *   spool_dir   directory of the spool: created, checked, locked, listed
 *   spool_file  file format of one unsent message, written and read with checks
 *   spool_name  names of the spool's files, which sort in order of the messages
 *
 * Messages that wait, oldest first: in memory and, once they are saved, each in a file of our own
 * directory. Their size is limited: the oldest messages are dropped first.
 *
 *      put ─▶ [ …files… | …memory… ] ─▶ head, pop
 *
 * The directory is ours and has mode 0700, the files 0600; one process uses it at a time (a lock in
 * it). Links that another process put there are never followed, and no file is sent unless it is a
 * whole message of ours.
 *
 * A file is removed right after its message was taken. If the process is killed between the two,
 * that one message is sent again. Messages in memory are lost when the process dies.
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_SPOOL_SPOOL_H
#define JTOP_HTTP_PUSH_SPOOL_SPOOL_H

#include "core/base/err.h"
#include "core/http/push/protocol/protocol.h"

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_BYTES (64u << 20)  /* default limit */
#define SPOOL_FILES 65536        /* limit of messages, in memory or not */
#define SPOOL_MEMORY (16u << 20) /* with a directory: limit while the directory takes no files */
#define SPOOL_SAVE_AT (4u << 20) /* with a directory: more than this in memory is saved */

struct spool;

struct spool_options {
    const char *dir;      /* NULL: in memory only; created if its parent exists */
    uint64_t bytes;       /* limit; 0: SPOOL_BYTES */
    const char *protocol; /* messages for another protocol stay where they are */
};

struct spool_counts {
    uint64_t messages, bytes; /* waiting, in memory or in files */
    uint64_t memory;          /* bytes of waiting messages in memory */
    uint64_t unsaved;         /* messages that are in no file */
    uint64_t lost;            /* dropped for lack of room, so far */
    uint64_t broken; /* files that were damaged or were not ours, and were removed, so far */
    uint64_t aside;  /* files of another version or protocol, which stay */
};

/* 0, or -errno with a message: the directory cannot be created, is not ours alone, or is used by
 * another process. */
int spool_open(const struct spool_options *o, struct spool **out, struct err *e);
/* Takes over `m` (message.h). 0; -ENOSPC, -ENOMEM: it is lost, and counted. */
int spool_put(struct spool *s, struct push_message *m);
/* The oldest message, valid until spool_pop or spool_release; NULL: there is none. */
const struct push_message *spool_head(struct spool *s);
/* Removes the message that spool_head returned. */
void spool_pop(struct spool *s);
/* Puts the message of spool_head back: it stays the oldest. */
void spool_release(struct spool *s);
/* Saves the messages that are in memory only: 0, or -errno of the first that could not be saved.
 * Does nothing without a directory. */
int spool_save(struct spool *s);
void spool_counts(const struct spool *s, struct spool_counts *out);
/* Does not save. NULL is fine. */
void spool_free(struct spool *s);

#endif
