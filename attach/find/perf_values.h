/*
 * The figures that this program takes from a JVM's performance data, whatever its collector.
 *
 * Context: any thread, pure.
 */
#ifndef JTOP_ATTACH_FIND_PERF_VALUES_H
#define JTOP_ATTACH_FIND_PERF_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Numbers are never negative; 0 can also mean that the JVM does not report the value. Texts are
 * printable. */
struct perf_values {
    int64_t heap_used, heap_capacity, heap_max; /* bytes */
    int64_t gc_count, gc_ms;                    /* of all collectors together */
    int64_t safepoints, safepoint_ms;
    int64_t classes;    /* loaded now, including those from the shared archive */
    int64_t threads;    /* live Java threads */
    int64_t created_ms; /* wall clock at which the VM was created */
    char command[1024]; /* main class or jar file, and the program's arguments */
    char vm_version[96];
    char vm_name[96];
    char capabilities[8]; /* [0] is '0' if the attach mechanism is disabled */
};

/* 0, or hsperf_open's error. */
int perf_values_read(struct perf_values *v, const void *data, size_t size);

#endif
