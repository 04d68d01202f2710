/*
 * Names of keys, as the help prints them and a config file writes them: "a", "Up", "F5", "^F",
 * "Space", "Esc".
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_TERMINAL_PRESS_NAME_H
#define JTOP_TUI_TERMINAL_PRESS_NAME_H

#include "tui/terminal/press.h"

#include <stddef.h>

#define PRESS_NAME_SIZE 16

/* Parses a key's name. PRESS_NONE: no such key, or the terminal keeps it for itself (^C, ^S, ^Q,
 * ^Z). */
int32_t press_parse(const char *name);

/* Writes a key's name. Returns out, PRESS_NAME_SIZE bytes. */
const char *press_name(int32_t press, char *out);

/* The names that press_parse accepts, for a message. */
extern const char press_names[];

#endif
