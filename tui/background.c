#include "tui/background.h"

#include "core/session/share.h"

#include <errno.h>

void background_share(const struct options *o, struct session *s) {
    struct err ignored;
    (void)o;
    session_share(s, NULL, NULL, &ignored);
}

int background_act(const struct options *o, const struct jvm *j, int argc, char **argv,
                   struct err *e) {
    (void)j, (void)argc, (void)argv;
    return err_set(e, ENOTSUP, "%s is not built yet", o->word);
}
