/* What may be typed behind an option, as far as it can be listed. */
#include "tui/cli/option/options.h"

#include "core/event/event.h"
#include "core/wire/wire_names.h"
#include "tui/terminal/theme.h"

static void add(struct text *out, const char *word) {
    text_addf(out, "%s ", word);
}

void option_words(const struct option_row *row, struct text *out) {
    switch (row->kind) {
    case OPTION_EVENT:
        for (const char *const *name = event_names; *name; name++)
            add(out, *name);
        break;
    case OPTION_FORMAT:
        for (const struct exporter *x = exporters; x->name; x++)
            add(out, x->name);
        text_add(out, "summary traces flat ");
        break;
    case OPTION_CSTACK:
        for (int i = 0; i < WIRE_WALKS; i++)
            add(out, wire_walk_name[i]);
        break;
    case OPTION_CLOCK:
        text_add(out, "tsc monotonic ");
        break;
    case OPTION_TEXT:
    case OPTION_ACTION:
        if (row->themes)
            for (const char *const *name = theme_names; *name; name++)
                add(out, *name);
        else if (row->words)
            add(out, row->words);
        break;
    default:
        if (row->words)
            add(out, row->words);
        break;
    }
}
