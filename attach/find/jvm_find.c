#include "attach/find/jvm.h"

#include "attach/find/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX 320 /* bytes of an error message that may go into a list of JVMs */

/* A way for a name to fit what was asked for; the strictest that fits any JVM counts. */
typedef bool (*fit)(const char *name, const char *what);

static bool fits_whole(const char *name, const char *what) {
    return strcmp(name, what) == 0;
}

/* The class without its package, or the jar file without ".jar". */
static bool fits_short(const char *name, const char *what) {
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".jar") == 0)
        return strlen(what) == len - 4 && strncmp(name, what, len - 4) == 0;
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot + 1, what) == 0;
}

static bool fits_part(const char *name, const char *what) {
    return strcasestr(name, what) != NULL;
}

static bool fits_any(const char *name, const char *what) {
    (void)name;
    (void)what;
    return true;
}

/* "12 Main, 34 app.jar in 1a2b3c4d5e6f", cut with "..." where it grows too long. */
static void list_names(const struct jvm *list, int n, fit fits, const char *what, char *out) {
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (!fits(list[i].name, what))
            continue;
        char item[64 + CONTAINER_NAME], container[CONTAINER_NAME] = "yes";
        if (list[i].container)
            container_name(list[i].pid, container);
        bool named = strcmp(container, "yes") != 0;
        snprintf(item, sizeof item, "%s%d %.40s%s%s", len ? ", " : "", (int)list[i].pid,
                 list[i].name, named ? " in " : "", named ? container : "");
        if (len + strlen(item) >= LIST_MAX - 8) {
            snprintf(out + len, LIST_MAX - len, ", ...");
            return;
        }
        len += (size_t)snprintf(out + len, LIST_MAX - len, "%s", item);
    }
}

static int none_fits(const struct jvm *list, int n, const char *what, struct err *e) {
    char names[LIST_MAX];
    if (n == 0)
        return err_set(e, ESRCH,
                       "no JVM is running that uid %u may look into: start one, or run %s",
                       (unsigned)geteuid(),
                       geteuid() == 0 ? "with CAP_SYS_PTRACE, or as its user (setpriv --reuid UID "
                                        "--regid GID --clear-groups jtop-prof ...)"
                                      : "as its user or as root");
    list_names(list, n, fits_any, what, names);
    return err_set(e, ESRCH, "no JVM is named '%.80s'; running: %s", what, names);
}

static int several_fit(const struct jvm *list, int n, fit fits, const char *what, struct err *e) {
    char names[LIST_MAX];
    list_names(list, n, fits, what, names);
    return err_set(e, ENOTUNIQ, "several JVMs fit '%.80s', give the pid of one: %s", what, names);
}

static int choose(const struct jvm *list, int n, const char *what, struct jvm *out, struct err *e) {
    static const fit ways[] = {fits_whole, fits_short, fits_part};
    static const fit any[] = {fits_any};
    bool only = strcmp(what, "jps") == 0;
    const fit *way = only ? any : ways;
    for (size_t w = 0; w < (only ? 1 : sizeof ways / sizeof *ways); w++) {
        int found = -1, count = 0;
        for (int i = 0; i < n; i++)
            if (way[w](list[i].name, what)) {
                found = i;
                count++;
            }
        if (count > 1)
            return several_fit(list, n, way[w], what, e);
        if (count == 1) {
            *out = list[found];
            return 0;
        }
    }
    return none_fits(list, n, what, e);
}

int jvm_find(const char *what, struct jvm *out, struct err *e) {
    if (*what == '\0')
        return err_set(e, EINVAL, "no JVM was named: give a pid, a main class or a jar file");
    if (strspn(what, "0123456789") == strlen(what)) {
        long pid = strlen(what) < 10 ? strtol(what, NULL, 10) : 0;
        if (pid <= 0)
            return err_set(e, EINVAL, "'%.40s' is not a process id", what);
        return jvm_inspect((pid_t)pid, out, e);
    }
    struct jvm *list;
    int n = jvm_list(&list, e);
    if (n < 0)
        return n;
    int rc = choose(list, n, what, out, e);
    free(list);
    return rc;
}
