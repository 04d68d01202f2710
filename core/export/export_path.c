/*
 * Expands file names that contain %p, %t, %n, %e and %{ENV}. An invalid pattern gives an error with
 * a message.
 */
#include "core/export/export.h"

#include "core/export/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Copies the text between braces. *p points to '{' and is moved behind '}'. */
static int braced(const char **p, char *out, size_t size, const char *pattern, struct err *e) {
    const char *end = strchr(*p, '}');
    if (!end || (size_t)(end - *p) > size)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "file name '%s': '{' without '}'; write %%%% for a percent sign",
                           pattern);
    size_t len = (size_t)(end - *p - 1);
    memcpy(out, *p + 1, len);
    out[len] = '\0';
    *p = end + 1;
    return 0;
}

static void add_time(struct text *out) {
    char buf[32];
    struct tm tm;
    time_t now = time(NULL);
    if (localtime_r(&now, &tm) && strftime(buf, sizeof(buf), "%Y%m%d-%H%M%S", &tm))
        text_add(out, buf);
}

/* %n: the sequence number. %n{MAX}: the sequence number modulo MAX. */
static int add_sequence(const char **p, unsigned sequence, struct text *out, const char *pattern,
                        struct err *e) {
    if (**p == '{') {
        char value[16] = "", *end;
        int err = braced(p, value, sizeof(value), pattern, e);
        if (err)
            return err;
        errno = 0;
        unsigned long max = strtoul(value, &end, 10);
        if (value[0] < '0' || value[0] > '9' || *end || errno || !max || max > UINT_MAX)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "file name '%s': %%n{MAX} needs a number of at least 1, not '%s'",
                               pattern, value);
        sequence %= (unsigned)max;
    }
    text_addf(out, "%u", sequence);
    return 0;
}

/* Replaces special characters, so that "cpu/event=0x3c/" does not become a directory. */
static void add_event(struct text *out, const char *event) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    for (const char *p = event ? event : ""; *p; p++)
        text_add_n(out, strchr(plain, *p) ? p : "_", 1);
}

static int expand_one(const char **p, const struct export_path *of, struct text *out,
                      const char *pattern, struct err *e) {
    char name[256] = "";
    char what = *(*p)++;
    int err;
    switch (what) {
    case '%':
        text_add(out, "%");
        return 0;
    case 'p':
        text_addf(out, "%d", of->pid);
        return 0;
    case 't':
        add_time(out);
        return 0;
    case 'n':
        return add_sequence(p, of->sequence, out, pattern, e);
    case 'e':
        add_event(out, of->event);
        return 0;
    case '{':
        --*p;
        err = braced(p, name, sizeof(name), pattern, e);
        if (!err && getenv(name))
            text_add(out, getenv(name));
        return err;
    default:
        return err_exit_as(
            e, ERR_EXIT_ARGUMENT, EINVAL,
            "file name '%s': %% must be followed by p (pid), t (time), e (event), n{MAX}, {ENV}"
            " or another %%",
            pattern);
    }
}

int export_path_expand(const char *pattern, const struct export_path *of, struct text *out,
                       struct err *e) {
    text_add(out, "");
    size_t before = out->len;
    for (const char *p = pattern; *p;) {
        size_t plain = strcspn(p, "%");
        text_add_n(out, p, plain);
        p += plain;
        if (!*p++)
            break;
        int err = expand_one(&p, of, out, pattern, e);
        if (err)
            return err;
    }
    if (out->failed)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for a file name");
    if (out->len - before >= PATH_MAX)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, ENAMETOOLONG,
                           "file name '%s' becomes %zu bytes long; the limit is %d", pattern,
                           out->len - before, PATH_MAX - 1);
    return 0;
}

bool export_path_has_event(const char *pattern) {
    for (const char *p = pattern; (p = strchr(p, '%')) != NULL && p[1]; p += 2)
        if (p[1] == 'e')
            return true;
    return false;
}

void export_path_add_event(const char *path, const struct exporter *x, const char *event,
                           struct text *out) {
    size_t length = strlen(path), stem = length;
    for (size_t i = 0; i < sizeof(x->extension) / sizeof(x->extension[0]); i++) {
        size_t n = x->extension[i] ? strlen(x->extension[i]) : 0;
        if (n && n < length && strcasecmp(path + length - n, x->extension[i]) == 0)
            stem = length - n;
    }
    if (stem == length) {
        const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
        if (dot && dot > (slash ? slash + 1 : path))
            stem = (size_t)(dot - path);
    }
    text_add_n(out, path, stem);
    text_add(out, "-");
    add_event(out, event);
    text_add(out, path + stem);
}
