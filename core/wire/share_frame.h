/*
 * Frames on the socket by which a session is shared: a header, and so many bytes, in this machine's
 * byte order.
 *
 * Context: pure.
 */
#ifndef JTOP_WIRE_SHARE_FRAME_H
#define JTOP_WIRE_SHARE_FRAME_H

#include <stdint.h>

/* What comes back. Text for the caller's stdout or stderr, or a file that the caller writes; before
 * its bytes are taken in, the caller is asked with its path alone. */
enum share_part { SHARE_OUT = 1, SHARE_ERROR, SHARE_FILE, SHARE_EXIT, SHARE_PATH };

/* What both sides send, beside enum share_part. */
enum share_kind {
    SHARE_HELLO = 16, /* struct share_hello */
    SHARE_ASK,        /* directory and arguments, each with its NUL */
    SHARE_JOIN,       /* struct share_join */
    SHARE_ENGINES,    /* struct wire_engine_request, so many */
    SHARE_RECORDS,    /* as in a recording */
    SHARE_STATUS,     /* struct share_status */
    SHARE_ANSWER,     /* struct share_exit, to SHARE_ENGINES */
};

struct share_header {
    uint32_t kind, bytes;
};

#endif
