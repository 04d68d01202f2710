/*
 * The rows of the table of protocols, and what their files share.
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

/* All but type, query and body. */
void protocol_begin(struct push_message *m, const struct push_protocol *p,
                    const struct push_profile *f);
/* Hands it on; -ENOMEM where its body is not whole. The body is gone in any case. */
int protocol_put(struct push_message *m, int (*put)(void *arg, struct push_message *m), void *arg);

/* pprof of one event, gzipped, appended. `type`: what the engine calls the weight's type, NULL: as
 * we do. `labels`: samples have their threads. Where each combination of them is a series of its
 * own, threads would be too many of them. 0 or -ENOMEM. */
int pprof_part_add(struct text *out, const struct push_profile *f, const struct export_part *part,
                   const char *type, bool labels);

#endif
