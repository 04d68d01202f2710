/*
 * Files:
 *   chance             probability that chance alone makes a difference of shares
 *   diff               comparison of two snapshots: methods, threads and tree nodes
 *   filter             which stacks a query keeps: by text, method, package or patterns
 *   frame_pattern      matching of frame names with the patterns of -I and -X
 *   forks              the tree of the stacks in short: the nodes at which stacks end or part
 *   gather             collecting of the samples a query asks for, and the thread rows
 *   history_read       list of the single samples of a query, for sample-based formats
 *   native_fold        which Java frame native frames count for, and rows for threads of the VM
 *   pattern            filter text as a regular expression, or as plain text if it is invalid
 *   snapshot           a query and its immutable result: method rows, thread rows, tree
 *   snapshot_build     working data and steps of making a snapshot
 *   snapshot_inverted  building of the inverted (bottom-up) call tree
 *   snapshot_lines     samples of each source line of one method
 *   snapshot_locks     rows of lock waits by class and owner, and who waited for whom
 *   snapshot_rows      method rows, thread states, and tree roots by thread
 *   snapshot_sites     inverted tree without the frames of the JDK: classes, sites, callers
 *   snapshot_tree      building of the top-down call tree, and final order of any tree
 *   sparks             weight over time of methods and threads, kept between two queries
 *   spread             adding of sample weights from the leaf nodes to all their callers
 *   standing           running totals by node, path and method, updated at each refresh
 *
 * The result of a query about a profile. It is immutable and freed as a whole: method rows, thread
 * rows and a call tree, all from the same samples and with the same total.
 *
 * Rules:
 *  - self: weight of the samples whose leaf is the method or node; total: weight of the samples
 *    with it anywhere on the stack, recursion counted once.
 *  - the sum of all methods' self, the sum of all threads' weight, and the sum of the tree roots'
 *    total are each equal to snapshot.weight.
 *  - rows are sorted by self, then total, descending, then name, so equal queries give equal
 *    results; a tree's children are sorted by total descending, then name.
 *  - inverted tree: a node's total is the weight of the samples whose stacks, read from the leaf,
 *    begin with the node's path; its self is the weight of those whose stack ends there at its
 *    root, so the sum of all selfs is snapshot.weight here, too.
 *  - a method's tier: if the method is on a stack twice, the tier of the frame nearest to the root.
 *  - above the limits, detail is lost but sums are kept: a stack that the profile could not keep is
 *    shown as "[stack not kept]"; a tree with millions of nodes is cut, and the rest counts as the
 *    self of the node above.
 *
 * Context: pure. snapshot_take reads the profile, which the caller must lock. Afterwards any thread
 * may use the result, as long as the profile lives.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SNAPSHOT_H
#define JTOP_PROFILE_SNAPSHOT_SNAPSHOT_H

#include "core/profile/profile.h"

#define QUERY_ALL_THREADS 0u

struct query {
    int event;
    uint64_t from_second; /* first second of the window, inclusive, in seconds of time_ns; 0 and
                             0: since the beginning, including seconds that the history no
                             longer has */
    uint64_t to_second;   /* last second of the window, inclusive */
    uint32_t tid;         /* only this platform thread; samples that it carried count only with
                             `carriers`. QUERY_ALL_THREADS: all */
    const char *filter;   /* keep samples with a frame whose dotted name matches this extended
                             regular expression, ignoring case; a leading '!' keeps samples without
                             such a frame; NULL or "": all. An invalid expression is taken
                             literally, and so is a '$' that is not at the end, because class names
                             contain it */
    bool with_method;     /* keep only samples with `method` on the stack */
    uint32_t method;
    bool with_also; /* keep only samples that also have `also` on the stack */
    uint32_t also;
    const char *package; /* keep only samples with a Java frame of this package or of one below it,
                            "java.util"; NULL or "": all */
    /* Keep only samples with a frame that matches one of `include` and with no frame that matches
     * one of `exclude`: names such as "java/lang/Thread.run" or "java.lang.Thread.run", with `*` at
     * either end. */
    const char *const *include, *const *exclude;
    uint32_t includes, excludes;
    bool simple_names; /* these patterns also match names without packages */
    bool from_method;  /* the tree (not the rows) begins at the outermost frame of `method`: what
                            it calls, or inverted: who calls it. Needs with_method */
    bool inverted;     /* the tree is bottom-up: leaves are its roots, callers are its children */
    bool by_thread;    /* the first level of the tree is the threads (METHOD_THREAD frames) */
    bool close_roots;  /* with by_thread: only some roots have something below them, the others are
                          snapshot_node.closed. For screens that show a thousand threads, a few of
                          them with their stacks. The heaviest root is always open */
    uint32_t open_ppm; /* and those with at least this part of the whole, in millionths; 0: none */
    const uint32_t *open_root; /* and those with these methods */
    uint32_t open_roots;
    bool sites;     /* with `inverted`, not with by_thread: what is between a root and the first
                            frame outside the JDK (method_is_jdk) is left out, because the user
                            cannot change that code. The roots are then classes of allocated
                            objects, their children the sites that allocate them. Where no frame is
                            outside the JDK, the first frame of the JDK is the site; what has no
                            Java frame stays with the root */
    bool tree;      /* build the tree (rows are always built, except with sums_only) */
    bool sums_only; /* only weight, samples, failed and the rows of threads, without their states;
                       regardless of tree, locks, lines and spark_cells. For formats that list the
                       samples themselves */
    bool forks;     /* with `tree`: build `forks` in place of `nodes`, if the query permits it,
                            see forks.h */
    bool carriers;  /* samples of virtual threads belong to their carrier threads; otherwise to
                            the virtual threads */
    uint64_t virtual_id; /* only this virtual thread, regardless of `tid` and `carriers`; 0: all, so
                            the row of "[other virtual threads]" cannot be selected */
    bool fold_natives;   /* native, C++, kernel and stub frames count for their Java callers
                            (native_fold.h). Not for a query with a native `method`. With or without
                            it, `method` can be one of the rows for threads of the VM */
    bool tiers;          /* frames of one method in different tiers are different tree nodes */
    bool locks;          /* build `locks`, for any event: the waits that ended in the window and
                            whose waiter or owner, with its stack, the query keeps (a filter with
                            '!': both). The profile has them one by one as long as the history, see
                            locks_from */
    int locks_event;     /* with `locks`: the event whose engine reports them */
    bool lines;          /* build `lines` for the method `lines_of` */
    uint32_t lines_of;
    uint32_t spark_cells;   /* number of cells with weight over time, for each row; 0: none */
    uint32_t spark_seconds; /* length of a cell; cells begin at multiples of it, and the last one is
                               complete */
    uint32_t prune_ppm; /* leave out tree nodes below the first level that weigh less than this many
                           millionths of the whole; 0: none. For screens: this is fast, and the
                           weight that is left out stays in the parents' totals. Exports need the
                           whole tree. By thread, virtual threads that weigh less share the root
                           "[other virtual threads]" */
};

