/*
 * What the files of the examination share: examine_*.c, one a subject, each a function that adds
 * findings.
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
    const struct jvm *jvm; /* NULL: the machine only */
    uid_t uid;
    const char *library; /* NULL: there is none */
    struct finding *out;
    int cap, count;
    struct finding spare; /* where there is no more room */
    bool machine;

    struct process_status self;
    int paranoid;   /* -9: cannot be read */
    int perf_error; /* errno of perf_event_open with kernel stacks; 0: it opens */
    int library_error;
    struct library_needs needs; /* of the library */

    struct process_status target;
    int target_error;
    struct process_maps maps;
    int maps_error;
    struct java_options options;
    int release;      /* of the JDK; 0: not known */
    char version[96]; /* what says so; "" */
};

/* Adds a finding. Never NULL; valid as long as the array is. */
struct finding *examine_add(struct examiner *x, const char *id, const char *title,
                            enum finding_level level, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void examine_remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The subjects. */
void examine_kernel(struct examiner *x);   /* of the machine: what it is, who we are on it */
void examine_perf(struct examiner *x);     /* of the machine: perf_events */
void examine_security(struct examiner *x); /* of the machine: Yama, hidepid, SELinux … */
void examine_process(struct examiner *x);  /* of the JVM: alive, whose, where */
void examine_vm(struct examiner *x);       /* which VM, and what it is linked to */
void examine_attach(struct examiner *x);   /* the attach mechanism */
void examine_place(struct examiner *x);    /* where the agent goes */
void examine_rights(struct examiner *x);   /* perf_events, signals and limits in the JVM */
void examine_cgroups(struct examiner *x);  /* what its control groups leave it */

/* A number out of a file; `missing` and *error (errno) where there is none. */
long examine_number(const char *path, long missing, int *error);
/* The first line of a file, printable. 0 or -errno. */
int examine_line(const char *path, char *out, size_t size);

/* What nobody could read of the JVM's options: "", or " (FILE cannot be read: REASON)". */
const char *examine_unread(const struct examiner *x, char *out, size_t size);

/* The JDK's feature release out of java.vm.version: 8 for "25.412-b08". 0: not known. */
int examine_release(const char *version);
/* The names of what of "CAP_PERFMON, CAP_SYS_ADMIN …" is in the set; "none of them". */
const char *examine_capabilities(uint64_t set, char *out, size_t size);

#endif
