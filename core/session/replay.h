/*
 * Any file that has a profile in it, as the records of a recording: our own recordings, and what
 * core/import/import.h reads. session_replay makes a session of them, convert another recording.
 *
 * Context: frontend only, any thread; blocks on the file.
 */
#ifndef JTOP_SESSION_REPLAY_H
#define JTOP_SESSION_REPLAY_H

#include "core/import/import.h"

struct replay_result {
    char damage[256]; /* a line for people: why it ends early, or how else it was read than it may
                         seem; "": it is whole */
};

/* Hands over one record after the other. What is only cut is no error; what `each` returns is. */
int replay_records(const char *path, import_record *each, void *arg, struct replay_result *result,
                   struct err *e);

#endif
