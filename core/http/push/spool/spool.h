/*
 * Files:
 *   spool       size-limited queue of unsent messages, in memory and on disk
 *   spool_dir   directory of the spool: created, checked, locked, listed
 *   spool_file  file format of one unsent message, written and read with checks
 *   spool_name  names of the spool's files, which sort in order of the messages
 *
 * Messages that wait, oldest first: in memory, and, once they are saved, each in a file of a
 * directory of ours. Never more than so many bytes: the oldest are given up first.
 *
 *      put ─▶ [ …files… | …memory… ] ─▶ head, pop
 *
 * The directory is 0700 and ours, the files 0600; one process has it at a time (a lock in it). What
 * somebody else put there is never followed, and never sent but as a whole message of ours.
 *
 * A file is removed right after its message was taken; whoever is killed between the two sends that
 * one message again. What waits in memory dies with us.
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_SPOOL_SPOOL_H
#define JTOP_HTTP_PUSH_SPOOL_SPOOL_H

#include "core/base/err.h"
#include "core/http/push/protocol/protocol.h"

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_BYTES (64u << 20)  /* by default */
#define SPOOL_FILES 65536        /* messages, in memory or not */
#define SPOOL_MEMORY (16u << 20) /* with a directory: at most, while that takes no files */
#define SPOOL_SAVE_AT (4u << 20) /* with a directory: in memory before they are saved anyway */

struct spool;

struct spool_options {
    const char *dir;      /* NULL: in memory only; made if its parent is there */
    uint64_t bytes;       /* at most, 0: SPOOL_BYTES */
    const char *protocol; /* messages for another one stay where they are */
};

struct spool_counts {
    uint64_t messages, bytes; /* that wait, in memory or files */
    uint64_t memory;          /* bytes of them that are in memory */
    uint64_t unsaved;         /* messages that are in no file */
    uint64_t lost;            /* given up for want of room, so far */
    uint64_t broken; /* files that were none of ours or damaged, and were removed, so far */
    uint64_t aside;  /* files of another version or protocol, which stay */
};

/* 0, or -errno with a message: the directory cannot be made or is not ours alone, or another process
 * has it. */
int spool_open(const struct spool_options *o, struct spool **out, struct err *e);
/* Takes over `m` (message.h). 0; -ENOSPC, -ENOMEM: it is lost, and counted. */
int spool_put(struct spool *s, struct push_message *m);
/* The oldest, valid until spool_pop or spool_release; NULL: there is none. */
const struct push_message *spool_head(struct spool *s);
/* Removes what spool_head gave. */
void spool_pop(struct spool *s);
/* Gives it back: it stays the oldest. */
void spool_release(struct spool *s);
/* Saves what is in memory only: 0, or -errno of the first that could not be. Nothing without a
 * directory. */
int spool_save(struct spool *s);
void spool_counts(const struct spool *s, struct spool_counts *out);
/* Does not save. NULL is fine. */
void spool_free(struct spool *s);

#endif
