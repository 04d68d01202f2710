/*
 * The paths of a user's files, by the XDG base directory specification.
 *
 * Context: frontend, any thread while no thread changes the environment.
 */
#ifndef JTOP_BASE_HOME_H
#define JTOP_BASE_HOME_H

#include <stddef.h>

/* Makes "VARIABLE/jtop-prof/NAME", or "HOME/FALLBACK/jtop-prof/NAME". Returns out; it is "" if
 * there is no home directory. */
const char *home_path(const char *variable, const char *fallback, const char *name, char *out,
                      size_t size);

#endif
