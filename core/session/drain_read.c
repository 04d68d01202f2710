#include "core/session/session_state.h"

#include "attach/thread_stat.h"
#include "core/session/clean_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records decoded in one go, with the lock held: a few milliseconds' worth. */
#define BATCH_BYTES (256u << 10)
/* How often the JVM's maps are read because it says so. One that says it all the time gets names
 * that may be a second old. */
#define LOOKS_PER_SECOND 100
#define SECOND_NS UINT64_C(1000000000)

/* Reads records until the batch is full, nothing is left, or libraries changed: addresses behind
 * that mean something else. */
static size_t fill_batch(struct session *s, bool writers_gone, bool *libraries) {
    struct drain *d = &s->drain;
    if (!d->batch)
        d->batch = malloc(BATCH_BYTES + WIRE_RECORD_BYTES_MAX);
    size_t used = 0;
    *libraries = false;
    while (d->batch && used < BATCH_BYTES && !*libraries) {
        uint64_t *record = d->batch + used / 8;
        uint32_t length = ring_read(&d->ring, record, WIRE_RECORD_BYTES_MAX, writers_gone);
        if (length == 0)
            break;
        used += length;
        *libraries = wire_header_type(*record) == WIRE_LIBRARY;
    }
    return used;
}

static void decode_batch(struct session *s, size_t used) {
    struct drain *d = &s->drain;
    size_t words = used / 8;
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_prepare(d->decoder, d->batch + i);
    session_lock(s);
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_decode(d->decoder, d->batch + i);
    session_unlock(s);
}

/* Addresses mean something else from here on. */
static void libraries_changed(struct drain *d) {
    if (d->unwind)
        unwind_refresh(d->unwind);
    if (d->looks >= LOOKS_PER_SECOND) {
        d->look_due = true;
        return;
    }
    d->looks++;
    decoder_libraries_changed(d->decoder);
}

static void look_later(struct drain *d) {
    if (d->decoder->now_ns - d->looks_ns < SECOND_NS)
        return;
    d->looks_ns = d->decoder->now_ns;
    d->looks = 0;
    if (!d->look_due)
        return;
    d->look_due = false;
    decoder_libraries_changed(d->decoder);
}

bool drain_read(struct session *s, bool writers_gone) {
    struct drain *d = &s->drain;
    uint64_t begin = d->ring.tail;
    /* A writer faster than us must not keep us from everything else. */
    while (d->ring.bytes && d->ring.tail - begin < d->ring.bytes) {
        bool libraries;
        uint64_t before = d->ring.tail;
        d->decoder->now_ns = session_clock_ns();
        look_later(d);
        size_t used = fill_batch(s, writers_gone, &libraries);
        if (used)
            decode_batch(s, used);
        if (libraries)
            libraries_changed(d);
        if (d->ring.tail == before)
            break;
    }
    if (d->decoder->held.first) {
        session_lock(s);
        decoder_expire(d->decoder);
        session_unlock(s);
    }
    return !d->ring.bytes ||
           atomic_load_explicit(&d->ring.positions->head, memory_order_relaxed) == d->ring.tail;
}

/* The tid as the JVM sees it; ours where it lives in our pid namespace. */
static uint32_t inner_tid(const struct jvm *j, uint32_t tid) {
    if (j->inner_pid == j->pid)
        return tid;
    char path[64];
    char line[256];
    uint32_t inner = tid;
    snprintf(path, sizeof path, "/proc/%d/task/%u/status", (int)j->pid, tid);
    FILE *f = fopen(path, "re");
    if (!f)
        return tid;
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        const char *last = strrchr(line, '\t');
        if (last)
            inner = (uint32_t)strtoul(last, NULL, 10);
        break;
    }
    fclose(f);
    return inner;
}

/* Through the decoder like any other record, so that a recording has it too. */
static void name_thread(struct session *s, uint32_t tid, const char *name) {
    union {
        struct wire_thread thread;
        uint64_t words[8];
    } r = {.thread = {.tid = tid}};
    char clean[24];
    size_t n = clean_text(clean, sizeof clean, name, strlen(name));
    r.thread.name_bytes = (uint16_t)n;
    r.thread.header = wire_header_word(WIRE_THREAD, (sizeof r.thread + (uint32_t)n + 7) & ~7u);
    memcpy(r.thread.bytes, clean, n);
    decoder_prepare(s->drain.decoder, &r);
    session_lock(s);
    decoder_decode(s->drain.decoder, &r);
    session_unlock(s);
}

void drain_name_threads(struct session *s) {
    struct decoder *d = s->drain.decoder;
    if (!d->nameless_threads)
        return;
    d->nameless_threads = false;
    struct thread_stat *list = NULL;
    int n = thread_stat_list(s->jvm.pid, &list);
    for (int i = 0; i < n; i++) {
        uint32_t tid = inner_tid(&s->jvm, list[i].tid);
        if (decoder_lacks_name(d, tid))
            name_thread(s, tid, list[i].comm);
    }
    free(list);
}
