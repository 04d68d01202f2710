#include "core/session/share.h"

#include <errno.h>

int session_join(const struct jvm *j, const struct session_options *o, struct session **out,
                 struct err *e) {
    (void)o;
    *out = NULL;
    return err_set(e, ESRCH, "nobody profiles JVM %d", (int)j->pid);
}
