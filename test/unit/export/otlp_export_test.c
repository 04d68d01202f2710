/* The OTLP message, read back: every number leads somewhere, and sums are the snapshot's. That the
 * numbers of the fields are the published ones is tried in test/e2e/formats/formats.py. */
#include "test/unit/written.h"

#include <core/export/otlp/otlp.pb-c.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct message {
    Otlp__Data *data;
    Otlp__ResourceProfiles *resource;
    Otlp__ScopeProfiles *scope;
    Otlp__Dictionary *d;
    Otlp__Profile *profile[4];
    size_t profiles;
};

static struct message read_back(struct text *out) {
    struct message m = {0};
    m.data = otlp__data__unpack(NULL, out->len, (const uint8_t *)out->data);
    assert_non_null(m.data);
    assert_int_equal(m.data->n_resource_profiles, 1);
    const ProtobufCBinaryData *at = &m.data->resource_profiles[0];
    m.resource = otlp__resource_profiles__unpack(NULL, at->len, at->data);
    assert_non_null(m.resource);
    assert_int_equal(m.resource->n_scope_profiles, 1);
    at = &m.resource->scope_profiles[0];
    m.scope = otlp__scope_profiles__unpack(NULL, at->len, at->data);
    assert_non_null(m.scope);
    m.profiles = m.scope->n_profiles;
    assert_in_range(m.profiles, 2, 4);
    for (size_t i = 0; i < m.profiles; i++) {
        at = &m.scope->profiles[i];
        m.profile[i] = otlp__profile__unpack(NULL, at->len, at->data);
        assert_non_null(m.profile[i]);
    }
    m.d = otlp__dictionary__unpack(NULL, m.data->dictionary.len, m.data->dictionary.data);
    assert_non_null(m.d);
    text_free(out);
    return m;
}

static void message_free(struct message *m) {
    otlp__data__free_unpacked(m->data, NULL);
    otlp__resource_profiles__free_unpacked(m->resource, NULL);
    otlp__scope_profiles__free_unpacked(m->scope, NULL);
    otlp__dictionary__free_unpacked(m->d, NULL);
    for (size_t i = 0; i < m->profiles; i++)
        otlp__profile__free_unpacked(m->profile[i], NULL);
}

static const char *string_of(const struct message *m, int32_t i) {
    assert_in_range(i, 0, m->d->n_string_table - 1);
    return m->d->string_table[i];
}

static const char *attribute_of(const struct message *m, size_t n, const int32_t *indices,
                                const char *key, int64_t *number) {
    for (size_t i = 0; i < n; i++) {
        assert_in_range(indices[i], 1, m->d->n_attribute_table - 1);
        const Otlp__Attribute *a = m->d->attribute_table[indices[i]];
        if (strcmp(string_of(m, a->key_strindex), key) != 0)
            continue;
        if (a->value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
            return a->value->string_value;
        *number = a->value->int_value;
        return "";
    }
    return NULL;
}

/* "leaf;…;root" */
static void stack_of(const struct message *m, const Otlp__Sample *s, char *out, size_t size) {
    assert_in_range(s->stack_index, 1, m->d->n_stack_table - 1);
    const Otlp__Stack *stack = m->d->stack_table[s->stack_index];
    out[0] = '\0';
    for (size_t i = 0; i < stack->n_location_indices; i++) {
        assert_in_range(stack->location_indices[i], 1, m->d->n_location_table - 1);
        const Otlp__Location *l = m->d->location_table[stack->location_indices[i]];
        assert_int_equal(l->n_lines, 1);
        assert_in_range(l->mapping_index, 0, m->d->n_mapping_table - 1);
        assert_in_range(l->lines[0]->function_index, 1, m->d->n_function_table - 1);
        const Otlp__Function *f = m->d->function_table[l->lines[0]->function_index];
        size_t len = strlen(out);
        snprintf(out + len, size - len, "%s%s", i ? ";" : "", string_of(m, f->name_strindex));
    }
}

static void fill(struct profile *p) {
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B$C.get(I)I\tn:read\tk:vfs_read", 3, 300);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B$C.get(I)I", 2, 200);
    fixture_add(p, 22, "j:a/B.run()V\ti:a/B$C.get(I)I", 4, 400);
    fixture_add_virtual(p, 23, 99, "j:a/B.run()V\to:[B", 1, 5);
    profile_thread_name(p, 21, 1, "one");
    profile_virtual_name(p, 99, "task");
}

