#include "core/agent/engine/live_objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>

/* A VM whose weak references are the objects themselves: numbers, of which some are gone. */

#define OBJECTS 200000u

static struct {
    _Atomic bool gone[OBJECTS];
    _Atomic int64_t references;
    bool out_of_memory;
} vm;

static jweak JNICALL new_weak(JNIEnv *jni, jobject object) {
    (void)jni;
    if (vm.out_of_memory)
        return NULL;
    atomic_fetch_add(&vm.references, 1);
    return object;
}

static void JNICALL delete_weak(JNIEnv *jni, jweak object) {
    (void)jni, (void)object;
    atomic_fetch_sub(&vm.references, 1);
}

static jboolean JNICALL is_same(JNIEnv *jni, jobject a, jobject b) {
    (void)jni;
    assert_null(b);
    return vm.gone[(uintptr_t)a];
}

static void JNICALL clear(JNIEnv *jni) {
    (void)jni;
}

static const struct JNINativeInterface_ functions = {.NewWeakGlobalRef = new_weak,
                                                     .DeleteWeakGlobalRef = delete_weak,
                                                     .IsSameObject = is_same,
                                                     .ExceptionClear = clear};
static JNIEnv jni = &functions;

static struct live_objects live;

static bool follow(uintptr_t object) {
    int32_t place = live_objects_claim(&live);
    return place >= 0 &&
           live_objects_follow(&live, place, object + 1, &jni, (jobject)object); /* NOLINT */
}

struct told {
    uint32_t n, room;
    uint64_t sum;
};

static bool tell(void *arg, uint64_t id) {
    struct told *t = arg;
    if (t->n == t->room)
        return false;
    assert_true(vm.gone[id - 1]);
    t->n++;
    t->sum += id;
    return true;
}

static int begin(void **state) {
    (void)state;
    for (uint32_t i = 0; i < OBJECTS; i++)
        vm.gone[i] = false;
    vm.references = 0;
    vm.out_of_memory = false;
    return live_objects_open(&live);
}

static int end(void **state) {
    (void)state;
    live_objects_close(&live, &jni);
    return vm.references == 0 ? 0 : -1;
}

static void tells_each_end_once(void **state) {
    (void)state;
    uint64_t sum = 0;
    for (uintptr_t i = 1; i <= 1000; i++)
        assert_true(follow(i));
    for (uintptr_t i = 1; i <= 1000; i += 3) {
        vm.gone[i] = true;
        sum += i + 1;
    }
    struct told t = {.room = 100};
    live_objects_look(&live, &jni, LIVE_OBJECTS_MAX, tell, &t);
    assert_int_equal(t.n, 100); /* no room for more: they are told another time */
    t.room = 1000;
    for (int i = 0; i < 8; i++) /* in parts */
        live_objects_look(&live, &jni, LIVE_OBJECTS_MAX / 4, tell, &t);
    assert_int_equal(t.n, 334);
    assert_int_equal(t.sum, sum);
    assert_int_equal(live.followed, 666);
    assert_int_equal(vm.references, 666);
}

static void memory_is_bounded(void **state) {
    (void)state;
    uint32_t followed = 0;
    for (uintptr_t i = 1; i < OBJECTS; i++)
        followed += follow(i);
    assert_true(followed > LIVE_OBJECTS_MAX * 9 / 10 && followed <= LIVE_OBJECTS_MAX);
    assert_int_equal(followed + live.refused, OBJECTS - 1);
    for (uintptr_t i = 1; i < OBJECTS; i++)
        vm.gone[i] = true;
    struct told t = {.room = OBJECTS};
    live_objects_look(&live, &jni, LIVE_OBJECTS_MAX, tell, &t);
    assert_int_equal(t.n, followed);
    vm.gone[1] = false;
    assert_true(follow(1));
}

static void dropped_and_failed_places_are_free_again(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 3 * LIVE_OBJECTS_MAX; i++) {
        int32_t place = live_objects_claim(&live);
        assert_true(place >= 0);
        live_objects_drop(&live, place);
    }
    vm.out_of_memory = true;
    for (uint32_t i = 0; i < 2 * LIVE_OBJECTS_MAX; i++)
        assert_false(follow(1));
    assert_int_equal(live.followed, 0);
    assert_int_equal(live.refused, 0);
}

static _Atomic uint32_t made;

static void *follow_many(void *arg) {
    uintptr_t first = *(const uint32_t *)arg;
    for (uintptr_t i = first; i < first + 20000; i++) {
        vm.gone[i] = true;
        atomic_fetch_add(&made, follow(i));
    }
    return NULL;
}

static void many_threads(void **state) {
    (void)state;
    static uint32_t first[4] = {1, 30000, 60000, 90000};
    pthread_t thread[4];
    struct told t = {.room = OBJECTS};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, follow_many, &first[i]), 0);
    for (int i = 0; i < 50; i++)
        live_objects_look(&live, &jni, LIVE_OBJECTS_MAX / 8, tell, &t);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    live_objects_look(&live, &jni, LIVE_OBJECTS_MAX, tell, &t);
    assert_int_equal(t.n, made);
    assert_int_equal(live.followed, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(tells_each_end_once),
        TEST(memory_is_bounded),
        TEST(dropped_and_failed_places_are_free_again),
        TEST(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
