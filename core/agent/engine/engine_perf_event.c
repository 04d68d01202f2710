/* Any perf event but the CPU's clock: counts instead of time, otherwise the same. */
#include "core/agent/engine/engine_perf.h"

const struct engine engine_perf_event = {
    .event = WIRE_EVENT_PERF,
    .mechanism = WIRE_MECHANISM_PERF,
    .by_signal = true,
    .per_thread = true,
    .interval = 1,
    .interval_min = 1,
    .start = perf_start,
    .arm = perf_arm,
    .fetch = perf_fetch,
    .adopt = perf_adopt,
    .disarm = perf_disarm,
    .stop = perf_stop,
    .handle = perf_handle,
    .turn = perf_turn,
};
