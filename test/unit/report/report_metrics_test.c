#include "core/report/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static int times(const char *text, const char *line) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, line)) != NULL; p++)
        n += p == text || p[-1] == '\n';
    return n;
}

static void once(const char *text, const char *line) {
    if (times(text, line) != 1)
        fail_msg("%d times: %s\n%s", times(text, line), line, text);
}

/* Every line is of the family that was announced last, and no family is announced twice. */
static void is_in_order(const char *text) {
    char family[80] = "", all[8192] = " ";
    for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
        assert_non_null(strchr(p, '\n'));
        char name[80];
        if (sscanf(p, "# HELP %79s ", name) == 1) {
            char within[84];
            snprintf(within, sizeof within, " %s ", name);
            if (strstr(all, within))
                fail_msg("%s comes twice", name);
            strcat(strcat(all, name), " ");
            strcpy(family, name);
        } else if (sscanf(p, "# TYPE %79s ", name) == 1) {
            assert_string_equal(name, family);
        } else {
            size_t n = strlen(family);
            if (strncmp(p, family, n) != 0 || !strchr("{ ", p[n]))
                fail_msg("not of %s: %.60s", family, p);
        }
    }
}

static struct session_status status_of(uint64_t samples) {
    struct session_status st = {.phase = SESSION_RUNNING, .elapsed_ns = SECOND};
    st.engine[WIRE_EVENT_CPU] = (struct session_engine){.asked = true,
                                                        .runs = true,
                                                        .name = "cpu",
                                                        .samples = samples,
                                                        .dropped = 1,
                                                        .interval = 5000};
    return st;
}

static void several_jvms(void **state) {
    (void)state;
    struct session_status st[2] = {status_of(10), status_of(20)};
    struct jvm jvm[2] = {{.pid = 1, .name = "a"}, {.pid = 2, .name = "a"}};
    struct metrics_top top = {.event = "cpu", .methods = 1};
    struct text t = {0};
    snprintf(top.method[0].name, sizeof top.method[0].name, "A.\"f\"");
    top.method[0].share = 0.25;
    st[1].budget = (struct session_budget){.limit_ppm = 10000, .measured_ppm = 2500, .factor = 4};
    st[1].failed[WIRE_FAILURE_LOOP] = 3;
    metrics_write_all(&t, (struct metrics_jvm[]){{&st[0], &jvm[0], NULL}, {&st[1], &jvm[1], &top}},
                      2, 4096, 1500000000);
    is_in_order(t.data);
    once(t.data, "jtop_prof_samples_total{pid=\"1\",jvm=\"a\",event=\"cpu\"} 10\n");
    once(t.data, "jtop_prof_samples_total{pid=\"2\",jvm=\"a\",event=\"cpu\"} 20\n");
    once(t.data, "jtop_prof_dropped_samples_total{pid=\"2\",jvm=\"a\",event=\"cpu\"} 1\n");
    once(t.data, "jtop_prof_interval{pid=\"1\",jvm=\"a\",event=\"cpu\"} 5000\n");
    once(t.data, "jtop_prof_failed_walks_total{pid=\"2\",jvm=\"a\",reason=\"loop\"} 3\n");
    once(t.data, "jtop_prof_budget_ratio{");
    once(t.data, "jtop_prof_budget_ratio{pid=\"2\",jvm=\"a\"} 0.01\n");
    once(t.data, "jtop_prof_budget_used_ratio{pid=\"2\",jvm=\"a\"} 0.0025\n");
    once(t.data, "jtop_prof_interval_factor{pid=\"2\",jvm=\"a\"} 4\n");
    once(t.data, "jtop_prof_method_self_ratio{pid=\"2\",jvm=\"a\",event=\"cpu\","
                 "method=\"A.\\\"f\\\"\"} 0.25\n");
    once(t.data, "jtop_prof_jvms 2\n");
    once(t.data, "jtop_prof_frontend_cpu_seconds_total 1.5\n");
    once(t.data, "jtop_prof_frontend_resident_bytes 4096\n");
    once(t.data, "jtop_prof_build_info{version=\"");
    text_free(&t);
}

static void none_at_all(void **state) {
    (void)state;
    struct text t = {0};
    metrics_write_all(&t, NULL, 0, 1, 1);
    is_in_order(t.data);
    once(t.data, "jtop_prof_jvms 0\n");
    assert_int_equal(times(t.data, "jtop_prof_running{"), 0);
    text_free(&t);
}

