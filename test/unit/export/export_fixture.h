/*
 * Profiles for the export tests. A stack is written as its frames from the root, tabs between
 * them, each with a letter for what it is: i, c, j, l Java interpreted, C1, C2, inlined; n native,
 * p C++, k kernel, o class of an object, e error, s stub. "j:java/lang/Thread.run(I)V".
 */
#ifndef JTOP_TEST_EXPORT_FIXTURE_H
#define JTOP_TEST_EXPORT_FIXTURE_H

#include "core/export/export.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline struct profile_frame fixture_frame(struct profile *p, const char *spec) {
    static const char letters[] = "icjlnpkoes";
    static const struct {
        enum method_kind kind;
        enum frame_tier tier;
    } what[] = {
        {METHOD_JAVA, TIER_INTERPRETED},
        {METHOD_JAVA, TIER_C1},
        {METHOD_JAVA, TIER_C2},
        {METHOD_JAVA, TIER_INLINED},
        {METHOD_NATIVE, 0},
        {METHOD_CPP, 0},
        {METHOD_KERNEL, 0},
        {METHOD_CLASS, 0},
        {METHOD_ERROR, 0},
        {METHOD_STUB, 0},
    };
    size_t i = (size_t)(strchr(letters, spec[0]) - letters);
    char *name = strdup(spec + 2), *class_name = NULL, *signature = NULL, *method = name;
    assert(i < sizeof(what) / sizeof(what[0]) && spec[1] == ':' && name);
    if (what[i].kind == METHOD_JAVA) {
        signature = strchr(name, '(');
        signature = signature ? strdup(signature) : NULL;
        name[strcspn(name, "(")] = '\0';
        char *dot = strrchr(name, '.');
        if (dot) {
            *dot = '\0';
            class_name = name;
            method = dot + 1;
        }
    }
    uint32_t id = method_table_intern(profile_methods(p), what[i].kind, class_name, method,
                                      signature, what[i].kind == METHOD_NATIVE ? "libc.so.6" : "");
    assert(id != METHOD_NONE);
    free(signature);
    free(name);
    return (struct profile_frame){.method = id, .tier = (uint8_t)what[i].tier};
}

/* By a virtual thread; `virtual_id` 0: by none. */
static inline void fixture_add_virtual(struct profile *p, uint32_t tid, uint64_t virtual_id,
                                       const char *stack, uint32_t count, uint64_t weight) {
    static struct profile_frame root_first[PROFILE_STACK_MAX], frames[PROFILE_STACK_MAX];
    uint16_t n = 0;
    char *copy = strdup(stack), *save = NULL;
    for (char *f = strtok_r(copy, "\t", &save); f; f = strtok_r(NULL, "\t", &save))
        root_first[n++] = fixture_frame(p, f);
    free(copy);
    for (uint16_t i = 0; i < n; i++)
        frames[i] = root_first[n - 1 - i];
    struct profile_sample s = {.time_ns = 5000000000,
                               .weight = weight,
                               .count = count,
                               .tid = tid,
                               .virtual_id = virtual_id,
                               .frames = n,
                               .frame = frames};
    int err = profile_add(p, &s);
    assert(!err);
    (void)err;
}

static inline void fixture_add(struct profile *p, uint32_t tid, const char *stack, uint32_t count,
                               uint64_t weight) {
    fixture_add_virtual(p, tid, 0, stack, count, weight);
}

static inline struct snapshot *fixture_snapshot(struct profile *p, bool by_thread, bool inverted) {
    struct query q = {.tree = true, .by_thread = by_thread, .inverted = inverted};
    struct snapshot *s = snapshot_take(p, &q);
    assert(s);
    return s;
}

#endif
