/*
 * Synthetic streams for tests: records appended to a buffer, to be decoded one by one or saved as
 * a recording for session_replay.
 *
 *      struct recording r = {0};
 *      recording_jvm(&r, 42, "Shop", "17.0.1");
 *      recording_method(&r, 1, "shop/Cart", "add", "(I)V");
 *      recording_thread(&r, 7, 1, "main");
 *      recording_sample(&r, time_ns, 7, weight, 1, wire_frame_java(WIRE_FRAME_C2, 1, 0));
 *      recording_save(&r, path);
 *      recording_done(&r);
 *
 * Context: tests. Memory that runs out shows as a recording that cannot be saved.
 */
#ifndef JTOP_TEST_RECORDING_H
#define JTOP_TEST_RECORDING_H

#include "core/base/text.h"
#include "core/wire/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct recording {
    struct text bytes; /* whole records, no file header */
};

static inline void recording_done(struct recording *r) {
    text_free(&r->bytes);
}

/* Any record: `fixed` begins with room for the header word; up to three texts follow it. */
static inline void recording_add(struct recording *r, enum wire_type type, void *fixed,
                                 size_t fixed_bytes, const char *a, const char *b, const char *c) {
    static const char zeroes[8];
    size_t length = fixed_bytes + strlen(a) + strlen(b) + strlen(c);
    size_t pad = -length & 7;
    uint64_t word = wire_header_word(type, (uint32_t)(length + pad));
    memcpy(fixed, &word, sizeof word);
    text_add_n(&r->bytes, fixed, fixed_bytes);
    text_add_n(&r->bytes, a, strlen(a));
    text_add_n(&r->bytes, b, strlen(b));
    text_add_n(&r->bytes, c, strlen(c));
    text_add_n(&r->bytes, zeroes, pad);
}

static inline void recording_jvm(struct recording *r, uint32_t pid, const char *name,
                                 const char *version) {
    struct wire_jvm w = {.start_ns = UINT64_C(1700000000123456789),
                         .clock_ns = UINT64_C(100000000000),
                         .pid = pid,
                         .name_bytes = (uint16_t)strlen(name),
                         .version_bytes = (uint16_t)strlen(version)};
    recording_add(r, WIRE_JVM, &w, sizeof w, name, version, "");
}

static inline void recording_method(struct recording *r, uint32_t id, const char *class_name,
                                    const char *name, const char *signature) {
    struct wire_method w = {.method_id = id,
                            .class_bytes = (uint16_t)strlen(class_name),
                            .name_bytes = (uint16_t)strlen(name),
                            .signature_bytes = (uint16_t)strlen(signature)};
    recording_add(r, WIRE_METHOD, &w, sizeof w, class_name, name, signature);
}

/* With a line table: `lines` is pairs of bci, line. */
static inline void recording_method_lines(struct recording *r, uint32_t id, const char *class_name,
                                          const char *name, const uint16_t *lines,
                                          uint32_t line_bytes) {
    char text[256] = "", *at = stpcpy(stpcpy(text, class_name), name);
    size_t text_bytes = (size_t)(at - text);
    struct wire_method w = {.method_id = id,
                            .class_bytes = (uint16_t)strlen(class_name),
                            .name_bytes = (uint16_t)strlen(name),
                            .line_bytes = line_bytes};
    size_t length = (sizeof w + text_bytes + (text_bytes & 1) + line_bytes + 7) & ~(size_t)7;
    w.header = wire_header_word(WIRE_METHOD, (uint32_t)length);
    text_add_n(&r->bytes, (const char *)&w, sizeof w);
    text_add_n(&r->bytes, text, text_bytes + (text_bytes & 1));
    text_add_n(&r->bytes, (const char *)lines, line_bytes);
    text_add_n(&r->bytes, (const char[8]){0},
               length - sizeof w - text_bytes - (text_bytes & 1) - line_bytes);
}

static inline void recording_class(struct recording *r, uint32_t id, const char *name) {
    struct wire_class w = {.class_id = id, .name_bytes = (uint32_t)strlen(name)};
    recording_add(r, WIRE_CLASS, &w, sizeof w, name, "", "");
}