struct snapshot_method {
    uint32_t method;
    uint64_t self, total;                 /* weight */
    uint64_t self_samples, total_samples; /* counts */
    uint64_t tier[TIERS];                 /* parts of total_samples, by tier of the frame */
};

struct snapshot_thread {
    uint32_t tid; /* for a virtual thread: tid of its last carrier */
    uint64_t java_id;
    bool is_virtual;  /* java_id is its virtual_id; 0: the others, which have no row of their own */
    const char *name; /* "" if unknown; a virtual thread always has a name */
    bool ended;
    uint64_t weight, samples;
    uint64_t state[PROFILE_STATES]; /* the thread's weight of the event, by state. In a
                                       window that begins later than the profile, of the samples
                                       that the query keeps; otherwise of all of its samples */
    uint32_t top_method;            /* the method with the most self weight in the thread */
};

/* Waits for locks of one class, and the owners that were waited for. Sorted by waited_ns,
 * descending; an owner's rows follow its class's row. */
struct snapshot_lock {
    uint32_t class_id; /* METHOD_CLASS */
    uint32_t flags;    /* meaning defined by the caller; or-ed */
    bool is_class;     /* the sum of the rows that follow, up to the next class row */
    uint64_t waits, waited_ns, longest_ns;
    uint32_t locks;     /* class rows: number of different lock_ids, counted up to 1,000 */
    uint32_t waiters;   /* class rows: number of different threads, counted up to 1,000 */
    uint32_t owner_tid; /* owner rows; 0 without owner_java_id: unknown */
    uint64_t owner_java_id;
    bool owner_is_virtual;
    const char *owner;     /* the owner's name; "" if unknown */
    uint32_t owner_node;   /* for snapshot_owner_stack; UINT32_MAX: none */
    uint32_t owner_method; /* on top of that stack; METHOD_NONE: unknown */
    uint32_t owner_id;     /* identifies the thread within this snapshot; UINT32_MAX: unknown */
};

/* A link is one of two things: a thread that waited for a lock of this class while this owner held
 * it; or a step, which is a lock that the owner itself waited for while others waited for the
 * owner: the next step of a chain. Sorted by class and owner (as numbers); steps before waiters;
 * then by time, descending. */
struct snapshot_lock_link {
    uint32_t class_id, owner_id; /* the same as in the owner row */
    uint32_t next_class; /* step: class of the lock that the owner waited for; METHOD_NONE: this is
                            a waiter */
    uint32_t other_id;   /* waiter: the waiting thread; step: the owner of that lock */
    uint32_t other_tid;
    uint64_t other_java_id;
    bool other_is_virtual;
    const char *other;         /* its name; "" if unknown */
    uint64_t waits, waited_ns; /* step: only the time during which both waited */
    uint64_t deadlock_ns;      /* part of that time in which the threads waited in a circle, at
                                  least 0.1 s */
};

