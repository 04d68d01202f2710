#include "attach/container.h"

#include "attach/printable.h"
#include "attach/proc.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64
#define ID_SHOWN 12

/* Before a machine's name, which ends at a slash, a dot, or the line. */
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
        printable(out);
        return out;
    }
    return out;
}

const char *container_name(pid_t pid, char out[CONTAINER_NAME]) {
    char text[8192];
    if (proc_read(pid, "cgroup", text, sizeof text) <= 0 || !container_parse(text, out)[0])
        snprintf(out, CONTAINER_NAME, "yes");
    return out;
}
