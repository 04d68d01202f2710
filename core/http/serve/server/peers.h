/*
 * The connections there are, by whom, and how long each may take. Who sends half a request and then
 * waits is ended; where there is no room for a new connection, the one that has been unfinished for
 * longest gives way to it.
 *
 *      admit ─▶ WAITING ──request is whole──▶ BUSY ──answer begins──▶ SENDING ─▶ WAITING again
 *                  │ 10 s                     (no end of its own)        │ 5 min
 *                  ▼                                                     ▼
 *                ended: shutdown(2); whoever owns the descriptor sees that and closes it
 *
 * Also kept here: how often somebody showed a wrong token.
 *
 * Context: any thread. `now` is CLOCK_MONOTONIC in ns, from the caller.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_PEERS_H
#define JTOP_HTTP_SERVE_SERVER_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PEERS_CONNECTIONS 256         /* of all together, and of this machine's own addresses */
#define PEERS_EACH 64                 /* of one other address; of IPv6, of one /64 */
#define PEERS_WAIT_NS 10000000000ull  /* for a whole request */
#define PEERS_SEND_NS 300000000000ull /* for an answer to be taken */
#define PEERS_GUESSES 10              /* wrong tokens at once, and then one a second */

enum peers_state { PEERS_WAITING, PEERS_BUSY, PEERS_SENDING };

struct peers;

struct peers *peers_new(void); /* NULL: no memory */
void peers_free(struct peers *p);

/* A new connection. 0, or -EUSERS: there is no room, and none that could give way. */
int peers_admit(struct peers *p, int fd, const struct sockaddr *address, uint64_t now);
void peers_note(struct peers *p, int fd, enum peers_state state, uint64_t now);
/* Before the descriptor is closed. */
void peers_forget(struct peers *p, int fd);
/* Ends those that are over their time. */
void peers_sweep(struct peers *p, uint64_t now);
/* How many of them have an answer on its way. */
uint32_t peers_answering(struct peers *p);
/* How many there are that were not ended. */
uint32_t peers_count(struct peers *p);

/* Whether that address may show a token now. */
bool peers_may_guess(struct peers *p, const struct sockaddr *address, uint64_t now);
void peers_guessed_wrong(struct peers *p, const struct sockaddr *address, uint64_t now);

#endif
