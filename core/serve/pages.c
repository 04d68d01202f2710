#include "core/serve/route.h"

void serve_index(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)s, (void)q;
    serve_refuse(a, 501, "not written yet");
}

void serve_live(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)s, (void)q;
    serve_refuse(a, 501, "not written yet");
}
