/* The pprof file, read back: every number leads somewhere, and sums are the snapshot's. */
#include "test/unit/export/export_fixture.h"

#include <core/export/pprof/profile.pb-c.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <zlib.h>

static Pprof__Profile *written(const struct profile *p, const struct export_quality *q,
                               const struct export_options *o) {
    const struct query question = o->question ? *o->question : (struct query){.tree = true};
    struct snapshot *s = snapshot_take((struct profile *)(uintptr_t)p, &question);
    struct export_options unused = {0};
    struct text out = {0};
    static uint8_t plain[1 << 20];
    assert_int_equal(exporter_by_format("pprof", &unused)->write(&out, p, s, q, o), 0);
    z_stream z = {.next_in = (uint8_t *)out.data,
                  .avail_in = (uInt)out.len,
                  .next_out = plain,
                  .avail_out = sizeof plain};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    Pprof__Profile *m = pprof__profile__unpack(NULL, sizeof plain - z.avail_out, plain);
    assert_non_null(m);
    text_free(&out);
    snapshot_free(s);
    return m;
}

static const char *string_of(const Pprof__Profile *m, int64_t i) {
    assert_in_range(i, 0, m->n_string_table - 1);
    return m->string_table[i];
}

static const Pprof__Location *location_of(const Pprof__Profile *m, uint64_t id) {
    for (size_t i = 0; i < m->n_location; i++)
        if (m->location[i]->id == id)
            return m->location[i];
    fail_msg("no location %u", (unsigned)id);
    return NULL;
}

static const Pprof__Function *function_of(const Pprof__Profile *m, const Pprof__Location *l) {
    assert_int_equal(l->n_line, 1);
    for (size_t i = 0; i < m->n_function; i++)
        if (m->function[i]->id == l->line[0]->function_id)
            return m->function[i];
    fail_msg("no function %u", (unsigned)l->line[0]->function_id);
    return NULL;
}

static const char *label_of(const Pprof__Profile *m, const Pprof__Sample *s, const char *key,
                            int64_t *num) {
    for (size_t i = 0; i < s->n_label; i++) {
        if (strcmp(string_of(m, s->label[i]->key), key) != 0)
            continue;
        *num = s->label[i]->num;
        return string_of(m, s->label[i]->str);
    }
    return NULL;
}

static const struct export_quality quality = {.event = "cpu",
                                              .unit = "ns",
                                              .interval = 10000000,
                                              .elapsed_ns = 3000000000,
                                              .jvm = "Main (pid 7)"};

static void everything_leads_somewhere(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B$C.get(I)I\tn:read\tk:vfs_read", 3, 300);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B$C.get(I)I", 2, 200);
    fixture_add(p, 22, "j:a/B.run()V\tl:a/B$C.get(J)I", 4, 400);
    fixture_add_virtual(p, 23, 99, "j:a/B.run()V\t\to:[B", 1, 5);
    profile_thread_name(p, 21, 1, "one;\"two\"");
    profile_virtual_name(p, 99, "task");
    Pprof__Profile *m = written(p, &quality, &(struct export_options){0});
    int64_t sums[2] = {0}, of_get = 0, num;
    size_t virtuals = 0;

    assert_string_equal(m->string_table[0], "");
    assert_int_equal(m->n_sample_type, 2);
    assert_string_equal(string_of(m, m->sample_type[0]->type), "samples");
    assert_string_equal(string_of(m, m->sample_type[1]->type), "cpu");
    assert_string_equal(string_of(m, m->sample_type[1]->unit), "nanoseconds");
    assert_int_equal(m->period, 10000000);
    assert_int_equal(m->duration_nanos, 3000000000);
    assert_string_equal(string_of(m, m->mapping[0]->filename), "Main (pid 7)");
    assert_int_equal(m->n_sample, 4);
    for (size_t i = 0; i < m->n_sample; i++) {
        const Pprof__Sample *s = m->sample[i];
        const char *leaf = NULL;
        assert_int_equal(s->n_value, 2);
        sums[0] += s->value[0];
        sums[1] += s->value[1];
        for (size_t k = s->n_location_id; k-- > 0;) {
            const Pprof__Location *l = location_of(m, s->location_id[k]);
            assert_in_range(l->mapping_id, 1, m->n_mapping);
            const Pprof__Function *f = function_of(m, l);
            leaf = string_of(m, f->name);
            if (!strcmp(leaf, "a.B$C.get"))
                assert_string_equal(string_of(m, f->filename), "a/B.java");
            if (!strcmp(leaf, "read"))
                assert_string_equal(string_of(m, m->mapping[l->mapping_id - 1]->filename),
                                    "libc.so.6");
        }
        if (leaf && !strcmp(leaf, "a.B$C.get"))
            of_get += s->value[0];
        assert_string_equal(label_of(m, s, "event", &num), "cpu");
        const char *thread = label_of(m, s, "thread", &num);
        (void)label_of(m, s, "tid", &num);
        assert_string_equal(thread, num == 21 ? "one;\"two\"" : num == 23 ? "task" : "");
        virtuals += label_of(m, s, "virtual_thread", &num) != NULL && num == 99;
    }
    assert_int_equal(virtuals, 1);
    assert_int_equal(sums[0], 10);
    assert_int_equal(sums[1], 905);
    assert_int_equal(of_get, 6); /* overloads print alike: one function */
    pprof__profile__free_unpacked(m, NULL);
    profile_free(p);
}

