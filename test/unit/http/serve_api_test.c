/* Views of profiles that are known, without a session. */
#include "core/http/serve/api/api_jvms.h"
#include "core/http/serve/api/api_tree.h"
#include "core/http/serve/api/api_view.h"
#include "core/wire/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test/unit/http/serve_api_json.h"
#include "test/unit/profile/profile_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct api_question everything(void) {
    struct params none = {0};
    struct api_question q;
    struct err e;
    assert_int_equal(api_question_read(&q, &none, &e), 0);
    return q;
}

static uint32_t java(struct profile *p, const char *class_name, const char *name,
                     const char *signature) {
    return method_table_intern(profile_methods(p), METHOD_JAVA, class_name, name, signature, "");
}

/* One sample of each stack, leaf first. */
static void add_stack(struct profile *p, uint64_t second, uint32_t tid, uint32_t leaf,
                      uint32_t root) {
    const struct profile_frame f[] = {{.method = leaf, .tier = TIER_C2},
                                      {.method = root, .tier = TIER_INTERPRETED}};
    assert_int_equal(add_frames(p, second * SECOND, tid, f, root == METHOD_NONE ? 1 : 2), 0);
}

/* What a view says, as text that the caller frees; checked to be JSON. */
static char *view(struct profile *p, const struct api_question *q, enum session_phase phase,
                  uint64_t now, const char *name) {
    struct api_view v = {.status = {.phase = phase,
                                    .elapsed_ns = SECOND,
                                    .agent_ns = SECOND / 50,
                                    .frontend_ns = SECOND / 100 * 3,
                                    .missed_ns = SECOND / 250}};
    struct text out = {0};
    v.jvm.pid = 7;
    snprintf(v.jvm.name, sizeof v.jvm.name, "%s", name);
    v.status.engine[WIRE_EVENT_CPU] = (struct session_engine){
        .asked = true, .runs = true, .name = "cpu", .mechanism = "perf", .samples = 3};
    v.status.failed[WIRE_FAILURE_LOOP] = 2;
    v.unix_zero = 1000.5;
    assert_int_equal(api_view_read(&v, p, q, now), 0);
    assert_int_equal(api_view_write(&v, &out), 0);
    api_view_free(&v);
    if (!json_is_good(out.data))
        fail_msg("no JSON: %s", out.data);
    return out.data;
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no %s in\n%s", part, text);
}

static void has_not(const char *text, const char *part) {
    if (strstr(text, part))
        fail_msg("%s in\n%s", part, text);
}

/* main calls hot twice in second 100, and cold in 102; a thread of its own has cold alone. */
static struct profile *known(void) {
    struct profile *p = profile_new(0);
    uint32_t root = java(p, "app/Main", "main", "([Ljava/lang/String;)V");
    uint32_t hot = java(p, "app/Main", "hot", "()V"), cold = java(p, "app/Main", "cold", "()V");
    profile_thread_name(p, 11, 1, "main");
    profile_thread_name(p, 12, 2, "other");
    add_stack(p, 100, 11, hot, root);
    add_stack(p, 100, 11, hot, root);
    add_stack(p, 102, 11, cold, root);
    add_stack(p, 102, 12, cold, METHOD_NONE);
    profile_pause(p, 101 * SECOND, 101 * SECOND + 7000000, 0);
    profile_pause(p, 102 * SECOND, 102 * SECOND + 3000000, 1);
    return p;
}

