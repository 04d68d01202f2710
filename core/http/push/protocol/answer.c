#include "core/http/push/protocol/answer.h"
#include "core/base/clean_text.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAID_MAX 160 /* bytes of the receiver's text */

static void say(struct answer *a, enum answer_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct answer *a, enum answer_kind kind, const char *fmt, ...) {
    char raw[sizeof a->why];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    a->kind = kind;
    clean_text(a->why, sizeof a->why, raw, strlen(raw));
}

/* Quotes text of others on one line, including markup: ": …", or nothing if it is empty. */
static const char *quote(const char *body, size_t bytes, char out[SAID_MAX + 8]) {
    char words[SAID_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < bytes && n < SAID_MAX; i++) {
        char c = (unsigned char)body[i] <= ' ' ? ' ' : body[i];
        if (c != ' ' || (n > 0 && words[n - 1] != ' '))
            words[n++] = c;
    }
    while (n > 0 && words[n - 1] == ' ')
        n--;
    char clean[SAID_MAX + 1];
    clean_text(clean, sizeof clean, words, n);
    snprintf(out, SAID_MAX + 8, "%s%s", clean[0] ? ": " : "", clean);
    return out;
}

/* Protobuf and HTML pages are not worth quoting. */
static bool is_prose(const struct post_result *r) {
    for (size_t i = 0; i < r->bytes; i++)
        if ((unsigned char)r->body[i] < ' ' && !strchr("\n\r\t", r->body[i]))
            return false;
    return r->bytes > 0 && r->body[0] != '<';
}

static bool is_certificate(const struct post_result *r) {
    switch ((CURLcode)r->curl) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return true;
    default:
        return false;
    }
}

/* TLS libraries report certificate errors differently, and some report no more than "failed". */
static const char *certificate_remedy(const struct post_result *r) {
    if (r->curl == CURLE_SSL_CERTPROBLEM)
        return "; check --tls-cert and --tls-key";
    if (strstr(r->error, "expir"))
        return "; renew it, or correct the clock here";
    if (strstr(r->error, "does not match") || strstr(r->error, "no alternative"))
        return "; use the certificate's name in --to";
    return "; if it is self-signed or from your own authority, give --tls-ca FILE; else check "
           "its dates and its issuer";
}

/* Texts that appear when the receiver breaks off a handshake; with TLS 1.3, after it seemed
 * complete. */
static bool is_alert(const char *error) {
    static const char *const words[] = {"certificate required", "handshake failure",
                                        "bad certificate", "unknown ca", "fatal alert"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(error, words[i]))
            return true;
    return false;
}

static void judge_tls(const struct post_result *r, const char *said, struct answer *a) {
    if (is_alert(r->error))
        say(a, ANSWER_AGAIN,
            "broke off TLS%s; if it requires a client certificate, give one with --tls-cert and "
            "--tls-key",
            said);
    else if (is_certificate(r))
        say(a, ANSWER_AGAIN, "has a certificate that cannot be trusted%s%s", said,
            certificate_remedy(r));
    else
        say(a, ANSWER_AGAIN, "does not speak TLS, or no TLS version that jtop-prof supports%s",
            said);
}

