/* The VM's names of its stubs: told in any order, nested, more while we look. */
#include "core/agent/walk/stub_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static jvmtiEventCallbacks callbacks;
static uint32_t told;

static void tell(uintptr_t begin, uint32_t bytes, const char *name) {
    callbacks.DynamicCodeGenerated(NULL, name, (const void *)begin, (jint)bytes);
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *c, jint size) {
    (void)env, (void)c, (void)size;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...) {
    (void)env, (void)mode, (void)event, (void)thread;
    return JVMTI_ERROR_NONE;
}

/* Many routines, in no order, in blobs that are told too. */
static jvmtiError JNICALL generate(jvmtiEnv *env, jvmtiEvent event) {
    (void)env, (void)event;
    char name[32];
    for (uint32_t i = 0; i < told; i++) {
        uint32_t k = (uint32_t)((uint64_t)i * 7919 % told);
        snprintf(name, sizeof name, "routine %u", k);
        tell(0x10000 + 0x100 * k, 0x40, name);
        if (k % 10 == 0)
            tell(0x10000 + 0x100 * k, 0x3c0, "blob");
    }
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.SetEventCallbacks = set_callbacks,
                                                   .SetEventNotificationMode = set_mode,
                                                   .GenerateEvents = generate};
static jvmtiEnv env = &functions;

static const char *name_at(uintptr_t pc) {
    static struct stub_name s;
    return stub_names_find(pc, &s) ? s.name : "";
}

static void found(void **state) {
    (void)state;
    told = 1000;
    assert_string_equal(name_at(0x10000), "");
    stub_names_open(&env, &callbacks);
    for (uint32_t k = 0; k < told; k++) {
        char name[32];
        snprintf(name, sizeof name, "routine %u", k);
        assert_string_equal(name_at(0x10000 + 0x100 * k), name);
        assert_string_equal(name_at(0x10000 + 0x100 * k + 0x3f), name);
        assert_string_equal(name_at(0x10000 + 0x100 * k + 0x40), k % 10 < 3 ? "blob" : "");
    }
    assert_string_equal(name_at(0), "");
    assert_string_equal(name_at(0xffff), "");
    assert_string_equal(name_at(UINTPTR_MAX), "");
    tell(0x100, 0x10, "itable stub");
    assert_string_equal(name_at(0x100), ""); /* not yet in order */
    stub_names_turn();
    assert_string_equal(name_at(0x100), "itable stub");
    assert_string_equal(name_at(0x10000), "routine 0");
    stub_names_close(&env, &callbacks);
    assert_string_equal(name_at(0x10000), "");
    assert_null(callbacks.DynamicCodeGenerated);
}

/* More than there is room for; names that are long, or none. */
static void hostile(void **state) {
    (void)state;
    told = 1;
    stub_names_open(&env, &callbacks);
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tell(0x100, 0x10, name);
    tell(0x200, 0x10, NULL);
    tell(0x300, 0, "empty");
    for (uint32_t i = 0; i < 100000; i++)
        tell(0x1000000 + 16 * i, 16, "many");
    stub_names_turn();
    assert_int_equal(strlen(name_at(0x100)), STUB_NAME_BYTES - 1);
    assert_string_equal(name_at(0x200), "");
    assert_string_equal(name_at(0x300), "");
    assert_string_equal(name_at(0x1000000), "many");
    assert_string_equal(name_at(0x1000000 + 16 * 99999), "");
    stub_names_close(&env, &callbacks);
    stub_names_close(&env, &callbacks);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
