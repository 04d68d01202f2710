/*
 * Reads any file that contains a profile, as the records of a recording: our own recordings, and
 * what core/import/import.h can read. session_replay makes a session of the records; `convert`
 * makes another recording.
 *
 * Context: frontend only, any thread; blocks on the file.
 */
#ifndef JTOP_SESSION_REPLAY_H
#define JTOP_SESSION_REPLAY_H

#include "core/import/import.h"

struct replay_result {
    char damage[256]; /* one line for people: why the file ends early, or how it was read
                         differently from what it seems; "": nothing to report */
};

/* Calls `each` for one record after the other. A file that is only cut is not an error; an error of
 * `each` is. */
int replay_records(const char *path, import_record *each, void *arg, struct replay_result *result,
                   struct err *e);

#endif
