/* "/live/PID": the page of one JVM. All that it shows comes through /api/v1. */
#include "core/http/serve/page/pages_shell.h"

#include "core/export/svg_text.h"

void pages_live(struct text *out, const struct jvm *jvm) {
    struct text title = {0}, attributes = {0};
    text_addf(&title, "%s (%d) \xc2\xb7 jtop-prof", jvm->name, (int)jvm->pid);
    text_addf(&attributes, " class=\"live\" data-pid=\"%d\" data-name=\"", (int)jvm->pid);
    svg_text_add(&attributes, jvm->name);
    text_add(&attributes, "\" data-version=\"");
    svg_text_add(&attributes, jvm->version);
    text_add(&attributes, "\"");
    out->failed |= title.failed || attributes.failed;
    if (!out->failed) {
        pages_begin(out, title.data, attributes.data);
        text_add(out, pages_live_body);
        pages_end(out, PAGE_LIVE);
    }
    text_free(&title);
    text_free(&attributes);
}
