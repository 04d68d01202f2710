/*
 * Reports each problem to the user once: a line when it begins, and a line when it is over. The
 * same line is not repeated for some minutes, however often a receiver fails and recovers, unless
 * the problem lasts.
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
    bool is, told; /* there is a problem; it was reported */
    uint64_t since_ms;
    char now[256]; /* the line of the last problem; "": none */
    struct {
        uint64_t hash, at_ms;
    } said[TROUBLE_SAID];
};

/* `about`: identifies this line among others of the same trouble (numbers may differ); `line`: the
 * text to report. */
void trouble_begins(struct trouble *t, uint64_t now_ms, const char *about, const char *line);
/* Reports `line` if the problem itself was reported. */
void trouble_ends(struct trouble *t, const char *line);
/* Reports an event that has no end. */
void trouble_note(struct trouble *t, uint64_t now_ms, const char *about, const char *line);

#endif
