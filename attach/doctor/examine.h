/*
 * Shared by the files of the examination: examine_*.c has one file per subject, with a function
 * that adds its findings.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_ATTACH_DOCTOR_EXAMINE_H
#define JTOP_ATTACH_DOCTOR_EXAMINE_H

#include "attach/doctor/examination.h"
#include "attach/load/java_options.h"
#include "attach/load/library_needs.h"
#include "attach/proc/process_maps.h"
#include "attach/proc/process_status.h"

struct examiner {
    const struct jvm *jvm; /* NULL: only the machine is checked */
    uid_t uid;
    const char *library; /* path of the agent; NULL: none was found */
    struct finding *out;
    int cap, count;
    struct finding spare; /* returned when `out` is full */
    bool machine;

    struct process_status self;
    int paranoid;   /* perf_event_paranoid; -9: cannot be read */
    int perf_error; /* errno of perf_event_open with kernel stacks; 0: it opens */
    int library_error;
    struct library_needs needs; /* what `library` requires */

    struct process_status target;
    int target_error;
    struct process_maps maps;
    int maps_error;
    struct java_options options;
    int release;      /* feature release of the JDK; 0: not known */
    char version[96]; /* the text it was read from; "" */
};

/* Adds a finding. Never returns NULL; the result is valid as long as the array is. */
struct finding *examine_add(struct examiner *x, const char *id, const char *title,
                            enum finding_level level, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void examine_remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One function per subject. */
void examine_kernel(struct examiner *x);   /* machine: kernel, clock, agent library, own user */
void examine_perf(struct examiner *x);     /* machine: perf_events */
void examine_security(struct examiner *x); /* machine: Yama, hidepid, SELinux … */
void examine_process(struct examiner *x);  /* JVM: whether it lives, its user, its namespaces */
void examine_vm(struct examiner *x);       /* JVM: which VM, and the libraries it uses */
void examine_attach(struct examiner *x);   /* JVM: the attach mechanism */
void examine_place(struct examiner *x);    /* JVM: where the agent can be placed */
void examine_rights(struct examiner *x);   /* JVM: perf_events, signals and limits */
void examine_cgroups(struct examiner *x);  /* JVM: limits of its control groups */

/* Reads a number from a file. If there is none, returns `missing` and sets *error to an errno. */
long examine_number(const char *path, long missing, int *error);
/* Reads the first line of a file as printable text. 0 or -errno. */
int examine_line(const char *path, char *out, size_t size);

/* Names the part of the JVM's options that could not be read: " (FILE cannot be read: REASON)", or
 * "" if all of them were read. */
const char *examine_unread(const struct examiner *x, char *out, size_t size);

/* Takes the JDK's feature release from java.vm.version: 8 for "25.412-b08". 0: not known. */
int examine_release(const char *version);
/* Lists those of "CAP_PERFMON, CAP_SYS_ADMIN …" that are in `set`; "none of …" if none is. */
const char *examine_capabilities(uint64_t set, char *out, size_t size);

#endif
