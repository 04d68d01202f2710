/* What files and people are told of how good a profile is. */
#include "core/report/quality.h"
#include "core/wire/wire_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void another_walker_is_named(void **unused) {
    (void)unused;
    static const struct {
        const char *walker, *reason;
        enum wire_walk asked;
        const char *says;
    } cases[] = {
        {"vm", "", WIRE_WALK_VM, ""},
        {"vm", "perf is denied", WIRE_WALK_VM, ""},
        {"", "", WIRE_WALK_DWARF, ""}, /* nothing runs yet */
        {"dwarf", "", WIRE_WALK_DWARF, ""},
        {"vm", "no unwind tables", WIRE_WALK_VMX, "walker vm instead of vmx: no unwind tables"},
        {"vmx", "", WIRE_WALK_VM, "walker vmx instead of vm"},
        {"vm", "", WIRE_WALK_VMX, "walker vm instead of vmx"},
        {"asgct", "no Method in vmStructs", WIRE_WALK_VM,
         "walker asgct instead of vm: no Method in vmStructs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session_status st = {.phase = SESSION_RUNNING};
        char out[200];
        snprintf(st.walker, sizeof st.walker, "%s", cases[i].walker);
        snprintf(st.reason, sizeof st.reason, "%s", cases[i].reason);
        assert_string_equal(quality_walker(&st, cases[i].asked, out, sizeof out), cases[i].says);
        st.phase = SESSION_REPLAYED; /* somebody else asked */
        assert_string_equal(quality_walker(&st, cases[i].asked, out, sizeof out), "");
    }
}

static void files_state_it(void **unused) {
    (void)unused;
    struct session_status st = {.walker = "vm"};
    struct jvm j = {.name = "shop.Main", .pid = 7};
    struct quality_text room;
    struct export_quality q;
    st.engine[WIRE_EVENT_ALLOC].dropped = 3;
    st.day_ns = 5;
    st.undated = true;
    st.failed[WIRE_FAILURE_LOOP] = 2;
    st.failed[WIRE_FAILURE_NO_JAVA] = 50; /* none were to be seen */
    quality_of_event(&q, &st, WIRE_EVENT_ALLOC, &j, &room);
    assert_string_equal(q.jvm, "shop.Main (pid 7)");
    assert_string_equal(q.unit, "bytes");
    assert_int_equal(q.dropped, 3);
    assert_int_equal(q.day_ns, 5);
    assert_true(q.undated);
    assert_int_equal(q.failed_count, 1);
    assert_string_equal(q.failed[0].name, wire_failure_name[WIRE_FAILURE_LOOP]);
    assert_int_equal(q.failed[0].samples, 2);
    assert_null(q.walker);
    assert_null(q.precise);
    snprintf(st.walker, sizeof st.walker, "dwarf");
    st.recompiled = 1;
    st.recompile_ns = 1499999;
    for (int i = 0; i < WIRE_FAILURES; i++)
        st.failed[i] = 1;
    quality_of_event(&q, &st, WIRE_EVENT_ALLOC, &j, &room);
    assert_string_equal(q.walker, "dwarf");
    assert_string_equal(q.precise, "1 method recompiled, 1 ms");
    assert_int_equal(q.failed_count, WIRE_FAILURES - 2); /* NONE and NO_JAVA are none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_walker_is_named),
        cmocka_unit_test(files_state_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
