/*
 * A frame of the screen: the question, the answer, the drawing and the bytes for the terminal, in a
 * profile as large as the screen's budget names: 100,000 distinct stacks of 60 frames, 1,000
 * threads, 10 minutes of history at 1,000 samples a second. Then keys: what a press costs until its
 * frame is drawn. Medians, of CPU time; 16 ms is the bar for a frame at 160x50. Beside them: what our
 * sender and curses each make of the same frame, in bytes and in time. At the end: the 99th
 * percentile of the redraws of all views.
 */
#include "core/profile/profile.h"
#include "tui/screen/screen.h"
#include "tui/terminal/escapes.h"

#include "test/unit/tui/tui_curses.h"

#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STACKS = 100000, THREADS = 1000, METHODS = 20000, DEPTH = 60, SECONDS = 600, RATE = 1000 };
#define SECOND UINT64_C(1000000000)
#define FRAMES 9
#define REDRAWS (size_t)(32 * FRAMES)

struct stack {
    struct profile_frame frame[DEPTH];
};

struct bench {
    struct profile *profile;
    struct stack *stack;
    uint64_t second;
    uint32_t turn;
    struct session_status status;
    struct emit *ours;
    struct tui_curses curses;
    double redraw[REDRAWS]; /* ms, of all views */
    size_t redraws;
};

static uint64_t random_state = 1;

