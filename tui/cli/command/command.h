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
 * The commands that are no profile: each is carried out by one function, which main.c calls. What they
 * append to `out` is to be printed. 0 or -errno with a message, unless it says otherwise.
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

/* Appends a table, or an array of objects, of all JVMs, with the reason where one cannot be attached
 * (attach/doctor/doctor.h). Strings in JSON are valid UTF-8 whatever
 * the JVMs call themselves. */
int list_jvms(bool json, struct text *out, struct err *e);

/* The same of JVMs already found, as objects. */
void list_json(struct text *out, const struct jvm *jvms, int count);

/* Appends a table of events, each with how it is sampled or why it cannot be. Attaches once; every
 * event is started for a moment. */
int list_events(const struct jvm *j, const struct session_options *o, struct text *out,
                struct err *e);

/* Appends "OK" and returns 0 when all events of `o` can be sampled; else an error says why one of
 * them cannot. */
int check_events(const struct jvm *j, const struct session_options *o, struct text *out,
                 struct err *e);

/* Writes a file's profile in the formats asked for. Of ACTION_CONVERT `path` is operand[0], which
 * may be missing: what there is too few or too many of is an error. */
int convert_file(const struct options *o, const char *path, struct err *e);

/* Does o->word with the JVM and the words of o->operand. */
int jvm_command(const struct options *o, const struct jvm *j, struct err *e);

/* What o->action asks for; -EINVAL: not one of these, or what it is about is no good. What is in
 * `out` is to be printed either way. */
int self_print(const struct options *o, struct text *out, struct err *e);

/* The script for "bash", "zsh" or "fish". -EINVAL: another shell. */
int completion_script(const char *shell, struct text *out, struct err *e);

/* "PID NAME" a line. What other people call their JVMs ends up on a command line here, so a name
 * with anything but letters, digits and . _ - $ / in it is left out; its PID is not. */
void completion_names(struct text *out, const struct jvm *jvms, int count);

/* In mdoc, for page "1", "5" or "7"; -EINVAL: another one. */
int manual_tables(const char *page, struct text *out, struct err *e);

#endif
