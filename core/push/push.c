#include "core/push/push.h"

#include <errno.h>

int push_run(const struct push_options *o, int stop_fd, struct err *e) {
    (void)o, (void)stop_fd;
    return err_set(e, ENOSYS, "not written yet");
}
