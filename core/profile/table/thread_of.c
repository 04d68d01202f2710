#include "core/profile/table/thread_of.h"

#include "core/profile/profile_state.h"
#include "core/profile/table/virtual_threads.h"

_Static_assert(THREAD_OF_NAME_SIZE >= VIRTUAL_NAME_SIZE, "made-up names fit");

struct profile_thread profile_thread_of(const struct profile *p, const struct profile_place *at,
                                        bool carrier, char room[THREAD_OF_NAME_SIZE]) {
    uint32_t row = carrier ? at->carrier : at->thread;
    uint32_t born = carrier ? at->carrier_born : at->born;
    if (!thread_table_is(&p->threads, row, born))
        return (struct profile_thread){.tid = at->tid, .name = "", .mark = ""};
    const struct thread *t = &p->threads.thread[row];
    struct profile_thread out = {t->tid, t->java_id, t->is_virtual, t->name, t->name};
    if (t->is_virtual) {
        out.name = virtual_threads_shown(t->virtual_name, t->java_id, room);
        out.mark = t->virtual_name;
    }
    return out;
}
