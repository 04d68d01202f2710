/*
 * A JVM, a session and a profile for the screen tests, without any of them: what the model sees is
 * what is written here, time included.
 */
#ifndef JTOP_TEST_TUI_FIXTURE_H
#define JTOP_TEST_TUI_FIXTURE_H

#include "tui/screen.h"

#include <assert.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE_SECOND UINT64_C(1000000000)

struct fixture {
    struct profile *profile;
    struct session_status status;
    struct jvm jvm;
    struct thread_stat thread[8];
    int thread_count;
    uint64_t now_ns;
    bool locked;
    struct model model;
    struct screen *screen;
    struct canvas canvas;
};

static struct profile *fixture_lock(void *arg) {
    struct fixture *f = arg;
    assert(!f->locked);
    f->locked = true;
    return f->profile;
}

static void fixture_unlock(void *arg) {
    struct fixture *f = arg;
    assert(f->locked);
    f->locked = false;
}

static void fixture_status(void *arg, struct session_status *out) {
    *out = ((struct fixture *)arg)->status;
}

static void fixture_jvm(void *arg, struct jvm *out) {
    *out = ((struct fixture *)arg)->jvm;
}

static int fixture_threads(void *arg, struct thread_stat **out) {
    struct fixture *f = arg;
    size_t bytes = sizeof f->thread[0] * (size_t)f->thread_count;
    *out = malloc(bytes ? bytes : 1);
    assert(*out);
    memcpy(*out, f->thread, bytes);
    return f->thread_count;
}

/* A frame as "2 java.lang.Thread.run" or "2 shop.Cart.add(IJ)V": I 1 2 i are Java by tier, n native,
 * + C++, k kernel, e error. */
static struct profile_frame fixture_frame(struct profile *p, const char *spec, size_t length) {
    static const char letters[] = "I12in+ke";
    static const struct {
        enum method_kind kind;
        enum frame_tier tier;
    } what[] = {
        {METHOD_JAVA, TIER_INTERPRETED},
        {METHOD_JAVA, TIER_C1},
        {METHOD_JAVA, TIER_C2},
        {METHOD_JAVA, TIER_INLINED},
        {METHOD_NATIVE, 0},
        {METHOD_CPP, 0},
        {METHOD_KERNEL, 0},
        {METHOD_ERROR, 0},
    };
    size_t i = (size_t)(strchr(letters, spec[0]) - letters);
    assert(i < sizeof letters - 1 && spec[1] == ' ' && length > 2 && length < 256);
    char name[256], *method = name;
    const char *class_name = "", *signature = what[i].kind == METHOD_JAVA ? "()V" : "";
    memcpy(name, spec + 2, length - 2);
    name[length - 2] = '\0';
    char given[256] = "";
    char *open = what[i].kind == METHOD_JAVA ? strchr(name, '(') : NULL;
    if (open) {
        snprintf(given, sizeof given, "%s", open);
        signature = given;
        *open = '\0';
    }
    char *dot = strrchr(name, '.');
    if (what[i].kind == METHOD_JAVA && dot) {
        *dot = '\0';
        method = dot + 1;
        class_name = name;
        for (char *s = name; s < dot; s++)
            if (*s == '.')
                *s = '/';
    }
    uint32_t id =
        method_table_intern(profile_methods(p), what[i].kind, class_name, method, signature, "");
    return (struct profile_frame){.method = id, .tier = (uint8_t)what[i].tier};
}

/* `count` samples of 10 ms of this stack: frames from the root, '|' between them. Of the thread, or
 * of the virtual thread it carries. */
static void fixture_virtual(struct fixture *f, uint32_t tid, uint64_t virtual_id, uint32_t count,
                            const char *stack) {
    struct profile_frame frame[64];
    uint16_t n = 0, first = 64;
    for (const char *s = stack; *s; n++) {
        size_t length = strcspn(s, "|");
        assert(first > 0);
        frame[--first] = fixture_frame(f->profile, s, length);
        s += length + (s[length] == '|');
    }
    struct profile_sample sample = {.time_ns = f->now_ns,
                                    .weight = count * UINT64_C(10000000),
                                    .count = count,
                                    .tid = tid,
                                    .virtual_id = virtual_id,
                                    .frames = n,
                                    .frame = frame + first};
    int err = profile_add(f->profile, &sample);
    assert(!err);
    (void)err;
    f->status.samples += count;
}

static void fixture_sample(struct fixture *f, uint32_t tid, uint32_t count, const char *stack) {
    fixture_virtual(f, tid, 0, count, stack);
}

static void fixture_refresh(struct fixture *f) {
    int err = model_refresh(&f->model, f->now_ns);
    assert(!err);
    (void)err;
    screen_update(f->screen);
}

/* A second goes by: the kernel counts, the JVM ages, the screen looks again. */
static void fixture_second(struct fixture *f) {
    f->now_ns += FIXTURE_SECOND;
    f->jvm.uptime_ms += 1000;
    f->status.elapsed_ns += FIXTURE_SECOND;
    f->status.agent_ns += 4000000;
    f->status.frontend_ns += 7000000;
    for (int i = 0; i < f->thread_count; i++)
        f->thread[i].cpu_ns += (uint64_t)(f->thread_count - i) * 90000000;
    fixture_refresh(f);
}