static void all_of_it(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "{\"jvm\":{\"pid\":7,\"name\":\"Main\",");
    has(text, "\"status\":{\"phase\":\"gone\",");
    has(text,
        "\"failures\":{\"loop\":2},\"failed\":2,\"agentCpuMs\":20,\"overheadPercent\":2.000,");
    has(text, "\"frontendCpuMs\":30,\"missedMs\":4},");
    has(text, "\"events\":[{\"name\":\"cpu\",\"unit\":\"ns\",\"asked\":true,\"runs\":true,");
    has(text, "],\"event\":\"cpu\",\"unit\":\"ns\","
              "\"window\":{\"from\":100,\"to\":102,\"first\":100,\"oldest\":100,\"latest\":102,"
              "\"all\":true,\"unix\":1000.500},"
              "\"total\":{\"weight\":40,\"samples\":4,\"failed\":0,\"sampledNs\":3000000000},"
              "\"methods\":["
              "{\"name\":\"app.Main.cold\",\"kind\":\"java\",\"tier\":3,\"self\":20,\"total\":20,"
              "\"selfSamples\":2,\"totalSamples\":2},"
              "{\"name\":\"app.Main.hot\",\"kind\":\"java\",\"tier\":3,\"self\":20,\"total\":20,"
              "\"selfSamples\":2,\"totalSamples\":2},"
              "{\"name\":\"app.Main.main\",\"kind\":\"java\",\"tier\":1,\"self\":0,\"total\":30,"
              "\"selfSamples\":0,\"totalSamples\":3}],\"methodCount\":3,"
              "\"threads\":["
              "{\"name\":\"main\",\"tid\":11,\"javaId\":1,\"virtual\":false,\"ended\":false,"
              "\"weight\":30,\"samples\":3,\"states\":{");
    has(text, "\"top\":\"app.Main.hot\"},{\"name\":\"other\",\"tid\":12,");
    has(text, "\"threadCount\":2,"
              "\"tree\":{\"names\":[\"app.Main.main\",\"app.Main.hot\",\"app.Main.cold\"],"
              "\"kinds\":[\"java\",\"java\",\"java\"],"
              "\"nodes\":[[0,0,30,0,3,1],[1,1,20,20,2,3],[2,1,10,10,1,3],[2,0,10,10,1,3]],"
              "\"cut\":false},"
              "\"timeline\":{\"from\":100,\"weight\":[20,0,20],\"samples\":[2,0,2],"
              "\"gcMs\":[0,7,0],\"otherMs\":[0,0,3]}}");
    free(text);
    profile_free(p);
}

static void part_of_it(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    q.from = (struct api_second){.given = true, .back = true, .second = 1};
    q.rows = 1;
    q.tree = false;
    char *text = view(p, &q, SESSION_STOPPED, 500, "Main");
    has(text, "\"phase\":\"stopped\"");
    has(text, "\"window\":{\"from\":101,\"to\":102,\"first\":100,\"oldest\":100,\"latest\":102,"
              "\"all\":false,");
    has(text, "\"total\":{\"weight\":20,\"samples\":2,");
    has(text, "\"methods\":[{\"name\":\"app.Main.cold\",");
    has(text, "\"methodCount\":2");
    has(text, "\"threadCount\":2");
    has_not(text, "app.Main.hot");
    has_not(text, "\"tree\"");
    has_not(text, "\"other\"");
    free(text);

    q = everything();
    q.tid = 12;
    q.inverted = true;
    text = view(p, &q, SESSION_RUNNING, 103, "Main");
    has(text, "\"total\":{\"weight\":10,");
    has(text, "\"tree\":{\"names\":[\"app.Main.cold\"],");
    free(text);

    q = everything();
    strcpy(q.filter, "hot$");
    q.inverted = true;
    text = view(p, &q, SESSION_RUNNING, 103, "Main");
    has(text, "\"total\":{\"weight\":20,");
    has(text, "\"tree\":{\"names\":[\"app.Main.hot\",\"app.Main.main\"],");
    has(text, "\"nodes\":[[0,0,20,0,2,3],[1,1,20,20,2,1]]");
    free(text);
    profile_free(p);
}

/* A JVM that has nothing to do has time go on all the same; one that ended has not. */
static void time_goes_on(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    q.from = (struct api_second){.given = true, .back = true, .second = 9};
    char *text = view(p, &q, SESSION_RUNNING, 103, "Main");
    has(text, "\"latest\":102,");
    free(text);
    text = view(p, &q, SESSION_RUNNING, 400, "Main");
    has(text, "\"window\":{\"from\":390,\"to\":399,\"first\":100,\"oldest\":100,\"latest\":399,");
    has(text, "\"total\":{\"weight\":0,");
    free(text);
    text = view(p, &q, SESSION_RUNNING, 100000, "Main");
    has(text, "\"timeline\":{\"from\":99400,\"weight\":[0,");
    free(text);
    profile_free(p);
}

