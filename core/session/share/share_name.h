/*
 * The names of the abstract sockets by which JVMs' profiles are shared:
 *
 *      jtop-prof/PID-TICKS-NAMESPACE[-uUID]
 *
 * Such names belong to the network namespace, which may have several processes of one number, one
 * after the other or in pid namespaces of their own: start time and pid namespace tell them apart.
 * The second form is for a reader of that user where somebody else has taken the first.
 *
 * Context: frontend, any thread. Looks at /proc only.
 */
#ifndef JTOP_SESSION_SHARE_SHARE_NAME_H
#define JTOP_SESSION_SHARE_SHARE_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define SHARE_NAMES_MAX 256u

struct share_name {
    pid_t jvm;      /* as the caller sees it */
    uint64_t ticks; /* struct proc_stat's; 0: not known */
    uint64_t space; /* inode of its pid namespace; 0: not known */
    bool second;
    uid_t uid; /* of the second form */
};

/* The first form, for a process as it is now. */
struct share_name share_name_of(pid_t jvm);

/* Where its reader may listen, the likeliest first. `*found`: they are those that exist for this
 * number, as the process cannot be looked at (any more): newest first. */
uint32_t share_name_list(pid_t jvm, struct share_name out[SHARE_NAMES_MAX], bool *found);

socklen_t share_name_address(const struct share_name *n, struct sockaddr_un *out);

/* Whether the numbers that this process gives to others are the same as ours: one pid namespace. */
bool share_name_counts_alike(pid_t reader);

#endif
