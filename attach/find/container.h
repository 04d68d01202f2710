/*
 * Finds the container of a process by its control group.
 *
 * Context: any thread.
 */
#ifndef JTOP_ATTACH_FIND_CONTAINER_H
#define JTOP_ATTACH_FIND_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_NAME 16

/* Writes into `out`: the first 12 digits of a Docker, Podman or Kubernetes container's id; or the
 * name of an LXC or systemd-nspawn machine; or else the last name of its control group, unless that
 * group is ours too; or "yes" if the group gives no name. Printable. Returns out. */
const char *container_name(pid_t pid, char out[CONTAINER_NAME]);

/* The container's id or the machine's name in the text of a /proc/PID/cgroup; "": none. */
const char *container_parse(const char *cgroup, char out[CONTAINER_NAME]);

/* The last name of the group, unless the group is that of `ours` or the name is systemd's; "":
 * none. */
const char *container_group(const char *cgroup, const char *ours, char out[CONTAINER_NAME]);

#endif
