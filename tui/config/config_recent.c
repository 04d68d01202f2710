/* The recently viewed JVMs, in a file in $XDG_STATE_HOME: one name per line, newest first. Errors
 * are ignored: a file that cannot be read counts as empty, and a name that cannot be written is not
 * kept. */
#include "tui/config/config_parts.h"

#include "core/base/home.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *recent_path(char *out, size_t size) {
    return home_path("XDG_STATE_HOME", ".local/state", "recent", out, size);
}

/* True if the name fits on a line of the file and on the screen. */
static bool is_fit(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return length > 0 && length < CONFIG_TEXT;
}

int config_recent(char name[CONFIG_RECENT][CONFIG_TEXT]) {
    char path[PATH_MAX], *text = NULL;
    int count = 0;
    if (!recent_path(path, sizeof path)[0] || config_read_file(path, &text, NULL) < 0)
        return 0;
    for (const char *p = text; *p && count < CONFIG_RECENT;) {
        size_t n = strcspn(p, "\n");
        if (is_fit(p, n))
            snprintf(name[count++], CONFIG_TEXT, "%.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
    free(text);
    return count;
}

/* Makes the directories above the file, with access for the user only. False: it failed. */
static bool make_directories(const char *path) {
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s", path);
    for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(at, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

/* False for root in another user's home (sudo): it would leave files that their owner cannot
 * change. */
static bool is_at_home(void) {
    const char *home = getenv("HOME"), *state = getenv("XDG_STATE_HOME");
    struct stat st;
    return (state && state[0] == '/') || (home && stat(home, &st) == 0 && st.st_uid == geteuid());
}

static bool write_names(int fd, const char *name, char (*before)[CONFIG_TEXT], int count) {
    FILE *f = fdopen(fd, "w");
    if (!f) {
        close(fd);
        return false;
    }
    fprintf(f, "%s\n", name);
    for (int i = 0, kept = 1; i < count && kept < CONFIG_RECENT; i++) {
        if (strcmp(before[i], name) == 0)
            continue;
        fprintf(f, "%s\n", before[i]);
        kept++;
    }
    bool good = !ferror(f);
    return fclose(f) == 0 && good;
}

void config_remember(const char *name) {
    char path[PATH_MAX], scratch[PATH_MAX + 16], before[CONFIG_RECENT][CONFIG_TEXT];
    if (!is_fit(name, strlen(name)) || !recent_path(path, sizeof path)[0] || !is_at_home() ||
        !make_directories(path))
        return;
    int count = config_recent(before);
    snprintf(scratch, sizeof scratch, "%s.XXXXXX", path);
    int fd = mkostemp(scratch, O_CLOEXEC); /* 0600 */
    if (fd < 0)
        return;
    if (!write_names(fd, name, before, count) || rename(scratch, path) != 0)
        unlink(scratch);
}
