/*
 * A JVM, a session and a profile for the screen tests, without any of them: what the model sees is
 * what is written here, time included.
 */
#ifndef JTOP_TEST_TUI_FIXTURE_H
#define JTOP_TEST_TUI_FIXTURE_H

#include "tui/screen/screen.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE_SECOND UINT64_C(1000000000)

struct fixture {
    struct profile *profile;
    struct session_status status;
    struct jvm jvm;
    struct session_cpu cpu;
    struct thread_stat thread[8];
    int thread_count;
    uint64_t now_ns;
    /* of the samples to come: event, weight of each, thread state; CPU time of 10 ms at first */
    int event;
    uint64_t each;
    enum wire_thread_state state;
    bool locked;
    unsigned locks; /* how often the profile was asked */
    struct model model;
    struct screen *screen;
    struct canvas canvas;
    /* what the screen asked the session for last, and how often; `refused`: the answer;
     * `cannot`: the name of one that does not run */
    struct wire_engine_request asked[WIRE_EVENTS];
    uint32_t asked_engines, switches;
    uint32_t asked_states; /* how often Java states were wanted */
    const char *refused, *cannot;
};

static struct profile *fixture_lock(void *arg) {
    struct fixture *f = arg;
    assert(!f->locked);
    f->locked = true;
    f->locks++;
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

static void fixture_cpu(void *arg, struct session_cpu *out) {
    const struct fixture *f = arg;
    *out = f->cpu;
}

static int fixture_threads(void *arg, struct thread_stat **out) {
    struct fixture *f = arg;
    size_t bytes = sizeof f->thread[0] * (size_t)f->thread_count;
    *out = malloc(bytes ? bytes : 1);
    assert(*out);
    memcpy(*out, f->thread, bytes);
    return f->thread_count;
}

static void fixture_ask_states(void *arg, uint32_t ms) {
    assert(ms >= 5000);
    ((struct fixture *)arg)->asked_states++;
}

static int fixture_set_engines(void *arg, const struct wire_engine_request *engine,
                               uint32_t engines, struct err *e) {
    struct fixture *f = arg;
    f->switches++;
    if (f->refused)
        return err_set(e, EIO, "%s", f->refused);
    memcpy(f->asked, engine, engines * sizeof *engine);
    f->asked_engines = engines;
    for (int i = 0; i < WIRE_EVENTS; i++)
        f->status.engine[i].asked = f->status.engine[i].runs = false;
    for (uint32_t i = 0; i < engines; i++) {
        struct session_engine *one = &f->status.engine[engine[i].event];
        one->asked = true;
        one->runs = !f->cannot || strcmp(engine[i].name, f->cannot) != 0;
        if (!one->runs)
            one->error = EACCES;
        snprintf(one->name, sizeof one->name, "%s", engine[i].name);
        if (!one->mechanism[0])
            snprintf(one->mechanism, sizeof one->mechanism, "jvmti");
        if (engine[i].interval)
            one->interval = engine[i].interval;
    }
    return 0;
}

/* A frame as "2 java.lang.Thread.run" or "2 shop.Cart.add(IJ)V": I 1 2 i are Java by tier, n native,
 * + C++, k kernel, e error, o the class of an object ("o java.lang.String"). "2:17 shop.Cart.add"
 * is in line 17. */
static struct profile_frame fixture_frame(struct profile *p, const char *spec, size_t length) {
    static const char letters[] = "I12in+keo";
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
        {METHOD_CLASS, 0},
    };
    size_t i = (size_t)(strchr(letters, spec[0]) - letters);
    unsigned line = 0;
    if (spec[1] == ':') {
        const char *name_at = strchr(spec, ' ') - 1;
        line = (unsigned)atoi(spec + 2);
        length -= (size_t)(name_at - spec);
        spec = name_at;
    }
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
    if (what[i].kind == METHOD_CLASS) {
        class_name = name;
        method = "";
        for (char *at = name; *at; at++)
            if (*at == '.')
                *at = '/';
    }
    uint32_t id =
        method_table_intern(profile_methods(p), what[i].kind, class_name, method, signature, "");
    return (struct profile_frame){
        .method = id, .tier = (uint8_t)what[i].tier, .line = (uint16_t)line};
}

#define FIXTURE_FRAMES 64

/* A stack as text: frames from the root, '|' between them. Puts them leaf first at the array's end,
 * and returns how many. */
static uint16_t fixture_stack(struct fixture *f, const char *stack,
                              struct profile_frame frame[FIXTURE_FRAMES]) {
    uint16_t n = 0;
    for (const char *s = stack; *s; n++) {
        size_t length = strcspn(s, "|");
        assert(n < FIXTURE_FRAMES);
        frame[FIXTURE_FRAMES - 1 - n] = fixture_frame(f->profile, s, length);
        s += length + (s[length] == '|');
    }
    return n;
}

