/*
 * The list of this machine's JVMs, read at most once a second however many callers there are.
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_HTTP_FLEET_ROLL_H
#define JTOP_HTTP_FLEET_ROLL_H

#include "attach/find/jvm.h"

#include <pthread.h>
#include <stdbool.h>

struct roll {
    pthread_mutex_t lock;
    struct jvm *jvm; /* sorted by pid; owned */
    int count;
    bool read;
    uint64_t read_ns; /* CLOCK_MONOTONIC */
};

void roll_init(struct roll *r);
void roll_free(struct roll *r);

/* As jvm_list; `*out` is malloc'ed. */
int roll_list(struct roll *r, struct jvm **out, struct err *e);
/* As jvm_inspect; finds also a JVM that started after the list was read. */
int roll_find(struct roll *r, pid_t pid, struct jvm *out, struct err *e);

#endif
