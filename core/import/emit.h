/*
 * What readers of foreign profiles have in common: names become ids and addresses, each told once
 * and before it is used, and samples become records.
 *
 * However many names a file makes of its bytes, those held and told have a bound: lines beyond it
 * are not known, and names beyond it are a frame that says so.
 *
 * Context: as import.h; one stream at a time.
 */
#ifndef JTOP_IMPORT_EMIT_H
#define JTOP_IMPORT_EMIT_H

#include "core/import/import.h"
#include "core/wire/record_build.h"

#include <stdint.h>

struct emit; /* no relation of the screen's, which is never seen together with it */

/* NULL: no memory. */
struct emit *emit_open(import_record *each, void *arg);
void emit_close(struct emit *m);

/* The first thing that went wrong (-ENOMEM, or what `each` returned); after it nothing more is
 * emitted. */
int emit_failure(const struct emit *m);

/* Frames, as a sample has them. Equal names give equal frames. Class names in internal form
 * ("java/lang/Thread"); `line` becomes the frame's bci, and the method's line table says so; 0: not
 * known. `tier`: one of those with a method; WIRE_FRAME_NATIVE_METHOD where it is not known. */
uint64_t emit_java(struct emit *m, enum wire_frame_type tier, struct wire_text class_name,
                   struct wire_text method, struct wire_text signature, uint32_t line);
/* The same in two steps, for who has one method at many lines: a number for the method (0: too many
 * are), which tells nothing yet, and its frame. */
uint32_t emit_java_method(struct emit *m, struct wire_text class_name, struct wire_text method,
                          struct wire_text signature);
uint64_t emit_java_at(struct emit *m, enum wire_frame_type tier, uint32_t method, uint32_t line);
/* A function that is no Java method: WIRE_FRAME_NATIVE or WIRE_FRAME_KERNEL. */
uint64_t emit_native(struct emit *m, enum wire_frame_type type, struct wire_text function,
                     struct wire_text module);
/* What was allocated, or the class of a lock: "java/lang/String", "[B". */
uint64_t emit_class(struct emit *m, struct wire_text name);

/* A thread of that name: its tid, or one that is made up where `tid` is 0 (the same for the same
 * name). A tid that comes with another name is another thread from then on, unless the Java id is
 * the same. No name: nothing is told. */
uint32_t emit_thread(struct emit *m, uint32_t tid, uint64_t java_id, struct wire_text name);

/* A virtual thread, by what is wire_sample.virtual_id; `tid` is its carrier's. */
void emit_virtual_thread(struct emit *m, uint64_t java_id, uint32_t tid, struct wire_text name);

/* What is profiled. `start_ns`: time of day of sample time 0; 0: not known. */
void emit_jvm(struct emit *m, uint32_t pid, struct wire_text name, struct wire_text version,
              uint64_t start_ns);

/* header is filled in; a weight that is more than one record may have is split over several. frames
 * leaf first, at most WIRE_FRAMES_MAX, deeper ones are cut. */
void emit_sample(struct emit *m, const struct wire_sample *sample, const uint64_t *frame,
                 uint32_t frames);

/* One event the stream has: `name` as after -e, "" for the event's own; `counted`: the file says how
 * many samples there were, and not only what they weigh. Before and behind the samples, with the
 * times of the first and the last, so that the elapsed time is known. */
void emit_mark(struct emit *m, uint64_t time_ns, enum wire_event event, const char *name,
               uint64_t interval, bool counted);

#endif
