/* Labels: what is made of hostile ones, where they come from, and who has the last word. */
#include "core/http/push/protocol/label_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void is(const struct push_labels *l, const char *name, const char *value) {
    const char *found = labels_get(l, name);
    if (value)
        assert_non_null(found);
    else
        assert_null(found);
    if (value)
        assert_string_equal(found, value);
}

static void sorted_and_each_once(void **state) {
    struct push_labels l = {0};
    (void)state;
    assert_true(labels_set(&l, "zone", "b"));
    assert_true(labels_set(&l, "app", "x"));
    assert_true(labels_set(&l, "zone", "a"));
    assert_int_equal(l.count, 2);
    assert_string_equal(l.item[0].name, "app");
    is(&l, "zone", "a");
    assert_false(labels_set(&l, "zone", ""));
    assert_int_equal(l.count, 1);
    is(&l, "zone", NULL);
}

static void both_spellings_are_one(void **state) {
    struct push_labels l = {0};
    bool number;
    char plain[64];
    (void)state;
    assert_true(labels_set(&l, "k8s.pod.name", "a"));
    assert_true(labels_set(&l, "pod", "b"));
    assert_true(labels_set(&l, "service", "s"));
    assert_true(labels_set(&l, "service.name", "t"));
    assert_int_equal(l.count, 2);
    is(&l, "pod", "b");
    is(&l, "service_name", "t");
    assert_string_equal(label_otel_name(&l.item[0], &number), "k8s.pod.name");
    assert_false(number);
    assert_true(labels_set(&l, "pid", "12"));
    assert_string_equal(label_otel_name(&l.item[0], &number), "process.pid");
    assert_true(number);
    l = (struct push_labels){0};
    assert_true(labels_set(&l, "a.b", "1"));
    assert_true(labels_set(&l, "a_b", "2"));
    assert_string_equal(label_plain_name(&l.item[0], plain), "a_b");
    assert_false(labels_plain_doubled(&l, 0));
    assert_true(labels_plain_doubled(&l, 1));
}

static void hostile_ones_are_cleaned(void **state) {
    struct push_labels l = {0};
    char longest[1000];
    (void)state;
    assert_true(labels_set(&l, "9 lives\n", "a\x1b[31mb\xff\n"));
    is(&l, "_9_lives_", "a?[31mb??");
    assert_false(labels_set(&l, "__name__", "x"));
    assert_false(labels_set(&l, "", "x"));
    assert_false(labels_set(&l, "...", "x"));
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(labels_set(&l, longest, longest));
    for (size_t i = 0; i + 1 < sizeof longest; i += 2)
        memcpy(longest + i, "\xc3\xa4", 2);
    longest[sizeof longest - 2] = '\0';
    assert_true(labels_set(&l, "umlauts", longest));
    const char *cut = labels_get(&l, "umlauts");
    assert_int_equal(strlen(cut), 254); /* not in the middle of one */
    assert_null(strchr(cut, '?'));
}

static void there_are_only_so_many(void **state) {
    struct push_labels l = {0};
    char name[32];
    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "n%03d", i);
        assert_int_equal(labels_set(&l, name, "v"), i < PUSH_LABELS_MAX);
    }
    assert_true(labels_set(&l, "n000", "w"));
    assert_int_equal(l.count, PUSH_LABELS_MAX);
}

#define POD "0a1b2c3d-1111-2222-3333-444455556666"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void of_control_groups(void **state) {
    static const char *const texts[] = {
        "0::/kubepods/burstable/pod" POD "/" ID "\n",
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
        "pod0a1b2c3d_1111_2222_3333_444455556666.slice/cri-containerd-" ID ".scope\n",
        "12:cpu,cpuacct:/kubepods/besteffort/pod" POD "/" ID "\n11:memory:/\n"};
    struct push_labels l;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        l = (struct push_labels){0};
        label_sources_cgroup(texts[i], &l);
        is(&l, "pod_uid", POD);
        is(&l, "container_id", ID);
    }
    l = (struct push_labels){0};
    label_sources_cgroup("0::/system.slice/docker-" ID ".scope\n", &l);
    is(&l, "container_id", ID);
    is(&l, "pod_uid", NULL);
    l = (struct push_labels){0};
    label_sources_cgroup("0::/user.slice/pod" POD "\n", &l);
    label_sources_cgroup("0::/kubepods/pod0a1b", &l);
    label_sources_cgroup("", &l);
    assert_int_equal(l.count, 0);
}