/* There was no answer. */
static void judge_failure(const struct post_result *r, struct answer *a) {
    char said[SAID_MAX + 8];
    quote(r->error, strlen(r->error), said);
    if (is_certificate(r) || is_alert(r->error) || r->curl == CURLE_SSL_CONNECT_ERROR)
        judge_tls(r, said, a);
    else if (r->curl == CURLE_COULDNT_RESOLVE_HOST)
        say(a, ANSWER_AGAIN, "cannot be reached: its name has no address");
    else if (r->curl == CURLE_COULDNT_CONNECT)
        say(a, ANSWER_AGAIN, "cannot be reached%s%s", r->os_error ? ": " : said,
            r->os_error ? strerror(r->os_error) : "");
    else if (r->curl == CURLE_OPERATION_TIMEDOUT)
        say(a, ANSWER_AGAIN, "did not answer in time");
    else if (r->no_cert) /* with TLS 1.3 known only now, if the connection lasts that long */
        say(a, ANSWER_AGAIN,
            "broke off TLS%s; if it requires a client certificate, give one with --tls-cert and "
            "--tls-key",
            said);
    else if (r->curl == CURLE_GOT_NOTHING)
        say(a, ANSWER_AGAIN, "closed the connection without an answer");
    else if (r->curl == CURLE_UNSUPPORTED_PROTOCOL || r->curl == CURLE_WEIRD_SERVER_REPLY)
        say(a, ANSWER_AGAIN, "does not answer in HTTP%s", said);
    else if (r->curl == CURLE_WRITE_ERROR)
        say(a, ANSWER_AGAIN, "answers with endless headers");
    else
        say(a, ANSWER_AGAIN, "cannot be contacted%s", said);
}

/* Problems that can be fixed, here or at the receiver, while the messages wait. */
static const char *remedy(unsigned status) {
    switch (status) {
    case 401:
        return "the token is missing or wrong: --token-file";
    case 403:
        return "the token does not allow it: --token-file";
    case 404:
    case 405:
        return "no profiles are accepted at this path: check --to and --protocol, and whether the "
               "receiver has profiles enabled";
    case 407:
        return "a proxy in between requires a login";
    default:
        return NULL;
    }
}

static bool is_transient(unsigned status) {
    return status == 408 || status == 425 || status == 429 || status == 502 || status == 503 ||
           status == 504;
}

/* Uses the protocol's judgement if it has one; the reason goes to `why`. */
static enum answer_kind judge_protocol(const struct post_result *r, const struct push_protocol *p,
                                       char *why, size_t size) {
    int j = p && p->judge ? p->judge(r->status, r->body, r->bytes, why, size) : 0;
    bool well = r->status < 300;
    if (j == -EAGAIN)
        return ANSWER_DOUBT;
    return j == 0 && well ? ANSWER_TAKEN : ANSWER_REFUSED;
}

static void judge_status(const struct post_result *r, const struct push_protocol *p, size_t bytes,
                         struct answer *a) {
    char why[SAID_MAX + 8] = "", said[SAID_MAX + 8] = "";
    enum answer_kind kind = judge_protocol(r, p, why, sizeof why);
    quote(why, strlen(why), said);
    if (!why[0] && is_prose(r))
        quote(r->body, r->bytes, said);
    if (kind == ANSWER_TAKEN)
        say(a, kind, "%s%s", why[0] ? "accepts profiles only in part" : "", why[0] ? said : "");
    else if (r->status < 300)
        say(a, kind, "answers %u%s%s", r->status,
            kind == ANSWER_DOUBT ? ", but has not accepted the profile"
                                 : " and rejects this profile",
            said);
    else if (r->status < 400)
        say(a, ANSWER_AGAIN,
            "answers %u and redirects to %.128s; that is not followed: give --to with the right "
            "URL",
            r->status, r->location[0] ? r->location : "another place");
    else if (is_transient(r->status))
        say(a, ANSWER_AGAIN, "answers %u%s%s", r->status,
            r->status == 429 ? ", too many requests" : ", not available", said);
    else if (remedy(r->status))
        say(a, ANSWER_AGAIN, "answers %u, %s%s", r->status, remedy(r->status), said);
    else if (r->status == 413)
        say(a, kind, "answers 413: a profile of %zu KB is too large for it and is dropped",
            (bytes + 1023) / 1024);
    else
        say(a, kind, "answers %u%s%s", r->status,
            kind == ANSWER_REFUSED ? ", a profile is dropped" : "", said);
}

void answer_judge(const struct post_result *r, const struct push_protocol *p, size_t bytes,
                  struct answer *out) {
    *out = (struct answer){0};
    /* A status that was received counts, even if the rest of the answer was cut off: a message that
     * was taken must not be sent again. */
    if (r->status == 0)
        judge_failure(r, out);
    else
        judge_status(r, p, bytes, out);
}
