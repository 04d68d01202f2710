/* Events as people write them: what the kernel is asked for, and what is said of the others. */
#include "core/event/event.h"
#include "core/event/event_parts.h"
#include "symbols/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A kernel's description of its events, made of files. */
static char base[64], devices[96], tracefs[96];
static struct event_places places;

static void write_file(const char *path, const char *text) {
    char full[512], part[512];
    snprintf(full, sizeof full, "%s/%s", base, path);
    for (char *slash = full + strlen(base) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - full), full);
        mkdir(part, 0755);
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", text);
    fclose(f);
}

static int make_kernel(void **state) {
    (void)state;
    snprintf(base, sizeof base, "/tmp/jtop-event-XXXXXX");
    if (!mkdtemp(base))
        return -1;
    snprintf(devices, sizeof devices, "%s/devices", base);
    snprintf(tracefs, sizeof tracefs, "%s/tracing", base);
    places = (struct event_places){.devices = devices, .tracefs = {"/nowhere", tracefs}};
    write_file("devices/cpu/type", "4");
    write_file("devices/cpu/format/event", "config:0-7,32-35");
    write_file("devices/cpu/format/umask", "config:8-15");
    write_file("devices/cpu/format/inv", "config:23");
    write_file("devices/cpu/format/ldlat", "config1:0-15");
    write_file("devices/cpu/format/broken", "config:9-3");
    write_file("devices/cpu/events/loads", "event=0xcd,umask=0x1,ldlat=3");
    write_file("devices/cpu/events/endless", "endless");
    write_file("devices/kprobe/type", "6");
    write_file("devices/kprobe/format/retprobe", "config:0");
    write_file("devices/uprobe/type", "7");
    write_file("devices/uprobe/format/retprobe", "config:2");
    write_file("tracing/events/sched/sched_switch/id", "314");
    write_file("tracing/events/sched/empty/id", "");
    return 0;
}

static int remove_kernel(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", base);
    return system(command); /* NOLINT(cert-env33-c): a path of our own making */
}

static struct wire_engine_request good(const char *text) {
    struct wire_engine_request q;
    struct err e = {0};
    if (event_parse_in(&places, text, &q, &e) != 0)
        fail_msg("%s: %s", text, e.message);
    return q;
}

static void bad(const char *text, const char *says) {
    struct wire_engine_request q;
    struct err e = {0};
    int r = event_parse_in(&places, text, &q, &e);
    if (r >= 0)
        fail_msg("%s was accepted", text);
    if (e.exit_code != 100 || !strstr(e.message, says))
        fail_msg("%s: exit %d, \"%s\", wanted \"%s\"", text, e.exit_code, e.message, says);
    assert_null(strchr(e.message, '\n'));
}

