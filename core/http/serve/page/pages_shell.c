#include "core/http/serve/page/pages_shell.h"

#include "core/export/frame_class.h"
#include "core/export/svg_text.h"
#include "core/http/serve/page/pages_hash.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

void pages_begin(struct text *out, const char *title, const char *attributes) {
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"generator\" content=\"jtop-prof " JTOP_VERSION "\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    svg_text_add(out, title);
    text_add(out, "</title>\n<style>");
    text_add(out, pages_style);
    text_add(out, "</style>\n</head>\n<body");
    text_add(out, attributes);
    text_add(out, ">\n");
}

/* Data, not a script that runs: the policy does not ask about it. */
static void add_colours(struct text *out) {
    text_add(out, "<script type=\"application/json\" id=\"looks\">[");
    for (int c = 0; c < FRAME_CLASSES; c++) {
        const struct frame_class_look *look = &frame_class_looks[c];
        text_addf(out, "%s{\"letter\":\"%c\",\"label\":\"%s\",\"colours\":[", c ? ",\n" : "",
                  look->letter, look->label);
        for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
            text_addf(out, "%s\"#%06x\"", shade ? "," : "",
                      frame_class_colour((enum frame_class)c, shade));
        text_add(out, "]}");
    }
    text_add(out, "]</script>\n");
}

void pages_end(struct text *out, enum page page) {
    if (page == PAGE_LIVE)
        add_colours(out);
    text_add(out, "<script>");
    for (const char *const *s = pages_script(page); *s; s++)
        text_add(out, *s);
    text_add(out, "</script>\n</body>\n</html>\n");
}

static char policies[PAGES][512];

static void make_policies(void) {
    char style[PAGES_HASH_TEXT], script[PAGES_HASH_TEXT];
    struct pages_hash h;
    pages_hash_begin(&h);
    pages_hash_add(&h, pages_style, strlen(pages_style));
    pages_hash_end(&h, style);
    for (int p = 0; p < PAGES; p++) {
        pages_hash_begin(&h);
        for (const char *const *s = pages_script((enum page)p); *s; s++)
            pages_hash_add(&h, *s, strlen(*s));
        pages_hash_end(&h, script);
        (void)snprintf(policies[p], sizeof policies[p],
                       "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
                       "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'",
                       script, style);
    }
}

const char *pages_policy(enum page page) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_policies);
    return policies[page];
}
