/*
 * What place.c and the child that it sends share.
 *
 * Context: the child's side (place_child, place_dirs, place_loaded) runs in a copy of the process:
 * it neither allocates nor locks. It hands over what it found in `report`, memory that both see.
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_PARTS_H
#define JTOP_ATTACH_PLACE_PLACE_PARTS_H

#include "attach/place/place.h"

#define PLACE_DIR_MAX 256 /* a longer path is not taken */
#define PLACE_TRIES_MAX 24

enum place_fault {
    PLACE_FAULT_LOOKUP, /* it could not be opened: errno */
    PLACE_FAULT_NOEXEC,
    PLACE_FAULT_FULL,  /* too little room */
    PLACE_FAULT_WRITE, /* the file could not be made: errno */
    PLACE_FAULT_NAME,  /* its path cannot be passed on */
    PLACE_FAULT_OWNER, /* files there get another owner or mode */
};

/* A directory that would not do. */
struct place_try {
    char dir[PLACE_DIR_MAX];
    uint32_t fault;
    int32_t error;
};

enum place_outcome {
    PLACE_UNANSWERED, /* by the child: it hung */
    PLACE_DONE,
    PLACE_UNSEEN,     /* the JVM is gone, or may not be looked into */
    PLACE_UNREADABLE, /* our own file: error */
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
    /* the child's own */
    int root, cwd, maps, environment, mounts; /* of the JVM's /proc; -1: may not be seen */
    int dir, socket_dir;                      /* where `name` and `socket_name` are; -1: nothing */
    int listener;
    char name[64], socket_name[64], digest[9];
    char buffer[65536];
};

/* The errand and what comes after it. */
void place_child(void *task, void *result, int *fd);
void place_child_after(void *task);

/* The JVM's uid as it sees it itself; for who may look into it. */
unsigned place_inner_uid(const struct jvm *j);

/* Calls `take` for one directory after the other, by its path inside the JVM's root, until it
 * returns true. */
bool place_dirs(struct place_task *t, bool (*take)(struct place_task *t, const char *dir));

/* The name of a copy with this content that the JVM has loaded; false: there is none, or it would
 * not be found by its name. */
bool place_loaded(struct place_task *t, char *out, size_t size);

#endif
