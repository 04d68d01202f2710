/*
 * Which container a process is in, as its control group names it.
 *
 * Context: any thread.
 */
#ifndef JTOP_ATTACH_FIND_CONTAINER_H
#define JTOP_ATTACH_FIND_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_NAME 16

/* The first 12 digits of a Docker, Podman or Kubernetes container's id, an LXC or
 * systemd-nspawn machine's name, else its control group's last name where that is not ours too; or
 * "yes" where the group says nothing. Printable. Returns out. */
const char *container_name(pid_t pid, char out[CONTAINER_NAME]);

/* The id or the machine's name in the text of a /proc/PID/cgroup; "": none. */
const char *container_parse(const char *cgroup, char out[CONTAINER_NAME]);

/* The last name of its group, unless that is `ours` or systemd's; "": none. */
const char *container_group(const char *cgroup, const char *ours, char out[CONTAINER_NAME]);

#endif
