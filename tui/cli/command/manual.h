/*
 * The parts of the manual pages that come from tables: options in jtop-prof.1, settings in
 * jtop-prof.5, keys in jtop-prof.7. `make man` puts them there, between two comments; a test says
 * where they differ.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_CLI_COMMAND_MANUAL_H
#define JTOP_TUI_CLI_COMMAND_MANUAL_H

#include "core/base/err.h"
#include "core/base/text.h"

/* In mdoc, for page "1", "5" or "7"; -EINVAL: another one. */
int manual_tables(const char *page, struct text *out, struct err *e);

#endif