static uint32_t roll(uint32_t sides) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % sides);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double rss_mb(void) {
    unsigned long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    malloc_trim(0);
    if (f && fscanf(f, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static struct profile *lock(void *arg) {
    return ((struct bench *)arg)->profile;
}

static void unlock(void *arg) {
    (void)arg;
}

static void status(void *arg, struct session_status *out) {
    *out = ((struct bench *)arg)->status;
}

static void jvm(void *arg, struct jvm *out) {
    (void)arg;
    *out = (struct jvm){.pid = 4700, .name = "bench.Main", .version = "17", .heap_max_bytes = 1};
}

static int threads(void *arg, struct thread_stat **out) {
    (void)arg;
    *out = calloc(THREADS, sizeof **out);
    for (uint32_t i = 0; *out && i < THREADS; i++)
        (*out)[i] = (struct thread_stat){.tid = 1 + i, .state = 'R', .cpu_ns = roll(1000000)};
    return *out ? THREADS : 0;
}

/* Each shares its lower frames with an earlier one. */
static void make_stacks(struct bench *b) {
    for (uint32_t i = 0; i < STACKS; i++) {
        uint32_t own = 1 + roll(roll(4) ? 4 : DEPTH / 2), from = i ? roll(i) : 0;
        for (uint32_t k = 0; k < DEPTH; k++)
            b->stack[i].frame[k] = k >= own && i ? b->stack[from].frame[k]
                                                 : (struct profile_frame){.method = roll(METHODS),
                                                                          .line = (uint16_t)(1 + k),
                                                                          .tier = TIER_C2};
    }
}

static void add_second(struct bench *b) {
    for (uint32_t i = 0; i < RATE; i++) {
        uint32_t x = b->turn < STACKS ? b->turn++ : roll(STACKS);
        struct profile_sample s = {.time_ns = b->second * SECOND + i * (SECOND / RATE),
                                   .weight = 1000000,
                                   .count = 1,
                                   .tid = 1 + x % THREADS,
                                   .frames = DEPTH,
                                   .frame = b->stack[x].frame};
        if (profile_add(b->profile, &s) != 0)
            abort();
    }
    b->second++;
}

static void fill(struct bench *b) {
    char name[64];
    for (uint32_t i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "com/example/p%u/Class%u", i % 97, i / 10);
        char method[32];
        snprintf(method, sizeof method, "method%u", i);
        method_table_intern(profile_methods(b->profile), METHOD_JAVA, name, method, "()V", "");
    }
    for (uint32_t t = 1; t <= THREADS; t++) {
        snprintf(name, sizeof name, "http-nio-8080-exec-%u", t);
        profile_thread_name(b->profile, t, t, name);
    }
    for (uint32_t i = 0; i < SECONDS; i++)
        add_second(b);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct sent {
    double bytes, ms;
};

static struct sent send(struct bench *b, const struct canvas *c, bool ours) {
    struct text out = {0};
    double begin = now_ms();
    if (ours)
        emit_frame(b->ours, c, &(struct caret){0}, &out);
    struct sent s = {.bytes = ours ? (double)out.len : (double)tui_curses_frame(&b->curses, c)};
    s.ms = now_ms() - begin;
    text_free(&out);
    return s;
}

/* A second goes by between two frames. */
static void frames(struct bench *b, struct model *m, struct screen *s, struct canvas *c,
                   const char *what, const char *presses) {
    double took[FRAMES], press = now_ms();
    struct sent sum[2] = {{0, 0}, {0, 0}};
    for (; *presses; presses++)
        screen_press(s, (unsigned char)*presses);
    screen_draw(s, c, NULL);
    press = now_ms() - press;
    send(b, c, true);
    send(b, c, false);
    for (int i = 0; i < FRAMES; i++) {
        add_second(b);
        double begin = now_ms();
        if (model_refresh(m, b->second * SECOND))
            abort();
        screen_update(s);
        screen_draw(s, c, NULL);
        took[i] = now_ms() - begin;
        if (b->redraws < REDRAWS)
            b->redraw[b->redraws++] = took[i];
        for (int k = 0; k < 2; k++) {
            struct sent one = send(b, c, k == 0);
            sum[k].bytes += one.bytes / FRAMES;
            sum[k].ms += one.ms / FRAMES;
        }
    }
    qsort(took, FRAMES, sizeof *took, by_size);
    printf("  %-28s %6.2f ms, at most %6.2f; the key that brought it %6.2f ms  %-4s"
           "  sent: %5.0f bytes in %.2f ms, curses %5.0f in %.2f\n",
           what, took[FRAMES / 2], took[FRAMES - 1], press, took[FRAMES / 2] <= 16 ? "ok" : "OVER",
           sum[0].bytes, sum[0].ms, sum[1].bytes, sum[1].ms);
    fflush(stdout);
}

int main(void) {
    struct bench b = {.second = 1000, .status = {.phase = SESSION_RUNNING, .walker = "vm"}};
    struct canvas c = {0};
    struct model m;
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20); /* as the program does */
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
    setlocale(LC_CTYPE, "C.UTF-8");
    b.stack = calloc(STACKS, sizeof *b.stack);
    make_stacks(&b);
    double before = rss_mb();
    b.profile = profile_new(SECONDS);
    b.status.engine[WIRE_EVENT_CPU] = (struct session_engine){.asked = true, .runs = true};
    fill(&b);
    double filled = rss_mb() - before;
    struct model_source source = {.arg = &b,
                                  .lock = lock,
                                  .unlock = unlock,
                                  .status = status,
                                  .jvm = jvm,
                                  .threads = threads};
    model_init(&m, &source, &(struct model_settings){0});
    struct screen *s = screen_new(&m, LIVE_METHODS);
    if (!s || canvas_resize(&c, 50, 160))
        abort();
    struct theme theme;
    struct terminfo ti;
    if (theme_default(&theme, NULL) || terminfo_open(&ti, "xterm-256color", 2, NULL) ||
        !tui_curses_open(&b.curses, "xterm-256color", &theme, 50, 160))
        abort();
    b.ours = emit_new(&ti, &theme, &(struct emit_options){.mono = false});
    printf("%d stacks of %d frames, %d threads, %d seconds, 160x50\n", STACKS, DEPTH, THREADS,
           SECONDS);
    frames(&b, &m, s, &c, "methods", "1");
    frames(&b, &m, s, &c, "threads", "2");
    frames(&b, &m, s, &c, "threads as pools", "d");
    frames(&b, &m, s, &c, "call tree", "d3");
    frames(&b, &m, s, &c, "the same, hottest path open", "e");
    frames(&b, &m, s, &c, "the same, bottom-up", "i");
    frames(&b, &m, s, &c, "the same, top-down, by thread", "iT");
    frames(&b, &m, s, &c, "flame graph by thread", "5");
    frames(&b, &m, s, &c, "flame graph", "T");
    frames(&b, &m, s, &c, "overview", "0");
    frames(&b, &m, s, &c, "lines", "7");
    frames(&b, &m, s, &c, "status", "8");
    frames(&b, &m, s, &c, "methods, the last 5 minutes", "1w");
    frames(&b, &m, s, &c, "methods, the last 10 s", "w");
    frames(&b, &m, s, &c, "methods, the last minute", "w");
    frames(&b, &m, s, &c, "call tree, the last minute", "3");
    frames(&b, &m, s, &c, "the same, bottom-up", "i");
    frames(&b, &m, s, &c, "the same, by thread", "iT");
    frames(&b, &m, s, &c, "methods, filter", "T1w\\Class77\n");
    frames(&b, &m, s, &c, "methods, sorted by name", "\x1bSSSSS");
    frames(&b, &m, s, &c, "methods, with a baseline", "b");
    qsort(b.redraw, b.redraws, sizeof *b.redraw, by_size);
    printf("  all %zu redraws: median %.2f ms, 99th percentile %.2f ms\n", b.redraws,
           b.redraw[b.redraws / 2], b.redraw[b.redraws * 99 / 100]);
    printf("  memory: the profile %.0f MB, with all its answers %.0f MB\n", filled,
           rss_mb() - before);
    tui_curses_close(&b.curses);
    emit_free(b.ours);
    screen_free(s);
    model_free(&m);
    profile_free(b.profile);
    canvas_free(&c);
    free(b.stack);
    return 0;
}
