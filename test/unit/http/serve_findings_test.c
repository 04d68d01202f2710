/* What stands out in profiles that are known, as JSON. */
#include "core/http/serve/api/api_findings.h"
#include "core/wire/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test/unit/http/serve_api_json.h"
#include "test/unit/profile/profile_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW 120u

static struct api_question question(int event) {
    struct params none = {0};
    struct api_question q;
    struct err e;
    assert_int_equal(api_question_read(&q, &none, &e), 0);
    q.event = event;
    return q;
}

/* What is found, as text that the caller frees; checked to be JSON. */
static char *findings(struct profile *p, const struct api_question *q, enum session_phase phase) {
    struct session_status st = {.phase = phase, .samples = 100};
    struct jvm jvm = {.pid = 7, .cpu_percent = 150};
    struct text out = {0};
    assert_int_equal(api_findings_write(&out, p, &st, &jvm, q, NOW), 0);
    if (!json_is_good(out.data))
        fail_msg("no JSON: %s", out.data);
    return out.data;
}

static void has(struct profile *p, const struct api_question *q, const char *part) {
    char *text = findings(p, q, SESSION_STOPPED);
    if (!strstr(text, part))
        fail_msg("no %s in\n%s", part, text);
    free(text);
}

static void has_not(struct profile *p, const struct api_question *q, const char *part) {
    char *text = findings(p, q, SESSION_STOPPED);
    if (strstr(text, part))
        fail_msg("%s in\n%s", part, text);
    free(text);
}

static void sample(struct profile *p, int event, uint64_t second, uint32_t tid, uint8_t state,
                   uint32_t method, uint64_t weight) {
    assert_int_equal(
        profile_add(p,
                    &(struct profile_sample){.event = (uint8_t)event,
                                             .time_ns = second * SECOND,
                                             .weight = weight,
                                             .count = 1,
                                             .tid = tid,
                                             .state = state,
                                             .frames = 1,
                                             .frame = &(struct profile_frame){.method = method}}),
        0);
}

static uint32_t java(struct profile *p, const char *name, const char *signature) {
    return method_table_intern(profile_methods(p), METHOD_JAVA, "shop/Cart", name, signature, "");
}

/* One thread computes prices; the other sorts for a moment, and waits for a monitor. */
static struct profile *known(void) {
    struct profile *p = profile_new(0);
    const uint32_t price = java(p, "price", "(I)V"), sort = java(p, "sort", "()V");
    java(p, "price", "(J)V");
    profile_thread_name(p, 11, 1, "pricing");
    profile_thread_name(p, 12, 2, "sorter");
    for (unsigned i = 0; i < 20; i++)
        sample(p, WIRE_EVENT_CPU, 100 + i % 10, 11, 0, price, 45);
    sample(p, WIRE_EVENT_CPU, 100, 12, 0, sort, 100);
    sample(p, WIRE_EVENT_WALL, 100, 11, WIRE_THREAD_RUNNING, price, 70);
    sample(p, WIRE_EVENT_WALL, 109, 12, WIRE_THREAD_BLOCKED, sort, 30);
    sample(p, WIRE_EVENT_ALLOC, 101, 11, 0,
           method_table_intern(profile_methods(p), METHOD_CLASS, "", "shop/Order", "", ""), 1000);
    profile_pause(p, 105 * SECOND, 106 * SECOND, 0);
    return p;
}

