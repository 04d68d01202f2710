/*
 * What is wrong, said to people once: a line when it begins, one when it is over. The same line
 * does not come again for some minutes, however often a receiver goes and comes, unless it lasts.
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_TROUBLE_H
#define JTOP_HTTP_PUSH_PROTOCOL_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#define TROUBLE_QUIET_MS 300000
#define TROUBLE_LASTS_MS 60000
#define TROUBLE_SAID 16

struct trouble {
    void (*say)(void *arg, const char *line); /* may be NULL */
    void *arg;
    bool is, told; /* there is one; people know of it */
    uint64_t since_ms;
    char now[256]; /* the last one's line; "": none */
    struct {
        uint64_t hash, at_ms;
    } said[TROUBLE_SAID];
};

/* `about`: what tells this line from others of the same trouble (numbers may differ); `line`: what
 * is said. */
void trouble_begins(struct trouble *t, uint64_t now_ms, const char *about, const char *line);
/* `line` is said if people know that there was one. */
void trouble_ends(struct trouble *t, const char *line);
/* Something that is no state. */
void trouble_note(struct trouble *t, uint64_t now_ms, const char *about, const char *line);

#endif