static void one_jvm(void **state) {
    (void)state;
    struct session_status st = status_of(5);
    struct jvm jvm = {.pid = 3, .name = "x"};
    struct text t = {0};
    st.frontend_ns = 2000000000;
    metrics_write(&t, &st, &jvm, 77);
    is_in_order(t.data);
    once(t.data, "jtop_prof_frontend_cpu_seconds_total{pid=\"3\",jvm=\"x\"} 2\n");
    once(t.data, "jtop_prof_frontend_resident_bytes{pid=\"3\",jvm=\"x\"} 77\n");
    text_free(&t);
}

/* A label's value ends where it ends, and is UTF-8, or none of it would be read. */
static void names_that_are_hostile(void **state) {
    (void)state;
    struct session_status st = status_of(5);
    struct jvm jvm = {.pid = 3, .name = "a\"} 1\nb\\\xff\xc3(\xed\xa0\x80\x01h\xc3\xa9"};
    struct text t = {0};
    metrics_write(&t, &st, &jvm, 77);
    is_in_order(t.data);
    once(t.data, "jtop_prof_running{pid=\"3\",jvm=\"a\\\"} 1\\nb\\\\?\?(????h\xc3\xa9\"} 1\n");
    text_free(&t);
}

static void add_java(struct profile *p, uint64_t second, const char *class_name, const char *name,
                     uint32_t n) {
    const uint32_t id =
        method_table_intern(profile_methods(p), METHOD_JAVA, class_name, name, "()V", "");
    for (uint32_t i = 0; i < n; i++)
        add(p, second * SECOND, 11, id);
}

static void hottest_methods(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct session_status st = status_of(5);
    struct metrics_top top;
    add_java(p, 100, "a/Old", "f", 1000);
    for (uint32_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%02u", i);
        add_java(p, 200, "a/B", name, 40 - i);
    }
    /* Four methods each time they are made: one series. */
    for (uint32_t i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "a/B$$Lambda$%u/0x%08x", i, i * 4096);
        add_java(p, 200, name, "run", 20);
    }
    assert_int_equal(metrics_take_top(&top, p, &st, 200), 0);
    assert_string_equal(top.event, "cpu");
    assert_int_equal(top.methods, METRICS_METHODS);
    assert_string_equal(top.method[0].name, "a.B$$Lambda.run");
    assert_string_equal(top.method[1].name, "a.B.m00");
    assert_string_equal(top.method[9].name, "a.B.m08");
    const double all = 20 * 40 - 190 + 80;
    assert_true(top.method[0].share > 80 / all - 1e-9 && top.method[0].share < 80 / all + 1e-9);
    assert_true(top.method[1].share > 40 / all - 1e-9 && top.method[1].share < 40 / all + 1e-9);
    assert_int_equal(metrics_take_top(&top, p, &st, 259), 0); /* the last second of that minute */
    assert_int_equal(top.methods, METRICS_METHODS);
    assert_int_equal(metrics_take_top(&top, p, &st, 260), 0);
    assert_int_equal(top.methods, 0);
    profile_free(p);
}

/* Cut names end with a whole character, and are not the same name twice. */
static void long_names(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct session_status st = status_of(5);
    struct metrics_top top;
    for (int first = 0; first < 4; first++) {
        char name[400] = "";
        memset(name, 'a' + first, (size_t)first + 1);
        while (strlen(name) < 350)
            strcat(name, "\xe4\xb8\xad");
        add_java(p, 200, "C", name, 4);
        strcat(name, "x");
        add_java(p, 200, "C", name, 4);
    }
    assert_int_equal(metrics_take_top(&top, p, &st, 200), 0);
    assert_int_equal(top.methods, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const char *name = top.method[i].name;
        const size_t n = strlen(name), plain = strspn(name + 2, "abcd") + 2;
        assert_in_range(n, METRICS_NAME_MAX - 2, METRICS_NAME_MAX);
        assert_int_equal((n - plain) % 3, 0);
        assert_true(top.method[i].share > 0.249 && top.method[i].share < 0.251);
    }
    profile_free(p);
}

/* Without CPU time it is whatever is sampled. */
static void another_event(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct session_status st = {.phase = SESSION_RUNNING};
    struct metrics_top top;
    st.engine[WIRE_EVENT_PERF] = (struct session_engine){.name = "page-faults", .samples = 1};
    assert_int_equal(metrics_take_top(&top, p, &st, 0), 0);
    assert_string_equal(top.event, "page-faults");
    assert_int_equal(top.methods, 0);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_jvms),    cmocka_unit_test(none_at_all),
        cmocka_unit_test(one_jvm),         cmocka_unit_test(names_that_are_hostile),
        cmocka_unit_test(hottest_methods), cmocka_unit_test(long_names),
        cmocka_unit_test(another_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
