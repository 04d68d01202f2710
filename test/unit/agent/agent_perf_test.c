#include "core/agent/engine/perf_buffer.h"
#include "core/wire/perf_attr.h"
#include "core/wire/record.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define HARDWARE PERF_TYPE_HARDWARE
#define SOFTWARE PERF_TYPE_SOFTWARE

static const struct perf_machine machine = {
    .paranoid = 2, .kprobe_type = 8, .uprobe_type = 9, .hardware = true};

static struct wire_engine_request request(uint32_t type, uint64_t config) {
    return (struct wire_engine_request){
        .event = WIRE_EVENT_PERF, .interval = 7, .perf = {.type = type, .config = config}};
}

/* ---- what is asked of the kernel ---- */

static void every_kind_is_told_by_its_type(void **state) {
    (void)state;
    const struct {
        uint32_t type;
        uint64_t config;
        enum perf_kind kind;
        bool pauses;
        uint64_t interval_min;
    } known[] = {
        {HARDWARE, PERF_COUNT_HW_CPU_CYCLES, PERF_HARDWARE, true, 1},
        {PERF_TYPE_HW_CACHE, 0x10002, PERF_HARDWARE, true, 1},
        {PERF_TYPE_RAW, 0x1a8, PERF_HARDWARE, true, 1},
        {10, 0x3c, PERF_HARDWARE, true, 1}, /* cpu_atom, uncore … */
        {SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, PERF_CPU_CLOCK, true, 10000},
        {SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, PERF_CPU_CLOCK, true, 10000},
        {SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, PERF_SOFTWARE, false, 1},
        {SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, PERF_SOFTWARE, false, 1},
        {SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_SWITCHES, false, 2},
        {PERF_TYPE_TRACEPOINT, 314, PERF_TRACEPOINT, false, 1},
        {PERF_TYPE_BREAKPOINT, 0, PERF_BREAKPOINT, false, 1},
        {8, 1, PERF_KPROBE, false, 1},
        {9, 0, PERF_UPROBE, false, 1},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        struct wire_engine_request q = request(known[i].type, known[i].config);
        enum perf_kind kind = perf_kind(&q, &machine);
        assert_int_equal(kind, known[i].kind);
        assert_int_equal(perf_kind_pauses(kind), known[i].pauses);
        assert_int_equal(perf_kind_interval_min(kind), known[i].interval_min);
    }
    /* A kernel without probes has no type for them: 0 is that of hardware. */
    const struct perf_machine bare = {0};
    struct wire_engine_request q = request(HARDWARE, 0);
    assert_int_equal(perf_kind(&q, &bare), PERF_HARDWARE);
}

