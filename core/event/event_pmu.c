/* "pmu/term=value,term/": the PMU's files in sysfs describe its terms. source:
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} */
#include "core/event/event_parts.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_BYTES 512

struct pmu {
    const char *whole; /* the event, for messages */
    const char *directory, *name;
    struct wire_engine_request *out;
    struct err *e;
};

/* Whether the name may become part of a path. */
static bool is_plain(const char *name) {
    if (!*name || *name == '.')
        return false;
    for (const char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *p))
            return false;
    return true;
}

static uint64_t *field_named(struct wire_perf *perf, const char *name, size_t length) {
    const struct {
        const char *name;
        uint64_t *field;
    } fields[] = {
        {"config", &perf->config}, {"config1", &perf->config1}, {"config2", &perf->config2}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strlen(fields[i].name) == length && strncmp(fields[i].name, name, length) == 0)
            return fields[i].field;
    return NULL;
}

/* Puts the value's bits at the positions that a format such as "config:0-7,32-35" gives. False: the
 * value does not fit, or the format is not understood. */
static bool scatter(struct wire_perf *perf, const char *format, uint64_t value) {
    size_t length = strcspn(format, ":");
    uint64_t *field = field_named(perf, format, length);
    if (!field || format[length] != ':')
        return false;
    const char *p = format + length;
    do {
        char *end;
        unsigned long low = strtoul(p + 1, &end, 10), high = low;
        if (end == p + 1)
            return false;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (low > high || high > 63)
            return false;
        for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
            *field = (*field & ~(UINT64_C(1) << bit)) | (value & 1) << bit;
        p = end;
    } while (*p == ',');
    return value == 0;
}

static int set_term(struct pmu *p, const char *name, uint64_t value) {
    char path[PATH_MAX + 160], format[128];
    uint64_t *field = field_named(&p->out->perf, name, strlen(name));
    if (field) {
        *field = value;
        return 0;
    }
    if (strcmp(name, "period") == 0) {
        p->out->interval = value;
        return 0;
    }
    snprintf(path, sizeof path, "%s/format/%.100s", p->directory, name);
    int r = is_plain(name) ? file_line(path, format, sizeof format) : -ENOENT;
    if (r < 0)
        return event_wrong(p->e, EINVAL, p->whole, "PMU %s has no term \"%.60s\" (see %s/format)",
                           p->name, name, p->directory);
    if (!scatter(&p->out->perf, format, value))
        return event_wrong(p->e, EINVAL, p->whole, "%.60s=0x%llx does not fit into %s", name,
                           (unsigned long long)value, format);
    return 0;
}

/* Sets all terms; `terms` is cut into pieces. A name without a value is one of the PMU's events,
 * which stands for terms without further such names, or a term of value 1. */
static int set_terms(struct pmu *p, char *terms, bool names) {
    for (char *rest = terms, *term; (term = strsep(&rest, ",")) != NULL;) {
        char path[PATH_MAX + 160], meaning[TERMS_BYTES];
        char *value = strchr(term, '=');
        uint64_t n = 1;
        int r;
        if (value)
            *value++ = '\0';
        snprintf(path, sizeof path, "%s/events/%.100s", p->directory, term);
        if (!value && names && is_plain(term) && file_line(path, meaning, sizeof meaning) == 0) {
            r = set_terms(p, meaning, false);
        } else if (value && !event_number(value, &n)) {
            r = event_wrong(p->e, EINVAL, p->whole, "%.60s=%.60s: not a number", term, value);
        } else {
            r = set_term(p, term, n);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int no_pmu(const struct event_places *places, struct pmu *p) {
    struct text list = {0};
    DIR *d = opendir(places->devices);
    for (struct dirent *entry; d && (entry = readdir(d)) != NULL;)
        if (is_plain(entry->d_name))
            text_addf(&list, "%s%s", list.len ? ", " : "", entry->d_name);
    if (d)
        closedir(d);
    int r = event_wrong(p->e, ENODEV, p->whole, "this machine has no PMU \"%s\"; it has: %.200s%s",
                        p->name, list.data ? list.data : "none",
                        strncmp(p->name, "cpu", 3) == 0
                            ? " (virtual machines often have no hardware counters)"
                            : "");
    text_free(&list);
    return r;
}

int event_pmu_parse(const struct event_places *places, const char *text,
                    struct wire_engine_request *out, struct err *e) {
    char directory[PATH_MAX], name[64], path[PATH_MAX + 64], terms[TERMS_BYTES];
    struct pmu p = {.whole = text, .directory = directory, .name = name, .out = out, .e = e};
    uint64_t type;
    size_t name_length = strcspn(text, "/"), length = strlen(text) - name_length - 2;
    if (name_length >= sizeof name || length >= sizeof terms)
        return event_wrong(e, EINVAL, text, "it is too long");
    memcpy(name, text, name_length);
    name[name_length] = '\0';
    memcpy(terms, text + name_length + 1, length);
    terms[length] = '\0';
    snprintf(directory, sizeof directory, "%s/%s", places->devices, name);
    snprintf(path, sizeof path, "%.4000s/type", directory);
    if (!is_plain(name) || event_read_number(path, &type) < 0 || type > UINT32_MAX)
        return no_pmu(places, &p);
    out->event = WIRE_EVENT_PERF;
    out->perf.type = (uint32_t)type;
    out->interval = 1000;
    int r = set_terms(&p, terms, true);
    if (r == 0 && out->interval == 0)
        r = event_wrong(e, EINVAL, text, "period=0: it must be at least 1");
    return r;
}
