/*
 * Whether a JVM can be attached, as far as this can be found out without touching it: nothing is
 * sent, created or connected to. The result agrees with the one that attach.h reports after trying.
 *
 * Checked are: the JVM's user; whether it is stopped, held by a debugger or frozen; its
 * architecture; whether it is OpenJ9; DisableAttachMechanism and EnableDynamicAgentLoading; its
 * /tmp (it exists, can be entered and is not read-only); what is at the socket's path, or was
 * removed from there; whether SIGQUIT has a handler, if the JVM does not listen yet; in a
 * container, whether the agent can be placed in some directory. Yama's ptrace_scope is not checked:
 * it restricts tracing, and opening the agent's mapping needs only the right to read. The whole
 * list is in examination.h.
 *
 * Context: frontend only, any thread; a few small reads from /proc; for containers, a short-lived
 * child process.
 */
#ifndef JTOP_ATTACH_DOCTOR_DOCTOR_H
#define JTOP_ATTACH_DOCTOR_DOCTOR_H

#include "attach/find/jvm.h"

/* Checks whether user `uid` could attach. Returns 0; or -errno, with a message in `e` that says
 * what is wrong, what was checked and what to try, and with one word for it in *word (a constant of
 * at most DOCTOR_WORD columns; `word` may be NULL). */
#define DOCTOR_WORD 11
int doctor_attach(const struct jvm *j, uid_t uid, const char **word, struct err *e);

#endif
