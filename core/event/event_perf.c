/* Events that every kernel knows by number. source: perf_event_open(2); names as in perf list;
 * default intervals as in async-profiler. */
#include "core/event/event_parts.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define M 1000000u

static const struct {
    const char *name;
    uint32_t type;
    uint32_t config;
    uint32_t interval;
} known[] = {
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 2},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 2},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1},
    {"cgroup-switches", PERF_TYPE_SOFTWARE, 11, 1}, /* since Linux 5.13 */
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10 * M},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 10 * M},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 1},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, M},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, M},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, M},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, M},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, M},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, M},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1000},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, M},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, M},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 1000},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, M},
    {"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, M},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, M},
    {"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, M},
#define CACHE(id, op, result) PERF_TYPE_HW_CACHE, (id) | (op) << 8 | (result) << 16
#define LOAD(id, name)                                                                             \
    {name "-loads", CACHE(id, PERF_COUNT_HW_CACHE_OP_READ, 0), M}, {                               \
        name "-load-misses", CACHE(id, PERF_COUNT_HW_CACHE_OP_READ, 1), 1000                       \
    }
#define STORE(id, name)                                                                            \
    {name "-stores", CACHE(id, PERF_COUNT_HW_CACHE_OP_WRITE, 0), M}, {                             \
        name "-store-misses", CACHE(id, PERF_COUNT_HW_CACHE_OP_WRITE, 1), 1000                     \
    }
#define PREFETCH(id, name)                                                                         \
    {name "-prefetches", CACHE(id, PERF_COUNT_HW_CACHE_OP_PREFETCH, 0), M}, {                      \
        name "-prefetch-misses", CACHE(id, PERF_COUNT_HW_CACHE_OP_PREFETCH, 1), 1000               \
    }
    {"L1-dcache-loads", CACHE(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, 0), M},
    {"L1-dcache-load-misses", CACHE(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, 1), M},
    STORE(PERF_COUNT_HW_CACHE_L1D, "L1-dcache"),
    PREFETCH(PERF_COUNT_HW_CACHE_L1D, "L1-dcache"),
    LOAD(PERF_COUNT_HW_CACHE_L1I, "L1-icache"),
    PREFETCH(PERF_COUNT_HW_CACHE_L1I, "L1-icache"),
    LOAD(PERF_COUNT_HW_CACHE_LL, "LLC"),
    STORE(PERF_COUNT_HW_CACHE_LL, "LLC"),
    PREFETCH(PERF_COUNT_HW_CACHE_LL, "LLC"),
    LOAD(PERF_COUNT_HW_CACHE_DTLB, "dTLB"),
    STORE(PERF_COUNT_HW_CACHE_DTLB, "dTLB"),
    PREFETCH(PERF_COUNT_HW_CACHE_DTLB, "dTLB"),
    LOAD(PERF_COUNT_HW_CACHE_ITLB, "iTLB"),
    LOAD(PERF_COUNT_HW_CACHE_BPU, "branch"),
    LOAD(PERF_COUNT_HW_CACHE_NODE, "node"),
    STORE(PERF_COUNT_HW_CACHE_NODE, "node"),
    PREFETCH(PERF_COUNT_HW_CACHE_NODE, "node"),
};

static const size_t known_count = sizeof known / sizeof known[0];

const char *event_perf_name(size_t i) {
    return i < known_count ? known[i].name : NULL;
}

/* "r1a8": the CPU's own event number, hexadecimal, at most the 16 digits of a 64-bit config. */
static bool parse_raw(const char *text, uint64_t *config) {
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    if (text[0] != 'r')
        return false;
    for (*config = 0; text[1 + n]; n++) {
        char c = text[1 + n];
        const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
        if (!digit || n == 16)
            return false;
        *config = *config << 4 | (uint64_t)(digit - digits);
    }
    return n > 0 && (n > 1 || (text[1] >= '0' && text[1] <= '9'));
}

bool event_perf_parse(const char *text, struct wire_engine_request *out) {
    uint64_t config;
    out->event = WIRE_EVENT_PERF;
    for (size_t i = 0; i < known_count; i++) {
        if (strcmp(known[i].name, text) != 0)
            continue;
        out->perf.type = known[i].type;
        out->perf.config = known[i].config;
        out->interval = known[i].interval;
        return true;
    }
    if (!parse_raw(text, &config))
        return false;
    out->perf.type = PERF_TYPE_RAW;
    out->perf.config = config;
    out->interval = 1000;
    return true;
}
