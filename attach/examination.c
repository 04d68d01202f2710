#include "attach/examination.h"

int examine(const struct jvm *j, uid_t uid, const char *library, struct finding *out, int cap) {
    (void)j, (void)uid, (void)library, (void)out, (void)cap;
    return 0;
}