static void fixture_shop(struct fixture *f) {
    struct profile *p = f->profile;
    profile_thread_name(p, 4711, 21, "http-worker-1");
    profile_thread_name(p, 4712, 22, "http-worker-2");
    profile_thread_name(p, 4713, 23, "価格-更新");
    profile_thread_name(p, 4714, 24, "gone\x1b[2J");
#define WORKER "2 java.lang.Thread.run|2 shop.http.Worker.run|2 shop.http.Worker.handle|"
    fixture_sample(f, 4711, 310, WORKER "2 shop.cart.Cart.total|i shop.price.Rounding.halfUp");
    fixture_sample(f, 4711, 120, WORKER "2 shop.cart.Cart.total");
    fixture_sample(f, 4712, 190, WORKER "2 shop.search.Index.find|1 java.util.HashMap.getNode");
    fixture_sample(f, 4712, 75, WORKER "2 shop.search.Index.find|n __memmove_avx_unaligned_erms");
    fixture_sample(f, 4712, 60,
                   WORKER "I java.net.SocketOutputStream.socketWrite0|n __libc_send|"
                          "k do_syscall_64|k tcp_sendmsg");
    fixture_sample(f, 4713, 140,
                   "2 java.lang.Thread.run|2 shop.price.Preisänderung.übernehmen|"
                   "2 shop.price.Preisänderung.übernehmen|2 java.math.BigDecimal.multiply");
    fixture_sample(f, 4720, 90, "n start_thread|+ G1ConcurrentMark::do_marking_step(double, bool)");
    fixture_sample(f, 4714, 15, "e [unknown_Java]");
    profile_thread_end(p, 4714);
    static const struct {
        uint32_t tid;
        char comm[16], state;
    } thread[] = {{4711, "http-worker-1", 'R'},
                  {4712, "http-worker-2", 'R'},
                  {4713, "?-?", 'S'},
                  {4720, "G1 Conc#0", 'R'},
                  {4721, "VM Thread", 'S'}};
    f->thread_count = (int)(sizeof thread / sizeof thread[0]);
    for (int i = 0; i < f->thread_count; i++) {
        f->thread[i] = (struct thread_stat){.tid = thread[i].tid, .state = thread[i].state};
        memcpy(f->thread[i].comm, thread[i].comm, sizeof thread[i].comm);
    }
}

/* Opens everything with the shop's profile in it and two refreshes behind it. */
static void fixture_open(struct fixture *f, enum live_view view, int rows, int cols, bool ascii) {
    setlocale(LC_CTYPE, "C.UTF-8");
    *f = (struct fixture){
        .profile = profile_new(0),
        .now_ns = 100 * FIXTURE_SECOND,
        .status = {.phase = SESSION_RUNNING,
                   .event = "cpu",
                   .mechanism = "ctimer",
                   .reason = "perf_events are not allowed here: perf_event_paranoid is 3",
                   .walker = "vm",
                   .interval = 10000000,
                   .elapsed_ns = 61 * FIXTURE_SECOND,
                   .armed_threads = 5},
        .jvm = {.pid = 4700,
                .inner_pid = 4700,
                .uid = 1000,
                .user = "ana",
                .name = "shop.Main",
                .version = "17.0.15+6-Debian-1deb12u1",
                .perf_data = true,
                .uptime_ms = 93784000,
                .cpu_percent = 187.4,
                .rss_bytes = UINT64_C(412) << 20,
                .heap_used_bytes = UINT64_C(123) << 20,
                .heap_capacity_bytes = UINT64_C(256) << 20,
                .heap_max_bytes = UINT64_C(512) << 20,
                .gc_count = 12,
                .gc_time_ms = 340,
                .safepoint_count = 77,
                .safepoint_time_ms = 91,
                .classes_loaded = 4321,
                .threads = 31},
    };
    assert(f->profile);
    f->status.failed[WIRE_FAILURE_UNKNOWN_PC] = 15;
    f->status.failed[WIRE_FAILURE_TRUNCATED] = 3;
    struct model_source source = {.arg = f,
                                  .lock = fixture_lock,
                                  .unlock = fixture_unlock,
                                  .status = fixture_status,
                                  .jvm = fixture_jvm,
                                  .threads = fixture_threads};
    const struct model_settings settings = {.walk = WIRE_WALK_VM};
    model_init(&f->model, &source, &settings);
    f->screen = screen_new(&f->model, view);
    assert(f->screen);
    f->canvas = (struct canvas){.ascii_lines = ascii, .ascii_text = ascii};
    int err = canvas_resize(&f->canvas, rows, cols);
    assert(!err);
    (void)err;
    fixture_shop(f);
    uint64_t samples = f->status.samples;
    f->status.samples = 0; /* as if they had come in the second that follows */
    fixture_refresh(f);
    f->status.samples = samples;
    fixture_second(f);
}

static void fixture_close(struct fixture *f) {
    screen_free(f->screen);
    model_free(&f->model);
    profile_free(f->profile);
    canvas_free(&f->canvas);
}

/* Presses one after the other; a NUL byte ends. */
static void fixture_press(struct fixture *f, const char *presses) {
    for (; *presses; presses++)
        screen_press(f->screen, (unsigned char)*presses);
}

#endif
