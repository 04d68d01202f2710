#include "core/serve/route.h"

#include <errno.h>

struct prof_table *prof_table_new(struct serve *s, struct err *e) {
    (void)s;
    err_set(e, ENOSYS, "not written yet");
    return NULL;
}

void prof_table_free(struct prof_table *t) {
    (void)t;
}

void serve_prof(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)s, (void)q;
    serve_refuse(a, 501, "not written yet");
}
