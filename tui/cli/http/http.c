#include "tui/cli/http/http.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "jtop-prof-http"

#ifdef JTOP_STATIC

int http_run(const struct options *o, int argc, char **argv, struct err *e) {
    (void)argc, (void)argv;
    return err_set(e, ENOTSUP,
                   "%s is not in the statically linked program: use the package of your "
                   "distribution, or build it (make)",
                   o->word);
}

#else

static const char *const places[] = {"", "../lib/jtop-prof/"};

/* Finds the program: beside this one, or at another usual place. */
static int find(char *out, size_t size, char *looked, size_t looked_size) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return -errno;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    slash[1] = '\0';
    looked[0] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t length = strlen(looked);
        if (snprintf(out, size, "%s%s" PROGRAM, self, places[i]) >= (int)size)
            continue;
        if (access(out, X_OK) == 0)
            return 0;
        snprintf(looked + length, looked_size - length, "%s%s", length ? ", " : "", out);
    }
    return -ENOENT;
}

/* Reads the first line that `path --version` prints. Returns the exit code, or -errno. */
static int version_of(const char *path, char *out, size_t size) {
    int fds[2];
    if (pipe(fds) < 0)
        return -errno;
    pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execl(path, PROGRAM, "--version", (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    size_t have = 0;
    for (ssize_t n;
         child > 0 && have + 1 < size && (n = read(fds[0], out + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    out[have] = '\0';
    out[strcspn(out, "\n")] = '\0';
    close(fds[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -ECHILD;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int http_run(const struct options *o, int argc, char **argv, struct err *e) {
    char path[PATH_MAX + 64], looked[2 * sizeof path], version[256];
    (void)argc;
    if (find(path, sizeof path, looked, sizeof looked) < 0)
        return err_set(e, ENOENT,
                       "%s needs the program " PROGRAM
                       ", which was not found as %.300s: it comes with jtop-prof's package, or "
                       "with make where libmicrohttpd and libcurl are installed",
                       o->word, looked);
    int r = version_of(path, version, sizeof version);
    if (r == 127)
        return err_set(
            e, ENOENT,
            "%.200s cannot be started: one of its libraries is missing (ldd %.200s shows which)",
            path, path);
    if (r != 0 || strcmp(version, "jtop-prof " JTOP_VERSION) != 0)
        return err_set(e, EINVAL,
                       "%.200s reports version \"%.60s\", but this is jtop-prof %s: install both "
                       "from one package",
                       path, version, JTOP_VERSION);
    execv(path, argv);
    return err_set(e, errno, "cannot start %.300s: %s", path, strerror(errno));
}

#endif
