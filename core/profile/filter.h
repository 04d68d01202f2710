/*
 * Which stacks a filter text keeps.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_FILTER_H
#define JTOP_PROFILE_FILTER_H

#include "core/profile/profile_state.h"

/* *drop: one byte a node of the call tree, non-zero where stacks with this leaf are left out; NULL
 * when the filter keeps everything. Rules at struct query. Owned by the caller. 0 or -ENOMEM. */
int filter_nodes(const struct profile *p, const char *filter, uint8_t **drop);

#endif
