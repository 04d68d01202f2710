/* What narrows the question, as a stack. */
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

static void remove_narrowing(struct model_question *q, enum model_narrowing what) {
    uint8_t n = 0;
    for (uint8_t i = 0; i < q->narrowings; i++)
        if (q->order[i] != what)
            q->order[n++] = q->order[i];
    q->narrowings = n;
}

/* The newest one, if it was there before or not. */
static void push(struct model_question *q, enum model_narrowing what) {
    remove_narrowing(q, what);
    q->order[q->narrowings++] = (uint8_t)what;
}

bool model_zoom(struct model *m, const struct model_thread *t) {
    struct model_question *q = &m->question;
    if (t->is_virtual ? !t->java_id : !t->tid)
        return false;
    q->tid = t->is_virtual ? QUERY_ALL_THREADS : t->tid;
    q->virtual_id = t->is_virtual ? t->java_id : 0;
    model_thread_name(t, q->thread, sizeof q->thread);
    push(q, NARROW_THREAD);
    return true;
}

void model_zoom_out(struct model *m) {
    m->question.tid = QUERY_ALL_THREADS;
    m->question.virtual_id = 0;
    remove_narrowing(&m->question, NARROW_THREAD);
}

bool model_zoomed(const struct model_question *q) {
    return q->tid || q->virtual_id;
}

const char *model_zoom_name(const struct model *m, char *out, size_t size) {
    const struct model_question *q = &m->question;
    const struct model_thread *found = NULL;
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        bool is = q->virtual_id ? t->is_virtual && t->java_id == q->virtual_id
                                : !t->is_virtual && t->tid == q->tid;
        if (is && (!found || found->state == 'X'))
            found = t;
    }
    if (found)
        return model_thread_name(found, out, size);
    snprintf(out, size, "%s", q->thread); /* it has no row: no samples, or its carriers have them */
    return out;
}

void model_narrow_method(struct model *m, uint32_t method) {
    m->question.with_method = true;
    m->question.method = method;
    push(&m->question, NARROW_METHOD);
}

void model_narrow_package(struct model *m, const char *package) {
    snprintf(m->question.package, sizeof m->question.package, "%s", package);
    if (package[0])
        push(&m->question, NARROW_PACKAGE);
    else
        remove_narrowing(&m->question, NARROW_PACKAGE);
}

void model_narrow_filter(struct model *m, const char *filter) {
    struct model_question *q = &m->question;
    bool had = q->filter[0];
    snprintf(q->filter, sizeof q->filter, "%s", filter);
    if (!filter[0])
        remove_narrowing(q, NARROW_FILTER);
    else if (!had) /* typing on changes no order */
        push(q, NARROW_FILTER);
}

bool model_widen(struct model *m) {
    struct model_question *q = &m->question;
    if (!q->narrowings)
        return false;
    switch ((enum model_narrowing)q->order[q->narrowings - 1]) {
    case NARROW_THREAD:
        model_zoom_out(m);
        break;
    case NARROW_METHOD:
        q->with_method = false;
        remove_narrowing(q, NARROW_METHOD);
        break;
    case NARROW_PACKAGE:
        model_narrow_package(m, "");
        break;
    default:
        model_narrow_filter(m, "");
    }
    return true;
}

const char *model_package(const struct model *m, uint32_t method, char *out, size_t size) {
    const struct method *f = model_method(m, method);
    const char *end = f->kind == METHOD_JAVA ? strrchr(f->class_name, '/') : NULL;
    size_t n = end ? (size_t)(end - f->class_name) : 0;
    if (n >= size)
        n = size - 1;
    memcpy(out, f->class_name, n);
    out[n] = '\0';
    for (char *s = out; *s; s++)
        if (*s == '/')
            *s = '.';
    return out;
}
