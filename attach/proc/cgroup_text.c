/* What the files about control groups say. */
#include "attach/proc/cgroup.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A number of a file, which nothing but blanks may follow. */
static bool number(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || errno || end[strspn(end, " \t\n")])
        return false;
    *out = n;
    return true;
}

static bool set_quota(int64_t us, int64_t period_us, double *quota) {
    if (us <= 0 || period_us <= 0)
        return false;
    *quota = (double)us / (double)period_us;
    return true;
}

bool cgroup_parse_max(const char *text, double *quota) {
    char first[24];
    size_t n = strcspn(text, " \t\n");
    int64_t us, period_us;
    *quota = 0;
    if (!n || n >= sizeof first || !number(text + n, &period_us) || period_us <= 0)
        return false;
    memcpy(first, text, n);
    first[n] = '\0';
    if (!strcmp(first, "max"))
        return true;
    return number(first, &us) && set_quota(us, period_us, quota);
}

bool cgroup_parse_quota(const char *quota_us, const char *period_us, double *quota) {
    int64_t us, period;
    *quota = 0;
    if (!number(quota_us, &us) || !number(period_us, &period) || period <= 0)
        return false;
    return us == -1 || set_quota(us, period, quota);
}

bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out) {
    static const struct {
        const char *key;
        size_t at;
        uint64_t ns; /* a unit of it, where it is a time */
    } field[] = {
        {"nr_periods ", offsetof(struct cgroup_cpu, periods), 1},
        {"nr_throttled ", offsetof(struct cgroup_cpu, throttled), 1},
        {"throttled_usec ", offsetof(struct cgroup_cpu, throttled_ns), 1000}, /* v2 */
        {"throttled_time ", offsetof(struct cgroup_cpu, throttled_ns), 1},    /* v1 */
    };
    int found = 0;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
            size_t n = strlen(field[i].key);
            if (strncmp(line, field[i].key, n) != 0 || line[n] < '0' || line[n] > '9')
                continue;
            uint64_t value = strtoull(line + n, NULL, 10);
            value = value < UINT64_MAX / field[i].ns ? value * field[i].ns : UINT64_MAX;
            memcpy((char *)out + field[i].at, &value, sizeof value);
            found++;
        }
    }
    return found >= 3;
}

/* Whether a list with commas has the word; it ends at a `stop`, a blank or the end. */
static bool has_word(const char *list, const char *word, char stop) {
    size_t n = strlen(word);
    for (;;) {
        size_t len = 0;
        while (list[len] && !strchr(", \n", list[len]) && list[len] != stop)
            len++;
        if (len == n && !memcmp(list, word, n))
            return true;
        if (list[len] != ',')
            return false;
        list += len + 1;
    }
}

bool cgroup_parse_group(const char *text, bool *v2, char path[CGROUP_PATH]) {
    bool found = false;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
        if (!at || at > end)
            continue;
        bool unified = names + 1 == at && !strncmp(line, "0:", 2);
        size_t n = (size_t)(end - ++at);
        if ((!unified && !has_word(names + 1, "cpu", ':')) || *at != '/' || n >= CGROUP_PATH)
            continue;
        memcpy(path, at, n);
        path[n] = '\0';
        *v2 = unified;
        found = true;
        if (!unified)
            break;
    }
    return found;
}

/* A field of mountinfo, in which blanks are written \040. */
static bool unescape(const char *s, size_t n, char out[CGROUP_PATH]) {
    size_t used = 0;
    for (size_t i = 0; i < n; used++) {
        if (used == CGROUP_PATH - 1)
            return false;
        bool octal = s[i] == '\\' && n - i > 3 && s[i + 1] >= '0' && s[i + 1] <= '3' &&
                     s[i + 2] >= '0' && s[i + 2] <= '7' && s[i + 3] >= '0' && s[i + 3] <= '7';
        out[used] =
            octal ? (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0')) : s[i];
        i += octal ? 4 : 1;
        if (!out[used])
            return false;
    }
    out[used] = '\0';
    return true;
}

bool cgroup_parse_mount(const char *line, bool v2, char root[CGROUP_PATH],
                        char point[CGROUP_PATH]) {
    const char *field[5], *at = line;
    size_t length[5];
    for (int i = 0; i < 5; i++) { /* id, parent, device, root, mount point */
        field[i] = at;
        length[i] = strcspn(at, " \n");
        at += length[i];
        if (*at != ' ')
            return false;
        at++;
    }
    /* options, other fields, "-", type, source, options of the file system */
    const char *type = strstr(at - 1, " - "), *source = type ? strchr(type + 3, ' ') : NULL;
    const char *options = source ? strchr(source + 1, ' ') : NULL;
    if (!options || strncmp(type + 3, v2 ? "cgroup2 " : "cgroup ", v2 ? 8 : 7) != 0 ||
        (!v2 && !has_word(options + 1, "cpu", '\0')))
        return false;
    return unescape(field[3], length[3], root) && unescape(field[4], length[4], point) &&
           root[0] == '/' && point[0] == '/';
}

const char *cgroup_below(const char *root, const char *path) {
    size_t n = strcmp(root, "/") ? strlen(root) : 0;
    if (strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    path += n + strspn(path + n, "/");
    /* "/.." and its like lead above what the mount has. */
    for (const char *up = path; (up = strstr(up, "..")); up += 2)
        if ((up == path || up[-1] == '/') && (!up[2] || up[2] == '/'))
            return NULL;
    return path;
}
