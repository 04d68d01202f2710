/*
 * Files:
 *   event             parser of event names into requests, and the list of all events
 *   event_breakpoint  parser of hardware breakpoints (mem:…) and plain function names
 *   event_kind        event kinds of a profile, with their names and units
 *   event_method      parser of Java method events (pkg.Class.method:threshold)
 *   event_parts       declarations shared by the parsers of the single event types
 *   event_perf        table of perf events that every kernel knows, and raw events (r1a8)
 *   event_pmu         parser of PMU events (cpu/event=0x3c/), by the files in sysfs
 *   event_probe       parser of kprobe and uprobe events, at entry or return
 *   event_resolve     lookup of an event's function addresses in the running process
 *   event_trace       parser of tracepoints, by number or by name in tracefs
 *
 * From events as users write them to requests for the agent: "cpu", "wall", "page-faults",
 * "cache-misses", "r1a8", "cpu/event=0x3c/", "sched:sched_switch", "trace:314", "mem:0x1234:rw",
 * "kprobe:do_sys_open", "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc", "pthread_create" (a native
 * function: execution breakpoint), "java.util.HashMap.put" (a Java method; `*` for any characters).
 *
 * Sources: perf_event_open(2); /sys/bus/event_source/devices; tracefs events/SUBSYSTEM/NAME/id.
 *
 * Context: frontend only, any thread. Reads /sys and tracefs, the target's maps and ELF files.
 */
#ifndef JTOP_EVENT_EVENT_H
#define JTOP_EVENT_EVENT_H

#include "core/base/err.h"
#include "core/wire/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct symbols;

/* Fills the request for an event's name: its default interval (0 where the agent's own default is
 * right) and `name`. If an address has to be looked up in the target, `text` keeps the symbol until
 * event_resolve. -EINVAL, or another -errno for what this machine lacks; the message says what is
 * wrong with the name, or which event is meant; exit code 100. */
int event_parse(const char *text, struct wire_engine_request *out, struct err *e);

/* Adds the method of one request to those of another. Each method keeps its own least time of a
 * call that counts. 0, or -E2BIG with a message. */
int event_method_add(struct wire_engine_request *to, const struct wire_engine_request *more,
                     struct err *e);

/* Whether the text is an event by its form alone: it is in one of the tables, or it begins as no
 * function does ("mem:", "trace:", "cpu/…/", "a:b"). False for a bare word and for a Java
 * method. */
bool event_is_known(const char *text);

/* The known event with the most similar spelling; NULL: none is similar. */
const char *event_nearest(const char *text);

/* Looks up what the request still lacks in the running process: breakpoint addresses, a uprobe's
 * offset, the VM's allocation functions on JDK 8. `java_version` is the major version; 0: not
 * known. 0 or -errno with a message that says what was looked for, where, and what to install. A
 * request that lacks nothing is not changed, so the caller may pass it again while the process
 * lives. */
int event_resolve(struct wire_engine_request *request, struct symbols *symbols, int pid,
                  int java_version, struct err *e);

/* Whether event_resolve has anything to look up. */
bool event_is_open(const struct wire_engine_request *request, int java_version);

/* Finds out before an attach whether event_resolve would fail for one of the requests. The looked
 * up values are discarded. It reports no error where the process's maps may not be read. */
int event_check(const struct wire_engine_request *request, uint32_t count, pid_t pid,
                int java_version, struct err *e);

/* Returns the major version in a java.vm.version: 8 for "25.392-b08" and "1.8…", 17 for
 * "17.0.15+6". 0: not known. */
int event_java_version(const char *vm_version);

/* Finds the address of a native function in the running process, for windows. The name is that of a
 * symbol table, or demangled. */
int event_find_function(struct symbols *symbols, int pid, const char *name, uint64_t *address,
                        struct err *e);

/* All events that `list` tries, in the order it shows them: names that event_parse accepts. Ends
 * with NULL. */
extern const char *const event_names[];

/* The interval that the agent uses where none was requested, in the event's unit; for help and
 * status. 0: every single occurrence. */
uint64_t event_default_interval(enum wire_event event);

/* The unit of an event's interval: for parsing it and for showing it. */
enum event_measure { EVENT_TIME, EVENT_BYTES, EVENT_COUNT };
enum event_measure event_measure(enum wire_event event);

#endif
