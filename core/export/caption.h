/*
 * The two lines at the head of a page: the title (what was measured) and the subtitle (how good the
 * profile is). The text is plain; the caller escapes it for its format.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_CAPTION_H
#define JTOP_EXPORT_CAPTION_H

#include "core/export/export.h"

void caption_title(struct text *out, const struct export_quality *q,
                   const struct export_options *o);
void caption_subtitle(struct text *out, const struct snapshot *s, const struct export_quality *q,
                      const struct export_options *o);

#endif