static inline void recording_stub(struct recording *r, uint64_t begin, uint32_t bytes,
                                  const char *name) {
    struct wire_stub w = {
        .begin = begin, .code_bytes = bytes, .name_bytes = (uint32_t)strlen(name)};
    recording_add(r, WIRE_STUB, &w, sizeof w, name, "", "");
}

/* `kind`: enum method_kind. `address`: as looked up, one less than a return address. */
static inline void recording_symbol(struct recording *r, uint64_t address, uint32_t kind,
                                    const char *name, const char *module) {
    struct wire_symbol w = {.address = address,
                            .kind = kind,
                            .name_bytes = (uint16_t)strlen(name),
                            .module_bytes = (uint16_t)strlen(module)};
    recording_add(r, WIRE_SYMBOL, &w, sizeof w, name, module, "");
}

static inline void recording_thread(struct recording *r, uint32_t tid, uint64_t java_id,
                                    const char *name) {
    struct wire_thread w = {.java_id = java_id, .tid = tid, .name_bytes = (uint16_t)strlen(name)};
    recording_add(r, WIRE_THREAD, &w, sizeof w, name, "", "");
}

static inline void recording_virtual_thread(struct recording *r, uint32_t tid, uint64_t java_id,
                                            const char *name) {
    struct wire_thread w = {.java_id = java_id,
                            .tid = tid,
                            .name_bytes = (uint16_t)strlen(name),
                            .flags = WIRE_THREAD_VIRTUAL};
    recording_add(r, WIRE_THREAD, &w, sizeof w, name, "", "");
}

static inline void recording_thread_end(struct recording *r, uint32_t tid) {
    struct wire_thread_end w = {.tid = tid};
    recording_add(r, WIRE_THREAD_END, &w, sizeof w, "", "", "");
}

/* A line for people; `level`: 0 error, 1 warning, 2 information. */
static inline void recording_java_state(struct recording *r, uint32_t tid, uint8_t state) {
    struct wire_java_state w = {.tid = tid, .state = state};
    recording_add(r, WIRE_JAVA_STATE, &w, sizeof w, "", "", "");
}

static inline void recording_log(struct recording *r, uint32_t level, const char *text) {
    struct wire_log w = {.level = level, .text_bytes = (uint32_t)strlen(text)};
    recording_add(r, WIRE_LOG, &w, sizeof w, text, "", "");
}

/* Counters and engine at this point: cpu by perf, every 10 ms. */
static inline void recording_mark(struct recording *r, uint64_t time_ns, uint64_t dropped) {
    struct wire_mark w = {
        .time_ns = time_ns,
        .dropped = dropped,
        .engine = {.event = WIRE_EVENT_CPU, .mechanism = WIRE_MECHANISM_PERF, .interval = 10000000},
        .walker = "vm"};
    recording_add(r, WIRE_MARK, &w, sizeof w, "", "", "");
}

static inline void recording_event_sample(struct recording *r, enum wire_event event,
                                          uint64_t time_ns, uint32_t tid, uint64_t weight,
                                          const uint64_t *frame, uint16_t frames) {
    struct wire_sample w = {.header =
                                wire_header_word(WIRE_SAMPLE, (uint32_t)sizeof w + 8u * frames),
                            .time_ns = time_ns,
                            .weight = weight,
                            .tid = tid,
                            .frames = frames,
                            .event = (uint8_t)event,
                            .state = WIRE_THREAD_RUNNING};
    text_add_n(&r->bytes, (const char *)&w, sizeof w);
    text_add_n(&r->bytes, (const char *)frame, 8u * frames);
}

/* A CPU sample of one frame, of a virtual thread. */
static inline void recording_virtual_sample(struct recording *r, uint64_t time_ns, uint32_t tid,
                                            uint64_t virtual_id, uint64_t weight, uint64_t frame) {
    struct wire_sample w = {.header = wire_header_word(WIRE_SAMPLE, (uint32_t)sizeof w + 8u),
                            .time_ns = time_ns,
                            .weight = weight,
                            .virtual_id = virtual_id,
                            .tid = tid,
                            .frames = 1,
                            .event = WIRE_EVENT_CPU};
    text_add_n(&r->bytes, (const char *)&w, sizeof w);
    text_add_n(&r->bytes, (const char *)&frame, sizeof frame);
}