static void before_the_first_sample(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    q.from = (struct api_second){.given = true, .back = true, .second = 9};
    char *text = view(p, &q, SESSION_RUNNING, 4000, "Main");
    has(text, "\"window\":{\"from\":0,\"to\":0,\"first\":0,\"oldest\":0,\"latest\":0,");
    has(text, "\"methods\":[],\"methodCount\":0,\"threads\":[],\"threadCount\":0,"
              "\"tree\":{\"names\":[],\"kinds\":[],\"nodes\":[],\"cut\":false},"
              "\"timeline\":{\"from\":0,\"weight\":[],");
    free(text);
    profile_free(p);
}

static void names_that_are_hostile(void **state) {
    (void)state;
    static const char *const names[] = {
        "</script><script>alert(1)</script>", "\"},{\"pid\":1,\"x\":\"", "a\nb\r\tc\x01\x7f\\",
        "\xff\xfe\x80 \xc3\x28 \xed\xa0\x80", "\xe2\x80\xa8 &amp; '",    ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct profile *p = profile_new(0);
        struct api_question q = everything();
        profile_thread_name(p, 11, 1, names[i]);
        add_stack(p, 100, 11, java(p, names[i], names[i], names[i]), intern(p, names[i]));
        free(view(p, &q, SESSION_RUNNING, 101, names[i]));
        profile_free(p);
    }
}

/* A name is one method, within a view. */
static void overloads_have_signatures(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    add_stack(p, 100, 11, java(p, "A", "f", "(I)V"), METHOD_NONE);
    add_stack(p, 100, 11, java(p, "A", "f", "()V"), METHOD_NONE);
    add_stack(p, 100, 11, java(p, "A", "g", "()V"), METHOD_NONE);
    char *text = view(p, &q, SESSION_RUNNING, 101, "A");
    has(text, "{\"name\":\"A.f(int)\",");
    has(text, "{\"name\":\"A.f()\",");
    has(text, "{\"name\":\"A.g\",");
    has(text, "\"names\":[\"A.f()\",\"A.f(int)\",\"A.g\"]");
    free(text);
    profile_free(p);
}

/* Checks that it is a tree in preorder; returns how many nodes. */
static unsigned count_nodes(const char *text, unsigned names) {
    unsigned count = 0;
    long before = -1;
    const char *at = strstr(text, "\"nodes\":[");
    assert_non_null(at);
    for (at += 9; *at == '['; count++) {
        long v[6];
        for (int i = 0; i < 6; i++) {
            char *end;
            v[i] = strtol(at + 1, &end, 10);
            assert_int_equal(*end, i < 5 ? ',' : ']');
            at = end;
        }
        assert_in_range(v[0], 0, names - 1);
        assert_in_range(v[1], 0, before + 1);
        assert_true(v[3] <= v[2]);
        before = v[1];
        at += at[1] == ',' ? 2 : 1;
    }
    return count;
}

