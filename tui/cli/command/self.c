/* What the program prints about itself: settings, completion, manual, and checks of a theme. */
#include "tui/cli/command/command.h"

#include "tui/config/config.h"
#include "tui/terminal/theme.h"

#include <errno.h>
#include <stdlib.h>

static int print_names(struct text *out, struct err *e) {
    struct jvm *jvms = NULL;
    int count = jvm_list(&jvms, e);
    if (count < 0)
        return count;
    completion_names(out, jvms, count);
    free(jvms);
    return 0;
}

static int check_theme(const char *name, struct text *out, struct err *e) {
    int complaints = theme_check(name, out, e);
    if (complaints > 0)
        return err_set(e, EINVAL, "%.200s: %d problem%s", name, complaints,
                       complaints == 1 ? "" : "s");
    if (complaints == 0)
        text_addf(out, "%s: no problems found\n", name);
    return complaints;
}

int self_print(const struct options *o, struct text *out, struct err *e) {
    switch (o->action) {
    case ACTION_HELP:
        options_help(out, o->word, o->help_in_brief);
        return 0;
    case ACTION_VERSION:
        text_add(out, "jtop-prof " JTOP_VERSION "\n");
#ifdef JTOP_STATIC
        text_add(out, "linked statically, without libzip: cannot show source from jars\n");
#endif
        return 0;
    case ACTION_CONFIG:
        config_print(out);
        return 0;
    case ACTION_CHECK_THEME:
        return check_theme(o->about, out, e);
    case ACTION_COMPLETION:
        return completion_script(o->about, out, e);
    case ACTION_NAMES:
        return print_names(out, e);
    case ACTION_MANUAL:
        return manual_tables(o->about, out, e);
    default:
        return err_set(e, EINVAL, "nothing to print");
    }
}
