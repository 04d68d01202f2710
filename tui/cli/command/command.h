/*
 * Files:
 *   command            the commands, each a function that main.c calls
 *   completion         completion scripts for bash, zsh and fish
 *   convert            the convert command: profile files into other formats
 *   convert_recording  conversion of a profile file into a .jtop recording
 *   doctor_command     the doctor command: its findings printed as text or JSON
 *   jvm_command        commands sent to the JVM: load, jcmd, threaddump, heap dumps
 *   list               --list: table or JSON of the machine's JVMs
 *   list_events        list and check commands: events a JVM can be sampled for
 *   manual             generated parts of the manual pages: options, settings, keys
 *   self               output about the program itself: config, completion, theme check
 *
 * The commands that sample nothing: each is a function that main.c calls. What they append to
 * `out` is then printed. They return 0, or -errno with a message, unless stated otherwise.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_COMMAND_H
#define JTOP_TUI_CLI_COMMAND_COMMAND_H

#include "attach/find/jvm.h"
#include "core/base/err.h"
#include "core/base/text.h"
#include "core/session/session.h"
#include "tui/cli/option/options.h"

#include <stdbool.h>

/* Appends a table, or an array of objects, of all JVMs, with the reason if a JVM cannot be attached
 * (attach/doctor/doctor.h). Strings in JSON are valid UTF-8, whatever names the JVMs have. */
int list_jvms(bool json, struct text *out, struct err *e);

/* The same for JVMs already found, as objects. */
void list_json(struct text *out, const struct jvm *jvms, int count);

/* Appends a table of events, each with how it is sampled, or why it cannot be. Attaches once, and
 * starts every event for a moment. */
int list_events(const struct jvm *j, const struct session_options *o, struct text *out,
                struct err *e);

/* Appends "OK" and returns 0 if all events of `o` can be sampled; otherwise the error has the
 * reason for one of them. */
int check_events(const struct jvm *j, const struct session_options *o, struct text *out,
                 struct err *e);

/* Writes a file's profile in the requested formats. For ACTION_CONVERT, `path` is operand[0], which
 * may be missing: too few or too many operands are an error. */
int convert_file(const struct options *o, const char *path, struct err *e);

/* Carries out o->word for the JVM, with the words of o->operand. */
int jvm_command(const struct options *o, const struct jvm *j, struct err *e);

/* Carries out o->action. -EINVAL: it is not one of these, or its argument is bad. `out` is to be
 * printed in any case. */
int self_print(const struct options *o, struct text *out, struct err *e);

/* Appends the script for "bash", "zsh" or "fish". -EINVAL: another shell. */
int completion_script(const char *shell, struct text *out, struct err *e);

/* Appends "PID NAME" lines. Names that other users chose for their JVMs get onto a command line
 * here, so a name with characters other than letters, digits and . _ - $ / is left out; its PID is
 * not. */
void completion_names(struct text *out, const struct jvm *jvms, int count);

/* Appends the tables in mdoc, for page "1", "5" or "7"; -EINVAL: another page. */
int manual_tables(const char *page, struct text *out, struct err *e);

#endif
