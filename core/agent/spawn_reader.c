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

/* Beside the library, as after make; or in ../../bin, as after make install. */
static bool find_beside(const char *library, char *path, size_t size) {
    static const char *const places[] = {"jtop-prof", "../../bin/jtop-prof", "../bin/jtop-prof"};
    const char *slash = strrchr(library, '/');
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (is_program(library, slash ? (size_t)(slash - library) : 0, places[i], path, size))
            return true;
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

/* Where the library is, by the name it was loaded by or by its own, which a link may hide; a copy of
 * it may be anywhere. */
static bool find_frontend(char *path, size_t size) {
    char real[PATH_MAX];
    Dl_info self;
    if (agent.options.frontend[0])
        return snprintf(path, size, "%s", agent.options.frontend) < (int)size;
    if (dladdr((void *)&agent, &self) && self.dli_fname &&
        (find_beside(self.dli_fname, path, size) ||
         (realpath(self.dli_fname, real) && find_beside(real, path, size))))
        return true;
    return find_on_path(path, size);
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
    /* It leaves at once, its own child stays. Nobody else may wait for our child. */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}
