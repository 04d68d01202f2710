/*
 * Whether a JVM can be attached, as far as can be told without touching it: nothing is sent,
 * created or connected to. What it says agrees with what attach.h would say after trying.
 *
 * Checked: whose it is; whether it is stopped, held or frozen; its architecture; OpenJ9;
 * DisableAttachMechanism and EnableDynamicAgentLoading; its /tmp (there, to be entered, not
 * read-only); what lies at the socket's place, or was removed from there; whether SIGQUIT, where it
 * does not listen yet, has a handler; in a container, whether some directory will do for the agent.
 * Yama's ptrace_scope is not: it is about tracing, and the agent's mapping is opened with the rights
 * to read only. The whole list is examination.h's.
 *
 * Context: frontend only, any thread; some small reads from /proc; for containers, a
 * child of ours for a moment.
 */
#ifndef JTOP_ATTACH_DOCTOR_DOCTOR_H
#define JTOP_ATTACH_DOCTOR_DOCTOR_H

#include "attach/find/jvm.h"

/* `uid`: who would attach. 0; or -errno with a line that says what, what was checked, and what to
 * try, and in *word (may be NULL; a constant of at most DOCTOR_WORD columns) a word for it. */
#define DOCTOR_WORD 11
int doctor_attach(const struct jvm *j, uid_t uid, const char **word, struct err *e);

#endif
