/* "/login": the form, and its result. */
#include "core/export/svg_text.h"
#include "core/http/serve/server/login.h"

#include <string.h>

#define POLICY                                                                                     \
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; "  \
    "base-uri 'none'"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>jtop-prof: log "
    "in</title>\n<style>\n"
    ":root { color-scheme: light dark }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 12vh auto; "
    "padding: 0 1rem }\n"
    "input, button { font: inherit; padding: .45rem .6rem; box-sizing: border-box }\n"
    "input { width: 100%; margin: .3rem 0 .8rem }\n"
    "[role=alert] { border-left: .25rem solid; padding-left: .6rem }\n"
    "</style></head><body><main>\n<h1>jtop-prof</h1>\n";

/* Returns `next` only if it leads to a page of ours: "//other" and "/\other" do not. */
static const char *ours(const char *next) {
    if (!next || next[0] != '/' || next[1] == '/' || next[1] == '\\' ||
        strlen(next) > LOGIN_NEXT_MAX || strncmp(next, "/login", 6) == 0)
        return "/";
    for (const char *c = next; *c; c++)
        if (*c <= ' ' || *c > '~')
            return "/";
    return next;
}

void login_page(struct serve_answer *a, const char *next, const char *wrong) {
    struct text *t = &a->body;
    a->status = 401;
    a->refused = false;
    a->type = "text/html; charset=utf-8";
    a->policy = POLICY;
    /* Without this header, a browser sends "Origin: null" with the form. */
    serve_header(a, "Referrer-Policy", "same-origin");
    text_clear(t);
    text_add(t, head);
    if (wrong) {
        text_add(t, "<p role=\"alert\">");
        svg_text_add(t, wrong);
        text_add(t, "</p>\n");
    }
    text_add(t, "<form method=\"post\" action=\"/login\">\n"
                "<label for=\"token\">Token, as in the server's token file</label>\n"
                "<input type=\"password\" id=\"token\" name=\"token\" required autofocus "
                "autocomplete=\"current-password\" maxlength=\"256\">\n"
                "<input type=\"hidden\" name=\"next\" value=\"");
    svg_text_add(t, ours(next));
    text_add(t, "\">\n<button>Log in</button>\n</form>\n</main></body></html>\n");
}

void login_refuse_often(struct serve_answer *a) {
    serve_refuse(a, 429, "too many wrong tokens from this address: one per second is checked");
    serve_header(a, "Retry-After", "2");
}

static void lead_to(struct serve_answer *a, const char *next) {
    a->status = 303;
    serve_header(a, "Location", ours(next));
}

void serve_login(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    char cookie[LOGIN_COOKIE_MAX];
    const char *token = params_text(q->params, "token"), *next = params_text(q->params, "next");
    if (!s->options->token_file) {
        lead_to(a, next);
        return;
    }
    if (strcmp(q->method, "POST") != 0) {
        login_page(a, next, NULL);
        a->status = 200;
        return;
    }
    switch (login_try(s->login, token ? token : "", q->peer)) {
    case LOGIN_RIGHT:
        if (login_begin(s->login, q->secure, cookie) < 0) {
            serve_refuse(a, 503, "no random numbers on this machine yet");
            return;
        }
        lead_to(a, next);
        serve_header(a, "Set-Cookie", cookie);
        return;
    case LOGIN_TOO_OFTEN:
        login_refuse_often(a);
        return;
    case LOGIN_WRONG:
        break;
    }
    login_page(a, next, "This token is wrong.");
}
