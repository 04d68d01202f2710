/* What the agent starts by itself, from its option string. */
#include "core/agent/agent_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "plain cpu 0 alloc 1048576": events with their intervals. */
static void starts(const char *text, const char *expected) {
    static struct agent_options o;
    char got[512];
    assert_true(agent_options_parse(text, &o));
    int n = snprintf(got, sizeof got, "%s", o.plain ? "plain" : "not");
    for (uint32_t i = 0; i < o.engines; i++)
        n += snprintf(got + n, sizeof got - (size_t)n, " %s %llu", o.engine[i].name,
                      (unsigned long long)o.engine[i].interval);
    if (strcmp(got, expected) != 0)
        fail_msg("%s: %s, wanted %s", text, got, expected);
}

static void events_and_intervals(void **state) {
    (void)state;
    starts("", "plain cpu 0");
    starts("start,event=cpu,interval=1ms,file=a.svg", "plain cpu 1000000");
    starts("start,itimer", "plain itimer 0");
    starts("start,event=cpu,alloc,lock=1ms,wall", "plain cpu 0 alloc 0 lock 1000000 wall 0");
    starts("start,alloc=1m,event=wall,interval=20ms", "plain alloc 1048576 wall 20000000");
    starts("start,event=alloc,interval=0", "plain alloc 0");
    starts("start,alloc=0,nativemem=0", "plain alloc 1 nativemem 0");
    starts("start,cpu,cpu,event=cpu", "plain cpu 0");
    /* The reader asks for these. */
    starts("start,event=page-faults", "not");
    starts("start,cycles,alloc", "not alloc 0");
    starts("start,event=a.B.c", "not");
    starts("start,cpu,begin=f", "not cpu 0");
    starts("start,cpu,ttsp", "not cpu 0");
    starts("start,r1a8", "not");
    /* And this is about how, not what. */
    starts("start,reverse,record-cpu,flat=5,file=a-b.svg,title=a-b", "plain cpu 0");
}

static void flags_go_to_their_events(void **state) {
    (void)state;
    static struct agent_options o;
    assert_true(agent_options_parse("start,alluser,live,nofree,target-cpu=2,cpu,alloc,nativemem,"
                                    "signal=30/31,cstack=vmx,jstackdepth=9",
                                    &o));
    assert_int_equal(o.engine[0].flags, WIRE_ENGINE_ALL_USER | WIRE_ENGINE_TARGET_CPU);
    assert_int_equal(o.engine[0].cpu, 2);
    assert_int_equal(o.engine[1].flags, WIRE_ENGINE_LIVE);
    assert_int_equal(o.engine[2].flags, WIRE_ENGINE_NO_FREE);
    assert_int_equal(o.signal, 30);
    assert_int_equal(o.wall_signal, 31);
    assert_int_equal(o.walk, WIRE_WALK_VMX);
    assert_int_equal(o.depth, 9);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static struct agent_options o;
    static char text[4096];
    assert_false(agent_options_parse("start,interval=x", &o));
    assert_false(agent_options_parse("session=", &o));
    memset(text, 'a', sizeof text - 1);
    assert_false(agent_options_parse(text, &o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_intervals),
        cmocka_unit_test(flags_go_to_their_events),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
