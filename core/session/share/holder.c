#include "core/session/share/holder.h"

#include "core/wire/layout.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINK_TEXT "/memfd:" WIRE_MEMFD_NAME " (deleted)"
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu /* source: Linux include/linux/proc_ns.h */
#define LEAVE_STEPS 20
#define LEAVE_STEP_NS 50000000

static DIR *open_place(pid_t pid, const char *place) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, place);
    return opendir(path);
}

/* Finds the agent's memfd among the JVM's descriptors. */
static bool find_file(pid_t jvm, struct stat *out) {
    DIR *dir = open_place(jvm, "fd");
    if (!dir)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(dir));) {
        char link[64];
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link);
        found = n == (ssize_t)strlen(LINK_TEXT) && memcmp(link, LINK_TEXT, (size_t)n) == 0 &&
                fstatat(dirfd(dir), entry->d_name, out, 0) == 0 && S_ISREG(out->st_mode);
    }
    closedir(dir);
    return found;
}

/* Whether the process runs the same program as we do: the maps of other programs are not read. */
static bool runs_us(pid_t pid) {
    char path[64], theirs[PATH_MAX], ours[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, theirs, sizeof theirs - 1);
    ssize_t m = readlink("/proc/self/exe", ours, sizeof ours - 1);
    if (n <= 0 || m <= 0)
        return false;
    theirs[n] = ours[m] = '\0';
    const char *name = strrchr(theirs, '/'), *own = strrchr(ours, '/');
    return name && own && strcmp(name, own) == 0;
}

static bool maps_file(pid_t pid, const struct stat *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool found = false;
    char *line = NULL;
    size_t size = 0;
    while (!found && getline(&line, &size, f) > 0) {
        unsigned long inode = 0;
        /* A file with the same number on another file system has another name. */
        found = strstr(line, LINK_TEXT) && sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 &&
                inode == file->st_ino;
    }
    free(line);
    fclose(f);
    return found;
}

bool holder_hidden(pid_t jvm) {
    struct stat file, own;
    if (stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == FIRST_PID_NAMESPACE)
        return false;
    for (int i = 0; i < LEAVE_STEPS; i++) {
        if (!find_file(jvm, &file))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LEAVE_STEP_NS}, NULL);
    }
    return true;
}

pid_t holder_find(pid_t jvm) {
    struct stat file;
    DIR *proc = find_file(jvm, &file) ? opendir("/proc") : NULL;
    pid_t holder = 0;
    if (!proc)
        return 0;
    for (struct dirent *entry; !holder && (entry = readdir(proc));) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        if (pid > 0 && pid != jvm && pid != getpid() && runs_us(pid) && maps_file(pid, &file))
            holder = pid;
    }
    closedir(proc);
    return holder;
}
