/* --list: the JVMs on this machine, for users and for scripts. */
#include "tui/cli/command/command.h"

#include "attach/doctor/doctor.h"
#include "core/export/json_text.h"
#include "core/base/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Why a JVM cannot be attached. */
struct trouble {
    const char *word; /* NULL: it can */
    struct err err;
};

static void table(struct text *out, const struct jvm *jvms, const struct trouble *troubles,
                  int count) {
    text_addf(out, "%7s %-10s %8s %6s %5s %5s %5s %4s  %-14s %s\n", "PID", "USER", "UPTIME", "CPU%",
              "RSS", "HEAP", "MAX", "THR", "VERSION", "NAME");
    for (int i = 0; i < count; i++) {
        const struct jvm *j = &jvms[i];
        struct format up, rss, heap, max;
        size_t version = strcspn(j->version, "-"); /* without the vendor's part */
        text_addf(out, "%7d %-10.10s %8s %6.1f %5s %5s %5s %4u  %-14.*s %s%s", (int)j->pid, j->user,
                  format_age(&up, j->uptime_ms), j->cpu_percent, format_bytes(&rss, j->rss_bytes),
                  j->heap_used_bytes ? format_bytes(&heap, j->heap_used_bytes) : "-",
                  j->heap_max_bytes ? format_bytes(&max, j->heap_max_bytes) : "-",
                  (unsigned)j->threads, version ? (int)(version < 14 ? version : 14) : 1,
                  version ? j->version : "-", j->name, j->container ? " (container)" : "");
        if (troubles && troubles[i].word)
            text_addf(out, " [%s]", troubles[i].word);
        text_add(out, "\n");
    }
}

static void json_pair(struct text *out, const char *key, const char *value) {
    text_addf(out, ", \"%s\": ", key);
    json_text_string(out, value);
}

static void json(struct text *out, const struct jvm *jvms, const struct trouble *troubles,
                 int count) {
    text_add(out, "[");
    for (int i = 0; i < count; i++) {
        const struct jvm *j = &jvms[i];
        const struct {
            const char *key;
            uint64_t value;
        } numbers[] = {
            {"uptime_ms", j->uptime_ms},
            {"rss_bytes", j->rss_bytes},
            {"heap_used_bytes", j->heap_used_bytes},
            {"heap_capacity_bytes", j->heap_capacity_bytes},
            {"heap_max_bytes", j->heap_max_bytes},
            {"gc_count", j->gc_count},
            {"gc_time_ms", j->gc_time_ms},
            {"safepoint_count", j->safepoint_count},
            {"safepoint_time_ms", j->safepoint_time_ms},
            {"classes_loaded", j->classes_loaded},
            {"threads", j->threads},
        };
        text_addf(out, "%s\n  {\"pid\": %d, \"inner_pid\": %d, \"uid\": %u", i ? "," : "",
                  (int)j->pid, (int)j->inner_pid, (unsigned)j->uid);
        json_pair(out, "user", j->user);
        json_pair(out, "name", j->name);
        json_pair(out, "arguments", j->arguments);
        json_pair(out, "version", j->version);
        json_pair(out, "vm_name", j->vm_name);
        text_addf(out, ", \"container\": %s, \"perf_data\": %s, \"cpu_percent\": %.1f",
                  j->container ? "true" : "false", j->perf_data ? "true" : "false", j->cpu_percent);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            text_addf(out, ", \"%s\": %" PRIu64, numbers[k].key, numbers[k].value);
        if (troubles) {
            text_addf(out, ", \"can_be_attached\": %s", troubles[i].word ? "false" : "true");
            json_pair(out, "reason", troubles[i].word ? troubles[i].err.message : "");
        }
        text_add(out, "}");
    }
    text_add(out, count ? "\n]\n" : "]\n");
}

void list_json(struct text *out, const struct jvm *jvms, int count) {
    json(out, jvms, NULL, count);
}

int list_jvms(bool as_json, struct text *out, struct err *e) {
    struct jvm *jvms = NULL;
    int count = jvm_list_all(&jvms, e);
    if (count < 0)
        return count;
    struct trouble *troubles = calloc((size_t)count + 1, sizeof *troubles);
    for (int i = 0; troubles && i < count; i++) {
        const char *word = "";
        if (doctor_attach(&jvms[i], geteuid(), &word, &troubles[i].err) < 0)
            troubles[i].word = word[0] ? word : "closed";
    }
    if (as_json)
        json(out, jvms, troubles, count);
    else
        table(out, jvms, troubles, count);
    for (int i = 0; !as_json && troubles && i < count; i++)
        if (troubles[i].word)
            text_addf(out, " [%s] %s\n", troubles[i].word, troubles[i].err.message);
    free(troubles);
    free(jvms);
    return out->failed ? err_set(e, ENOMEM, "no memory for the list of JVMs") : 0;
}
