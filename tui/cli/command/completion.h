/*
 * Completion of our command line in bash, zsh and fish: scripts made from the option table, which
 * ask the program itself for the JVMs there are.
 *
 * Context: frontend only, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_COMPLETION_H
#define JTOP_TUI_CLI_COMMAND_COMPLETION_H

#include "attach/find/jvm.h"
#include "core/base/err.h"
#include "core/base/text.h"

/* The script for "bash", "zsh" or "fish". -EINVAL: another shell. */
int completion_script(const char *shell, struct text *out, struct err *e);

/* "PID NAME" a line. What other people call their JVMs ends up on a command line here, so a name
 * with anything but letters, digits and . _ - $ / in it is left out; its PID is not. */
void completion_names(struct text *out, const struct jvm *jvms, int count);

#endif
