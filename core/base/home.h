/*
 * Where a person's files are, as the XDG base directory specification has it.
 *
 * Context: frontend, any thread while nobody changes the environment.
 */
#ifndef JTOP_BASE_HOME_H
#define JTOP_BASE_HOME_H

#include <stddef.h>

/* "VARIABLE/jtop-prof/NAME", or "HOME/FALLBACK/jtop-prof/NAME". Returns out; "" where there is no
 * home. */
const char *home_path(const char *variable, const char *fallback, const char *name, char *out,
                      size_t size);

#endif