static void each_says_what_it_is_about(void **unused) {
    (void)unused;
    struct profile *p = known();
    struct api_question q = question(WIRE_EVENT_CPU);
    has(p, &q, "{\"event\":\"cpu\",\"findings\":[{\"text\":\"");
    has(p, &q,
        "collections stopped the JVM for 10 % of the last 10 s; worst second: 1.00s\","
        "\"worse\":true,\"method\":null,\"thread\":null,\"view\":null,\"event\":\"cpu\"}");
    has(p, &q,
        "waiting for monitors, most by sorter\",\"worse\":true,\"method\":null,"
        "\"thread\":{\"name\":\"sorter\",\"tid\":12,\"javaId\":2,\"virtual\":false},"
        "\"view\":\"locks\",");
    has(p, &q,
        "is in one thread: pricing\",\"worse\":false,\"method\":null,"
        "\"thread\":{\"name\":\"pricing\",\"tid\":11,");
    /* An overload is named with its signature, as views name it. */
    has(p, &q,
        " is in shop.Cart.price(int) itself\",\"worse\":false,"
        "\"method\":\"shop.Cart.price(int)\",\"thread\":null,\"view\":null,");
    has(p, &q,
        "are allocated per second, 100 % of it shop.Order\",\"worse\":false,"
        "\"method\":null,\"thread\":null,\"view\":\"alloc\",");
    profile_free(p);
}

/* Event, window, filter and thread are those of the question. */
static void the_question_counts(void **unused) {
    (void)unused;
    struct profile *p = known();
    struct api_question q = question(WIRE_EVENT_WALL);
    has(p, &q, "\"event\":\"wall\"");
    has(p, &q, "30 % of the application threads' time is spent waiting for monitors");
    has(p, &q, "of the CPU time is in shop.Cart.price(int) itself");
    has(p, &q,
        "\"method\":\"shop.Cart.price(int)\",\"thread\":null,\"view\":null,\"event\":\"cpu\"");
    has_not(p, &q, "one thread");

    q = question(WIRE_EVENT_CPU);
    q.tid = 12;
    has(p, &q, "of the selection's CPU time is in shop.Cart.sort itself");
    has_not(p, &q, "price");
    snprintf(q.filter, sizeof q.filter, "price");
    has_not(p, &q, "CPU time");

    q = question(WIRE_EVENT_CPU);
    q.from = (struct api_second){.given = true, .second = 101};
    q.to = (struct api_second){.given = true, .second = 104};
    has(p, &q, "100 % of the CPU time");
    has_not(p, &q, "collections"); /* it was later */
    has_not(p, &q, "monitors");

    q = question(WIRE_EVENT_CPU);
    snprintf(q.with, sizeof q.with, "shop.Cart.sort");
    has(p, &q, "is in shop.Cart.sort itself");
    snprintf(q.with, sizeof q.with, "no.such.Method");
    has_not(p, &q, "CPU time");
    profile_free(p);
}

/* The second that goes on is not complete: a pause in it says nothing yet. */
static void now_is_not_over(void **unused) {
    (void)unused;
    struct profile *p = known();
    const struct api_question q = question(WIRE_EVENT_CPU);
    profile_pause(p, 118 * SECOND, 119 * SECOND, 1);
    char *text = findings(p, &q, SESSION_RUNNING);
    if (!strstr(text, "of the last 19 s") || !strstr(text, "safepoints other than collections"))
        fail_msg("%s", text);
    free(text);
    profile_free(p);
    p = profile_new(0); /* before the first sample */
    has(p, &q, "no samples in this selection");
    profile_free(p);
}

/* Names come from the JVM. */
static void hostile_names(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    const struct api_question q = question(WIRE_EVENT_CPU);
    char name[6000];
    memset(name, 'x', sizeof name);
    memcpy(name, "</script><b>\"\\\x1b\xff", 16);
    name[sizeof name - 1] = '\0';
    const uint32_t m = method_table_intern(profile_methods(p), METHOD_JAVA, "p/C", name, "()V", "");
    profile_thread_name(p, 11, 1, "\"><img src=x>\n");
    profile_thread_name(p, 12, 2, "other");
    for (unsigned i = 0; i < 20; i++)
        sample(p, WIRE_EVENT_CPU, 100, 11, 0, m, 10);
    sample(p, WIRE_EVENT_CPU, 100, 12, 0, m, 1);
    has(p, &q, " itself\"");
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_says_what_it_is_about),
        cmocka_unit_test(the_question_counts),
        cmocka_unit_test(now_is_not_over),
        cmocka_unit_test(hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
