/* "/": works without its script, which only keeps it fresh. */
#include "core/http/serve/page/pages_shell.h"

#include "core/export/human.h"
#include "core/export/svg_text.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_MS 1000000u

/* Before the rows' places in the body's file. */
static const char rows_here[] = "<!-- rows -->";

/* The label is for phones, where there is no room for the heads of columns. */
static void add_figure(struct text *out, const char *label, const char *text) {
    text_addf(out, "<td class=\"n\" data-label=\"%s\">%s</td>", label, text ? text : "");
}

static void add_figures(struct text *out, const struct jvm *j) {
    struct text t = {0};
    text_addf(&t, "%.1f%%", j->cpu_percent);
    add_figure(out, "CPU", t.data);
    text_clear(&t);
    human_weight(&t, j->rss_bytes, "bytes");
    add_figure(out, "Memory", t.data);
    text_clear(&t);
    human_count(&t, j->threads);
    add_figure(out, "Threads", t.data);
    text_clear(&t);
    human_weight(&t, j->uptime_ms * NS_PER_MS, "ns");
    add_figure(out, "Up", t.data);
    out->failed |= t.failed;
    text_free(&t);
}

static void add_links(struct text *out, const struct jvm *j) {
    if (j->closed) {
        text_add(out, "<td>may not be profiled: it is another user's; run the server as root, or "
                      "as ");
        svg_text_add(out, j->user);
        text_add(out, "</td>");
        return;
    }
    text_addf(out,
              "<td><a href=\"/live/%d\">live</a> <a href=\"/prof?pid=%d\">flame graph of 10 s</a> "
              "<a href=\"/prof?pid=%d&amp;event=alloc\">allocation</a></td>",
              (int)j->pid, (int)j->pid, (int)j->pid);
}

static void add_row(struct text *out, const struct jvm *j) {
    text_addf(out, "<tr data-pid=\"%d\"%s><td class=\"n\">%d</td><th scope=\"row\">", (int)j->pid,
              j->closed ? " class=\"closed\"" : "", (int)j->pid);
    if (!j->closed)
        text_addf(out, "<a href=\"/live/%d\">", (int)j->pid);
    svg_text_add(out, j->name);
    text_add(out, j->closed ? "</th><td>" : "</a></th><td>");
    svg_text_add(out, j->user);
    text_add(out, "</td><td>");
    svg_text_add(out, j->version);
    text_add(out, "</td>");
    add_figures(out, j);
    add_links(out, j);
    text_add(out, "</tr>\n");
}

void pages_list(struct text *out, const struct jvm *jvms, int count, const char *trouble) {
    const char *rest = strstr(pages_list_body, rows_here);
    pages_begin(out, "JVMs \xc2\xb7 jtop-prof", " class=\"list\"");
    if (rest)
        text_add_n(out, pages_list_body, (size_t)(rest - pages_list_body));
    for (int i = 0; i < count; i++)
        add_row(out, &jvms[i]);
    if (!count) {
        text_add(out, "<tr class=\"none\"><td colspan=\"9\">");
        svg_text_add(out, trouble ? trouble : "There is no JVM on this machine now.");
        text_add(out, "</td></tr>\n");
    }
    if (rest)
        text_add(out, rest + sizeof rows_here - 1);
    pages_end(out, PAGE_LIST);
}
