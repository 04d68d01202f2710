/* Certificates are made by test/e2e/serve/serve.py, where they are shown, too; here, what the files
 * say. */
#include "core/http/serve/server/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/jtop-prof-tls-XXXXXX";
static char cert[64], key[64], other_key[64];

static void write_pem(const char *path, const gnutls_datum_t *pem, mode_t mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(pem->data, 1, pem->size, f), pem->size);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static gnutls_x509_privkey_t make_key(const char *path) {
    gnutls_x509_privkey_t k;
    gnutls_datum_t pem;
    assert_int_equal(gnutls_x509_privkey_init(&k), 0);
    assert_int_equal(gnutls_x509_privkey_generate(k, GNUTLS_PK_ECDSA, 256, 0), 0);
    assert_int_equal(gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(path, &pem, 0600);
    gnutls_free(pem.data);
    return k;
}

/* One that signs itself. */
static void make_certificate(const char *path, gnutls_x509_privkey_t k) {
    gnutls_x509_crt_t c;
    gnutls_datum_t pem;
    assert_int_equal(gnutls_x509_crt_init(&c), 0);
    gnutls_x509_crt_set_version(c, 3);
    gnutls_x509_crt_set_serial(c, "\1", 1);
    gnutls_x509_crt_set_activation_time(c, time(NULL) - 60);
    gnutls_x509_crt_set_expiration_time(c, time(NULL) + 3600);
    gnutls_x509_crt_set_dn(c, "CN=localhost", NULL);
    gnutls_x509_crt_set_key(c, k);
    assert_int_equal(gnutls_x509_crt_sign2(c, c, k, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(path, &pem, 0644);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(c);
}

static int begin(void **state) {
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(cert, sizeof cert, "%s/cert", dir);
    snprintf(key, sizeof key, "%s/key", dir);
    snprintf(other_key, sizeof other_key, "%s/other", dir);
    gnutls_x509_privkey_t k = make_key(key);
    make_certificate(cert, k);
    gnutls_x509_privkey_deinit(k);
    gnutls_x509_privkey_deinit(make_key(other_key));
    return 0;
}

static int over(void **state) {
    (void)state;
    unlink(cert);
    unlink(key);
    unlink(other_key);
    return rmdir(dir);
}

static void test_good_files(void **state) {
    (void)state;
    struct tls t;
    struct err e;
    assert_int_equal(tls_read(NULL, NULL, NULL, &t, &e), 0);
    assert_null(t.cert);
    assert_int_equal(tls_read(cert, key, NULL, &t, &e), 0);
    assert_non_null(strstr(t.cert, "BEGIN CERTIFICATE"));
    assert_non_null(strstr(t.key, "PRIVATE KEY"));
    assert_null(t.client_ca);
    tls_free(&t);
    assert_null(t.cert);
    assert_int_equal(tls_read(cert, key, cert, &t, &e), 0);
    assert_string_equal(t.cert, t.client_ca);
    tls_free(&t);
}

static void check_refused(const char *c, const char *k, const char *ca, int code,
                          const char *says) {
    struct tls t;
    struct err e = {0};
    assert_int_equal(tls_read(c, k, ca, &t, &e), -code);
    if (!strstr(e.message, says))
        fail_msg("%s", e.message);
    assert_null(t.cert);
    assert_null(t.key);
    assert_null(t.client_ca);
}

static void test_bad_files(void **state) {
    (void)state;
    check_refused(NULL, NULL, cert, EINVAL, "it needs --tls-cert");
    check_refused("/tmp/none-of-that-name", key, NULL, ENOENT, "--tls-cert /tmp/none");
    check_refused(cert, other_key, NULL, EINVAL, "is not the key of");
    check_refused(key, key, NULL, EINVAL, "--tls-cert");
    check_refused(cert, key, key, EINVAL, "no certificate in it");
    check_refused("/tmp", key, NULL, EINVAL, "not a file of PEM text");
    check_refused("/dev/null", key, NULL, EINVAL, "not a file of PEM text");
    assert_int_equal(chmod(key, 0604), 0);
    check_refused(cert, key, NULL, EPERM, "chmod 600");
    assert_int_equal(chmod(key, 0640), 0); /* a group for such files is usual */
    struct tls t;
    struct err e;
    assert_int_equal(tls_read(cert, key, NULL, &t, &e), 0);
    tls_free(&t);
    assert_int_equal(chmod(key, 0600), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, begin, over);
}