/* Thread 12 waits twice for a lock that thread 11 holds in hot, called by main. */
static void waits_for_locks(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    uint32_t class_id =
        method_table_intern(profile_methods(p), METHOD_CLASS, "app/<Lock>", "", "", "");
    const struct profile_frame held[] = {
        {.method = java(p, "app/Main", "hot", "()V")},
        {.method = java(p, "app/Main", "main", "([Ljava/lang/String;)V")}};
    for (uint64_t i = 1; i <= 2; i++)
        assert_int_equal(profile_lock_wait(p, &(struct profile_lock){.time_ns = 102 * SECOND,
                                                                     .waited_ns = 1000 * i,
                                                                     .lock_id = 5,
                                                                     .class_id = class_id,
                                                                     .flags = WIRE_LOCK_MONITOR,
                                                                     .tid = 12,
                                                                     .owner_tid = 11,
                                                                     .owner_frames = 2,
                                                                     .owner_frame = held}),
                         0);
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has_not(text, "\"locks\":{");
    free(text);
    q.locks = true;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"locks\":{\"from\":0,\"sampledNs\":");
    has(text, "\"classes\":[{\"name\":\"app.\\u003cLock\\u003e\",\"kind\":\"monitor\",\"waits\":2,"
              "\"waitedNs\":3000,\"longestNs\":2000,\"locks\":1,\"waiters\":1,\"owners\":[{");
    has(text, "\"name\":\"main\",\"tid\":11,\"waits\":2,\"waitedNs\":3000,\"longestNs\":2000,"
              "\"stack\":[\"app.Main.hot\",\"app.Main.main\"]}],\"links\":[{");
    has(text, "\"lock\":null,\"name\":\"other\",\"tid\":12,\"waits\":2,\"waitedNs\":3000,"
              "\"deadlockNs\":0}]}]},\"timeline\"");
    free(text);
    q.from = q.to = (struct api_second){.given = true, .second = 100};
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"classes\":[]},");
    free(text);
    q = everything();
    q.locks = true;
    q.rows = 0;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"classes\":[]},");
    free(text);
    profile_free(p);
}

static void set_with(struct api_question *q, const char *name) {
    snprintf(q->with, sizeof q->with, "%s", name);
}

/* Seconds 100 and 102: hot is half as much of the second one, with too few samples to tell. */
static void compared_with_before(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has_not(text, "Change");
    has_not(text, "\"before\"");
    free(text);
    q.compare = true;
    q.before_from = 100;
    q.before_to = 101;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"before\":{\"from\":100,\"to\":101,\"weight\":20,\"samples\":2},\"methods\":[");
    has(text, "\"selfChange\":{\"points\":50.000,\"chance\":true,\"new\":true},"
              "\"totalChange\":{\"points\":50.000,\"chance\":true,\"new\":true}},"
              "{\"name\":\"app.Main.hot\"");
    has(text, "\"selfChange\":{\"points\":-50.000,\"chance\":true,\"new\":false},"
              "\"totalChange\":{\"points\":-50.000,\"chance\":true,\"new\":false}},"
              "{\"name\":\"app.Main.main\"");
    has(text, "\"change\":{\"points\":-25.000,\"chance\":true,\"new\":false}},{\"name\":\"other\"");
    free(text);
    q.inverted = true; /* the stacks with a method, before and now */
    set_with(&q, "app.Main.hot");
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"selfChange\":{\"points\":0.000,");
    free(text);
    profile_free(p);
}

/* main calls these, in this second. */
static void add_calls(struct profile *p, uint64_t second, const char *leaf, uint32_t times) {
    uint32_t root = java(p, "app/Main", "main", "()V");
    for (uint32_t i = 0; i < times; i++)
        add_stack(p, second, 11, java(p, "app/Main", leaf, "()V"), root);
}

/* A node has its share before, the change, flags and a shade. Nodes that are gone are left out, as
 * in the rows. */
static void trees_are_compared(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    add_calls(p, 100, "grows", 200);
    add_calls(p, 100, "shrinks", 780);
    add_calls(p, 100, "same", 10);
    add_calls(p, 100, "gone", 10);
    add_calls(p, 102, "grows", 600);
    add_calls(p, 102, "shrinks", 340);
    add_calls(p, 102, "begins", 50);
    add_calls(p, 102, "same", 10);
    q.from = q.to = (struct api_second){.given = true, .second = 102};
    q.compare = true;
    q.before_from = q.before_to = 100;
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"names\":[\"app.Main.main\",\"app.Main.grows\",\"app.Main.shrinks\","
              "\"app.Main.begins\",\"app.Main.same\"]");
    has(text, "\"nodes\":[[0,0,10000,0,1000,1,100.000,0.000,1,4],"
              "[1,1,6000,6000,600,3,20.000,40.000,0,8],[2,1,3400,3400,340,3,78.000,-44.000,0,0],"
              "[3,1,500,500,50,3,0.000,5.000,2,7],[4,1,100,100,10,3,1.000,0.000,1,4]]");
    free(text);
    q.inverted = true;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"nodes\":[[0,0,6000,0,600,3,20.000,40.000,0,8],"
              "[1,1,6000,6000,600,1,20.000,40.000,0,8],[2,0,3400,0,340,3,78.000,-44.000,0,0],");
    free(text);
    q.inverted = false; /* what the method calls, before and now */
    snprintf(q.with, sizeof q.with, "app.Main.shrinks");
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"nodes\":[[0,0,3400,3400,340,3,100.000,0.000,1,4]]");
    free(text);
    q.with[0] = '\0';
    q.before_from = q.before_to = 90; /* before the first sample */
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"nodes\":[[0,0,10000,0,1000,1,0.000,100.000,3,4],");
    free(text);
    q.tree = false;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has_not(text, "\"nodes\"");
    has(text, "\"selfChange\":{\"points\":60.000,");
    free(text);
    profile_free(p);
}

