#include "core/session/share/share_name.h"

#include "attach/proc/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTENS "00010000" /* flags of a listening socket in /proc/net/unix */

static uint64_t namespace_of(const char *process) {
    char path[48];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%s/ns/pid", process);
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

struct share_name share_name_of(pid_t jvm) {
    struct share_name n = {.jvm = jvm};
    struct proc_stat st;
    char number[16];
    if (jvm <= 0 || proc_stat(jvm, &st) != 0)
        return n;
    snprintf(number, sizeof number, "%d", (int)jvm);
    n.ticks = st.start_ticks;
    n.space = namespace_of(number);
    return n;
}

bool share_name_counts_alike(pid_t reader) {
    char number[16];
    if (reader <= 0)
        return false;
    snprintf(number, sizeof number, "%d", (int)reader);
    uint64_t theirs = namespace_of(number), ours = namespace_of("self");
    return !theirs || !ours || theirs == ours; /* the namespace of another user's process
                                                  cannot be read */
}

socklen_t share_name_address(const struct share_name *n, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    char *to = out->sun_path + 1, user[16] = "";
    if (n->second)
        snprintf(user, sizeof user, "-u%u", (unsigned)n->uid);
    int length = snprintf(to, sizeof out->sun_path - 1, "jtop-prof/%d-%" PRIu64 "-%" PRIu64 "%s",
                          (int)n->jvm, n->ticks, n->space, user);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Parses digits; nothing else may precede them. */
static bool take_number(const char **at, uint64_t max, uint64_t *out) {
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0 && *out <= max;
}

/* Parses a line of /proc/net/unix. */
static bool parse(const char *line, pid_t jvm, struct share_name *out) {
    char flags[16], before[48];
    uint64_t uid = 0;
    snprintf(before, sizeof before, " @jtop-prof/%d-", (int)jvm);
    const char *at = strstr(line, before);
    if (!at || sscanf(line, "%*s %*s %*s %15s", flags) != 1 || strcmp(flags, LISTENS) != 0)
        return false;
    *out = (struct share_name){.jvm = jvm};
    at += strlen(before);
    if (!take_number(&at, UINT64_MAX, &out->ticks) || *at++ != '-' ||
        !take_number(&at, UINT64_MAX, &out->space))
        return false;
    out->second = strncmp(at, "-u", 2) == 0;
    if (out->second) {
        at += 2;
        if (!take_number(&at, UINT32_MAX, &uid))
            return false;
    }
    out->uid = (uid_t)uid;
    return *at == '\n' || *at == '\0';
}

static int newest_first(const void *a, const void *b) {
    const struct share_name *x = a, *y = b;
    return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

static uint32_t look_through(const struct share_name *wanted, struct share_name *out) {
    uint32_t n = 0;
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen("/proc/net/unix", "re");
    while (f && n < SHARE_NAMES_MAX && getline(&line, &size, f) >= 0)
        n += parse(line, wanted->jvm, &out[n]) && (!wanted->ticks || out[n].ticks == wanted->ticks);
    free(line);
    if (f)
        fclose(f);
    qsort(out, n, sizeof *out, newest_first);
    return n;
}

/* Adds the second form for our user, and for the other user who can be trusted: root, or for root
 * the JVM's user. */
static uint32_t add_second(const struct share_name *first, struct share_name *out) {
    char path[32];
    struct stat st;
    uid_t us = geteuid(), other = 0;
    snprintf(path, sizeof path, "/proc/%d", (int)first->jvm);
    if (us == 0 && stat(path, &st) == 0)
        other = st.st_uid;
    out[0] = out[1] = *first;
    out[0].second = out[1].second = true;
    out[0].uid = us;
    out[1].uid = other;
    return us == other ? 1 : 2;
}

uint32_t share_name_list(pid_t jvm, struct share_name out[SHARE_NAMES_MAX], bool *found) {
    struct share_name n = share_name_of(jvm);
    *found = !n.ticks || !n.space;
    if (*found)
        return look_through(&n, out);
    out[0] = n;
    return 1 + add_second(&n, out + 1);
}
