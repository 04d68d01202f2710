/*
 * The names of the methods in one view. The methods are copied while the profile is locked; their
 * names are written afterwards. Within a view a text means one method: overloads, and equal symbols
 * of two libraries, have their signature or library appended.
 *
 * Context: any thread; the profile must live as long as this.
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
        char *text;     /* owned; NULL until api_names_settle */
        uint32_t place; /* in the view's list of tree names; UINT32_MAX: not in it */
    } * name;           /* sorted by method */
    uint32_t count;
};

/* Copies the methods of the snapshot's first `rows` methods and threads, of its tree, and `others`.
 * Called with the profile's lock. -ENOMEM. */
int api_names_take(struct api_names *n, const struct snapshot *s, const struct method_table *t,
                   uint32_t rows, const uint32_t *other, uint32_t others);
/* Writes the names. -ENOMEM. */
int api_names_settle(struct api_names *n);
void api_names_free(struct api_names *n);

/* NULL: the method is not among them. */
struct api_name *api_names_find(const struct api_names *n, uint32_t method);
const char *api_names_text(const struct api_names *n, uint32_t method);
const char *api_names_kind(enum method_kind kind);

#define API_NAMES_BYTES 2048 /* of a name; longer names are not found */
/* Writes one method's name, as a view may write it: with its signature and library if another method
 * of the table has the same name. Returns out. Context: the profile is locked. */
const char *api_names_write(const struct method_table *t, uint32_t method, char *out, size_t size);

#define API_NAMES_SAME 16
/* Finds the methods that a view may write as this name, overloads for example. Returns their
 * number, at most API_NAMES_SAME. Context: the profile is locked. */
uint32_t api_names_search(const struct method_table *t, const char *name,
                          uint32_t out[API_NAMES_SAME]);

#endif
