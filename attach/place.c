#include "attach/place.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int place_agent(const struct jvm *j, const char *library, bool want_socket, uint64_t deadline_ns,
                struct place *out, struct err *e) {
    (void)j, (void)want_socket, (void)deadline_ns;
    *out = (struct place){.listener = -1};
    if (strlen(library) >= sizeof out->path)
        return err_set(e, ENAMETOOLONG, "the path of the agent library is too long");
    strcpy(out->path, library);
    return 0;
}

void place_release(struct place *p) {
    if (p->listener >= 0)
        close(p->listener);
    p->listener = -1;
    errand_end(&p->keeper);
}
