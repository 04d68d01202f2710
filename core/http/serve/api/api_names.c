#include "core/http/serve/api/api_names.h"

#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How a view may write a method: alone, or with its signature and library. */
#define STYLES 2
static const unsigned styles[STYLES] = {NAME_DOTTED, NAME_DOTTED | NAME_SIGNATURE | NAME_LIBRARY};

static int by_number(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static uint32_t distinct(uint32_t *id, size_t n) {
    uint32_t kept = 0;
    qsort(id, n, sizeof *id, by_number);
    for (size_t i = 0; i < n; i++)
        if (id[i] != METHOD_NONE && (kept == 0 || id[kept - 1] != id[i]))
            id[kept++] = id[i];
    return kept;
}

int api_names_take(struct api_names *n, const struct snapshot *s, const struct method_table *t,
                   uint32_t rows, const uint32_t *other, uint32_t others) {
    const uint32_t methods = s->method_count < rows ? s->method_count : rows;
    const uint32_t threads = s->thread_count < rows ? s->thread_count : rows;
    const uint32_t ways = s->via ? s->node_count : 0;
    uint32_t *id =
        malloc(((size_t)methods + threads + s->node_count + ways + others + 1) * sizeof *id);
    size_t ids = 0;
    *n = (struct api_names){0};
    if (!id)
        return -ENOMEM;
    for (uint32_t i = 0; i < methods; i++)
        id[ids++] = s->methods[i].method;
    for (uint32_t i = 0; i < threads; i++)
        id[ids++] = s->threads[i].top_method;
    for (uint32_t i = 0; i < s->node_count; i++)
        id[ids++] = s->nodes[i].method;
    for (uint32_t i = 0; i < ways; i++)
        id[ids++] = s->via[i];
    for (uint32_t i = 0; i < others; i++)
        id[ids++] = other[i];
    const uint32_t count = distinct(id, ids);
    n->name = calloc((size_t)count + 1, sizeof *n->name);
    for (uint32_t i = 0; n->name && i < count; i++)
        n->name[n->count++] = (struct api_name){
            .method = id[i], .is = *method_table_get(t, id[i]), .place = UINT32_MAX};
    free(id);
    return n->name ? 0 : -ENOMEM;
}

static int write_out(struct api_name *n, unsigned style) {
    char room[512];
    size_t bytes = frame_name(&n->is, style, room, sizeof room) + 1;
    char *text = malloc(bytes);
    if (!text)
        return -ENOMEM;
    if (bytes <= sizeof room)
        memcpy(text, room, bytes);
    else
        frame_name(&n->is, style, text, bytes);
    free(n->text);
    n->text = text;
    return 0;
}

static int by_text(const void *a, const void *b) {
    const struct api_name *const *x = a, *const *y = b;
    return strcmp((*x)->text, (*y)->text);
}

/* Writes equal names again, with signature and library. */
static int tell_apart(struct api_name **sorted, uint32_t count) {
    int r = 0;
    qsort(sorted, count, sizeof(void *), by_text);
    for (uint32_t i = 0, end; i < count && r == 0; i = end) {
        for (end = i + 1; end < count && by_text(&sorted[i], &sorted[end]) == 0; end++)
            ;
        for (uint32_t k = i; end - i > 1 && k < end && r == 0; k++)
            r = write_out(sorted[k], styles[1]);
    }
    return r;
}

int api_names_settle(struct api_names *n) {
    int r = 0;
    for (uint32_t i = 0; i < n->count && r == 0; i++)
        r = write_out(&n->name[i], styles[0]);
    struct api_name **sorted = r == 0 ? malloc(((size_t)n->count + 1) * sizeof(void *)) : NULL;
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < n->count; i++)
        sorted[i] = &n->name[i];
    r = tell_apart(sorted, n->count);
    free(sorted);
    return r;
}

void api_names_free(struct api_names *n) {
    for (uint32_t i = 0; i < n->count; i++)
        free(n->name[i].text);
    free(n->name);
    *n = (struct api_names){0};
}

struct api_name *api_names_find(const struct api_names *n, uint32_t method) {
    uint32_t low = 0, high = n->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (n->name[middle].method < method)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->count && n->name[low].method == method ? &n->name[low] : NULL;
}

const char *api_names_text(const struct api_names *n, uint32_t method) {
    const struct api_name *found = api_names_find(n, method);
    return found && found->text ? found->text : "";
}

static bool is_written(const struct method *m, const char *name) {
    char text[API_NAMES_BYTES];
    if (!strstr(name, m->name)) /* cheap, and rules out nearly all methods */
        return false;
    for (int i = 0; i < STYLES; i++)
        if (frame_name(m, styles[i], text, sizeof text) < sizeof text && strcmp(text, name) == 0)
            return true;
    return false;
}

uint32_t api_names_search(const struct method_table *t, const char *name,
                          uint32_t out[API_NAMES_SAME]) {
    const uint32_t count = method_table_count(t);
    uint32_t found = 0;
    for (uint32_t id = 0; id < count && found < API_NAMES_SAME; id++)
        if (is_written(method_table_get(t, id), name))
            out[found++] = id;
    return found;
}

const char *api_names_write(const struct method_table *t, uint32_t method, char *out, size_t size) {
    uint32_t same[API_NAMES_SAME];
    const struct method *m = method_table_get(t, method);
    frame_name(m, styles[0], out, size);
    if (api_names_search(t, out, same) > 1)
        frame_name(m, styles[1], out, size);
    return out;
}

const char *api_names_kind(enum method_kind kind) {
    static const char *const name[METHOD_KINDS] = {
        [METHOD_JAVA] = "java",     [METHOD_NATIVE] = "native", [METHOD_CPP] = "cpp",
        [METHOD_KERNEL] = "kernel", [METHOD_CLASS] = "class",   [METHOD_STUB] = "stub",
        [METHOD_ERROR] = "error",   [METHOD_THREAD] = "thread", [METHOD_COMPILING] = "compiling",
    };
    return kind < METHOD_KINDS ? name[kind] : "error";
}
