/*
 * The functions in the table of protocols, and what the protocols' files share.
 *
 * Context: as protocol.h.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_PARTS_H
#define JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_PARTS_H

#include "core/http/push/protocol/protocol.h"

#include <errno.h>

int protocol_otlp_make(const struct push_protocol *p, const struct push_profile *f,
                       int (*put)(void *arg, struct push_message *m), void *arg);
int protocol_otlp_judge(unsigned status, const char *body, size_t bytes, char *why, size_t size);
int protocol_pyroscope_make(const struct push_protocol *p, const struct push_profile *f,
                            int (*put)(void *arg, struct push_message *m), void *arg);
int protocol_pyroscope_judge(unsigned status, const char *body, size_t bytes, char *why,
                             size_t size);
int protocol_parca_make(const struct push_protocol *p, const struct push_profile *f,
                        int (*put)(void *arg, struct push_message *m), void *arg);
int protocol_parca_judge(unsigned status, const char *body, size_t bytes, char *why, size_t size);

/* Sets everything except for type, query and body. */
void protocol_begin(struct push_message *m, const struct push_protocol *p,
                    const struct push_profile *f);
/* Passes the message to `put`; -ENOMEM if its body is incomplete. The body is gone in any case. */
int protocol_put(struct push_message *m, int (*put)(void *arg, struct push_message *m), void *arg);

/* Appends a gzipped pprof of one event. `type`: the receiver's name of the weight's type; NULL:
 * ours. `labels`: samples have their threads as labels. If the receiver makes a series of each
 * combination of labels, threads would be too many of them. 0 or -ENOMEM. */
int pprof_part_add(struct text *out, const struct push_profile *f, const struct export_part *part,
                   const char *type, bool labels);

#endif
