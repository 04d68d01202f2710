/*
 * All connections, with their addresses, and how long each may take. A connection that sends half a
 * request and then waits is ended. If there is no room for a new connection, the one that has been
 * unfinished for longest is ended.
 *
 *      admit ─▶ WAITING ──request is whole──▶ BUSY ──answer begins──▶ SENDING ─▶ WAITING again
 *                  │ 10 s                     (no limit here)            │ 5 min
 *                  ▼                                                     ▼
 *                ended: shutdown(2); the owner of the descriptor sees that and closes it
 *
 * This also counts the wrong tokens of each address.
 *
 * Context: any thread. `now` is CLOCK_MONOTONIC in ns, from the caller.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_PEERS_H
#define JTOP_HTTP_SERVE_SERVER_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PEERS_CONNECTIONS 256         /* of all together; loopback addresses have no other limit */
#define PEERS_EACH 64                 /* of one other address; in IPv6, of one /64 */
#define PEERS_WAIT_NS 10000000000ull  /* time for a whole request */
#define PEERS_SEND_NS 300000000000ull /* time for an answer to be received */
#define PEERS_GUESSES 10              /* wrong tokens at once, and then one per second */

enum peers_state { PEERS_WAITING, PEERS_BUSY, PEERS_SENDING };

struct peers;

struct peers *peers_new(void); /* NULL: no memory */
void peers_free(struct peers *p);

/* Adds a connection. 0, or -EUSERS: there is no room, and none can be ended for it. */
int peers_admit(struct peers *p, int fd, const struct sockaddr *address, uint64_t now);
void peers_note(struct peers *p, int fd, enum peers_state state, uint64_t now);
/* Must be called before the descriptor is closed. */
void peers_forget(struct peers *p, int fd);
/* Ends connections that have exceeded their time. */
void peers_sweep(struct peers *p, uint64_t now);
/* Number of connections whose request is being answered. */
uint32_t peers_answering(struct peers *p);
/* Number of connections that were not ended. */
uint32_t peers_count(struct peers *p);

/* Whether this address may try a token now. */
bool peers_may_guess(struct peers *p, const struct sockaddr *address, uint64_t now);
void peers_guessed_wrong(struct peers *p, const struct sockaddr *address, uint64_t now);

#endif
