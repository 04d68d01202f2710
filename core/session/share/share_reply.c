/* The parts of an answer to one request, and who gets them. */
#include "core/session/share/share_socket.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MS 10 /* of start times */

int share_say(struct share_reply *r, enum share_part part, const char *text) {
    if (r->gone || (part != SHARE_OUT && part != SHARE_ERROR))
        return r->gone ? -EPIPE : -EINVAL;
    r->gone = share_send_frame(r->fd, part, text, strlen(text), NULL, 0) != 0;
    return r->gone ? -EPIPE : 0;
}

static int send_piece(struct share_reply *r, enum share_part part, const char *path,
                      const void *data, size_t bytes) {
    if (r->gone)
        return -EPIPE;
    int rc = share_send_piece(r->fd, part, path, path ? strlen(path) + 1 : 0, data, bytes);
    if (rc == 0 || rc == -EFBIG)
        return rc;
    r->gone = true;
    return -EPIPE;
}

int share_file(struct share_reply *r, const char *path, const void *data, size_t bytes) {
    return send_piece(r, SHARE_FILE, path, data, bytes);
}

int share_file_more(struct share_reply *r, const void *data, size_t bytes) {
    return send_piece(r, SHARE_MORE, NULL, data, bytes);
}

int share_file_end(struct share_reply *r) {
    return send_piece(r, SHARE_END, NULL, NULL, 0);
}

/* A process that got the number of one that has ended was started after the connection was made. */
pid_t share_peer(const struct share_reply *r) {
    struct ucred peer;
    struct proc_stat st;
    socklen_t n = sizeof peer;
    if (getsockopt(r->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0 || peer.uid != geteuid() ||
        peer.pid <= 0 || proc_stat(peer.pid, &st) != 0)
        return 0;
    uint64_t connected_ms = (clock_now_ns() - r->accepted_ns) / 1000000u;
    return proc_age_ms(st.start_ticks) + TICK_MS >= connected_ms ? peer.pid : 0;
}