/* Nodes are in preorder: a node's subtree follows it directly. */
struct snapshot_node {
    uint32_t method;
    uint32_t parent; /* index; SNAPSHOT_ROOT for roots */
    uint32_t next;   /* index behind the subtree: the next sibling, or further up */
    uint16_t depth;  /* 0 for roots */
    uint8_t reserved;
    /* A root whose subtree was left out, see query.close_roots. Its total is right, but its samples
     * are in no self. */
    bool closed;
    uint64_t self, total;
    uint64_t self_samples, total_samples;
    uint64_t tier[TIERS]; /* parts of total_samples */
};

#define SNAPSHOT_ROOT UINT32_MAX

/* A line of query.lines_of. self: samples interrupted in the line; total: samples with the line on
 * the stack, recursion counted once. Line 0 is for frames whose line is unknown. Sorted by line. */
struct snapshot_line {
    uint32_t line;
    uint64_t self, total;
    uint64_t self_samples, total_samples;
};

struct snapshot {
    uint64_t weight, samples; /* of all samples that the query keeps */
    uint64_t failed;          /* samples with an incomplete stack */
    uint64_t sampled_ns;      /* how long the event was sampled in the part of the window that can
                                 have samples; that part's length if this is not known; never 0 */
    struct snapshot_method *methods;
    uint32_t method_count;
    struct snapshot_thread *threads;
    uint32_t thread_count;
    struct snapshot_node *nodes; /* in preorder, siblings linked by `next`; empty without
                                    query.tree */
    uint32_t node_count;
    uint32_t max_depth;          /* number of levels in `nodes` */
    struct snapshot_fork *forks; /* with query.forks; NULL: `nodes` have the tree */
    uint32_t fork_count;
    uint32_t fork_root;                         /* the first root; FORK_NONE: no stacks */
    const struct profile *profile;              /* with `forks`: they refer to its call tree */
    uint64_t least;                             /* tree nodes with a smaller total are left out, see
                                          query.prune_ppm; 0: none */
    bool inverted, by_thread, by_tier, by_site; /* the kind of the tree, from the query */
    bool has_closed;                            /* some roots are closed */
    bool folds_natives;                         /* from the query, if it is possible */
    uint32_t
        *via; /* by_site: for each node that is a site, the method of the JDK by which more than
                      half of its weight gets there, if there is one; otherwise one of them, or
                      METHOD_NONE. NULL: not by_site */
    bool filter_gave_up; /* for some names the filter takes too long: they count as not matching */
    struct snapshot_line *lines;
    uint32_t line_count;
    struct snapshot_lock *locks;
    uint32_t lock_count;
    struct snapshot_lock_link *lock_links;
    uint32_t lock_link_count;
    uint64_t locks_from;       /* the query includes earlier seconds than this one, but their waits
                                  are no longer kept; 0: all waits are there */
    uint64_t locks_sampled_ns; /* as sampled_ns, of query.locks_event */
    /* [row * query.spark_cells + cell], oldest first: the self of a method, the weight of a thread.
     * NULL if not requested. Seconds that the history no longer has are 0. */
    uint64_t *method_spark, *thread_spark;
    uint64_t spark_from; /* number of the first cell: its first second / spark_seconds */
    char *names;         /* texts of virtual threads: threads[].name, locks[].owner,
                            lock_links[].other */
};

/* Returns NULL if there is no memory. Free the result with snapshot_free. With by_thread it interns
 * a METHOD_THREAD name for every virtual thread that is shown as a root, so callers that take
 * snapshots repeatedly should prune. */
struct snapshot *snapshot_take(struct profile *p, const struct query *q);
void snapshot_free(struct snapshot *s);

/* Returns a weight per second of the time in which the event was sampled. */
static inline uint64_t snapshot_per_second(const struct snapshot *s, uint64_t weight) {
    return (uint64_t)((double)weight * 1e9 / (double)s->sampled_ns);
}

/* Lists the distinct stacks of the snapshot's tree: calls `each` for every node with self > 0 (or
 * with samples without weight), with the path from its root to it. The tree must not be inverted.
 * If `each` returns non-zero, the function stops and returns that value; -ENOMEM. */
int snapshot_each_stack(const struct snapshot *s,
                        int (*each)(void *arg, const struct snapshot_node *const *path,
                                    uint32_t depth),
                        void *arg);

/* Checks whether a filter text is a regular expression: 0, or -EINVAL with the reason in `why`. */
int snapshot_check_filter(const char *filter, char *why, size_t size);

/* Writes the methods on an owner's stack, leaf first; returns their number, at most `max`. */
uint32_t snapshot_owner_stack(const struct profile *p, uint32_t owner_node, uint32_t *method,
                              uint32_t max);

/* Index of the first child; SNAPSHOT_ROOT: no children. */
static inline uint32_t snapshot_child(const struct snapshot *s, uint32_t node) {
    return s->nodes[node].next > node + 1 ? node + 1 : SNAPSHOT_ROOT;
}

/* The tier in which most of a row's samples were executed. */
enum frame_tier snapshot_main_tier(const uint64_t tier[TIERS]);

#endif
