/*
 * Shared by place.c and the child that it starts.
 *
 * Context: the child's side (place_child, place_dirs, place_loaded) runs in a copy of the process:
 * it neither allocates nor locks. It returns its results in `report`, which is shared memory.
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_PARTS_H
#define JTOP_ATTACH_PLACE_PLACE_PARTS_H

#include "attach/place/place.h"

#define PLACE_DIR_MAX 256 /* longer paths are not used */
#define PLACE_TRIES_MAX 24

enum place_fault {
    PLACE_FAULT_LOOKUP, /* the directory could not be opened; see `error` */
    PLACE_FAULT_NOEXEC,
    PLACE_FAULT_FULL,  /* not enough room */
    PLACE_FAULT_WRITE, /* the file could not be written; see `error` */
    PLACE_FAULT_NAME,  /* its path cannot be passed as an argument */
    PLACE_FAULT_OWNER, /* files there get another owner or mode */
};

/* A directory that cannot be used, and why. */
struct place_try {
    char dir[PLACE_DIR_MAX];
    uint32_t fault;
    int32_t error;
};

enum place_outcome {
    PLACE_UNANSWERED, /* the child did not answer in time */
    PLACE_DONE,
    PLACE_UNSEEN,     /* the JVM has ended, or may not be inspected */
    PLACE_UNREADABLE, /* our own file cannot be read; see `error` */
    PLACE_NOWHERE,
};

struct place_report {
    uint32_t outcome;
    int32_t error;
    bool copied, loaded;
    char path[PLACE_PATH], socket_path[PLACE_PATH];
    uint32_t tries;
    struct place_try tried[PLACE_TRIES_MAX];
};

struct place_task {
    struct jvm jvm;
    unsigned wants, inner_uid;
    const char *library;
    int library_fd;
    uint64_t library_bytes;
    struct place_report *report;
    /* used by the child only */
    int root, cwd, maps, environment, mounts; /* of the JVM's /proc; -1: may not be read */
    int dir, socket_dir;                      /* of `name` and `socket_name`; -1: none created */
    int listener;
    char name[64], socket_name[64], digest[9];
    char buffer[65536];
};

/* place_child is the child's work; place_child_after, at its end, removes the files. */
void place_child(void *task, void *result, int *fd);
void place_child_after(void *task);

/* Returns the JVM's uid as the JVM sees it. The caller must be permitted to inspect the JVM. */
unsigned place_inner_uid(const struct jvm *j);

/* Calls `take` with one directory after the other, as paths inside the JVM's root, until it returns
 * true. */
bool place_dirs(struct place_task *t, bool (*take)(struct place_task *t, const char *dir));

/* Finds the path of a copy with this content that the JVM has loaded. False: there is none, or the
 * JVM's C library (musl) cannot load it by this path again. */
bool place_loaded(struct place_task *t, char *out, size_t size);

#endif
