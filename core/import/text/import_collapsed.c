/*
 * Reads "root;…;leaf COUNT", one line per stack, as written by this program, async-profiler, perf's
 * stackcollapse scripts and similar tools. frame_text.h parses the frames. A first frame "[name
 * tid=N]" or "[name virtual=N]" is the thread. A line "# event: NAME, UNIT" describes the stacks
 * after it.
 *
 * In names, '|' stands for ';', as in async-profiler. A '\' precedes a '|' or '\' that is meant
 * literally (collapsed_export.c).
 *
 * The format has one number per stack, "12" or "2.5". It is the weight, and also the number of
 * samples, unless the heading names a unit or the numbers are too large to be counts. Stacks
 * without a heading belong to an event of their own, "samples", whose unit is unknown; whether
 * their numbers are counts or weights is decided once for all of them. Fractions are rounded so
 * that the sum is correct. If every line has two numbers, as in the output of tools that compare
 * two profiles, the second one is used.
 */
#include "core/import/importer.h"
#include "core/import/text/frame_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES (4 * WIRE_STRING_MAX)
#define LINES_LOOKED_AT 200u
#define TIME_NS UINT64_C(1000000000)  /* the time of all samples */
#define COUNT_MAX (UINT64_C(1) << 20) /* maximum count of one record (core/decode/decoder.h) */
/* Maximum number of samples of one stack; larger numbers are weights */
#define SAMPLES_MAX (UINT64_C(64) << 20)
/* Maximum number of samples of all stacks; a larger sum means weights */
#define SUM_MAX (UINT64_C(1) << 36)
#define BILLION 1000000000u

struct line {
    const char *begin, *end; /* the stack, without a line break */
    uint64_t count;
    uint32_t billionths; /* fraction in addition to `count` */
};

static struct wire_text between(const char *begin, const char *end) {
    return (struct wire_text){begin, (size_t)(end - begin)};
}

/* ---- lines ---- */

