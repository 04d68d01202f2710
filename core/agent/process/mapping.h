/*
 * The memory that agent and reader share, from the agent's side.
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

/* Maps the memfd at `path` (the reader's, as /proc/READER/fd/N). If `path` is "", creates a sealed
 * memfd of the right size. 0 or -errno. */
int agent_mapping_open(struct agent_mapping *m, const char *path, uint64_t ring_bytes,
                       uint64_t session);
/* Returns the unwind tables, which the reader fills. */
const struct wire_unwind *agent_mapping_unwind(const struct agent_mapping *m);
/* Returns the bits of the threads that may be sampled. */
const uint8_t *agent_mapping_threads(const struct agent_mapping *m);
void agent_mapping_close(struct agent_mapping *m);

#endif
