/*
 * Browsers cannot show a token with a link. They show it once, in a form, and get a cookie that
 * stands for it: a random number that means nothing anywhere else, and nothing after a day or when
 * the server has ended.
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
#define LOGIN_NEXT_MAX 400 /* bytes of the URL that one wanted to see */

enum login_verdict { LOGIN_RIGHT, LOGIN_WRONG, LOGIN_TOO_OFTEN };

struct login;

/* `port` makes the cookie's name differ from that of a server on another port of the same host. */
struct login *login_new(const struct guard_token *token, struct peers *peers, unsigned port);
void login_free(struct login *l);

/* Looks at a token that was shown, unless too many were wrong before. `peer` NULL: not counted. */
enum login_verdict login_try(struct login *l, const char *shown, const struct sockaddr *peer);

/* Who logged in. The Set-Cookie header's value; -errno: no random numbers. */
int login_begin(struct login *l, bool secure, char out[LOGIN_COOKIE_MAX]);
/* Whether one of a Cookie header's is of such a one. */
bool login_knows(struct login *l, const char *cookies);

/* The form, 401. `next`: where it leads; `wrong`: what was, or NULL. */
void login_page(struct serve_answer *a, const char *next, const char *wrong);
/* The 429 after too many wrong ones. */
void login_refuse_often(struct serve_answer *a);

#endif