static void names_mean_what_the_kernel_calls_them(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config, interval;
    } cases[] = {
        {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
        {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
        {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1},
        {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 2},
        {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 2},
        {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1},
        {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000},
        {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
        {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000000},
        {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
        {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1000},
        {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000000},
        {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 1000},
        {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 1000000},
        {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000, 1000000},
        {"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002, 1000},
        {"dTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10003, 1000},
        {"LLC-store-misses", PERF_TYPE_HW_CACHE, 0x10102, 1000},
        {"iTLB-loads", PERF_TYPE_HW_CACHE, 0x00004, 1000000},
        {"r1a8", PERF_TYPE_RAW, 0x1a8, 1000},
        {"rFFFFffff00000001", PERF_TYPE_RAW, 0xffffffff00000001, 1000},
        {"r3", PERF_TYPE_RAW, 3, 1000},
        {"trace:314", PERF_TYPE_TRACEPOINT, 314, 1},
        {"sched:sched_switch", PERF_TYPE_TRACEPOINT, 314, 1},
        {"cpu/event=0x3c/", 4, 0x3c, 1000},
        {"cpu/event=0xf3c,umask=0x0f,inv/", 4, 0xf00000000 | 0x800000 | 0x0f3c, 1000},
        {"cpu/config=7,period=500/", 4, 7, 500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wire_engine_request q = good(cases[i].name);
        if (q.event != WIRE_EVENT_PERF || q.perf.type != cases[i].type ||
            q.perf.config != cases[i].config || q.interval != cases[i].interval)
            fail_msg("%s: event %u type %u config %#llx interval %llu", cases[i].name, q.event,
                     q.perf.type, (unsigned long long)q.perf.config,
                     (unsigned long long)q.interval);
        assert_string_equal(q.name, cases[i].name);
        assert_true(event_is_known(cases[i].name));
    }
    struct wire_engine_request q = good("cpu/loads,umask=2/");
    assert_int_equal(q.perf.config, 0x2cd);
    assert_int_equal(q.perf.config1, 3);
}

static void basic_events_have_engines_of_their_own(void **state) {
    (void)state;
    assert_int_equal(good("cpu").event, WIRE_EVENT_CPU);
    assert_int_equal(good("itimer").mechanism, WIRE_MECHANISM_ITIMER);
    assert_int_equal(good("ctimer").event, WIRE_EVENT_CPU);
    assert_int_equal(good("wall").event, WIRE_EVENT_WALL);
    assert_int_equal(good("alloc").event, WIRE_EVENT_ALLOC);
    assert_int_equal(good("nativelock").event, WIRE_EVENT_NATIVELOCK);
    assert_int_equal(good("wall").interval, 0); /* the agent knows */
    assert_int_equal(event_measure(WIRE_EVENT_ALLOC), EVENT_BYTES);
    assert_int_equal(event_measure(WIRE_EVENT_LOCK), EVENT_TIME);
    assert_int_equal(event_measure(WIRE_EVENT_PERF), EVENT_COUNT);
    assert_int_equal(event_default_interval(WIRE_EVENT_ALLOC), 524287);
    for (size_t i = 0; event_names[i]; i++)
        assert_true(event_is_known(event_names[i]));
}

static void breakpoints_and_probes(void **state) {
    (void)state;
    struct wire_engine_request q = good("mem:0x1234:w");
    assert_int_equal(q.perf.type, PERF_TYPE_BREAKPOINT);
    assert_int_equal(q.perf.bp_type, HW_BREAKPOINT_W);
    assert_int_equal(q.perf.config1, 0x1234);
    assert_int_equal(q.perf.config2, 1);
    assert_false(event_is_open(&q, 17));
    q = good("mem:0x1000+0x10/8");
    assert_int_equal(q.perf.bp_type, HW_BREAKPOINT_RW);
    assert_int_equal(q.perf.config1, 0x1010);
    assert_int_equal(q.perf.config2, 8);
    q = good("mem:A::b+4:x");
    assert_string_equal(q.text, "A::b+4");
    assert_int_equal(q.perf.bp_type, HW_BREAKPOINT_X);
    assert_int_equal(q.perf.config2, sizeof(long));
    assert_true(event_is_open(&q, 17));
    q = good("SafepointSynchronize::begin");
    assert_int_equal(q.perf.type, PERF_TYPE_BREAKPOINT);
    assert_string_equal(q.text, "SafepointSynchronize::begin");
    assert_false(event_is_known("pthread_create"));

    q = good("kprobe:do_sys_open+0x10");
    assert_int_equal(q.perf.type, 6);
    assert_int_equal(q.perf.config, 0);
    assert_int_equal(q.perf.config2, 0x10);
    assert_string_equal(q.text, "do_sys_open");
    assert_int_equal(q.flags, WIRE_ENGINE_TEXT_CONFIG);
    q = good("kretprobe:0xffffffff81000000");
    assert_int_equal(q.perf.config, 1);
    assert_int_equal(q.perf.config2, 0xffffffff81000000);
    assert_int_equal(q.flags, 0);
    q = good("uretprobe:libc.so.6:malloc");
    assert_int_equal(q.perf.type, 7);
    assert_int_equal(q.perf.config, 4);
    assert_true(event_is_open(&q, 17));
}

static void java_methods(void **state) {
    (void)state;
    struct wire_engine_request q = good("java.util.HashMap.put");
    assert_int_equal(q.event, WIRE_EVENT_METHOD);
    assert_string_equal(q.text, "java.util.HashMap.put");
    assert_string_equal(q.name, "java.util.HashMap.put");
    assert_int_equal(q.interval, 0);
    q = good("Main$Inner.<init>:10ms");
    assert_string_equal(q.text, "Main$Inner.<init>");
    assert_int_equal(q.interval, 10000000);
    q = good("java/lang/String.indexOf(Ljava/lang/String;I)I:5us");
    assert_string_equal(q.text, "java/lang/String.indexOf(Ljava/lang/String;I)I");
    assert_int_equal(q.interval, 5000);
    bad("java.util.:5ms", "pkg.Class.method");
    bad(".put", "pkg.Class.method");
    bad("a..b", "pkg.Class.method");
    bad("java.util.Map.put:5x", "10ms");
    bad("java.util.Map.put(I", "no closing ')'");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    char longer[WIRE_TEXT_BYTES + 100];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    bad("", "empty");
    bad("two words", "blanks");
    bad("cache-mises", "nearest known one: cache-misses");
    bad("walll-", "nearest known one: wall");
    bad("Wall#", "nearest known one: wall");
    bad("no-such-thing-at-all", "unknown event; known ones are cpu");
    bad(longer, "unknown event");
    bad("trace:0", "number of a tracepoint");
    bad("trace:x", "number of a tracepoint");
    bad("sched:nosuch", "no such tracepoint; ls ");
    bad("sched:empty", "no such tracepoint");
    bad("nosuch:thing", "/events/ shows");
    bad("sched:../../secret", "10ms"); /* with a dot it is no tracepoint */
    bad("sched/x:y", "SUBSYSTEM:NAME");
    bad("gpu/event=1/", "no PMU \"gpu\"; it has: ");
    bad("../cpu/event=1/", "no PMU");
    bad("cpu/even=1/", "no term \"even\"");
    bad("cpu/../../x=1/", "no term");
    bad("cpu/event=0x1f00/", "does not fit into config:0-7,32-35");
    bad("cpu/event=abc/", "not a number");
    bad("cpu/broken=1/", "does not fit");
    bad("cpu/endless/", "no term \"endless\"");
    bad("cpu/event=1,period=0/", "must be at least 1");
    bad("mem:", "mem:ADDRESS");
    bad("mem:0x10:q", "r, w, rw or x");
    bad("mem:0x10/3", "1, 2, 4 or 8");
    bad("mem:0x10/4:x", "8 for execution");
    bad("mem:0x1g", "neither an address nor a symbol");
    bad("mem:f+z", "not an offset");
    bad("kprobe:", "kprobe:FUNCTION");
    bad("kprobe:f+", "kprobe:FUNCTION");
    assert_ptr_equal(event_nearest("nosuchthing"), NULL);
    assert_string_equal(event_nearest("aloc"), "alloc");

    struct event_places none = {.devices = "/nowhere", .tracefs = {"/nowhere", "/nowhere"}};
    struct wire_engine_request q;
    struct err e;
    assert_true(event_parse_in(&none, "sched:sched_switch", &q, &e) < 0);
    assert_non_null(strstr(e.message, "not mounted: mount -t tracefs tracefs /nowhere"));
    assert_true(event_parse_in(&none, "kprobe:f", &q, &e) < 0);
    assert_non_null(strstr(e.message, "no kprobes for perf"));
}

/* Something to be found in this process. */
__attribute__((noinline)) static int landmark(int n) {
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}
static volatile uint64_t landmark_data = 7;

static void addresses_are_looked_up_in_the_process(void **state) {
    (void)state;
    struct symbols *s;
    struct err e = {0};
    assert_int_equal(symbols_open(getpid(), &s, &e), 0);
    struct wire_engine_request q = good("landmark");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    assert_int_equal(q.perf.config1, (uintptr_t)landmark);
    assert_int_equal(landmark(1), 2);
    assert_false(event_is_open(&q, 17));
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0); /* once more is fine */
    assert_int_equal(q.perf.config1, (uintptr_t)landmark);
    q = good("mem:landmark_data/8:w");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    assert_int_equal(q.perf.config1, (uintptr_t)&landmark_data);
    q = good("mem:landmark+3:x");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    assert_int_equal(q.perf.config1, (uintptr_t)landmark + 3);

    q = good("landmark_data");
    assert_true(event_resolve(&q, s, getpid(), 17, &e) < 0);
    assert_non_null(strstr(e.message, "is not a function; use mem:landmark_data:rw"));
    q = good("page_faults");
    assert_true(event_resolve(&q, s, getpid(), 17, &e) < 0);
    assert_int_equal(e.exit_code, 100);
    assert_non_null(strstr(e.message, "unknown event \"page_faults\"; nearest known one: page-f"));
    assert_true(event_check(&q, 1, getpid(), 17, &e) < 0);
    q = good("gettimeofday");
    assert_true(event_resolve(&q, s, getpid(), 17, &e) < 0);
    assert_non_null(strstr(e.message, "selects one of several"));

    uint64_t address;
    assert_int_equal(event_find_function(s, getpid(), "landmark", &address, &e), 0);
    assert_int_equal(address, (uintptr_t)landmark);
    assert_true(event_find_function(s, getpid(), "A::nothing", &address, &e) < 0);
    assert_int_equal(e.exit_code, 100);
    q = good("alloc");
    assert_true(event_is_open(&q, 8) && !event_is_open(&q, 11) && !event_is_open(&q, 0));
    assert_true(event_resolve(&q, s, getpid(), 8, &e) < 0);
    assert_non_null(strstr(e.message, "AllocTracer"));
    symbols_free(s);
}

/* The bytes at a uprobe's place in the file are those of the function in memory. */
static void check_place(const struct wire_engine_request *q, const void *function) {
    unsigned char bytes[8];
    FILE *f = fopen(q->text, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)q->perf.config2, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, sizeof bytes, f), sizeof bytes);
    fclose(f);
    assert_memory_equal(bytes, function, sizeof bytes);
    assert_int_equal(q->flags, WIRE_ENGINE_TEXT_CONFIG);
}

/* Not by our own name: a sanitizer has a malloc too. */
static const void *in_libc(const char *name) {
    void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
    assert_non_null(libc);
    const void *function = dlsym(libc, name);
    dlclose(libc);
    return function;
}

static void uprobes_are_placed_in_files(void **state) {
    (void)state;
    static const char *const spelled[] = {"uprobe:libc.so.6:malloc", "uprobe:libc:malloc",
                                          "uprobe:/lib/somewhere/libc.so.6:malloc"};
    struct symbols *s;
    struct err e = {0};
    assert_int_equal(symbols_open(getpid(), &s, &e), 0);
    struct wire_engine_request q;
    for (size_t i = 0; i < sizeof spelled / sizeof spelled[0]; i++) {
        q = good(spelled[i]);
        assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
        assert_non_null(strstr(q.text, "/libc.so.6"));
        check_place(&q, in_libc("malloc"));
    }
    /* libc has two, of which old programs use the other; dlsym knows which is which. */
    q = good("uprobe:libc:pthread_cond_timedwait");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    check_place(&q, in_libc("pthread_cond_timedwait"));
    q = good("mem:pthread_cond_timedwait:x");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    q = good("uprobe:landmark");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    check_place(&q, (const void *)(uintptr_t)landmark);
    uint64_t offset = q.perf.config2;
    char text[256];
    snprintf(text, sizeof text, "uprobe:%.180s+0x%llx", q.text, (unsigned long long)offset);
    q = good(text);
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    check_place(&q, (const void *)(uintptr_t)landmark);
    q = good("uprobe:libc.so.6+0x40");
    assert_int_equal(event_resolve(&q, s, getpid(), 17, &e), 0);
    assert_non_null(strstr(q.text, "/libc.so.6"));
    assert_int_equal(q.perf.config2, 0x40);
    q = good("uprobe:libnosuch.so:f");
    assert_true(event_resolve(&q, s, getpid(), 17, &e) < 0);
    assert_non_null(strstr(e.message, "no library libnosuch.so"));
    q = good("uprobe:libc.so.6:nosuchfunction");
    assert_true(event_resolve(&q, s, getpid(), 17, &e) < 0);
    assert_non_null(strstr(e.message, "no function \"nosuchfunction\""));
    symbols_free(s);
}

static void versions_of_the_vm(void **state) {
    (void)state;
    assert_int_equal(event_java_version("25.504-b01"), 8);
    assert_int_equal(event_java_version("25.0.3+9-2-deb13u1-Debian"), 25);
    assert_int_equal(event_java_version("25+36-LTS"), 25);
    assert_int_equal(event_java_version("28-ea+18-1-Debian"), 28);
    assert_int_equal(event_java_version("17.0.15+6-Debian-1deb12u1"), 17);
    assert_int_equal(event_java_version("17.0.9+9-b1087.7"), 17);
    assert_int_equal(event_java_version("1.8.0_392"), 8);
    assert_int_equal(event_java_version(""), 0);
    assert_int_equal(event_java_version("x"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_mean_what_the_kernel_calls_them),
        cmocka_unit_test(basic_events_have_engines_of_their_own),
        cmocka_unit_test(breakpoints_and_probes),
        cmocka_unit_test(java_methods),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(addresses_are_looked_up_in_the_process),
        cmocka_unit_test(uprobes_are_placed_in_files),
        cmocka_unit_test(versions_of_the_vm),
    };
    return cmocka_run_group_tests(tests, make_kernel, remove_kernel);
}
