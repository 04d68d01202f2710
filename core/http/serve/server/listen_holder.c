#include "core/http/serve/server/listen_holder.h"
#include "core/base/clean_text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTENING "0A" /* TCP_LISTEN, as /proc/net/tcp writes it */

/* Finds the inode of the socket that listens on that port, in a /proc/net/tcp. 0: none. */
static unsigned long inode_of(const char *path, uint16_t port) {
    FILE *f = fopen(path, "re");
    char line[512], state[4];
    unsigned at;
    unsigned long inode, found = 0;
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, " %*[^:]: %*[^:]:%x %*s %3s %*s %*s %*s %*s %*s %lu", &at, state,
                   &inode) == 3 &&
            at == port && strcmp(state, LISTENING) == 0)
            found = inode;
    if (f)
        fclose(f);
    return found;
}

static bool has(const char *pid, const char *wanted) {
    char path[300], link[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *d = opendir(path);
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), entry->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        found = strcmp(link, wanted) == 0;
    }
    if (d)
        closedir(d);
    return found;
}

static void describe(const char *pid, char *out, size_t size) {
    char path[64], name[64] = "", clean[64];
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *f = fopen(path, "re");
    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = '\0';
        fclose(f);
    }
    clean_text(clean, sizeof clean, name, strcspn(name, "\n"));
    snprintf(out, size, "process %.20s (%s)", pid, clean);
}

bool listen_holder(uint16_t port, char *out, size_t size) {
    unsigned long inode = inode_of("/proc/self/net/tcp", port);
    if (!inode)
        inode = inode_of("/proc/self/net/tcp6", port);
    if (!inode)
        return false;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *d = opendir("/proc");
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d));)
        if (isdigit((unsigned char)entry->d_name[0]) && has(entry->d_name, wanted)) {
            describe(entry->d_name, out, size);
            found = true;
        }
    if (d)
        closedir(d);
    return found;
}