/* Returns the next line of [*at, end) and moves *at behind it. */
static struct wire_text next_line(const char **at, const char *end) {
    const char *begin = *at, *newline = memchr(begin, '\n', (size_t)(end - begin));
    const char *behind = newline ? newline : end;
    *at = newline ? newline + 1 : end;
    if (behind > begin && behind[-1] == '\r')
        behind--;
    return between(begin, behind);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Returns where the number that ends at `end` begins: "12", "2.5" or "2.". Returns `end` if there
 * is no number. */
static const char *number_before(const char *begin, const char *end) {
    const char *at = end;
    while (at > begin && is_digit(at[-1]))
        at--;
    if (at > begin + 1 && at[-1] == '.' && is_digit(at[-2]))
        for (at--; at > begin && is_digit(at[-1]); at--)
            ;
    return at;
}

/* Reads a number. A number of more than 64 bits becomes UINT64_MAX. */
static void read_number(const char *at, const char *end, struct line *out) {
    for (; at < end && *at != '.'; at++)
        if (__builtin_mul_overflow(out->count, 10, &out->count) ||
            __builtin_add_overflow(out->count, (uint64_t)(*at - '0'), &out->count))
            out->count = UINT64_MAX;
    uint32_t unit = BILLION / 10;
    for (at++; at < end && unit; at++, unit /= 10)
        out->billionths += (uint32_t)(*at - '0') * unit;
}

/* Splits a line into its stack and its number. */
static bool split_line(struct wire_text t, struct line *out) {
    const char *end = t.data + t.bytes;
    while (end > t.data && end[-1] == ' ')
        end--;
    const char *number = number_before(t.data, end);
    *out = (struct line){.begin = t.data};
    if (number == end || number == t.data || (number[-1] != ' ' && number[-1] != '\t'))
        return false;
    out->end = number - 1;
    read_number(number, end, out);
    return true;
}

/* If the stack is followed by another number, removes that number. */
static bool has_two_numbers(struct line *l) {
    struct line before;
    if (!split_line(between(l->begin, l->end), &before))
        return false;
    l->end = before.end;
    return true;
}

static bool is_text(struct wire_text t) {
    for (size_t i = 0; i < t.bytes; i++)
        if (((unsigned char)t.data[i] < ' ' && t.data[i] != '\t') || t.data[i] == 0x7f)
            return false;
    return true;
}

static bool is_heading(struct wire_text t) {
    return t.bytes > 2 && memcmp(t.data, "# ", 2) == 0;
}

/* Requires more than one frame, or a mark that no other format has. */
static bool looks_like_stack(const struct line *l) {
    size_t n = (size_t)(l->end - l->begin);
    return memchr(l->begin, ';', n) || memmem(l->begin, n, "_[", 2) || *l->begin == '[';
}

/* Recognizes a first line that is longer than the available part of the file. */
static bool is_long_stack(struct wire_text t) {
    unsigned frames = 0;
    for (size_t i = 0; i < t.bytes; i++)
        frames += t.data[i] == ';';
    return frames >= 16 && is_text(t);
}

/* Skips a byte order mark, which some editors write. */
static const char *behind_mark(const char *at, const char *end) {
    return end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? at + 3 : at;
}

/* Some tools print other lines between the stacks, but most lines must be stacks. */
static bool knows(const uint8_t *head, size_t bytes, bool whole) {
    const char *end = (const char *)head + bytes, *at = behind_mark((const char *)head, end);
    unsigned lines = 0, stacks = 0, others = 0;
    if (!whole) {
        const char *last = memrchr(at, '\n', (size_t)(end - at));
        if (!last)
            return is_long_stack(between(at, end));
        end = last;
    }
    for (unsigned n = 0; at < end && n < LINES_LOOKED_AT; n++) {
        struct wire_text t = next_line(&at, end);
        struct line l;
        if (!is_text(t))
            return false;
        if (t.bytes == 0 || is_heading(t))
            continue;
        if (split_line(t, &l)) {
            lines++;
            stacks += looks_like_stack(&l);
        } else {
            others += at < end; /* the last line of a file may be cut */
        }
    }
    return stacks > 0 && stacks * 2 >= lines && stacks >= others;
}

/* ---- the meaning of the numbers ---- */

static const struct {
    const char *name;
    enum wire_event event;
} known_event[] = {{"cpu", WIRE_EVENT_CPU},
                   {"itimer", WIRE_EVENT_CPU},
                   {"ctimer", WIRE_EVENT_CPU},
                   {"wall", WIRE_EVENT_WALL},
                   {"alloc", WIRE_EVENT_ALLOC},
                   {"live", WIRE_EVENT_ALLOC},
                   {"lock", WIRE_EVENT_LOCK},
                   {"nativemem", WIRE_EVENT_NATIVEMEM},
                   {"nativelock", WIRE_EVENT_NATIVELOCK}};

struct section {
    enum wire_event event;
    char name[64];
    bool unit;    /* the heading has a unit, and it is not samples */
    bool weights; /* the numbers are weights: the heading has a unit, or they are too large to
                     be counts */
};

static const struct section unnamed = {.event = WIRE_EVENT_PERF, .name = "samples"};

/* Facts about all stacks without a heading, and the number of columns with numbers. */
struct survey {
    uint64_t most, sum; /* saturated at the maximum */
    bool fractions, one_column;
};

static bool survey_weights(const struct survey *s) {
    return s->most > SAMPLES_MAX || s->sum > SUM_MAX;
}

/* Parses "# event: cpu, ns". Other lines with a '#' are comments. */
static bool read_heading(struct wire_text t, struct section *s) {
    static const char event[] = "# event: ";
    if (t.bytes < sizeof event || memcmp(t.data, event, sizeof event - 1) != 0)
        return false;
    const char *name = t.data + sizeof event - 1, *end = t.data + t.bytes;
    const char *comma = memrchr(name, ',', (size_t)(end - name));
    int length = (int)((comma ? comma : end) - name);
    *s = (struct section){.event = WIRE_EVENT_PERF};
    snprintf(s->name, sizeof s->name, "%.*s", length < 64 ? length : 63, name);
    if (strchr(s->name, '.'))
        s->event = WIRE_EVENT_METHOD;
    for (size_t i = 0; i < sizeof known_event / sizeof *known_event; i++)
        if (strcmp(s->name, known_event[i].name) == 0)
            s->event = known_event[i].event;
    s->unit =
        comma && (size_t)(end - comma) > 2 && !memmem(comma, (size_t)(end - comma), "samples", 7);
    return true;
}

/* ---- reading ---- */

struct collapsed {
    struct emit *m;
    struct import_result *result;
    struct survey survey;
    struct section section;
    uint32_t rest;              /* billionths left over from rounding */
    char told[WIRE_EVENTS][64]; /* names of the events written so far */
    uint32_t tid;
    uint64_t virtual_id;
    uint64_t number; /* number of the line */
    char name[NAME_BYTES];
    uint64_t frame[WIRE_FRAMES_MAX];
};

static struct wire_text unescape(struct collapsed *c, struct wire_text t) {
    size_t n = 0;
    if (!memchr(t.data, '|', t.bytes) && !memchr(t.data, '\\', t.bytes))
        return t;
    for (size_t i = 0; i < t.bytes && n < sizeof c->name; i++) {
        char one = t.data[i], next = i + 1 < t.bytes ? t.data[i + 1] : 0;
        bool escaped = one == '\\' && next && strchr("\\|nr", next);
        if (escaped) {
            one = next == 'n' ? '\n' : next == 'r' ? '\r' : next;
            i++;
        }
        c->name[n++] = !escaped && one == '|' ? ';' : one;
    }
    return (struct wire_text){c->name, n};
}

/* Parses "[name tid=N]" or "[name virtual=N]"; the name may be missing. */
static bool read_thread(struct collapsed *c, struct wire_text t) {
    const char *equals = t.bytes ? memrchr(t.data, '=', t.bytes) : NULL;
    if (t.bytes < 7 || t.data[0] != '[' || t.data[t.bytes - 1] != ']' || !equals)
        return false;
    const char *digit = equals + 1, *end = t.data + t.bytes - 1;
    bool tid = equals - t.data >= 4 && memcmp(equals - 3, "tid", 3) == 0;
    bool virtual = equals - t.data >= 8 && memcmp(equals - 7, "virtual", 7) == 0;
    const char *word = equals - (tid ? 3 : 7);
    uint64_t number = 0;
    if ((!tid && !virtual) || digit == end || end - digit > 19 ||
        (word[-1] != ' ' && word - 1 != t.data))
        return false;
    for (; digit < end; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    struct wire_text name =
        word - 1 > t.data ? between(t.data + 1, word - 1) : (struct wire_text){0};
    if (virtual && number) {
        c->virtual_id = number;
        emit_virtual_thread(c->m, number, 0, name);
    } else {
        c->tid = number <= UINT32_MAX ? emit_thread(c->m, (uint32_t)number, 0, name) : 0;
    }
    return true;
}

/* Reads the frames into c->frame, leaf first. If there are too many, those at the root are left
 * out, and a frame marks this. */
static uint32_t read_frames(struct collapsed *c, const struct line *l) {
    const char *begin = l->begin, *end = l->end;
    const char *first = memchr(begin, ';', (size_t)(end - begin));
    uint32_t frames = 0;
    c->tid = 0;
    c->virtual_id = 0;
    if (first && read_thread(c, unescape(c, between(begin, first))))
        begin = first + 1;
    while (end >= begin && frames < WIRE_FRAMES_MAX) {
        const char *separator = end > begin ? memrchr(begin, ';', (size_t)(end - begin)) : NULL;
        struct wire_text t = between(separator ? separator + 1 : begin, end);
        struct frame_text about = {.leaf = frames == 0};
        if (t.bytes > 0)
            c->frame[frames++] = frame_text_emit(c->m, unescape(c, t), &about);
        if (!separator)
            return frames;
        end = separator;
    }
    if (frames == WIRE_FRAMES_MAX) {
        c->frame[frames - 1] = wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_TRUNCATED);
        if (!c->result->note[0])
            snprintf(
                c->result->note, sizeof c->result->note,
                "line %" PRIu64
                " has more than %u frames, which is the limit: such stacks begin with [truncated]",
                c->number, WIRE_FRAMES_MAX - 1);
    }
    return frames;
}

static void damage(struct collapsed *c, const char *what) {
    if (!c->result->damage[0])
        snprintf(c->result->damage, sizeof c->result->damage, "line %" PRIu64 " %s", c->number,
                 what);
}

/* Gives the event a number of its own and writes its mark. False: no number is left. */
static bool tell_event(struct collapsed *c) {
    const enum wire_event number[] = {c->section.event, WIRE_EVENT_PERF, WIRE_EVENT_METHOD};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        char *told = c->told[number[i]];
        if (told[0] && strcmp(told, c->section.name) != 0)
            continue;
        c->section.event = number[i];
        if (!told[0]) {
            memcpy(told, c->section.name, sizeof c->section.name);
            emit_mark(c->m, TIME_NS, number[i], told, 0, !c->section.weights);
        }
        return true;
    }
    damage(c, "exceeds the limit of events; stacks of that event are left out");
    return false;
}