/* Lines are places of their own in one function. */
static void lines_are_kept(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct profile_frame f = fixture_frame(p, "j:a/B.run()V");
    for (uint16_t line = 10; line < 13; line++) {
        f.line = line;
        struct profile_sample s = {
            .time_ns = 5000000000, .weight = 1, .count = line, .tid = 1, .frames = 1, .frame = &f};
        assert_int_equal(profile_add(p, &s), 0);
    }
    Pprof__Profile *m = written(p, &quality, &(struct export_options){0});
    assert_int_equal(m->n_function, 1);
    assert_int_equal(m->n_location, 3);
    for (size_t i = 0; i < m->n_sample; i++)
        assert_int_equal(location_of(m, m->sample[i]->location_id[0])->line[0]->line,
                         m->sample[i]->value[0]);
    pprof__profile__free_unpacked(m, NULL);
    profile_free(p);
}

static void the_question_and_the_names_are_as_asked(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\tn:read", 3, 300);
    fixture_add(p, 22, "j:a/B.run()V\tj:c/D.get(I)I", 4, 400);
    const struct query only = {.tid = 22};
    const struct export_options o = {.question = &only, .simple = true, .signatures = true};
    Pprof__Profile *m = written(p, &quality, &o);
    assert_int_equal(m->n_sample, 1);
    assert_int_equal(m->sample[0]->value[0], 4);
    assert_string_equal(
        string_of(m, function_of(m, location_of(m, m->sample[0]->location_id[0]))->name),
        "D.get(int)");
    pprof__profile__free_unpacked(m, NULL);
    profile_free(p);
}

/* What was read from a file keeps its date, and gets none that it had not. */
static void the_date_is_that_of_the_profile(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct profile_frame f = {
        .method = method_table_intern(profile_methods(p), METHOD_JAVA, "A", "f", "()V", "")};
    struct profile_sample s = {
        .time_ns = 5000000000, .weight = 1, .count = 1, .tid = 1, .frames = 1, .frame = &f};
    assert_int_equal(profile_add(p, &s), 0);
    struct export_quality q = quality;
    q.day_ns = 1699999995000000007;
    Pprof__Profile *m = written(p, &q, &(struct export_options){0});
    assert_int_equal(m->time_nanos, 1700000000000000007);
    pprof__profile__free_unpacked(m, NULL);
    q.day_ns = 0;
    m = written(p, &q, &(struct export_options){0});
    assert_int_not_equal(m->time_nanos, 0);
    pprof__profile__free_unpacked(m, NULL);
    q.undated = true;
    m = written(p, &q, &(struct export_options){0});
    assert_int_equal(m->time_nanos, 0);
    pprof__profile__free_unpacked(m, NULL);
    profile_free(p);
}

static void nothing_is_a_profile_too(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    const struct export_quality none = {0};
    Pprof__Profile *m = written(p, &none, &(struct export_options){0});
    assert_int_equal(m->n_sample, 0);
    assert_int_equal(m->n_sample_type, 2);
    assert_non_null(m->period_type); /* of every single one, too */
    assert_int_equal(m->period, 1);
    pprof__profile__free_unpacked(m, NULL);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_leads_somewhere),
        cmocka_unit_test(lines_are_kept),
        cmocka_unit_test(the_question_and_the_names_are_as_asked),
        cmocka_unit_test(nothing_is_a_profile_too),
        cmocka_unit_test(the_date_is_that_of_the_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
