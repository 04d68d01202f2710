#include "core/report/report_format.h"

#include <errno.h>

int report_format(struct session *s, const struct report_request *q, struct text *out,
                  struct err *e) {
    (void)s, (void)q, (void)out;
    return err_set(e, ENOSYS, "not written yet");
}
