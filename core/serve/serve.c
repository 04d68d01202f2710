#include "core/serve/serve.h"

#include <errno.h>

int serve_run(const struct serve_options *o, int stop_fd, void (*ready)(void *arg, const char *url),
              void *arg, struct err *e) {
    (void)o, (void)stop_fd, (void)ready, (void)arg;
    return err_set(e, ENOSYS, "not written yet");
}
