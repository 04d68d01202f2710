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
 * Events as people write them, and as the agent wants them: "cpu", "wall", "page-faults",
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

/* Fills the request for an event's name, with its default interval (0 where the agent's own
 * default is right) and `name`. Where an address has to be looked up in the target, the symbol is
 * left in `text` until event_resolve. -EINVAL, or another -errno of the machine's, and a message
 * that says what is wrong with it, or which event is meant; exit code 100. */
int event_parse(const char *text, struct wire_engine_request *out, struct err *e);

/* Adds the method of one request to those of another; each keeps its least time. 0, or -E2BIG with
 * a message. */
int event_method_add(struct wire_engine_request *to, const struct wire_engine_request *more,
                     struct err *e);

/* Whether it is an event by its form alone: one of the tables, or one that begins like no function
 * does ("mem:", "trace:", "cpu/…/", "a:b"). A bare word or a Java method is not. */
bool event_is_known(const char *text);

/* The known event that is spelled most like this, or NULL where nothing is near. */
const char *event_nearest(const char *text);

/* Looks up what the request still lacks in the running process: breakpoint addresses, a uprobe's
 * offset, the VM's allocation functions on JDK 8. `java_version` is the major one; 0: not known.
 * 0 or -errno with a message that says what was looked for, where, and what to install. A request
 * that lacks nothing is left alone, so it may be given again, as long as the process lives. */
int event_resolve(struct wire_engine_request *request, struct symbols *symbols, int pid,
                  int java_version, struct err *e);

/* Whether event_resolve would do anything. */
bool event_is_open(const struct wire_engine_request *request, int java_version);

/* Finds out before an attach what event_resolve would say of all of them; what it would find out is
 * thrown away. A process that may not be looked into is not this function's to complain about. */
int event_check(const struct wire_engine_request *request, uint32_t count, pid_t pid,
                int java_version, struct err *e);

/* The major version in a java.vm.version: "25.392-b08" and "1.8…" are 8, "17.0.15+6" is 17. 0: not
 * known. */
int event_java_version(const char *vm_version);

/* The address of a native function in the running process, its name as in a symbol table or
 * demangled; for windows. */
int event_find_function(struct symbols *symbols, int pid, const char *name, uint64_t *address,
                        struct err *e);

/* Everything that `list` tries, in the order it is shown: names that event_parse takes. Ends with
 * NULL. */
extern const char *const event_names[];

/* The interval the agent uses where none was asked for, in the event's unit; for help and status.
 * 0: every single occurrence. */
uint64_t event_default_interval(enum wire_event event);

/* What an interval of an event counts: what it is written with, and what it is shown with. */
enum event_measure { EVENT_TIME, EVENT_BYTES, EVENT_COUNT };
enum event_measure event_measure(enum wire_event event);

#endif
