/*
 * --list: the JVMs on this machine, for people and for scripts.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_LIST_H
#define JTOP_TUI_CLI_COMMAND_LIST_H

#include "attach/find/jvm.h"
#include "core/base/text.h"

#include <stdbool.h>

/* Appends a table, or an array of objects, of all JVMs, with the reason where one cannot be attached
 * (attach/doctor/doctor.h). Strings in JSON are valid UTF-8 whatever
 * the JVMs call themselves. */
int list_jvms(bool json, struct text *out, struct err *e);

/* The same of JVMs already found, as objects. */
void list_json(struct text *out, const struct jvm *jvms, int count);

#endif