static void everything_leads_somewhere(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fill(p);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("otlp", p, s, &(struct export_options){0});
    struct message m = read_back(&out);
    assert_int_equal(m.profiles, 2);
    static const char *const type[2][2] = {{"cpu", "nanoseconds"}, {"samples", "count"}};
    const int64_t whole[2] = {905, 10};
    for (size_t i = 0; i < 2; i++) {
        const Otlp__Profile *one = m.profile[i];
        int64_t sum = 0;
        assert_string_equal(string_of(&m, one->sample_type->type_strindex), type[i][0]);
        assert_string_equal(string_of(&m, one->sample_type->unit_strindex), type[i][1]);
        assert_int_equal(one->period, 10000000);
        assert_int_equal(one->duration_nano, 3000000000);
        assert_int_equal(one->n_samples, 4);
        for (size_t k = 0; k < one->n_samples; k++) {
            const Otlp__Sample *sample = one->samples[k];
            char stack[256];
            int64_t tid = 0;
            assert_int_equal(sample->n_values, 1);
            sum += sample->values[0];
            stack_of(&m, sample, stack, sizeof stack);
            const char *thread = attribute_of(&m, sample->n_attribute_indices,
                                              sample->attribute_indices, "thread.name", &tid);
            if (!strcmp(thread, "task")) {
                assert_string_equal(stack, "byte[];a.B.run");
                assert_non_null(attribute_of(&m, sample->n_attribute_indices,
                                             sample->attribute_indices,
                                             "jtop_prof.virtual_thread.id", &tid));
                assert_int_equal(tid, 99);
            } else if (strstr(stack, "vfs_read")) {
                assert_string_equal(stack, "vfs_read_[k];read;a.B$C.get;a.B.run");
                assert_string_equal(thread, "one");
            }
        }
        assert_int_equal(sum, whole[i]);
    }
    message_free(&m);
    snapshot_free(s);
    profile_free(p);
}

static void tables_begin_with_nothing(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fill(p);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("otlp", p, s, &(struct export_options){0});
    struct message m = read_back(&out);
    assert_string_equal(m.d->string_table[0], "");
    assert_int_equal(m.d->mapping_table[0]->filename_strindex, 0);
    assert_int_equal(m.d->location_table[0]->n_lines, 0);
    assert_int_equal(m.d->function_table[0]->name_strindex, 0);
    assert_int_equal(m.d->link_table[0]->trace_id.len, 0);
    assert_null(m.d->attribute_table[0]->value);
    assert_int_equal(m.d->stack_table[0]->n_location_indices, 0);
    for (size_t i = 0; i < m.d->n_string_table; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(m.d->string_table[i], m.d->string_table[k]);
    bool library = false, source = false, interpreted = false;
    for (size_t i = 0; i < m.d->n_mapping_table; i++)
        library |= !strcmp(string_of(&m, m.d->mapping_table[i]->filename_strindex), "libc.so.6");
    for (size_t i = 0; i < m.d->n_function_table; i++)
        source |= !strcmp(string_of(&m, m.d->function_table[i]->filename_strindex), "a/B.java");
    for (size_t i = 1; i < m.d->n_location_table; i++) {
        const Otlp__Location *l = m.d->location_table[i];
        int64_t number;
        const char *tier = attribute_of(&m, l->n_attribute_indices, l->attribute_indices,
                                        "jtop_prof.frame.tier", &number);
        assert_non_null(attribute_of(&m, l->n_attribute_indices, l->attribute_indices,
                                     "profile.frame.type", &number));
        interpreted |= tier && !strcmp(tier, "interpreted");
    }
    assert_true(library && source && interpreted);
    message_free(&m);
    snapshot_free(s);
    profile_free(p);
}

static void says_of_what_and_how_well(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fill(p);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("otlp", p, s, &(struct export_options){.total = true});
    struct message m = read_back(&out);
    const Otlp__Resource *r = m.resource->resource;
    assert_int_equal(r->n_attributes, 2);
    assert_string_equal(r->attributes[0]->key, "service.name");
    assert_string_equal(r->attributes[0]->value->string_value, "shop.Main");
    assert_string_equal(r->attributes[1]->key, "process.pid");
    assert_int_equal(r->attributes[1]->value->int_value, 7);
    assert_string_equal(m.scope->scope->name, "jtop-prof");
    const Otlp__Profile *one = m.profile[0];
    int64_t dropped = 0, failed = 0;
    attribute_of(&m, one->n_attribute_indices, one->attribute_indices, "jtop_prof.dropped_samples",
                 &dropped);
    attribute_of(&m, one->n_attribute_indices, one->attribute_indices, "jtop_prof.failed_walks",
                 &failed);
    assert_int_equal(dropped, 2);
    assert_int_equal(failed, 1);
    message_free(&m);
    snapshot_free(s);
    profile_free(p);
}

static void events_share_the_dictionary(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fill(p);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_quality alloc = written_quality;
    alloc.event = "alloc";
    alloc.unit = "bytes";
    alloc.interval = 0; /* every single one */
    const struct export_part part[] = {{s, &written_quality, NULL}, {s, &alloc, NULL}};
    struct text out = written_all("otlp", p, part, 2, &(struct export_options){0});
    struct message m = read_back(&out);
    assert_int_equal(m.profiles, 4);
    assert_string_equal(string_of(&m, m.profile[2]->sample_type->type_strindex), "alloc");
    assert_string_equal(string_of(&m, m.profile[2]->sample_type->unit_strindex), "bytes");
    assert_string_equal(string_of(&m, m.profile[2]->period_type->type_strindex), "alloc");
    assert_string_equal(string_of(&m, m.profile[2]->period_type->unit_strindex), "bytes");
    assert_int_equal(m.profile[2]->period, 1);
    assert_int_equal(m.d->n_stack_table, 4); /* nothing, and three */
    message_free(&m);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_leads_somewhere),
        cmocka_unit_test(tables_begin_with_nothing),
        cmocka_unit_test(says_of_what_and_how_well),
        cmocka_unit_test(events_share_the_dictionary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
