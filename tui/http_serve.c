#include "core/serve/serve.h"
#include "tui/http_parts.h"

#include <errno.h>

int http_serve(const struct options *o, int stop_fd, struct err *e) {
    (void)o, (void)stop_fd;
    return err_set(e, ENOSYS, "not written yet");
}
