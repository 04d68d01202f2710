/*
 * Reads a JVM's performance data from wherever it can be read.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_FIND_JVM_PERF_H
#define JTOP_ATTACH_FIND_JVM_PERF_H

#include "attach/find/jvm.h"
#include "attach/find/perf_values.h"

/* Uses pid, inner_pid, uid, user and start_ticks of `j`. `search`: search every hsperfdata_*
 * directory, not only that of j->user. 0 or -errno; -EACCES: the process may not be inspected. */
int jvm_perf_read(const struct jvm *j, bool search, struct perf_values *v);

#endif
