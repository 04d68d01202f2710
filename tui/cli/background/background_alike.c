/* Whether another process is in the same situation as this one. */
#include "tui/cli/background/background_parts.h"

#include "attach/proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Rights, and what new files get (source: proc_pid_status(5)). */
static const char *const rights[] = {
    "Umask:", "Uid:", "Gid:", "Groups:", "\nCapEff:", "\nSeccomp:", "\nNoNewPrivs:"};
/* The program, and which files a path means. */
static const char *const places[] = {"exe", "root", "ns/mnt", "ns/pid", "ns/user"};
/* What our files' names and our cache depend on. */
static const char *const variables[] = {"TZ", "HOME", "XDG_CACHE_HOME"};

static bool same_place(pid_t reader, const char *place) {
    char theirs[64], ours[64];
    struct stat a, b;
    snprintf(theirs, sizeof theirs, "/proc/%d/%s", (int)reader, place);
    snprintf(ours, sizeof ours, "/proc/self/%s", place);
    return stat(theirs, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

#define STATUS_BYTES 32768 /* a user in thousands of groups makes it long */

/* Finds a line of /proc/PID/status; returns its length. */
static size_t find_line(const char *status, const char *name, const char **line) {
    *line = strstr(status, name);
    return *line ? 1 + strcspn(*line + 1, "\n") : 0;
}

static bool same_rights(pid_t reader) {
    char theirs[STATUS_BYTES], ours[STATUS_BYTES];
    if (proc_read(reader, "status", theirs, sizeof theirs) <= 0 ||
        proc_read(getpid(), "status", ours, sizeof ours) <= 0)
        return false;
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        const char *a, *b;
        size_t n = find_line(theirs, rights[i], &a), m = find_line(ours, rights[i], &b);
        if (n != m || (n && memcmp(a, b, n) != 0))
            return false;
    }
    return true;
}

static const char *find_variable(const char *block, size_t bytes, const char *name) {
    size_t n = strlen(name);
    for (const char *at = block; at < block + bytes; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    return NULL;
}

/* What setarch sets, and the profile of a security module (sources: personality(2), proc(5)). */
static const char *const words[] = {"personality", "attr/current"};

/* A file that cannot be read on either side is the same, too: there is no such module. */
static bool same_word(pid_t reader, const char *file) {
    char theirs[512], ours[512];
    ssize_t n = proc_read(reader, file, theirs, sizeof theirs);
    ssize_t m = proc_read(getpid(), file, ours, sizeof ours);
    return (n < 0 && m == n) || (n >= 0 && n == m && memcmp(theirs, ours, (size_t)n) == 0);
}

#define ENVIRONMENT_BYTES (256u << 10)

static bool same_environment(pid_t reader) {
    char *block = malloc(ENVIRONMENT_BYTES);
    ssize_t n = block ? proc_read(reader, "environ", block, ENVIRONMENT_BYTES) : -1;
    bool same = n >= 0 && n < (ssize_t)ENVIRONMENT_BYTES - 1;
    for (size_t i = 0; same && i < sizeof variables / sizeof variables[0]; i++) {
        const char *theirs = find_variable(block, (size_t)n, variables[i]);
        const char *ours = getenv(variables[i]);
        same = theirs && ours ? strcmp(theirs, ours) == 0 : theirs == ours;
    }
    free(block);
    return same;
}

bool background_is_like_us(pid_t pid) {
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (!same_place(pid, places[i]))
            return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!same_word(pid, words[i]))
            return false;
    return same_rights(pid) && same_environment(pid);
}
