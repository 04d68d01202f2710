/*
 * The names of one view's methods. What they are is copied while the profile is locked; how they
 * are written is settled afterwards. Within a view a text is one method: overloads and equal
 * symbols of two libraries have their signature or library behind them.
 *
 * Context: any thread; the profile lives as long as this.
 */
#ifndef JTOP_HTTP_SERVE_API_API_NAMES_H
#define JTOP_HTTP_SERVE_API_API_NAMES_H

#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/method_table.h"

#include <stdint.h>

struct api_names {
    struct api_name {
        uint32_t method;
        struct method is;
        char *text;     /* owned; NULL until settled */
        uint32_t place; /* in the view's list of tree names; UINT32_MAX: not in it */
    } * name;           /* by method, ascending */
    uint32_t count;
};

/* With the profile's lock held: those of the snapshot's first `rows` methods and threads, and of
 * its tree. -ENOMEM. */
int api_names_take(struct api_names *n, const struct snapshot *s, const struct method_table *t,
                   uint32_t rows);
/* Writes them out. -ENOMEM. */
int api_names_settle(struct api_names *n);
void api_names_free(struct api_names *n);

/* NULL: it is not among them. */
struct api_name *api_names_find(const struct api_names *n, uint32_t method);
const char *api_names_text(const struct api_names *n, uint32_t method);
const char *api_names_kind(enum method_kind kind);

/* How a method may be written in a view: alone, with a signature, with its library. */
#define API_NAME_STYLES 2
extern const unsigned api_name_style[API_NAME_STYLES];

#endif
