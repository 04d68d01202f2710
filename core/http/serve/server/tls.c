#include "core/http/serve/server/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

/* Returns the file's size, or -errno with a message. */
static off_t check_file(int fd, const char *option, const char *path, bool secret, struct err *e) {
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, errno, "%s %.200s: %s", option, path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size == 0 || st.st_size > FILE_MAX)
        return err_set(e, EINVAL, "%s %.200s: not a file of PEM text", option, path);
    if (secret && (st.st_mode & 007))
        return err_set(e, EPERM, "%s %.200s: all users may read or change it (%04o): chmod 600",
                       option, path, (unsigned)st.st_mode & 07777);
    return st.st_size;
}

/* Reads a whole file; the caller frees it. */
static int read_file(const char *option, const char *path, bool secret, char **out, struct err *e) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    off_t size = check_file(fd, option, path, secret, e);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    off_t have = 0;
    for (ssize_t n; text && have < size && (n = read(fd, text + have, (size_t)(size - have))) > 0;)
        have += n;
    if (fd >= 0)
        close(fd);
    if (size < 0)
        return (int)size;
    if (!text)
        return err_set(e, ENOMEM, "%s %.200s: no memory", option, path);
    text[have] = '\0';
    *out = text;
    return 0;
}

static gnutls_datum_t datum(const char *text) {
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)text,
                            .size = (unsigned)strlen(text)};
}

static int check(const struct tls *t, const char *cert, const char *key, const char *client_ca,
                 struct err *e) {
    gnutls_certificate_credentials_t credentials;
    if (gnutls_certificate_allocate_credentials(&credentials) < 0)
        return err_set(e, ENOMEM, "no memory for TLS");
    gnutls_datum_t c = datum(t->cert), k = datum(t->key);
    int r = 0, g = gnutls_certificate_set_x509_key_mem(credentials, &c, &k, GNUTLS_X509_FMT_PEM);
    if (g == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        r = err_set(e, EINVAL, "--tls-key %.150s is not the key of --tls-cert %.150s", key, cert);
    else if (g < 0)
        r = err_set(e, EINVAL, "--tls-cert %.150s, --tls-key %.150s: %s", cert, key,
                    gnutls_strerror(g));
    if (r == 0 && t->client_ca) {
        gnutls_datum_t ca = datum(t->client_ca);
        g = gnutls_certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM);
        if (g <= 0)
            r = err_set(e, EINVAL, "--tls-ca %.200s: no certificate in it (%s)", client_ca,
                        g < 0 ? gnutls_strerror(g) : "PEM is required");
    }
    gnutls_certificate_free_credentials(credentials);
    return r;
}

int tls_read(const char *cert, const char *key, const char *client_ca, struct tls *out,
             struct err *e) {
    memset(out, 0, sizeof *out);
    if (client_ca && !cert)
        return err_set(
            e, EINVAL,
            "--tls-ca checks clients that connect with TLS: it needs --tls-cert and --tls-key");
    if (!cert)
        return 0;
    int r = read_file("--tls-cert", cert, false, &out->cert, e);
    if (r == 0)
        r = read_file("--tls-key", key, true, &out->key, e);
    if (r == 0 && client_ca)
        r = read_file("--tls-ca", client_ca, false, &out->client_ca, e);
    if (r == 0)
        r = check(out, cert, key, client_ca, e);
    if (r < 0)
        tls_free(out);
    return r;
}

void tls_free(struct tls *t) {
    if (t->key)
        explicit_bzero(t->key, strlen(t->key));
    free(t->cert);
    free(t->key);
    free(t->client_ca);
    memset(t, 0, sizeof *t);
}

/* The certificate must be meant for clients: a server's certificate of the same authority is
 * refused. */
static bool is_for_clients(gnutls_session_t session) {
    gnutls_typed_vdata_st use = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                 .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned status = 1;
    return gnutls_certificate_verify_peers(session, &use, 1, &status) == 0 && status == 0;
}

bool tls_is_certified(void *session) {
    unsigned count = 0;
    return gnutls_certificate_get_peers(session, &count) && count > 0 && is_for_clients(session);
}
