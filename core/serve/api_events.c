#include "core/serve/api.h"

void serve_events(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)s, (void)q;
    serve_refuse(a, 501, "not written yet");
}
