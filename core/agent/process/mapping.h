/*
 * The shared mapping, from the agent's side.
 *
 * Context: callbacks and the agent's thread.
 */
#ifndef JTOP_AGENT_PROCESS_MAPPING_H
#define JTOP_AGENT_PROCESS_MAPPING_H

#include "core/wire/layout.h"
#include "core/wire/unwind.h"

struct agent_mapping {
    struct wire_mapping *wire;
    uint64_t ring_bytes;
    int memfd;
};

/* Makes a sealed memfd of the right size, or uses the one at `path` (the reader's, by
 * /proc/READER/fd/N) where it is not empty. 0 or -errno. */
int agent_mapping_open(struct agent_mapping *m, const char *path, uint64_t ring_bytes,
                       uint64_t session);
/* The unwind tables that the reader fills. */
const struct wire_unwind *agent_mapping_unwind(const struct agent_mapping *m);
/* The bits of the threads that may be sampled. */
const uint8_t *agent_mapping_threads(const struct agent_mapping *m);
void agent_mapping_close(struct agent_mapping *m);

#endif
