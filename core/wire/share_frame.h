/*
 * Frames on the socket of a shared session: a header, followed by `bytes` bytes, in this machine's
 * byte order.
 *
 * Context: pure.
 */
#ifndef JTOP_WIRE_SHARE_FRAME_H
#define JTOP_WIRE_SHARE_FRAME_H

#include <stdint.h>

/* What a request gets back: text for the caller's stdout or stderr, or files that the caller writes,
 * one after the other. A file comes in pieces, as it is made: FILE with the path and the first bytes,
 * MORE, and END. A file without an END is not complete. Before the caller receives the first bytes, it is
 * asked with the path alone (PATH). */
enum share_part {
    SHARE_OUT = 1,
    SHARE_ERROR,
    SHARE_FILE,
    SHARE_EXIT,
    SHARE_PATH,
    SHARE_MORE,
    SHARE_END
};

/* What both sides send, in addition to enum share_part. */
enum share_kind {
    SHARE_HELLO = 16, /* struct share_hello */
    SHARE_ASK,        /* directory and arguments, each with its NUL */
    SHARE_JOIN,       /* struct share_join */
    SHARE_ENGINES,    /* an array of struct wire_engine_request */
    SHARE_RECORDS,    /* as in a recording */
    SHARE_STATUS,     /* struct share_status */
    SHARE_ANSWER,     /* struct share_exit, the answer to SHARE_ENGINES and SHARE_LEND */
    SHARE_STATES, /* a uint32_t from a viewer, which needs Java states for the next seconds; not 0:
                     all of them. No answer (session_ask_java_states) */
    SHARE_LEND,   /* an array of struct wire_engine_request: what a viewer's own profile needs */
};

struct share_header {
    uint32_t kind, bytes;
};

#endif
