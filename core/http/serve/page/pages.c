#include "core/http/serve/page/pages.h"

#include "core/export/frame_change.h"
#include "core/export/frame_class.h"
#include "core/export/human.h"
#include "core/export/svg_text.h"
#include "core/http/serve/page/pages_hash.h"
#include "core/http/serve/server/route.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What all pages have in common: head, style, script, and the colours of frames, which their
 * scripts need.
 */

/* Writes everything before the body's content; `attributes` is HTML inside the body's tag. */
static void pages_begin(struct text *out, const char *title, const char *attributes) {
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

/* Data, not a script that runs: the policy does not apply to it. */
static void add_colours(struct text *out) {
    text_add(out, "<script type=\"application/json\" id=\"looks\">{\"looks\":[");
    for (int c = 0; c < FRAME_CLASSES; c++) {
        const struct frame_class_look *look = &frame_class_looks[c];
        text_addf(out, "%s{\"letter\":\"%c\",\"label\":\"%s\",\"colours\":[", c ? ",\n" : "",
                  look->letter, look->label);
        for (unsigned shade = 0; shade < FRAME_SHADES; shade++)
            text_addf(out, "%s\"#%06x\"", shade ? "," : "",
                      frame_class_colour((enum frame_class)c, shade));
        text_add(out, "]}");
    }
    text_add(out, "],\n\"changes\":[");
    for (unsigned shade = 0; shade < CHANGE_SHADES; shade++)
        text_addf(out, "%s\"#%06x\"", shade ? "," : "", frame_change_colour(shade));
    text_add(out, "]}</script>\n");
}

/* Writes everything after the body's content. */
static void pages_end(struct text *out, enum page page) {
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

/* "/": works without its script, which only keeps it up to date. */

#define NS_PER_MS 1000000u

/* Marks the place of the rows in the body's file. */
static const char rows_here[] = "<!-- rows -->";

/* The label is for phones, which have no room for the heads of columns. */
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
        text_add(out,
                 "<td>cannot be profiled: it belongs to another user; run the server as root or "
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

/* "/live/PID": the page of one JVM. All its data comes through /api/v1. */

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

static void finish(struct serve_answer *a, enum page page) {
    if (a->body.failed) {
        text_free(&a->body);
        serve_refuse(a, 503, "no memory for the page");
        return;
    }
    a->type = "text/html; charset=utf-8";
    a->policy = pages_policy(page);
}

/* The fleet knows the JVMs that may be profiled, and what they use now. Adds the JVMs that may not
 * be profiled. Takes over `jvms`. */
static int add_closed(struct jvm **jvms, int count) {
    struct err e = {0};
    struct jvm *all = NULL;
    int n = jvm_list_all(&all, &e);
    if (n < 0)
        return count;
    for (int i = 0, k = 0; i < n; i++) {
        while (k < count && (*jvms)[k].pid < all[i].pid)
            k++;
        if (k < count && (*jvms)[k].pid == all[i].pid)
            all[i] = (*jvms)[k];
    }
    free(*jvms);
    *jvms = all;
    return n;
}

void serve_index(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)q;
    struct err e = {0};
    struct jvm *jvms = NULL;
    int count = fleet_jvms(s->fleet, &jvms, &e);
    if (count >= 0)
        count = add_closed(&jvms, count);
    pages_list(&a->body, jvms, count > 0 ? count : 0, count < 0 ? e.message : NULL);
    free(jvms);
    finish(a, PAGE_LIST);
}

void serve_live(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    const char *rest = NULL;
    pid_t pid = serve_pid(q->rest, &rest);
    if (!pid || *rest) {
        serve_refuse(a, 404, "no such page: /live/PID shows one JVM, / lists them");
        return;
    }
    struct err e = {0};
    struct jvm jvm;
    if (fleet_jvm(s->fleet, pid, &jvm, &e)) {
        serve_refuse_err(a, &e);
        return;
    }
    pages_live(&a->body, &jvm);
    finish(a, PAGE_LIVE);
}
