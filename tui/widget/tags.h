/*
 * The items that the user tagged, to do something with all of them. A tag is by identity, not by row
 * number: it stays on its item while rows move, and other views mark the same item.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_WIDGET_TAGS_H
#define JTOP_TUI_WIDGET_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#define TAGS_MAX 64 /* the sets in tag_sum have a bit for each */

enum tag_kind {
    TAG_NONE,   /* an item that cannot be tagged */
    TAG_METHOD, /* a method or class; its id */
    TAG_THREAD, /* a thread or pool of threads; the identity of its row in the threads view */
};

struct tag {
    enum tag_kind kind;
    uint64_t id;
};

/* All zero: no tags. */
struct tags {
    struct tag of[TAGS_MAX]; /* oldest first */
    int count;
    uint64_t hashes; /* a bit for each tag: most items are found not to be tagged by this alone */
};

/* What the tagged items of a view weigh together, each sample counted once. */
struct tag_sum {
    uint64_t seen; /* the tags whose items the view has: bits by index in `of` */
    uint64_t weight, all;
};

/* Returns the index in `of`; -1: not tagged. */
int tags_find(const struct tags *t, struct tag tag);
/* Tags the item, or takes its tag away. -ENOSPC: there are TAGS_MAX tags. -EINVAL: TAG_NONE. */
int tags_toggle(struct tags *t, struct tag tag);
void tags_clear(struct tags *t);
/* If the item is tagged, adds it and its weight to the sum, and returns true. */
bool tags_add(const struct tags *t, struct tag_sum *sum, struct tag tag, uint64_t weight);

#endif
