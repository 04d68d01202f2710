#include "core/http/serve/page/pages.h"

#include "core/http/serve/server/route.h"

#include <errno.h>
#include <stdlib.h>

static void finish(struct serve_answer *a, enum page page) {
    if (a->body.failed) {
        text_free(&a->body);
        serve_refuse(a, 503, "no memory for the page");
        return;
    }
    a->type = "text/html; charset=utf-8";
    a->policy = pages_policy(page);
}

/* The fleet knows those that may be profiled, and what they use now; here the others are shown, too.
 * Takes `jvms`. */
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
