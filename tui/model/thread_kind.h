/*
 * What a thread works for: the application, or the VM. HotSpot's own threads have names of
 * their own, which have not changed for years.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_THREAD_KIND_H
#define JTOP_TUI_MODEL_THREAD_KIND_H

#include "tui/model/model.h"

enum thread_kind { THREAD_APPLICATION, THREAD_GC, THREAD_JIT, THREAD_VM, THREAD_KINDS };

/* "GC threads": the name of all threads of a kind. */
extern const char *const thread_kind_title[THREAD_KINDS];

enum thread_kind thread_kind(const struct model_thread *t);

#endif
