/*
 * Helpers for all readers of other tools' profiles. They turn names into ids and addresses, each
 * written once and before its first use, and samples into records.
 *
 * The number of names that are kept and written is limited, however many a file contains. Beyond
 * the limit, lines are unknown, and names become the error frame "[no_name]".
 *
 * Context: as import.h; one stream at a time.
 */
#ifndef JTOP_IMPORT_EMIT_H
#define JTOP_IMPORT_EMIT_H

#include "core/import/import.h"
#include "core/wire/record_build.h"

#include <stdint.h>

struct emit; /* not related to the `struct emit` of the screen; no code sees both */

/* NULL: no memory. */
struct emit *emit_open(import_record *each, void *arg);
void emit_close(struct emit *m);

/* Returns the first error (-ENOMEM, or what `each` returned). After an error nothing more is
 * written. */
int emit_failure(const struct emit *m);

/* Return frames in the form that samples contain. Equal names give equal frames. Class names are in
 * internal form ("java/lang/Thread"). `line` becomes the frame's bci, and the method's line table
 * maps that bci to the line; 0: not known. `tier`: one of the types with a method;
 * WIRE_FRAME_NATIVE_METHOD if the tier is unknown. */
uint64_t emit_java(struct emit *m, enum wire_frame_type tier, struct wire_text class_name,
                   struct wire_text method, struct wire_text signature, uint32_t line);
/* Do the same in two steps, for a caller that has one method at many lines. The first returns
 * a number for the method (0: too many methods) and writes nothing yet; the second returns
 * its frame. */
uint32_t emit_java_method(struct emit *m, struct wire_text class_name, struct wire_text method,
                          struct wire_text signature);
uint64_t emit_java_at(struct emit *m, enum wire_frame_type tier, uint32_t method, uint32_t line);
/* A function that is not a Java method: WIRE_FRAME_NATIVE or WIRE_FRAME_KERNEL. */
uint64_t emit_native(struct emit *m, enum wire_frame_type type, struct wire_text function,
                     struct wire_text module);
/* The class of an allocated object or of a lock: "java/lang/String", "[B". */
uint64_t emit_class(struct emit *m, struct wire_text name);

/* Returns the tid of a thread with this name. If `tid` is 0, it returns an invented tid, the same
 * for the same name. If a tid comes with another name, it belongs to another thread from then on,
 * unless the Java id is the same. Without a name, nothing is written. */
uint32_t emit_thread(struct emit *m, uint32_t tid, uint64_t java_id, struct wire_text name);

/* Names a virtual thread. `java_id` is the value used as wire_sample.virtual_id; `tid` is the
 * carrier's. */
void emit_virtual_thread(struct emit *m, uint64_t java_id, uint32_t tid, struct wire_text name);

/* Describes the profiled JVM. `start_ns`: time of day of sample time 0; 0: not known. */
void emit_jvm(struct emit *m, uint32_t pid, struct wire_text name, struct wire_text version,
              uint64_t start_ns);

/* Writes a sample; its header is filled in here. A weight that is too large for one record is split
 * over several. The frames are leaf first; at most WIRE_FRAMES_MAX, deeper frames are cut. */
void emit_sample(struct emit *m, const struct wire_sample *sample, const uint64_t *frame,
                 uint32_t frames);

/* Describes one event of the stream. `name`: the name for -e, "" for the event's own name.
 * `counted`: the file contains the number of samples, not only their weights. Call it before and
 * after the samples, with the times of the first and the last sample, so that the elapsed time
 * is known. */
void emit_mark(struct emit *m, uint64_t time_ns, enum wire_event event, const char *name,
               uint64_t interval, bool counted);

#endif
