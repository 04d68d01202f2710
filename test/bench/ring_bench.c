/*
 * What the reader's side costs: records of 60 frames out of the ring, decoded, into the profile.
 * The bar is 100,000 records a second on one core.
 *
 * Usage: ring_bench [seed]
 */
#include "core/decode/decoder.h"
#include "core/profile/profile.h"
#include "core/wire/ring_reader.h"
#include "core/wire/ring_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    DEPTH = 60,
    METHODS = 5000,
    STACKS = 20000, /* distinct; neighbours share their upper half */
    THREADS = 200,
    LINES = 25, /* of a method; of its 200 bytes */
    ROUNDS = 40,
    BATCH = 10000, /* records written before they are read */
};

static uint64_t random_state = 1;

static uint32_t roll(uint32_t sides) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % sides);
}

/* CPU seconds of this process: the same on a busy machine. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void write_methods(struct ring_writer *w) {
    for (uint32_t i = 0; i < METHODS; i++) {
        char text[64];
        int n = snprintf(text, sizeof text, "com/example/C%umethod%u", i / 10, i);
        uint16_t lines[LINES][2];
        uint32_t odd = (uint32_t)n & 1;
        for (uint32_t line = 0; line < LINES; line++)
            lines[line][0] = (uint16_t)(line * 200 / LINES), lines[line][1] = (uint16_t)(i + line);
        struct wire_method *m =
            ring_reserve(w, WIRE_METHOD, (uint32_t)(sizeof *m + (uint32_t)n + odd + sizeof lines));
        m->method_id = i;
        m->class_bytes = (uint16_t)(strstr(text, "method") - text);
        m->name_bytes = (uint16_t)(n - m->class_bytes);
        m->signature_bytes = 0;
        m->line_bytes = sizeof lines;
        memcpy(m->bytes, text, (size_t)n + odd);
        memcpy(m->bytes + n + odd, lines, sizeof lines);
        ring_commit(m, WIRE_METHOD);
    }
}

static void make_stacks(uint64_t (*stack)[DEPTH]) {
    for (uint32_t i = 0; i < STACKS; i++) {
        uint32_t shared = i % 100 ? DEPTH / 2 + roll(DEPTH / 2) : 0;
        for (uint32_t f = 0; f < DEPTH; f++)
            stack[i][f] = f >= DEPTH - shared
                              ? stack[i - 1][f]
                              : wire_frame_java(roll(8) ? WIRE_FRAME_C2 : WIRE_FRAME_INLINED,
                                                roll(METHODS), roll(150));
    }
}

static void write_batch(struct ring_writer *w, uint64_t (*stack)[DEPTH], uint64_t time_ns) {
    for (uint32_t i = 0; i < BATCH; i++) {
        struct wire_sample *s = ring_reserve(w, WIRE_SAMPLE, (uint32_t)sizeof *s + 8 * DEPTH);
        s->time_ns = time_ns + i * 1000u;
        s->weight = 10000000;
        s->virtual_id = 0;
        s->tid = 1000 + roll(THREADS);
        s->frames = DEPTH;
        s->event = WIRE_EVENT_CPU;
        s->state = WIRE_THREAD_RUNNING;
        memcpy(s->frame, stack[roll(STACKS)], 8 * DEPTH);
        s->frame[0] += (uint64_t)(roll(6) * 8) << 32; /* the leaf is elsewhere every time */
        ring_commit(s, WIRE_SAMPLE);
    }
}

/* CPU seconds to empty the ring. */
static double drain(struct ring_reader *r, struct decoder *d, uint64_t *record) {
    double begin = now();
    while (ring_read(r, record, WIRE_RECORD_BYTES_MAX, false)) {
        decoder_prepare(d, record);
        decoder_decode(d, record);
    }
    return now() - begin;
}

static double skim(struct ring_reader *r, uint64_t *record) {
    double begin = now();
    while (ring_read(r, record, WIRE_RECORD_BYTES_MAX, false))
        ;
    return now() - begin;
}

int main(int argc, char **argv) {
    if (argc > 1)
        random_state = strtoull(argv[1], NULL, 10);
    uint64_t bytes = WIRE_RING_BYTES_DEFAULT;
    struct wire_mapping *m = mmap(NULL, WIRE_RING_OFFSET + bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t(*stack)[DEPTH] = malloc(sizeof *stack * STACKS);
    uint64_t *record = malloc(WIRE_RECORD_BYTES_MAX);
    struct profile *p = profile_new(0);
    struct decoder *d = decoder_new(p, NULL);
    if (m == MAP_FAILED || !stack || !record || !d) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    struct ring_writer w;
    struct ring_reader r;
    ring_writer_init(&w, m, bytes);
    ring_reader_init(&r, m, bytes);
    make_stacks(stack);
    write_methods(&w);
    drain(&r, d, record);
    double first = 0, later = 0, ring = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        write_batch(&w, stack, UINT64_C(1000000000) * (round + 1));
        *(round < 4 ? &first : &later) += drain(&r, d, record);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        write_batch(&w, stack, 0);
        ring += skim(&r, record);
    }
    printf("records of %d frames, %d distinct stacks, one core:\n", DEPTH, STACKS);
    printf("%10.0f /s  ring alone\n", BATCH * ROUNDS / ring);
    printf("%10.0f /s  ring, decoder, profile: first %d, with most stacks new\n", BATCH * 4 / first,
           BATCH * 4);
    printf("%10.0f /s  ring, decoder, profile: the following %d  (bar: 100000)\n",
           BATCH * (ROUNDS - 4) / later, BATCH * (ROUNDS - 4));
    printf("%10u     call tree nodes\n", profile_node_count(p));
    int short_of = d->counts.samples != (uint64_t)BATCH * ROUNDS;
    decoder_free(d);
    profile_free(p);
    free(record);
    free(stack);
    munmap(m, WIRE_RING_OFFSET + bytes);
    return short_of;
}
