/* Which files and reports a command line becomes when there is more than one event. */
#include "tui/cli/output/output.h"

#include "core/report/quality.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char place[] = "/tmp/jtop-output-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(place) == 0 ? 0 : -1;
}

/* "cpu.text>- cpu.svg>out.svg" of a command line, '+' for all events in one; or what is wrong with it. */
static void plan(const char *line, const struct session_status *replayed, const char *expected) {
    static struct options o;
    static struct outputs out;
    static char text[512];
    static char *argv[32];
    int argc = 0;
    struct err e = {0};
    struct text got = {0};
    snprintf(text, sizeof text, "jtop-prof %s 7", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    if (options_parse(&o, argc, argv, &e) != 0)
        fail_msg("%s: %s", line, e.message);
    if (outputs_plan(&out, &o, 7, 3, replayed, &e) == 0)
        for (int i = 0; i < out.count; i++)
            text_addf(&got, "%s%s.%s%s>%s", i ? " " : "", out.item[i].event->name,
                      out.item[i].exporter->name, out.item[i].all ? "+" : "",
                      out.item[i].path.data ? out.item[i].path.data : "-");
    else
        text_add(&got, e.message);
    outputs_free(&out);
    if (!strstr(got.data, expected) || (!strchr(expected, ' ') && strcmp(got.data, expected) != 0))
        fail_msg("%s: %s, wanted %s", line, got.data, expected);
    text_free(&got);
}

static void one_event_keeps_its_names(void **state) {
    (void)state;
    plan("-d 1", NULL, "cpu.text>-");
    plan("-e alloc -f a.svg", NULL, "alloc.svg>a.svg");
    plan("-e alloc --live -f a.svg", NULL, "live.svg>a.svg");
    plan("-e alloc -f %e-%p-%n.svg", NULL, "alloc.svg>alloc-7-3.svg");
}

static void several_events_get_one_each(void **state) {
    (void)state;
    plan("-e cpu,alloc -d 1", NULL, "cpu.text>- alloc.text>-");
    plan("-e cpu,alloc -f out.svg", NULL, "cpu.svg>out-cpu.svg alloc.svg>out-alloc.svg");
    plan("-e cpu,alloc -f %e.svg", NULL, "cpu.svg>cpu.svg alloc.svg>alloc.svg");
    plan("-e cpu,wall -f a.svg -f b.txt", NULL,
         "cpu.svg>a-cpu.svg wall.svg>a-wall.svg cpu.text>b-cpu.txt wall.text>b-wall.txt");
    plan("-e cpu,software/config=2/ -f a.svg", NULL,
         "cpu.svg>a-cpu.svg software/config=2/.svg>a-software_config_2_.svg");
    plan("-e cpu,wall -o svg", NULL, "svg holds only one event, and there are 2");
    plan("-e cpu,wall -o collapsed", NULL, "cpu.collapsed>- wall.collapsed>-");
}

static void formats_go_where_names_allow(void **state) {
    (void)state;
    plan("-o tree -f a.html", NULL, "cpu.tree>a.html");
    plan("-o tree -f a.svg -f b.html", NULL, "cpu.svg>a.svg cpu.tree>b.html");
    plan("-o collapsed,svg -f a -f b", NULL, "cpu.collapsed>a cpu.svg>b");
    plan("-o speedscope -f a.jfr -f b.json", NULL, "cpu.jfr>a.jfr cpu.speedscope>b.json");
    plan("-o collapsed -f a.svg", NULL, "cpu.collapsed>a.svg"); /* of one file -o decides */
    plan("-o jfr -f a.svg -f b.md", NULL, "-o jfr: no file is left for it; give one more -f");
}

static void what_was_not_freed_comes_besides(void **state) {
    (void)state;
    plan("-e nativemem -f m.svg", NULL, "nativemem.svg>m.svg leak.svg>m-leak.svg");
    plan("-e nativemem -f %e.svg", NULL, "nativemem.svg>nativemem.svg leak.svg>leak.svg");
    plan("-e nativemem --nofree -f m.svg", NULL, "nativemem.svg>m.svg");
    plan("-e nativemem -o flat", NULL, "nativemem.text>- leak.text>-");
    plan("-e nativemem -o collapsed", NULL, "nativemem.collapsed>-"); /* a script reads that */
    plan("-e nativemem -o svg", NULL, "nativemem.svg>-");
}

static void what_holds_several_holds_that_too(void **state) {
    (void)state;
    plan("-e nativemem -f m.json", NULL, "nativemem.json+>m.json");
    plan("-e cpu,nativemem -f m.md", NULL, "cpu.markdown+>m.md");
    plan("-e nativemem -o speedscope", NULL, "nativemem.speedscope+>-");
    plan("-e nativemem --nofree -f m.json", NULL, "nativemem.json>m.json");
    plan("-e nativemem -f %e.json", NULL, "nativemem.json>nativemem.json leak.json>leak.json");
    /* Each malloc and free is in it. */
    plan("-e nativemem -f m.jfr", NULL, "nativemem.jfr>m.jfr");
    plan("-e cpu,nativemem -f m.jfr", NULL, "cpu.jfr+>m.jfr");
    plan("-e nativemem -f %e.jfr", NULL, "nativemem.jfr>nativemem.jfr");
}

static void a_recording_says_what_it_has(void **state) {
    (void)state;
    static struct session_status st;
    snprintf(st.event, sizeof st.event, "cpu");
    plan("-f a.svg", &st, "cpu.svg>a.svg"); /* nothing sampled: one report says so */
    st.engine[WIRE_EVENT_PERF].samples = 1;
    snprintf(st.engine[WIRE_EVENT_PERF].name, sizeof st.engine[0].name, "page-faults");
    plan("-f a.svg", &st, "page-faults.svg>a.svg");
    st.engine[WIRE_EVENT_ALLOC].samples = st.engine[EVENT_LIVE].samples = 5;
    plan("-f a.svg", &st,
         "alloc.svg>a-alloc.svg page-faults.svg>a-page-faults.svg live.svg>a-live.svg");
    plan("-e page-faults -f a.svg", &st, "page-faults.svg>a.svg");
}

static void quality_is_the_events_own(void **state) {
    (void)state;
    static struct session_status st = {.samples = 60, .dropped = 9, .windows = 2};
    struct jvm j = {.name = "Main", .pid = 7};
    struct export_quality q;
    struct quality_text room;
    st.engine[WIRE_EVENT_CPU] = (struct session_engine){.name = "itimer", .samples = 20};
    st.engine[WIRE_EVENT_WALL] = (struct session_engine){
        .name = "wall", .samples = 40, .interval = 50, .dropped = 3, .coverage = 0.5};
    st.engine[EVENT_LIVE] = (struct session_engine){.name = "alloc"};
    st.failed[WIRE_FAILURE_LOOP] = 1;
    quality_of_event(&q, &st, WIRE_EVENT_WALL, &j, &room);
    assert_string_equal(q.event, "wall");
    assert_true(q.interval == 50 && q.dropped == 3 && q.coverage == 0.5 && q.windows == 2);
    assert_true(q.several && q.walks == 60 && q.failed_count == 1);
    quality_of_event(&q, &st, EVENT_LIVE, &j, &room);
    assert_string_equal(q.event, "live");
    assert_string_equal(q.unit, "bytes");
    st.engine[WIRE_EVENT_WALL].samples = 0;
    st.engine[WIRE_EVENT_CPU].coverage = 0.7; /* means nothing there */
    quality_of_event(&q, &st, WIRE_EVENT_CPU, &j, &room);
    assert_string_equal(q.event, "itimer");
    assert_true(!q.several && q.walks == 0 && q.coverage == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event_keeps_its_names),
        cmocka_unit_test(several_events_get_one_each),
        cmocka_unit_test(formats_go_where_names_allow),
        cmocka_unit_test(what_was_not_freed_comes_besides),
        cmocka_unit_test(what_holds_several_holds_that_too),
        cmocka_unit_test(a_recording_says_what_it_has),
        cmocka_unit_test(quality_is_the_events_own),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
