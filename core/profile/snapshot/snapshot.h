/*
 * Files:
 *   diff               comparison of two snapshots: methods, threads and tree nodes
 *   filter             which stacks a query keeps: by text, method, package or patterns
 *   frame_pattern      matching of frame names with the patterns of -I and -X
 *   gather             collecting of the samples a query asks for, and the thread rows
 *   history_read       list of the single samples of a query, for sample-based formats
 *   pattern            filter text as a regular expression, or as plain text if it is none
 *   snapshot           a query and its immutable result: method rows, thread rows, tree
 *   snapshot_build     working data and steps of making a snapshot
 *   snapshot_inverted  building of the inverted (bottom-up) call tree
 *   snapshot_lines     samples of each source line of one method
 *   snapshot_locks     rows of lock waits by class and owner, and who waited for whom
 *   snapshot_rows      method rows, thread states, sparklines, and tree roots by thread
 *   snapshot_tree      building of the top-down call tree, and final order of any tree
 *   spread             adding of sample weights from the leaf nodes to all their callers
 *   standing           running totals by node, path and method, updated at each refresh
 *
 * The answer to a question about a profile, immutable and freed whole: method rows, thread rows
 * and a call tree, all from the same samples, all with the same total.
 *
 * Rules:
 *  - self: weight of samples whose leaf it is; total: weight of samples in whose stack it is at
 *    all, recursion counted once.
 *  - the sum of all methods' self, of all threads' weight, and of the tree's roots' total each
 *    equal snapshot.weight.
 *  - rows are sorted by self, then total, descending, then name, so equal questions give equal
 *    answers; a tree's children are sorted by total descending, then name.
 *  - inverted tree: a node's total is the weight of samples whose leaf end is the path to it
 *    read from the root; its self is the weight of those whose stack begins there, so that the sum
 *    of all selfs is snapshot.weight here too.
 *  - a method's tier is the one of its frame nearest to the root, where it is on a stack twice.
 *  - out of measure, detail goes and sums stay: a stack the profile could not keep is shown as
 *    "[stack not kept]"; a tree with millions of nodes is cut, the rest counting as the self of
 *    the node above.
 *
 * Context: pure. snapshot_take reads the profile (the caller's lock is held around it); the
 * result may be used from any thread afterwards, as long as the profile lives.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_SNAPSHOT_H
#define JTOP_PROFILE_SNAPSHOT_SNAPSHOT_H

#include "core/profile/profile.h"

#define QUERY_ALL_THREADS 0u

struct query {
    int event;
    uint64_t from_second; /* window, inclusive, in seconds of time_ns; 0 and 0: everything since */
    uint64_t to_second;   /*   the beginning, evicted history included */
    uint32_t tid;         /* only this platform thread, what it carried only with `carriers`;
                             QUERY_ALL_THREADS: all */
    const char *filter;   /* keep samples with a frame whose dotted name matches this extended
                             regular expression, ignoring case; a leading '!' keeps those without;
                             NULL or "": all. What is no expression is taken literally, as is a '$'
                             that is not at the end: class names have it */
    bool with_method;     /* keep only samples with `method` on the stack */
    uint32_t method;
    const char *package; /* only samples with a Java frame of this package or one below it,
                             "java.util"; NULL or "": all */
    /* Only samples with a frame that is like one of `include`, and with none that is like one of
     * `exclude`: names as "java/lang/Thread.run" or "java.lang.Thread.run", `*` at either end. */
    const char *const *include, *const *exclude;
    uint32_t includes, excludes;
    bool simple_names;   /* these names without their packages, too */
    bool from_method;    /* the tree (not the rows) begins at the outermost frame of `method`:
                             what it calls, or inverted: who calls it. Needs with_method */
    bool inverted;       /* the tree is bottom-up: leaves are its roots, callers its children */
    bool by_thread;      /* the tree's first level is the threads (METHOD_THREAD frames) */
    bool tree;           /* build the tree (rows are always built) */
    bool carriers;       /* samples of virtual threads belong to the threads that carried them;
                             otherwise to the virtual threads */
    uint64_t virtual_id; /* only this virtual thread, whatever `tid` and `carriers` say; 0: all, so
                             the row of "[other virtual threads]" cannot be asked for */
    bool tiers;          /* a method's frames of different tiers are different tree nodes */
    bool locks;          /* build `locks` (whatever the event) */
    bool lines;          /* build `lines` for the method `lines_of` */
    uint32_t lines_of;
    uint32_t spark_cells;   /* weight over time in so many cells, for each row; 0: none */
    uint32_t spark_seconds; /* of a cell; they lie at multiples of it, and the last one is whole */
    uint32_t prune_ppm; /* leave out tree nodes, below the first level, that weigh less than this
                             many millionths of the whole; 0: none. For screens: cheap, and what is
                             left out stays in its parents' totals. Exports want the whole tree.
                             By thread, virtual threads that weigh less than this share the root
                             "[other virtual threads]". */
};

struct snapshot_method {
    uint32_t method;
    uint64_t self, total;                 /* weight */
    uint64_t self_samples, total_samples; /* counts */
    uint64_t tier[TIERS];                 /* of total_samples, by tier of the frame */
};

struct snapshot_thread {
    uint32_t tid; /* of a virtual thread: its last carrier's */
    uint64_t java_id;
    bool is_virtual;  /* java_id is its virtual_id; 0: the others there is no row for */
    const char *name; /* "" where unknown; a virtual thread always has one */
    bool ended;
    uint64_t weight, samples;
    uint64_t state[PROFILE_STATES]; /* the thread's weight of the event, by state; since the
                                       beginning, whatever the window and the filter */
    uint32_t top_method;            /* with the most self weight in it */
};

