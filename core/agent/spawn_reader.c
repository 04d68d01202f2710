#include "core/agent/agent.h"
#include "core/wire/handshake.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside the library, as after make; or in ../../bin, as after make install. */
static bool find_frontend(char *path, size_t size) {
    static const char *const places[] = {"jtop-prof", "../../bin/jtop-prof", "../bin/jtop-prof"};
    Dl_info self;
    if (agent.options.frontend[0])
        return snprintf(path, size, "%s", agent.options.frontend) < (int)size;
    if (!dladdr((void *)&agent, &self) || !self.dli_fname)
        return false;
    const char *slash = strrchr(self.dli_fname, '/');
    int directory = slash ? (int)(slash - self.dli_fname) : 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = directory ? snprintf(path, size, "%.*s/%s", directory, self.dli_fname, places[i])
                          : snprintf(path, size, "%s", places[i]);
        if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
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
