/*
 * Events with which a flight recording describes itself, the JVM and the machine.
 *
 * Context: as jfr_chunk.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_NOTES_H
#define JTOP_EXPORT_JFR_JFR_NOTES_H

#include "core/export/jfr/jfr_chunk.h"

/* Describes the machine this process runs on, as it is now. */
void jfr_note_machine(struct jfr_chunk *c, uint64_t time_ns);

struct jfr_vm {
    const char *name, *version, *arguments; /* "" or NULL: not known */
    int release;                            /* version of Java: 8, 17; 0: not known */
    uint64_t start_ms;                      /* time of day; 0: not known */
    uint64_t pid;
};
void jfr_note_vm(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_vm *vm);

/* `day`: offset that turns the samples' clock into the time of day. */
void jfr_note_recording(struct jfr_chunk *c, uint64_t time_ns, int64_t day, uint64_t elapsed_ns);

/* Describes how good the profile of an event is; the event is written as `kind`. `left_out`: number
 * of samples that are not in this file. */
void jfr_note_quality(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_kind *kind,
                      const struct export_part *part, const struct export_options *o,
                      uint64_t left_out);

/* Values at one moment. Shares are relative to all processors; a negative share is unknown and is
 * left out. */
struct jfr_figures {
    double jvm_user, jvm_system, machine;
    uint64_t heap_used, heap_committed, heap_max, collections;
};
void jfr_note_figures(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_figures *f);

/* A mapped library. */
void jfr_note_library(struct jfr_chunk *c, uint64_t time_ns, const char *path, uint64_t begin,
                      uint64_t end);

/* A window between two functions (--begin, --end) in which samples were taken, or which was
 * only marked. */
void jfr_note_window(struct jfr_chunk *c, uint64_t begin_ns, uint64_t end_ns);

/* Another process of the machine at one moment. */
struct jfr_process {
    uint64_t pid, parent, uid, threads;
    const char *name, *command;
    char state;                                        /* R S D T Z … as in proc(5) */
    uint64_t start_ms;                                 /* time of day */
    double user_s, system_s;                           /* CPU time since the process started */
    double share;                                      /* recent share of one processor; 1:
                                                          all of it */
    uint64_t size, resident, anonymous, files, shared; /* bytes of memory */
    uint64_t minor_faults, major_faults;
    uint64_t read, written; /* bytes read from and written to disks */
};
void jfr_note_process(struct jfr_chunk *c, uint64_t time_ns, const struct jfr_process *p);

#endif
