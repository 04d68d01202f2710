/* Texts about control groups. The input is the text of every file at once, and its first two lines
 * are a mount's root and a group. */
#include "attach/proc/cgroup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_group(const char *text) {
    char path[CGROUP_PATH];
    bool v2;
    if (cgroup_parse_group(text, &v2, path) && (path[0] != '/' || !memchr(path, 0, sizeof path)))
        abort();
}

static void check_mount(const char *text) {
    char root[CGROUP_PATH], point[CGROUP_PATH];
    for (int v2 = 0; v2 < 2; v2++)
        if (cgroup_parse_mount(text, v2, root, point) && (root[0] != '/' || point[0] != '/'))
            abort();
}

static void check_below(const char *text) {
    char root[256], path[256];
    size_t n = strcspn(text, "\n"), m = text[n] ? strcspn(text + n + 1, "\n") : 0;
    if (!text[n] || n >= sizeof root || m >= sizeof path)
        return;
    memcpy(root, text, n);
    memcpy(path, text + n + 1, m);
    root[n] = path[m] = '\0';
    const char *rest = cgroup_below(root, path);
    if (rest && (rest[0] == '/' || !strcmp(rest, "..") || strstr(rest, "/../")))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cgroup_cpu c = {0};
    double quota;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_group(text);
    check_mount(text);
    check_below(text);
    if (cgroup_parse_max(text, &quota) && !(quota >= 0))
        abort();
    if (cgroup_parse_quota(text, "100000", &quota) && !(quota >= 0))
        abort();
    cgroup_parse_stat(text, &c);
    free(text);
    return 0;
}
