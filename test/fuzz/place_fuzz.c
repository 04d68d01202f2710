/* What a JVM has mapped and mounted, and its environment, when a place for the agent is looked for. */
#include "attach/place/place_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(struct place_task *t, const char *dir) {
    (void)t;
    if (dir[0] != '/' || strlen(dir) >= PLACE_DIR_MAX)
        abort();
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct place_task t;
    char name[PLACE_PATH];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    t.root = t.cwd = -1;
    t.maps = t.mounts = t.environment = fd;
    strcpy(t.digest, "0badc0de");
    if (place_loaded(&t, name, sizeof name) && (name[0] != '/' || strlen(name) >= sizeof name))
        abort();
    place_dirs(&t, take);
    close(fd);
    return 0;
}
