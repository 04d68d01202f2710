/* Questions to /prof; the input is what stands behind the '?'. Whatever is taken is within its bounds,
 * and what is refused is refused in one line that names what. */
#include "core/http/serve/prof/prof_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct prof_ask *a) {
    struct query q;
    prof_ask_query(a, &q);
    if (a->duration_s < 1 || a->duration_s > PROF_DURATION_MAX || a->pid < 0 || a->pid > 4194304 ||
        !a->exporter || a->want.engines < 1 || a->want.engines > WIRE_EVENTS ||
        q.includes + q.excludes > PROF_PATTERNS_MAX || a->want.ring_bytes > 256u << 20 ||
        a->want.depth > WIRE_DEPTH_DEFAULT || !prof_ask_same(a, a) || !a->exporter->type)
        abort();
    if (a->want.engines > 1 && !a->exporter->write_all)
        abort();
    for (uint32_t i = 0; i < a->want.engines; i++)
        if (strchr(a->want.engine[i].name, '/') || a->event[i] < 0 || a->event[i] >= WIRE_EVENTS)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct params p = {0};
    struct prof_ask *a = NULL;
    struct err e = {0};
    char *form = malloc(size + 1);
    if (!form)
        return 0;
    if (size)
        memcpy(form, data, size);
    form[size] = '\0';
    int r = params_read(&p, form, &e);
    if (r == 0) {
        r = prof_ask_read(&p, &a, &e);
        if ((r == 0) != (a != NULL) || (r != 0 && r != -EINVAL && r != -ENOMEM))
            abort();
    }
    if (r < 0 && (!e.message[0] || strchr(e.message, '\n')))
        abort();
    if (a)
        check(a);
    free(a);
    free(form);
    return 0;
}
