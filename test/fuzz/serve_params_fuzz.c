/* A URL's question or a form: whatever it holds, what is taken of it is text of bounded length. */
#include "core/http/serve/server/params.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t most) {
    if (strlen(text) > most)
        abort();
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f || *c == 0xc0 || *c == 0xc1 || *c > 0xf4)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct params p;
    struct err e = {0};
    uint64_t n = 0;
    char *form = malloc(size + 1);
    if (!form)
        abort();
    memcpy(form, data, size);
    form[size] = '\0';
    memset(&p, 0, sizeof p);
    int r = params_read(&p, form, &e);
    if (r < 0 && !e.message[0])
        abort();
    if (p.count > PARAMS_MAX)
        abort();
    for (uint32_t i = 0; i < p.count; i++) {
        const char *name = p.item[i].name;
        check(name, size);
        check(p.item[i].value, PARAMS_VALUE_MAX);
        if (!params_text(&p, name) || !p.item[i].used)
            abort();
        params_flag(&p, name);
        if (params_number(&p, name, 3, 1000, &n, &e) == 1 && (n < 3 || n > 1000))
            abort();
    }
    if (params_unused(&p))
        abort();
    free(form);
    return 0;
}
