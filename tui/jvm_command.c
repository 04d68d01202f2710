#include "tui/jvm_command.h"

#include <errno.h>

int jvm_command(const struct options *o, const struct jvm *j, struct err *e) {
    (void)j;
    return err_set(e, ENOTSUP, "%s is not built yet", o->word);
}
