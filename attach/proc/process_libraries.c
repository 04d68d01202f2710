#include "attach/proc/process_libraries.h"

#include "core/base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 100000

struct file {
    char path[1024];
    uint64_t begin, end;
    bool has_code;
};

int process_libraries(pid_t pid,
                      void (*tell)(void *arg, const char *path, uint64_t begin, uint64_t end),
                      void *arg) {
    char name[48], line[1200];
    struct file f = {.path = ""};
    int told = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        return -errno;
    for (int n = 0; n < LINES_MAX && told < PROCESS_LIBRARIES_MAX; n++) {
        uint64_t begin = 0, end = 0;
        char rights[8] = "";
        const char *path = "";
        bool more = fgets(line, sizeof line, maps);
        if (more && sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, rights) == 3 &&
            (path = strchr(line, '/')))
            line[strcspn(line, "\n")] = '\0';
        path = path ? path : "";
        if (strcmp(path, f.path) != 0) {
            utf8_clean(f.path);
            if (f.has_code && f.path[0]) {
                tell(arg, f.path, f.begin, f.end);
                told++;
            }
            snprintf(f.path, sizeof f.path, "%s", path);
            f.begin = begin;
            f.has_code = false;
        }
        f.end = end;
        f.has_code |= rights[2] == 'x';
        if (!more)
            break;
    }
    fclose(maps);
    return 0;
}
