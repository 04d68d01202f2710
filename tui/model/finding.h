/*
 * The findings about the model's answer (core/report/findings.h). A finding's thread is a struct
 * model_thread, which lives as long as the answer.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_FINDING_H
#define JTOP_TUI_MODEL_FINDING_H

#include "core/report/findings.h"
#include "tui/model/model.h"

/* Returns the number of findings: 0 without an answer, otherwise at least 1. */
int finding_list(const struct model *m, struct finding out[FINDINGS_MAX]);

/* Returns the view with more about it, an enum live_view; -1: none. */
int finding_view(const struct finding *f);

/* The VM's pauses in the last minute, as far as it is known. */
struct findings_pauses finding_pauses(const struct model *m);

#endif