static void attributes_are_the_requests(void **state) {
    (void)state;
    struct perf_event_attr a;
    struct wire_engine_request q = request(HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    q.interval = 1000000;
    perf_attr_fill(&a, &q);
    struct perf_event_attr cycles = {
        .size = sizeof cycles,
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .sample_period = 1000000,
        .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
        .exclude_callchain_user = 1,
        .disabled = 1,
        .wakeup_events = 1,
    };
    assert_memory_equal(&a, &cycles, sizeof a);

    q = request(10, 0x3c);
    q.perf.config1 = 0x11;
    q.perf.config2 = 0x22;
    q.flags = WIRE_ENGINE_ALL_USER;
    perf_attr_fill(&a, &q);
    assert_int_equal(a.type, 10);
    assert_int_equal(a.config, 0x3c);
    assert_int_equal(a.config1, 0x11);
    assert_int_equal(a.config2, 0x22);
    assert_int_equal(a.sample_period, 7);
    assert_true(a.exclude_kernel && a.exclude_hv && !a.exclude_user);

    q.flags = WIRE_ENGINE_ALL_KERNEL;
    perf_attr_fill(&a, &q);
    assert_true(!a.exclude_kernel && a.exclude_user);

    q = request(PERF_TYPE_BREAKPOINT, 0);
    q.perf.bp_type = HW_BREAKPOINT_RW;
    q.perf.config1 = 0x7f0000001000;
    q.perf.config2 = 4;
    perf_attr_fill(&a, &q);
    assert_int_equal(a.bp_type, HW_BREAKPOINT_RW);
    assert_int_equal(a.bp_addr, 0x7f0000001000);
    assert_int_equal(a.bp_len, 4);

    assert_false(a.exclude_kernel); /* it reads and writes the program's memory */

    /* Its own code is the program's alone; level 2 of perf_event_paranoid lets it. */
    q.perf.bp_type = HW_BREAKPOINT_X;
    perf_attr_fill(&a, &q);
    assert_true(a.exclude_kernel);
    q.perf.config1 = 0xffffffff81000000;
    perf_attr_fill(&a, &q);
    assert_false(a.exclude_kernel);

    q = request(9, 1);
    q.flags = WIRE_ENGINE_TEXT_CONFIG;
    q.perf.config2 = 0xee010;
    snprintf(q.text, sizeof q.text, "/lib/libc.so.6");
    perf_attr_fill(&a, &q);
    assert_string_equal((const char *)(uintptr_t)a.uprobe_path, "/lib/libc.so.6");
    assert_int_equal(a.probe_offset, 0xee010);
}

/* Its request says nothing of perf: a type of 0 would be the hardware's cycles. */
static void cpu_time_is_the_software_clock(void **state) {
    (void)state;
    struct perf_event_attr a;
    struct wire_engine_request q = {.event = WIRE_EVENT_CPU, .interval = 10000000};
    assert_int_equal(perf_kind(&q, &machine), PERF_CPU_CLOCK);
    perf_attr_fill(&a, &q);
    assert_int_equal(a.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(a.config, PERF_COUNT_SW_CPU_CLOCK);
    assert_int_equal(a.sample_period, 10000000);
}

/* The kernel itself says whether it understands them: each is taken, or refused for a reason that
 * is this machine's and not the attributes'. */
static void the_kernel_understands_them(void **state) {
    (void)state;
    static uint64_t watched;
    struct perf_machine here;
    perf_machine_read(&here);
    struct wire_engine_request q[] = {
        {.event = WIRE_EVENT_CPU, .interval = 1000000},
        request(HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
        request(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D),
        request(PERF_TYPE_RAW, 0x1a8),
        request(SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
        request(SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES),
        request(PERF_TYPE_BREAKPOINT, 0),
    };
    q[6].perf.bp_type = HW_BREAKPOINT_W;
    q[6].perf.config1 = (uint64_t)(uintptr_t)&watched;
    q[6].perf.config2 = 8;
    for (size_t i = 0; i < COUNT(q); i++) {
        struct perf_event_attr a;
        perf_attr_fill(&a, &q[i]);
        long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        int e = fd < 0 ? errno : 0;
        if (fd >= 0)
            close((int)fd);
        bool denied = e == EACCES || e == EPERM || e == ENOSYS;
        bool absent = e == ENOENT || e == EOPNOTSUPP || e == ENODEV;
        if (perf_kind(&q[i], &here) == PERF_HARDWARE && !here.hardware)
            assert_true(denied || absent);
        else
            assert_true(!e || denied || (i == 2 && absent) || (i == 3 && e == EINVAL));
    }
}

/* ---- reasons ---- */

static void refusals_have_reasons(void **state) {
    (void)state;
    struct perf_machine none = {.paranoid = 2};
    struct perf_machine tame = machine;
    tame.paranoid = -1;
    struct wire_engine_request cpu = {.event = WIRE_EVENT_CPU};
    struct wire_engine_request cycles = request(HARDWARE, 0);
    struct wire_engine_request user = cycles;
    user.flags = WIRE_ENGINE_ALL_USER;
    struct wire_engine_request faults = request(SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
    struct wire_engine_request trace = request(PERF_TYPE_TRACEPOINT, 9999);
    struct wire_engine_request watch = request(PERF_TYPE_BREAKPOINT, 0);
    watch.perf.config1 = 0x1001;
    watch.perf.config2 = 8;
    struct wire_engine_request kprobe = request(8, 0);
    struct wire_engine_request uprobe = request(9, 0);
    struct wire_engine_request device = request(23, 0);
    struct wire_engine_request bound = faults;
    bound.flags = WIRE_ENGINE_TARGET_CPU;
    bound.cpu = 64;
    const struct {
        const struct wire_engine_request *q;
        const struct perf_machine *m;
        int error;
        const char *says;
    } known[] = {
        {&cpu, &machine, EACCES, "denied, kernel.perf_event_paranoid is 2 (kernel stacks: <= 1)"},
        {&faults, &machine, EACCES,
         "denied, kernel.perf_event_paranoid is 2: try --all-user, or set it to 1"},
        {&faults, &tame, EACCES,
         "denied, though kernel.perf_event_paranoid is -1: by a security module?"},
        {&(struct wire_engine_request){.event = WIRE_EVENT_PERF, .flags = WIRE_ENGINE_ALL_USER},
         &(struct perf_machine){.paranoid = 4, .hardware = true}, EACCES,
         "denied, kernel.perf_event_paranoid is 4: it must be <= 2"},
        {&cycles, &none, EACCES,
         "no PMU: this CPU, or its hypervisor, offers no hardware counters"},
        {&trace, &machine, EACCES, "denied, kernel.perf_event_paranoid is 2: it must be <= 1"},
        {&uprobe, &machine, EACCES, "denied: probes need CAP_PERFMON or root in the JVM"},
        {&cpu, &machine, EPERM,
         "denied: a container's seccomp filter, or CAP_PERFMON missing (paranoid 2)"},
        {&watch, &machine, EPERM,
         "denied: a breakpoint in the kernel needs CAP_SYS_ADMIN in the JVM"},
        {&cpu, &machine, ENOSYS,
         "this kernel has no perf_event_open, or a seccomp filter hides it"},
        {&cycles, &none, ENOENT,
         "no PMU: this CPU, or its hypervisor, offers no hardware counters"},
        {&user, &none, EOPNOTSUPP,
         "no PMU: this CPU, or its hypervisor, offers no hardware counters"},
        {&cycles, &machine, ENOENT, "this CPU's PMU has no such event, or cannot sample it"},
        {&cycles, &machine, EOPNOTSUPP, "this CPU's PMU has no such event, or cannot sample it"},
        {&device, &machine, ENOENT, "this machine has no PMU of type 23"},
        {&device, &machine, EINVAL,
         "its PMU can only count, not sample, or lacks these settings (EINVAL)"},
        {&trace, &machine, EINVAL, "this kernel has no tracepoint 9999, or perf cannot use it"},
        {&trace, &machine, ENOENT, "this kernel has no tracepoint 9999"},
        {&watch, &machine, EINVAL, "the CPU cannot watch 8 bytes at 0x1001 (alignment, access)"},
        {&watch, &machine, ENOSPC, "all hardware breakpoints are taken (a debugger?)"},
        {&watch, &machine, ENODEV, "this CPU, or its hypervisor, has no hardware breakpoints"},
        {&cycles, &machine, EBUSY, "the PMU is in use by another tool (errno 16)"},
        {&kprobe, &machine, ENOENT, "this kernel has no function of that name that can be probed"},
        {&uprobe, &machine, ENOENT, "the JVM sees no such file"},
        {&uprobe, &machine, EINVAL, "there is no instruction at this place that can be probed"},
        {&faults, &machine, EMFILE, "no descriptors left, and every thread needs one (errno 24)"},
        {&bound, &machine, EINVAL,
         "processor 64 is not online, or the event cannot be bound to it"},
        {&faults, &machine, ENOMEM, "perf_event_open failed with errno 12"},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        char why[128];
        perf_reason(known[i].q, known[i].m, known[i].error, why, sizeof why);
        assert_string_equal(why, known[i].says);
        /* Behind an event's name it still fits what the wire has room for. */
        assert_true(strlen("L1-dcache-prefetch-misses: ") + strlen(why) <
                    sizeof((struct wire_engine_status *)0)->reason);
    }
}

/* ---- what the kernel leaves in the buffer ---- */

#define PAGE 4096u

static _Alignas(8) uint8_t buffer[2 * PAGE];

static struct perf_event_mmap_page *control(void) {
    return (void *)buffer;
}

static void clear(uint64_t position) {
    memset(buffer, 0, sizeof buffer);
    control()->data_head = control()->data_tail = position;
}

static void put_word(uint64_t value) {
    memcpy(buffer + PAGE + (control()->data_head & (PAGE - 1)), &value, sizeof value);
    control()->data_head += sizeof value;
}

static void put_header(uint32_t type, uint32_t bytes) {
    put_word(type | (uint64_t)bytes << 48);
}

static void put_sample(uint64_t counter, const uint64_t *chain, uint32_t words) {
    put_header(PERF_RECORD_SAMPLE, 24 + 8 * words);
    put_word(counter);
    put_word(words);
    for (uint32_t i = 0; i < words; i++)
        put_word(chain[i]);
}

static void the_newest_sample_is_read(void **state) {
    (void)state;
    const uint64_t old[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000001};
    const uint64_t new[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000002, 0xffffffff81000003,
                            (uint64_t)PERF_CONTEXT_USER, 0x7f0000000000};
    /* At the end of the page too, where records wrap. */
    for (uint64_t position = 0; position < 2 * PAGE; position += 8) {
        struct perf_news news;
        clear(position);
        assert_false(perf_buffer_read(buffer, PAGE, &news));
        put_sample(5, old, COUNT(old));
        put_header(PERF_RECORD_LOST, 24);
        put_word(1);
        put_word(2);
        put_sample(9, new, COUNT(new));
        put_header(PERF_RECORD_THROTTLE, 32);
        put_word(0);
        put_word(0);
        put_word(0);
        assert_true(perf_buffer_read(buffer, PAGE, &news));
        assert_int_equal(news.samples, 2);
        assert_int_equal(news.counter, 9);
        assert_int_equal(news.frames, 2);
        assert_int_equal(wire_frame_type(news.kernel[0]), WIRE_FRAME_KERNEL);
        assert_int_equal(wire_frame_pc(news.kernel[0]), 0xffffffff81000002);
        assert_int_equal(wire_frame_pc(news.kernel[1]), 0xffffffff81000003);
        assert_int_equal(control()->data_tail, control()->data_head);
        assert_false(perf_buffer_read(buffer, PAGE, &news));
    }
}

static void put_timed(uint64_t time_ns, uint64_t counter, uint64_t pc) {
    put_header(PERF_RECORD_SAMPLE, 32 + 16);
    put_word(time_ns);
    put_word(counter);
    put_word(2);
    put_word((uint64_t)PERF_CONTEXT_KERNEL);
    put_word(pc);
}

static void what_came_in_the_handler_is_left_out(void **state) {
    (void)state;
    struct perf_news news;
    clear(PAGE - 24);
    put_timed(100, 5, 0xffffffff81000001);
    put_timed(200, 6, 0xffffffff81000002);
    put_timed(201, 7, 0xffffffff81000003);
    assert_true(perf_buffer_read_since(buffer, PAGE, 200, &news));
    assert_int_equal(news.early, 2);
    assert_int_equal(news.samples, 1);
    assert_int_equal(news.time_ns, 201);
    assert_int_equal(news.counter, 7);
    assert_int_equal(wire_frame_pc(news.kernel[0]), 0xffffffff81000003);
    put_timed(300, 8, 0xffffffff81000004);
    assert_false(perf_buffer_read_since(buffer, PAGE, 300, &news));
    assert_int_equal(news.early, 1);
    assert_int_equal(control()->data_tail, control()->data_head);
    /* Too short for a time. */
    put_header(PERF_RECORD_SAMPLE, 24);
    put_word(1);
    put_word(2);
    assert_false(perf_buffer_read_since(buffer, PAGE, 0, &news));
}

static void a_sample_without_kernel_has_no_frames(void **state) {
    (void)state;
    struct perf_news news;
    clear(0);
    put_sample(3, NULL, 0);
    assert_true(perf_buffer_read(buffer, PAGE, &news));
    assert_int_equal(news.counter, 3);
    assert_int_equal(news.frames, 0);
}

static void nonsense_is_passed_over(void **state) {
    (void)state;
    static const uint32_t sizes[] = {0, 4, 7, 8, 16, 4096, 65528};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct perf_news news;
        clear(16);
        put_header(PERF_RECORD_SAMPLE, sizes[i]);
        put_word(1);
        assert_false(perf_buffer_read(buffer, PAGE, &news));
        assert_int_equal(control()->data_tail, control()->data_head);
    }
    /* A chain that claims more than its record has. */
    struct perf_news news;
    clear(0);
    put_header(PERF_RECORD_SAMPLE, 32);
    put_word(4);
    put_word(UINT64_MAX);
    put_word(0xffffffff81000001);
    assert_true(perf_buffer_read(buffer, PAGE, &news));
    assert_int_equal(news.frames, 1);
    /* More than fits. */
    clear(0);
    control()->data_head = 3 * PAGE;
    assert_false(perf_buffer_read(buffer, PAGE, &news));
    /* A call chain deeper than is kept. */
    clear(0);
    put_header(PERF_RECORD_SAMPLE, 24 + 8 * 400);
    put_word(4);
    put_word(400);
    for (uint64_t k = 0; k < 400; k++)
        put_word(0xffffffff81000000 + k);
    assert_true(perf_buffer_read(buffer, PAGE, &news));
    assert_int_equal(news.frames, PERF_KERNEL_FRAMES_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_told_by_its_type),
        cmocka_unit_test(attributes_are_the_requests),
        cmocka_unit_test(cpu_time_is_the_software_clock),
        cmocka_unit_test(the_kernel_understands_them),
        cmocka_unit_test(refusals_have_reasons),
        cmocka_unit_test(the_newest_sample_is_read),
        cmocka_unit_test(what_came_in_the_handler_is_left_out),
        cmocka_unit_test(a_sample_without_kernel_has_no_frames),
        cmocka_unit_test(nonsense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