/* Rounds the number; the lost fraction is added to the next one. */
static uint64_t whole_number(struct collapsed *c, const struct line *l) {
    uint32_t rest = c->rest + l->billionths;
    c->rest = rest % BILLION;
    return l->count < UINT64_MAX ? l->count + rest / BILLION : l->count;
}

static void read_stack(struct collapsed *c, const struct line *l) {
    struct wire_sample w = {.time_ns = TIME_NS};
    uint32_t frames = read_frames(c, l);
    uint64_t left = whole_number(c, l);
    bool weights = c->section.weights;
    if (!tell_event(c))
        return;
    w.event = (uint8_t)c->section.event;
    w.tid = c->tid;
    w.virtual_id = c->virtual_id;
    w.cpu = WIRE_CPU_NONE;
    while (left > 0 && !emit_failure(c->m)) {
        w.weight = weights || left < COUNT_MAX ? left : COUNT_MAX;
        w.count = weights ? 1 : (uint32_t)w.weight;
        left -= w.weight;
        emit_sample(c->m, &w, c->frame, frames);
    }
}

/* Parses a line. Returns false for an empty line and for a heading, which is stored in c->section.
 * Otherwise returns true; *stack: the line is a stack. */
static bool take_line(struct collapsed *c, struct wire_text t, struct line *l, bool *stack) {
    *stack = false;
    if (t.bytes == 0 || (is_heading(t) && read_heading(t, &c->section)))
        return false;
    *stack = split_line(t, l);
    return *stack || !is_heading(t);
}

