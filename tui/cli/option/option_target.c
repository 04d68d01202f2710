/* Which word behind an action like jcmd is the JVM: the first, as asprof has it; or the last, where
 * that is a number and the first is not, or the first is a path. */
#include "tui/cli/option/options.h"

#include <errno.h>
#include <string.h>

static bool is_surely_jvm(const char *word) {
    return (*word && word[strspn(word, "0123456789")] == '\0') || strcmp(word, "jps") == 0;
}

int options_find_target(struct options *o, struct err *e) {
    int at = 0;
    if (o->target)
        return 0;
    if (o->operands == 0)
        return err_set(e, EINVAL,
                       "%s: of which JVM? Give its PID, its name, or jps for the only one; --list "
                       "shows the JVMs",
                       o->word);
    if (!is_surely_jvm(o->operand[0]) && o->operands > 1 &&
        (is_surely_jvm(o->operand[o->operands - 1]) || strchr(o->operand[0], '/')))
        at = o->operands - 1;
    o->target = o->operand[at];
    o->operands--;
    memmove(&o->operand[at], &o->operand[at + 1],
            (size_t)(o->operands - at) * sizeof o->operand[0]);
    return *o->target ? 0 : err_set(e, EINVAL, "the name of the JVM is empty");
}
