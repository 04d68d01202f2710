/* The JVM's answer to "threaddump", whose text is the application's in part. */
#include "tui/model/thread_dump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every index and every part of the text is within bounds. */
static void check(const struct thread_dump *d, const struct thread_dump_thread *t) {
    if (t->at > d->bytes || t->bytes > d->bytes - t->at || t->line > d->lines ||
        t->lines > d->lines - t->line || t->deadlock > d->deadlocks)
        abort();
    if (t->owner != THREAD_DUMP_NONE &&
        (t->owner >= d->threads || d->thread[t->owner].name == t->name))
        abort();
    if (t->wait != THREAD_DUMP_NONE && (t->wait < t->line || t->wait >= t->line + t->lines))
        abort();
    if (strlen(t->name) + strlen(t->state) + strlen(t->activity) > d->bytes)
        abort();
    for (uint32_t i = 0; i < t->lines; i++)
        if (strlen(d->line_of[t->line + i].text) > d->bytes)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct thread_dump d;
    if (thread_dump_parse(&d, (const char *)data, size) == 0) {
        for (uint32_t i = 0; i < d.threads; i++)
            check(&d, &d.thread[i]);
        for (uint32_t i = 1; i <= d.deadlocks; i++) {
            uint32_t first = thread_dump_deadlock(&d, i), at = first;
            do
                at = at == THREAD_DUMP_NONE ? abort(), at : d.thread[at].owner;
            while (at != first);
        }
        thread_dump_free(&d);
    }
    return 0;
}
