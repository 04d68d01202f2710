/* Finds the hottest methods with as few series as possible: names that differ only in a counter
 * are merged. */
#include "core/report/metrics.h"

#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOOKED_AT 100 /* number of rows that are read; their names may be equal */

static int choose_event(const struct session_status *st) {
    if (st->engine[WIRE_EVENT_CPU].samples)
        return WIRE_EVENT_CPU;
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].samples)
            return i;
    return WIRE_EVENT_CPU;
}

/* Removes the incomplete character that a cut may leave at the end of a name. */
static void end_at_character(char *name) {
    size_t n = strlen(name), behind = 0;
    while (behind < n && behind < 4 && ((unsigned char)name[n - 1 - behind] & 0xc0) == 0x80)
        behind++;
    const unsigned char lead = n > behind ? (unsigned char)name[n - 1 - behind] : 0;
    const size_t need = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (need > behind)
        name[n - 1 - behind] = '\0';
}

static void write_name(const struct method *m, char out[METRICS_NAME_MAX + 1]) {
    if (frame_name(m, NAME_DOTTED | NAME_NORMALIZE, out, METRICS_NAME_MAX + 1) > METRICS_NAME_MAX)
        end_at_character(out);
}

static void sort(struct metrics_method *method, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && method[k].share > method[k - 1].share; k--) {
            const struct metrics_method other = method[k];
            method[k] = method[k - 1];
            method[k - 1] = other;
        }
}

int metrics_take_top(struct metrics_top *out, struct profile *p, const struct session_status *st,
                     uint64_t latest) {
    struct metrics_method row[LOOKED_AT];
    uint32_t rows = 0;
    const int event = choose_event(st);
    const char *name = event < WIRE_EVENTS ? st->engine[event].name : "";
    struct query q = {.event = event,
                      .from_second = latest > METRICS_SECONDS ? latest - METRICS_SECONDS + 1 : 1};
    struct snapshot *s = snapshot_take(p, &q);
    *out = (struct metrics_top){0};
    snprintf(out->event, sizeof out->event, "%s", name[0] ? name : event_kind_name[event]);
    if (!s)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->method_count && i < LOOKED_AT && s->methods[i].self; i++) {
        uint32_t same = 0;
        write_name(method_table_get(profile_methods(p), s->methods[i].method), row[rows].name);
        while (strcmp(row[same].name, row[rows].name) != 0)
            same++;
        if (same == rows)
            row[rows++].share = 0;
        row[same].share += (double)s->methods[i].self / (double)s->weight;
    }
    snapshot_free(s);
    sort(row, rows);
    out->methods = rows < METRICS_METHODS ? rows : METRICS_METHODS;
    memcpy(out->method, row, out->methods * sizeof *row);
    return 0;
}
