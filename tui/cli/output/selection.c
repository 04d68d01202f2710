#include "tui/cli/output/selection.h"

void selection_query(const struct options *o, struct query *q) {
    q->include = o->include;
    q->includes = o->includes;
    q->exclude = o->exclude;
    q->excludes = o->excludes;
    q->simple_names = o->export.simple;
}
