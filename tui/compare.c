#include "tui/compare.h"

#include <errno.h>

int compare_files(const struct options *o, struct err *e) {
    (void)o;
    return err_set(e, ENOTSUP, "diff is not built yet");
}