static void survey_line(struct collapsed *c, struct wire_text t) {
    struct survey *s = &c->survey;
    struct line l;
    bool stack;
    if (!take_line(c, t, &l, &stack) || !stack)
        return;
    s->fractions |= l.billionths != 0;
    if (!c->section.unit) {
        s->most = l.count > s->most ? l.count : s->most;
        if (__builtin_add_overflow(s->sum, l.count, &s->sum))
            s->sum = UINT64_MAX;
    }
    s->one_column |= !has_two_numbers(&l);
}

static void read_line(struct collapsed *c, struct wire_text t) {
    struct line l;
    bool stack;
    c->number++;
    if (!take_line(c, t, &l, &stack))
        return;
    if (!stack) {
        damage(c, "is not a stack with a count; such lines are left out");
        return;
    }
    if (!c->survey.one_column)
        (void)has_two_numbers(&l);
    c->section.weights = c->section.unit || survey_weights(&c->survey);
    read_stack(c, &l);
}

static void each_line(struct collapsed *c, const char *at, const char *end,
                      void (*take)(struct collapsed *, struct wire_text)) {
    c->section = unnamed;
    while (at < end && !emit_failure(c->m))
        take(c, next_line(&at, end));
}

static void tell_how(struct collapsed *c) {
    struct import_result *r = c->result;
    if (r->note[0])
        return;
    if (survey_weights(&c->survey))
        snprintf(r->note, sizeof r->note,
                 "the numbers are too large to be sample counts (the largest is %" PRIu64
                 "): all are read as weights",
                 c->survey.most);
    else if (c->survey.fractions)
        snprintf(r->note, sizeof r->note,
                 "the counts have fractions: each is rounded, their sum "
                 "is kept");
}

static int read(const uint8_t *data, size_t bytes, import_record *each, void *arg,
                struct import_result *result, struct err *e) {
    const char *end = (const char *)data + bytes, *at = behind_mark((const char *)data, end);
    struct collapsed *c = calloc(1, sizeof *c);
    struct emit *m = emit_open(each, arg);
    int r = -ENOMEM;
    if (c && m) {
        c->m = m;
        c->result = result;
        c->rest = BILLION / 2;
        emit_jvm(m, 0, (struct wire_text){"collapsed stacks", 16}, (struct wire_text){0}, 0);
        each_line(c, at, end, survey_line);
        each_line(c, at, end, read_line);
        tell_how(c);
        r = emit_failure(m);
    }
    if (r == -ENOMEM)
        err_set(e, ENOMEM, "no memory to read the file");
    emit_close(m);
    free(c);
    return r;
}

const struct import_reader import_collapsed = {"collapsed", false, knows, read};
