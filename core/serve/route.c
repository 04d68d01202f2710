#include "core/serve/route.h"

void serve_refuse(struct serve_answer *a, unsigned status, const char *fmt, ...) {
    (void)fmt;
    a->status = status;
}
