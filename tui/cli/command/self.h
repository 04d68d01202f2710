/*
 * What the program prints of itself: settings, completion, manual, whether a theme is good.
 *
 * Context: frontend only, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_SELF_H
#define JTOP_TUI_CLI_COMMAND_SELF_H

#include "core/base/err.h"
#include "core/base/text.h"
#include "tui/cli/option/options.h"

/* What o->action asks for; -EINVAL: not one of these, or what it is about is no good. What is in
 * `out` is to be printed either way. */
int self_print(const struct options *o, struct text *out, struct err *e);

#endif
