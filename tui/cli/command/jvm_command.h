/*
 * What the attach mechanism is good for besides profiling: `load`, `jcmd`, `threaddump`, `dumpheap`,
 * `inspectheap`. What the JVM answers goes to stdout.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_JVM_COMMAND_H
#define JTOP_TUI_CLI_COMMAND_JVM_COMMAND_H

#include "tui/cli/option/options.h"

/* Does o->word with the JVM and the words of o->operand. */
int jvm_command(const struct options *o, const struct jvm *j, struct err *e);

#endif
