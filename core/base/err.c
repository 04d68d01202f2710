#include "core/base/err.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(struct err *e, enum err_exit exit_code, int code, const char *fmt, va_list ap) {
    if (!e)
        return;
    e->code = code;
    e->exit_code = (int)exit_code;
    vsnprintf(e->message, sizeof e->message, fmt, ap);
}

int err_set(struct err *e, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(e, ERR_EXIT_USAGE, code, fmt, ap);
    va_end(ap);
    return -code;
}

int err_exit_as(struct err *e, enum err_exit exit_code, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(e, exit_code, code, fmt, ap);
    va_end(ap);
    return -code;
}
