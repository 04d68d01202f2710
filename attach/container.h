/*
 * Which container a process is in, as its control group names it.
 *
 * Context: any thread.
 */
#ifndef JTOP_ATTACH_CONTAINER_H
#define JTOP_ATTACH_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_NAME 16

/* The first 12 digits of a Docker, Podman or Kubernetes container's id, an LXC or
 * systemd-nspawn machine's name, or "yes" where the group says nothing. Returns out. */
const char *container_name(pid_t pid, char out[CONTAINER_NAME]);

/* The same of the text of a /proc/PID/cgroup; "" for "yes". */
const char *container_parse(const char *cgroup, char out[CONTAINER_NAME]);

#endif