/* `count` samples of this stack, of the thread, or of the virtual thread it carries. */
static void fixture_virtual(struct fixture *f, uint32_t tid, uint64_t virtual_id, uint32_t count,
                            const char *stack) {
    struct profile_frame frame[FIXTURE_FRAMES];
    uint16_t n = fixture_stack(f, stack, frame);
    struct profile_sample sample = {.time_ns = f->now_ns,
                                    .weight = count * f->each,
                                    .count = count,
                                    .event = (uint8_t)f->event,
                                    .state = (uint8_t)f->state,
                                    .tid = tid,
                                    .virtual_id = virtual_id,
                                    .frames = n,
                                    .frame = frame + FIXTURE_FRAMES - n};
    int err = profile_add(f->profile, &sample);
    assert(!err);
    if (f->event == WIRE_EVENT_WALL && event_is_active(sample.state)) { /* as the decoder does */
        sample.event = EVENT_ACTIVE;
        err = profile_add(f->profile, &sample);
        assert(!err);
    }
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
}

static void fixture_start_threads(struct fixture *f) {
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

/* What the session says of an event that runs. */
static void fixture_engine(struct fixture *f, int event, const char *name, const char *mechanism,
                           uint64_t interval) {
    struct session_engine *e = &f->status.engine[event];
    *e = (struct session_engine){.asked = true, .runs = true, .interval = interval, .coverage = -1};
    snprintf(e->name, sizeof e->name, "%s", name);
    snprintf(e->mechanism, sizeof e->mechanism, "%s", mechanism);
    if (event == WIRE_EVENT_CPU) {
        f->status.interval = interval;
        snprintf(f->status.event, sizeof f->status.event, "%s", name);
        snprintf(f->status.mechanism, sizeof f->status.mechanism, "%s", mechanism);
    }
}

/* Why it runs so, or, with an errno, why it does not. */
static void fixture_reason(struct fixture *f, int event, int error, const char *reason) {
    struct session_engine *e = &f->status.engine[event];
    e->error = error;
    e->asked = true;
    e->runs = !error;
    if (error)
        e->mechanism[0] = '\0';
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    if (event == WIRE_EVENT_CPU)
        snprintf(f->status.reason, sizeof f->status.reason, "%s", reason);
}

/* Opens everything with the shop's profile in it and two refreshes behind it. */
__attribute__((unused)) static void fixture_open(struct fixture *f, enum live_view view, int rows,
                                                 int cols, bool ascii) {
    setlocale(LC_CTYPE, "C.UTF-8");
    *f = (struct fixture){
        .profile = profile_new(0),
        .now_ns = 100 * FIXTURE_SECOND,
        .each = 10000000,
        .status = {.phase = SESSION_RUNNING, .walker = "vm", .elapsed_ns = 61 * FIXTURE_SECOND},
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
    fixture_engine(f, WIRE_EVENT_CPU, "cpu", "ctimer", 10000000);
    fixture_reason(f, WIRE_EVENT_CPU, 0,
                   "perf_events are not allowed here: perf_event_paranoid is 3");
    f->status.engine[WIRE_EVENT_CPU].threads = 5;
    f->status.failed[WIRE_FAILURE_UNKNOWN_PC] = 15;
    f->status.failed[WIRE_FAILURE_TRUNCATED] = 3;
    struct model_source source = {.arg = f,
                                  .lock = fixture_lock,
                                  .unlock = fixture_unlock,
                                  .status = fixture_status,
                                  .jvm = fixture_jvm,
                                  .cpu = fixture_cpu,
                                  .threads = fixture_threads,
                                  .ask_java_states = fixture_ask_states,
                                  .set_engines = fixture_set_engines};
    f->cpu.processors = 4;
    /* Tests open the detail pane themselves. */
    const struct model_settings settings = {.walk = WIRE_WALK_VM, .span = 60, .no_pane = true};
    model_init(&f->model, &source, &settings);
    f->screen = screen_new(&f->model, view);
    assert(f->screen);
    f->canvas = (struct canvas){.ascii_lines = ascii, .ascii_text = ascii};
    int err = canvas_resize(&f->canvas, rows, cols);
    assert(!err);
    (void)err;
    fixture_start_threads(f);
    fixture_refresh(f);
    fixture_shop(f);
    fixture_second(f);
}

__attribute__((unused)) static void fixture_close(struct fixture *f) {
    screen_free(f->screen);
    model_free(&f->model);
    profile_free(f->profile);
    canvas_free(&f->canvas);
}

/* The time for screen_rest, and how far it goes on with each look. */
static uint64_t fixture_clock_ns, fixture_clock_step;
static uint64_t fixture_clock(void) {
    return fixture_clock_ns += fixture_clock_step;
}

/* A look whether the detail pane asks the profile now. */
__attribute__((unused)) static uint64_t fixture_rest(struct fixture *f) {
    fixture_clock_ns = f->now_ns;
    return screen_rest(f->screen, fixture_clock);
}

/* Presses one after the other; a NUL byte ends. */
__attribute__((unused)) static void fixture_press(struct fixture *f, const char *presses) {
    for (; *presses; presses++)
        screen_press(f->screen, (unsigned char)*presses);
}

/* Whether the screen contains this text. */
__attribute__((unused)) static bool fixture_has(struct fixture *f, const char *part) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    bool found = strstr(t.data, part);
    text_free(&t);
    return found;
}

#endif