/* A CPU sample; the frames (uint64_t, leaf first) are the remaining arguments. */
static inline void recording_sample(struct recording *r, uint64_t time_ns, uint32_t tid,
                                    uint64_t weight, int frames, ...) {
    uint64_t frame[64];
    va_list ap;
    va_start(ap, frames);
    for (int i = 0; i < frames && i < 64; i++)
        frame[i] = va_arg(ap, uint64_t);
    va_end(ap);
    recording_event_sample(r, WIRE_EVENT_CPU, time_ns, tid, weight, frame, (uint16_t)frames);
}

/* Any sample: `like` but for its header and number of frames. */
static inline void recording_whole_sample(struct recording *r, const struct wire_sample *like,
                                          const uint64_t *frame, uint16_t frames) {
    struct wire_sample w = *like;
    w.header = wire_header_word(WIRE_SAMPLE, (uint32_t)sizeof w + 8u * frames);
    w.frames = frames;
    text_add_n(&r->bytes, (const char *)&w, sizeof w);
    text_add_n(&r->bytes, (const char *)frame, 8u * frames);
}

static inline void recording_repeat(struct recording *r, enum wire_event event, uint64_t time_ns,
                                    uint32_t tid, uint64_t weight, uint32_t count) {
    struct wire_repeat w = {.time_ns = time_ns,
                            .weight = weight,
                            .tid = tid,
                            .count = count,
                            .event = (uint8_t)event,
                            .state = WIRE_THREAD_SLEEPING};
    recording_add(r, WIRE_REPEAT, &w, sizeof w, "", "", "");
}

static inline void recording_free_of(struct recording *r, uint64_t time_ns, uint64_t live_id) {
    struct wire_free w = {.time_ns = time_ns, .live_id = live_id};
    recording_add(r, WIRE_FREE, &w, sizeof w, "", "", "");
}

/* `like` but for its header and number of frames. */
static inline void recording_lock(struct recording *r, const struct wire_lock *like,
                                  const uint64_t *frame, uint32_t frames) {
    struct wire_lock w = *like;
    w.header = wire_header_word(WIRE_LOCK, (uint32_t)sizeof w + 8u * frames);
    w.owner_frames = frames;
    text_add_n(&r->bytes, (const char *)&w, sizeof w);
    text_add_n(&r->bytes, (const char *)frame, 8u * frames);
}

static inline void recording_pause(struct recording *r, uint64_t begin_ns, uint64_t end_ns,
                                   uint32_t kind) {
    struct wire_pause w = {.begin_ns = begin_ns, .end_ns = end_ns, .kind = kind};
    recording_add(r, WIRE_PAUSE, &w, sizeof w, "", "", "");
}

static inline void recording_window(struct recording *r, uint64_t begin_ns, uint64_t end_ns) {
    struct wire_window w = {.begin_ns = begin_ns, .end_ns = end_ns};
    recording_add(r, WIRE_WINDOW, &w, sizeof w, "", "", "");
}

/* One engine at this point. */
static inline void recording_engine(struct recording *r, uint64_t time_ns,
                                    const struct wire_engine_status *engine) {
    struct wire_mark w = {.time_ns = time_ns, .engine = *engine, .walker = "vm"};
    recording_add(r, WIRE_MARK, &w, sizeof w, "", "", "");
}

/* The records one after the other: *at begins at 0; NULL at the end. */
static inline const void *recording_next(const struct recording *r, size_t *at) {
    if (r->bytes.failed || *at >= r->bytes.len)
        return NULL;
    const char *record = r->bytes.data + *at;
    uint64_t word;
    memcpy(&word, record, sizeof word);
    *at += wire_header_length(word);
    return record;
}

/* Writes a recording file. 0 or -1. */
static inline int recording_save(const struct recording *r, const char *path) {
    struct wire_file_header h = {WIRE_FILE_MAGIC, WIRE_FILE_MAJOR, 0};
    FILE *f = r->bytes.failed ? NULL : fopen(path, "wb");
    if (!f)
        return -1;
    int bad = fwrite(&h, sizeof h, 1, f) != 1 ||
              (r->bytes.len && fwrite(r->bytes.data, r->bytes.len, 1, f) != 1);
    return fclose(f) != 0 || bad ? -1 : 0;
}

#endif