static void of_the_environment(void **state) {
    static const char pod[] =
        "HOSTNAME=web-1\0POD_NAMESPACE=shop\0KUBERNETES_SERVICE_HOST=10.0.0.1\0"
        "NODE_NAME=n7";
    static const char named[] = "OTEL_RESOURCE_ATTRIBUTES=service.name=a, team=x%2Cy ,bad,=,z=\0"
                                "OTEL_SERVICE_NAME=b\0SPRING_APPLICATION_NAME=c\0"
                                "JAVA_TOOL_OPTIONS=-Xmx1g  -Dotel.service.name=d";
    struct push_labels l = {0};
    (void)state;
    label_sources_environ(pod, sizeof pod, &l);
    is(&l, "pod", "web-1");
    is(&l, "namespace", "shop");
    is(&l, "node", "n7");
    l = (struct push_labels){0};
    label_sources_environ(pod, 14, &l); /* HOSTNAME, but no Kubernetes */
    assert_int_equal(l.count, 0);
    label_sources_environ(named, sizeof named, &l);
    is(&l, "service_name", "d");
    is(&l, "team", "x,y");
    assert_int_equal(l.count, 2);
    l = (struct push_labels){0};
    label_sources_environ(named, strlen(named) + 1 + strlen("OTEL_SERVICE_NAME=b") + 1, &l);
    is(&l, "service_name", "b");
}

static void of_the_command_line(void **state) {
    static const char otel[] = "java\0-Dspring.application.name=a\0-Dotel.service.name=b\0"
                               "-Dotel.resource.attributes=zone=z\0-jar\0x.jar";
    static const char spring[] = "java\0-cp\0x\0Main\0--spring.application.name=c\0"
                                 "-Dotel.service.name=no";
    struct push_labels l = {0};
    (void)state;
    label_sources_cmdline(otel, sizeof otel, &l);
    is(&l, "service_name", "b");
    is(&l, "zone", "z");
    l = (struct push_labels){0};
    label_sources_cmdline(spring, sizeof spring, &l);
    is(&l, "service_name", "c");
    (void)labels_set(&l, "service_name", "environment");
    label_sources_cmdline(spring, sizeof spring, &l);
    is(&l, "service_name", "environment");
    label_sources_cmdline("", 0, &l);
}

/* Of a process that is there: ourselves. */
static void of_a_process(void **state) {
    static const char *const own[] = {"team=a", "pid=", "nothing", "service=mine"};
    struct jvm j = {.pid = getpid(), .name = "Main", .version = "17", .vm_name = "VM"};
    struct push_labels l;
    (void)state;
    label_sources_read(&j, own, 4, &l);
    is(&l, "service_name", "mine");
    is(&l, "team", "a");
    is(&l, "pid", NULL);
    is(&l, "jvm_version", "17");
    assert_non_null(labels_get(&l, "host"));
    j.pid = 0x7ffffff0; /* none */
    label_sources_read(&j, NULL, 0, &l);
    is(&l, "service_name", "Main");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_and_each_once),     cmocka_unit_test(both_spellings_are_one),
        cmocka_unit_test(hostile_ones_are_cleaned), cmocka_unit_test(there_are_only_so_many),
        cmocka_unit_test(of_control_groups),        cmocka_unit_test(of_the_environment),
        cmocka_unit_test(of_the_command_line),      cmocka_unit_test(of_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