/* Classes, sites outside the JDK with the method of the JDK that they call, callers. */
static void allocations_by_site(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    uint32_t class_id = method_table_intern(profile_methods(p), METHOD_CLASS, "[B", "", "", "");
    const struct profile_frame site = {.method = java(p, "app/Cart", "add", "()V")},
                               grow = {.method = java(p, "java/util/ArrayList", "grow", "()V")},
                               copy = {.method = java(p, "java/util/Arrays", "copyOf", "()V")},
                               main = {.method = java(p, "app/Main", "main", "()V")};
    const struct profile_frame by_grow[] = {{.method = class_id}, copy, grow, site, main},
                               by_copy[] = {{.method = class_id}, copy, site, main};
    for (int i = 0; i < 20; i++) /* now by another way, but as much as before */
        assert_int_equal(add_frames(p, 100 * SECOND, 11, by_copy, 4), 0);
    for (int i = 0; i < 15; i++)
        assert_int_equal(add_frames(p, 102 * SECOND, 11, by_grow, 5), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(add_frames(p, 102 * SECOND, 11, by_copy, 4), 0);
    q.sites = true;
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"names\":[\"byte[]\",\"app.Cart.add\",\"java.util.Arrays.copyOf\","
              "\"app.Main.main\"],\"kinds\":[\"class\",\"java\",\"java\",\"java\"],"
              "\"nodes\":[[0,0,400,0,40,0,null],[1,1,400,0,40,0,2],[3,2,400,400,40,0,null]],");
    free(text);
    q.from = q.to = (struct api_second){.given = true, .second = 102};
    q.compare = true;
    q.before_from = q.before_to = 100;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"names\":[\"byte[]\",\"app.Cart.add\",\"java.util.ArrayList.grow\",");
    has(text, "\"nodes\":[[0,0,200,0,20,0,100.000,0.000,1,4,null],"
              "[1,1,200,0,20,0,100.000,0.000,1,4,2],[3,2,200,200,20,0,100.000,0.000,1,4,null]],");
    free(text);
    set_with(&q, "java.util.ArrayList.grow"); /* still by class */
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"nodes\":[[0,0,150,0,15,0,0.000,100.000,3,4,null],");
    free(text);
    profile_free(p);
}

/* Stacks with a method: the tree is what it calls, or its callers. */
static void with_a_method(void **state) {
    (void)state;
    struct profile *p = known();
    struct api_question q = everything();
    set_with(&q, "app.Main.cold");
    char *text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"total\":{\"weight\":20,\"samples\":2,");
    has(text, "\"methodCount\":2,");
    has(text, "\"nodes\":[[0,0,20,20,2,3]],");
    free(text);
    q.inverted = true;
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"names\":[\"app.Main.cold\",\"app.Main.main\"],");
    has(text, "\"nodes\":[[0,0,20,10,2,3],[1,1,10,10,1,1]],");
    free(text);
    set_with(&q, "app.Main.never");
    text = view(p, &q, SESSION_JVM_GONE, 500, "Main");
    has(text, "\"total\":{\"weight\":0,\"samples\":0,");
    has(text, "\"methods\":[],");
    has(text, "\"nodes\":[],");
    free(text);
    profile_free(p);
}

