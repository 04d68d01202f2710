#include "attach/find/container.h"

#include "attach/proc/proc.h"
#include "core/base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_DIGITS 64
#define ID_SHOWN 12

/* Prefixes of a machine's name. The name ends at a slash, a dot or the end of the line. */
static const char *const before_name[] = {"/machine-", "/lxc.payload.", "/lxc.payload/", "/lxc/"};

static const char *find_id(const char *text) {
    for (const char *at = text; *at;) {
        size_t n = strspn(at, "0123456789abcdef");
        if (n == ID_DIGITS)
            return at;
        at += n ? n : 1;
    }
    return NULL;
}

const char *container_parse(const char *cgroup, char out[CONTAINER_NAME]) {
    const char *id = find_id(cgroup);
    out[0] = '\0';
    if (id) {
        memcpy(out, id, ID_SHOWN);
        out[ID_SHOWN] = '\0';
        return out;
    }
    for (size_t i = 0; i < sizeof before_name / sizeof *before_name; i++) {
        const char *at = strstr(cgroup, before_name[i]);
        if (!at)
            continue;
        at += strlen(before_name[i]);
        snprintf(out, CONTAINER_NAME, "%.*s", (int)strcspn(at, "/.\n"), at);
        utf8_clean(out);
        return out;
    }
    return out;
}

/* Finds the group's path, in the line of v2 or else in the first line: "/a/b" of "0::/a/b". Returns
 * its length. */
static size_t find_group(const char *text, const char **out) {
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    const char *end = text + strlen(text);
    line = line ? line + (*line == '\n') : text;
    *out = end;
    for (int colons = 0; colons < 2 && *line && *line != '\n'; line++)
        colons += *line == ':';
    if (*line != '/')
        return 0;
    size_t n = strcspn(line, "\n");
    while (n > 0 && line[n - 1] == '/')
        n--;
    *out = line;
    return n;
}

/* Names of systemd's units, and names that lead out of our view ("..") do not name a container. */
static bool is_generic(const char *name, size_t n) {
    static const char *const ends[] = {".slice", ".scope", ".service", ".mount"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len = strlen(ends[i]);
        if (n >= len && strncmp(name + n - len, ends[i], len) == 0)
            return true;
    }
    return n == 0 || (n == 1 && name[0] == '.') || (n == 2 && strncmp(name, "..", 2) == 0);
}

const char *container_group(const char *cgroup, const char *ours, char out[CONTAINER_NAME]) {
    const char *theirs, *own;
    size_t n = find_group(cgroup, &theirs), own_n = find_group(ours, &own), begin = n;
    out[0] = '\0';
    if (n == own_n && strncmp(theirs, own, n) == 0)
        return out;
    while (begin > 0 && theirs[begin - 1] != '/')
        begin--;
    if (is_generic(theirs + begin, n - begin))
        return out;
    snprintf(out, CONTAINER_NAME, "%.*s", (int)(n - begin), theirs + begin);
    utf8_clean(out);
    return out;
}

const char *container_name(pid_t pid, char out[CONTAINER_NAME]) {
    char text[8192], ours[8192] = "";
    if (proc_read(pid, "cgroup", text, sizeof text) > 0) {
        if (container_parse(text, out)[0])
            return out;
        if (proc_read(getpid(), "cgroup", ours, sizeof ours) > 0 &&
            container_group(text, ours, out)[0])
            return out;
    }
    snprintf(out, CONTAINER_NAME, "yes");
    return out;
}
