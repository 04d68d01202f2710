/*
 * Every JVM of the machine held all the time: new ones are entered, ended ones left. A thread of its
 * own looks once a second; those that cannot be attached are tried again after a while.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_HTTP_SERVE_ATTENDANCE_H
#define JTOP_HTTP_SERVE_ATTENDANCE_H

#include "core/http/fleet/fleet.h"

struct attendance;

/* `want` is copied. -errno with a message. */
int attendance_new(struct fleet *f, const struct fleet_want *want, struct attendance **out,
                   struct err *e);
/* Leaves them all. NULL is fine. */
void attendance_free(struct attendance *a);

#endif
