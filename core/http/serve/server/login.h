/*
 * The login of browsers. A browser cannot send a token with a link. The user enters the token once,
 * in a form, and the browser gets a cookie for it: a random number that is valid only here, for a
 * day, and only until the server ends.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_LOGIN_H
#define JTOP_HTTP_SERVE_SERVER_LOGIN_H

#include "core/http/serve/server/guard_token.h"
#include "core/http/serve/server/peers.h"
#include "core/http/serve/server/route.h"

#include <stdbool.h>

#define LOGIN_COOKIE_MAX 192
#define LOGIN_NEXT_MAX 400 /* bytes of the URL that was requested */

enum login_verdict { LOGIN_RIGHT, LOGIN_WRONG, LOGIN_TOO_OFTEN };

struct login;

/* `port` makes the cookie's name differ from that of a server on another port of the same host. */
struct login *login_new(const struct guard_token *token, struct peers *peers, unsigned port);
void login_free(struct login *l);

/* Checks a token, unless too many were wrong before. `peer` NULL: not counted. */
enum login_verdict login_try(struct login *l, const char *shown, const struct sockaddr *peer);

/* Remembers a new login. `out` gets the value of the Set-Cookie header; -errno: no random
 * numbers. */
int login_begin(struct login *l, bool secure, char out[LOGIN_COOKIE_MAX]);
/* Whether a Cookie header has the cookie of a login. */
bool login_knows(struct login *l, const char *cookies);

/* Answers with the form, 401. `next`: the page to go to; `wrong`: what was wrong, or NULL. */
void login_page(struct serve_answer *a, const char *next, const char *wrong);
/* The 429 after too many wrong tokens. */
void login_refuse_often(struct serve_answer *a);

#endif
