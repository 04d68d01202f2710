#include "core/http/serve/server/guard_who.h"

#include <string.h>
#include <strings.h>

/* The token behind "Bearer "; NULL: something else. */
static const char *bearer(const char *authorization) {
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    return authorization + 7 + strspn(authorization + 7, " ");
}

static bool refuse(struct serve_answer *a, const struct guard *g, const struct guard_request *q,
                   const char *wrong) {
    if (!g->token->length) {
        serve_refuse(a, 403, "a certificate of ours is wanted (--tls-ca of who serves)");
        return false;
    }
    if (q->html)
        login_page(a, q->url, wrong);
    else
        serve_refuse(a, 401, "%s: \"Authorization: Bearer TOKEN\" is wanted%s",
                     wrong ? wrong : "no token",
                     g->certificates ? ", or a certificate of ours" : "");
    a->status = 401;
    serve_header(a, "WWW-Authenticate", "Bearer realm=\"jtop-prof\"");
    return false;
}

bool guard_who_passes(const struct guard *g, const struct guard_request *q,
                      struct serve_answer *a) {
    if ((!g->token->length && !g->certificates) || (g->certificates && q->certified))
        return true;
    const char *shown = bearer(q->authorization);
    if (!shown || !g->token->length)
        return (g->token->length && q->cookie && login_knows(g->login, q->cookie)) ||
               refuse(a, g, q, NULL);
    switch (login_try(g->login, shown, q->peer)) {
    case LOGIN_RIGHT:
        return true;
    case LOGIN_TOO_OFTEN:
        login_refuse_often(a);
        return false;
    case LOGIN_WRONG:
        break;
    }
    return refuse(a, g, q, "wrong token");
}