/* Waits for locks of one class, and whom for. Sorted by waited_ns, descending, an owner's rows
 * behind its class's. Since the beginning, whatever the window. */
struct snapshot_lock {
    uint32_t class_id; /* METHOD_CLASS */
    uint32_t flags;    /* the caller's, or-ed */
    bool is_class;     /* the sum of the rows that follow, up to the next such row */
    uint64_t waits, waited_ns, longest_ns;
    uint32_t locks;     /* class rows: different lock_ids, at most 1,000 counted */
    uint32_t waiters;   /* class rows: different threads, at most 1,000 counted */
    uint32_t owner_tid; /* owner rows; 0 and no owner_java_id: not known */
    uint64_t owner_java_id;
    bool owner_is_virtual;
    const char *owner;     /* the owner's name; "" where not known */
    uint32_t owner_node;   /* for snapshot_owner_stack; UINT32_MAX: none */
    uint32_t owner_method; /* on top of that stack; METHOD_NONE: not known */
    uint32_t owner_id;     /* tells threads apart, in this snapshot; UINT32_MAX: not known */
};

/* A thread that waited for a lock of that class which that owner held; or what the owner itself
 * waited for meanwhile, while others waited for it: the next step of a chain. Sorted by class and
 * owner, as numbers; steps before waiters; then by time, descending. */
struct snapshot_lock_link {
    uint32_t class_id, owner_id; /* as the owner row's */
    uint32_t next_class; /* a step: of the lock the owner waited for; METHOD_NONE: a waiter */
    uint32_t other_id;   /* the waiter; a step: who held that lock */
    uint32_t other_tid;
    uint64_t other_java_id;
    bool other_is_virtual;
    const char *other;         /* its name; "" where not known */
    uint64_t waits, waited_ns; /* of a step: only the time that both waited … */
    uint64_t deadlock_ns; /* … and of that, at least 0.1 s in which they waited in a circle */
};

/* Nodes are in preorder: a node's subtree follows it directly. */
struct snapshot_node {
    uint32_t method;
    uint32_t parent; /* index; SNAPSHOT_ROOT for roots */
    uint32_t next;   /* index behind the subtree: next sibling or beyond */
    uint32_t depth;  /* 0 for roots */
    uint64_t self, total;
    uint64_t self_samples, total_samples;
    uint64_t tier[TIERS]; /* of total_samples */
};

#define SNAPSHOT_ROOT UINT32_MAX

/* A line of query.lines_of: self, samples interrupted in it; total, samples with it on the stack,
 * recursion counted once. Line 0 is what no line is known of. Sorted by line. */
struct snapshot_line {
    uint32_t line;
    uint64_t self, total;
    uint64_t self_samples, total_samples;
};

struct snapshot {
    uint64_t weight, samples; /* of everything the query lets through */
    uint64_t failed;          /* samples with an incomplete stack among them */
    uint64_t seconds;         /* length of the window with samples in it, at least 1 */
    struct snapshot_method *methods;
    uint32_t method_count;
    struct snapshot_thread *threads;
    uint32_t thread_count;
    struct snapshot_node *nodes; /* in preorder, roots with next chains; empty without query.tree */
    uint32_t node_count;
    uint32_t max_depth; /* levels in nodes */
    uint64_t least;     /* tree nodes of less total are left out, see query.prune_ppm; 0: none */
    bool inverted, by_thread, by_tier; /* the tree, as asked for */
    bool filter_gave_up; /* some names take the filter too long: they count as if it did not fit */
    struct snapshot_line *lines;
    uint32_t line_count;
    struct snapshot_lock *locks;
    uint32_t lock_count;
    struct snapshot_lock_link *lock_links;
    uint32_t lock_link_count;
    /* [row * query.spark_cells + cell], oldest first: of a method its self, of a thread its weight.
     * NULL where not asked for. Whatever the history no longer has is 0. */
    uint64_t *method_spark, *thread_spark;
    uint64_t spark_from; /* first cell's number: its first second / spark_seconds */
    char *names;         /* of virtual threads: threads[].name, locks[].owner, lock_links[].other */
};

/* NULL: no memory. Free with snapshot_free. Interns METHOD_THREAD names when by_thread: that of
 * every virtual thread it shows as a root, so what is taken again and again should prune. */
struct snapshot *snapshot_take(struct profile *p, const struct query *q);
void snapshot_free(struct snapshot *s);

/* Distinct stacks of the snapshot's tree: calls `each` for every node with self > 0 (or with
 * samples of no weight), with the path from its root to it. Needs a tree that is not inverted.
 * Stops when `each` returns non-zero and returns that; -ENOMEM. */
int snapshot_each_stack(const struct snapshot *s,
                        int (*each)(void *arg, const struct snapshot_node *const *path,
                                    uint32_t depth),
                        void *arg);

/* Whether a filter text is a regular expression: 0, or -EINVAL with why. */
int snapshot_check_filter(const char *filter, char *why, size_t size);

/* The methods on an owner's stack, leaf first; returns how many, at most `max`. */
uint32_t snapshot_owner_stack(const struct profile *p, uint32_t owner_node, uint32_t *method,
                              uint32_t max);

/* Index of the first child, or SNAPSHOT_ROOT. */
static inline uint32_t snapshot_child(const struct snapshot *s, uint32_t node) {
    return s->nodes[node].next > node + 1 ? node + 1 : SNAPSHOT_ROOT;
}

/* The tier most of a row's samples were executed in. */
enum frame_tier snapshot_main_tier(const uint64_t tier[TIERS]);

#endif
