#include "attach/proc/process_maps.h"

#include "core/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 1000000

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "ld-musl-x86_64.so.1" is musl's whole libc. Alpine links libc.musl-*.so.1 to it, Debian keeps it
 * as libc.so in a separate directory. */
static enum process_libc libc_of(const char *path, const char *base) {
    if (begins(base, "ld-musl-") || begins(base, "libc.musl-") ||
        (!strcmp(base, "libc.so") && strstr(path, "musl")))
        return LIBC_MUSL;
    return begins(base, "libc.so.6") || (begins(base, "libc-2.") && strstr(base, ".so"))
               ? LIBC_GLIBC
               : LIBC_NONE;
}

static void keep(char out[PROCESS_MAPS_PATH], const char *path) {
    snprintf(out, PROCESS_MAPS_PATH, "%s", path);
    utf8_clean(out);
}

static bool is_profiler(const char *base) {
    static const char *const known[] = {"libasyncProfiler", "libddprof",   "libjavaProfiler",
                                        "liblagent",        "libyjpagent", "libjprofilerti"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(base, known[i]))
            return true;
    return false;
}

void process_maps_line(struct process_maps *m, const char *line) {
    static const char gone[] = " (deleted)";
    char path[4096];
    const char *at = strchr(line, '/');
    if (!at)
        return;
    snprintf(path, sizeof path, "%s", at);
    size_t n = strlen(path);
    bool deleted = n > sizeof gone - 1 && !strcmp(path + n - (sizeof gone - 1), gone);
    if (deleted)
        path[n - (sizeof gone - 1)] = '\0';
    const char *base = strrchr(path, '/') + 1;
    m->agent = m->agent || begins(base, "libjtop-agent.so") || begins(base, ".jtop-prof-");
    m->j9 = m->j9 || begins(base, "libj9vm");
    m->nameless = m->nameless || (!*base && strstr(line, " r-xp "));
    if (!strcmp(base, "libjvm.so")) {
        keep(m->vm_path, path);
        m->vm_deleted = deleted;
    }
    enum process_libc libc = libc_of(path, base);
    if (libc != LIBC_NONE && m->libc == LIBC_NONE) {
        m->libc = libc;
        keep(m->libc_path, path);
    }
    if (is_profiler(base)) {
        snprintf(m->profiler, sizeof m->profiler, "%s", base);
        utf8_clean(m->profiler);
    }
}

int process_maps_read(pid_t pid, struct process_maps *out) {
    char path[64], line[8192];
    *out = (struct process_maps){0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return -errno;
    for (int i = 0; i < LINES_MAX && fgets(line, sizeof line, f); i++) {
        line[strcspn(line, "\n")] = '\0';
        process_maps_line(out, line);
    }
    int error = ferror(f) ? errno : 0;
    fclose(f);
    return -error;
}
