#include "attach/doctor/examine.h"
#include "attach/place/place_look.h"

#include <string.h>

#define PATIENCE_MS 1000

void examine_place(struct examiner *x) {
    static const char id[] = "agent-place", title[] = "agent's place";
    struct place_look seen;
    struct finding *f;
    place_look(x->jvm, x->library_error ? NULL : x->library, PATIENCE_MS, &seen);
    bool tried = seen.tried[0] != '\0';
    switch ((enum place_seen)seen.seen) {
    case PLACE_LOOK_SAME:
        examine_add(x, id, title, FINDING_OK, "the JVM sees %s too",
                    x->library ? x->library : "the same file");
        return;
    case PLACE_LOOK_COPY:
        examine_add(x, id, title, FINDING_OK, "a copy in its %s, while it is loaded%s%s%s",
                    seen.dir, tried ? " (not in: " : "", seen.tried, tried ? ")" : "");
        return;
    case PLACE_LOOK_NOWHERE:
        if (x->maps.agent) {
            examine_add(x, id, title, FINDING_OK, "it has loaded the agent before");
            return;
        }
        f = examine_add(x, id, title, FINDING_FAILURE,
                        "no directory where it can load the agent from (%s)",
                        tried ? seen.tried : "none was found");
        examine_remedy(f, "mount a tmpfs without noexec there (at /tmp), or put the agent where it "
                          "can read it and say where with --libpath");
        return;
    case PLACE_LOOK_UNKNOWN:
        break;
    }
    f = examine_add(x, id, title, FINDING_NOTE,
                    "not known: /proc/%d/root cannot be looked into: %s", (int)x->jvm->pid,
                    strerror(seen.error));
    examine_remedy(f, "run as its user or as root");
}