/* Of overloads that a view without the others writes alike, the heaviest one. */
static void with_an_overloaded_method(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    uint32_t light = java(p, "A", "f", "(I)V"), heavy = java(p, "A", "f", "()V");
    add_stack(p, 100, 11, light, METHOD_NONE);
    add_stack(p, 100, 11, heavy, METHOD_NONE);
    add_stack(p, 100, 11, heavy, METHOD_NONE);
    set_with(&q, "A.f");
    char *text = view(p, &q, SESSION_RUNNING, 101, "A");
    has(text, "\"total\":{\"weight\":20,");
    free(text);
    set_with(&q, "A.f(int)");
    text = view(p, &q, SESSION_RUNNING, 101, "A");
    has(text, "\"total\":{\"weight\":10,");
    free(text);
    profile_free(p);
}

static void large_trees_are_cut(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct api_question q = everything();
    for (uint32_t i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        uint32_t root = intern(p, name);
        for (uint32_t k = 0; k <= i; k++)
            add_stack(p, 100, 11, intern(p, k % 2 ? "even" : "odd"), root);
    }
    char *text = view(p, &q, SESSION_RUNNING, 101, "A");
    assert_int_equal(count_nodes(text, 52), 50 + 50 + 49);
    has(text, "\"cut\":false");
    free(text);
    const uint32_t most[] = {0, 1, 2, 10, 37, 148, 149};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        q.nodes = most[i];
        text = view(p, &q, SESSION_RUNNING, 101, "A");
        unsigned shown = count_nodes(text, 52);
        assert_int_equal(shown, most[i]);
        has(text, most[i] < 149 ? "\"cut\":true" : "\"cut\":false");
        if (shown) /* the heaviest is what stays */
            has(text, "\"names\":[\"f49\"");
        free(text);
    }
    profile_free(p);
}

static void pieces_of_json(void **state) {
    (void)state;
    struct text out = {0};
    struct json j = {.out = &out};
    json_begin(&j, NULL, '{');
    json_real(&j, "nan", NAN);
    json_real(&j, "inf", INFINITY);
    json_real(&j, "less", -1.5);
    json_begin(&j, "empty", '[');
    json_end(&j, ']');
    json_begin(&j, "list", '[');
    json_null(&j, NULL);
    json_bool(&j, NULL, true);
    json_number(&j, NULL, UINT64_MAX);
    json_begin(&j, NULL, '{');
    json_end(&j, '}');
    json_string(&j, NULL, "a\"b");
    json_end(&j, ']');
    json_bool(&j, "last", false);
    json_end(&j, '}');
    assert_string_equal(out.data, "{\"nan\":0.000,\"inf\":0.000,\"less\":-1.500,\"empty\":[],"
                                  "\"list\":[null,true,18446744073709551615,{},\"a\\u0022b\"],"
                                  "\"last\":false}");
    assert_true(json_is_good(out.data));
    text_free(&out);
}

/* The check itself. */
static void what_is_no_json(void **state) {
    (void)state;
    static const char *const wrong[] = {"",      "{",     "{,}",    "[1,]",        "{\"a\"}",
                                        "[01]",  "\"<\"", "\"\n\"", "\"\\x\"",     "{\"a\":1,}",
                                        "[1 2]", "nul",   "[1]]",   "\"\\u12g4\"", "[1.]"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (json_is_good(wrong[i]))
            fail_msg("taken: %s", wrong[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it),
        cmocka_unit_test(part_of_it),
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(before_the_first_sample),
        cmocka_unit_test(names_that_are_hostile),
        cmocka_unit_test(overloads_have_signatures),
        cmocka_unit_test(waits_for_locks),
        cmocka_unit_test(compared_with_before),
        cmocka_unit_test(trees_are_compared),
        cmocka_unit_test(allocations_by_site),
        cmocka_unit_test(with_a_method),
        cmocka_unit_test(with_an_overloaded_method),
        cmocka_unit_test(large_trees_are_cut),
        cmocka_unit_test(pieces_of_json),
        cmocka_unit_test(what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
