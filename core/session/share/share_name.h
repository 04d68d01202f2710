/*
 * The names of the abstract sockets through which JVMs' profiles are shared:
 *
 *      jtop-prof/PID-TICKS-NAMESPACE[-uUID]
 *
 * Such names belong to the network namespace. Several processes with the same number may use it,
 * one after the other or in separate pid namespaces: start time and pid namespace distinguish them.
 * The second form, with -uUID, is for a reader of that user if another process already uses the
 * first form.
 *
 * Context: frontend, any thread. Only reads /proc.
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
    uint64_t ticks; /* as in struct proc_stat; 0: not known */
    uint64_t space; /* inode of its pid namespace; 0: not known */
    bool second;
    uid_t uid; /* for the second form */
};

/* Returns the first form, for a process as it is now. */
struct share_name share_name_of(pid_t jvm);

/* Lists the names under which the JVM's reader may listen, the most likely first. `*found`: the
 * process could not be read (any more), so the list contains the existing names for this number,
 * newest first. */
uint32_t share_name_list(pid_t jvm, struct share_name out[SHARE_NAMES_MAX], bool *found);

socklen_t share_name_address(const struct share_name *n, struct sockaddr_un *out);

/* Whether `reader` and this process use the same numbers for other processes: they are in one pid
 * namespace. */
bool share_name_counts_alike(pid_t reader);

#endif
