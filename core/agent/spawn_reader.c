#include "core/agent/agent.h"
#include "core/wire/handshake.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_program(const char *directory, size_t length, const char *name, char *path,
                       size_t size) {
    int n = snprintf(path, size, "%.*s%s%s", (int)length, directory, length ? "/" : "", name);
    return n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

static bool find_in(const char *directory, size_t length, const char *const *places, char *path,
                    size_t size) {
    while (*places && !is_program(directory, length, *places, path, size))
        places++;
    return *places != NULL;
}

/* Searches beside the library. The path it was loaded by may be a symbolic link, so its real path
 * is searched as well. */
static bool find_beside(const char *const *places, char *path, size_t size) {
    char real[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)&agent, &self) || !self.dli_fname)
        return false;
    const char *names[] = {self.dli_fname, realpath(self.dli_fname, real)};
    for (int i = 0; i < 2 && names[i]; i++) {
        const char *slash = strrchr(names[i], '/');
        if (find_in(names[i], slash ? (size_t)(slash - names[i]) : 0, places, path, size))
            return true;
    }
    return false;
}

static bool find_on_path(char *path, size_t size) {
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        if (n && is_program(at, n, "jtop-prof", path, size))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* Finds the reader's program: beside the library (as after make) or in ../../bin (as after make
 * install), then on the PATH, as a copy of the library may be anywhere. The last place is that of
 * async-profiler's program, which ours may have replaced. If it is still async-profiler's, it
 * rejects the arguments. */
static bool find_frontend(char *path, size_t size) {
    static const char *const places[] = {"jtop-prof", "../../bin/jtop-prof", "../bin/jtop-prof",
                                         NULL};
    static const char *const replaced[] = {"../bin/asprof", NULL};
    if (agent.options.frontend[0])
        return snprintf(path, size, "%s", agent.options.frontend) < (int)size;
    return find_beside(places, path, size) || find_on_path(path, size) ||
           find_beside(replaced, path, size);
}

int agent_spawn_reader(void) {
    char program[1024];
    char pid_text[16];
    char fd_text[16];
    pid_t child;
    if (!find_frontend(program, sizeof program))
        return -ENOENT;
    snprintf(pid_text, sizeof pid_text, "%d", (int)getpid());
    snprintf(fd_text, sizeof fd_text, "%d", HANDSHAKE_READER_FD);
    char *argv[] = {program,
                    "--reader",
                    fd_text,
                    "--reader-pid",
                    pid_text,
                    "--reader-options",
                    agent.options.text,
                    NULL};
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0)
        return -r;
    posix_spawn_file_actions_adddup2(&actions, agent.mapping.memfd, HANDSHAKE_READER_FD);
    r = posix_spawn(&child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (r != 0)
        return -r;
    /* The program forks the reader and exits at once. Nothing else in the JVM reaps it. */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}
