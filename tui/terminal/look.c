#include "tui/terminal/look.h"

#include "tui/terminal/colour.h"

#include <stdio.h>
#include <string.h>

bool look_equal(const struct look *a, const struct look *b) {
    return a->foreground == b->foreground && a->background == b->background &&
           a->attributes == b->attributes;
}

static int32_t colour(const struct terminfo *ti, bool rgb, int32_t c, uint8_t *attributes) {
    if (c == THEME_DEFAULT_COLOUR || (rgb && (c & THEME_RGB)))
        return c;
    if (rgb && ti->direct && c >= 8)
        return THEME_RGB | (int32_t)colour_rgb(c);
    if (attributes && ti->colours == 8 && c > 8 && c < 16 && ti->bold)
        *attributes |= THEME_BOLD; /* terminals with eight colours show bright ones as bold */
    return colour_nearest(c, ti->colours);
}

struct look look_of_style(const struct terminfo *ti, const struct theme_style *s,
                          const struct emit_options *o) {
    bool colours = !o->mono && ti->colours > 0;
    struct look l = {THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, colours ? s->attributes : s->mono};
    if (colours) {
        l.foreground = colour(ti, o->rgb, s->foreground, &l.attributes);
        l.background = colour(ti, o->rgb, s->background, NULL);
    }
    bool any = l.foreground != THEME_DEFAULT_COLOUR || l.background != THEME_DEFAULT_COLOUR;
    const struct {
        bool has;
        unsigned ncv; /* its bit in no_color_video, terminfo(5) */
        uint8_t bit;
    } attribute[] = {{ti->bold, 32, THEME_BOLD},
                     {ti->dim, 16, THEME_DIM},
                     {ti->reverse, 4, THEME_REVERSE},
                     {ti->underline, 2, THEME_UNDERLINE}};
    for (size_t i = 0; i < sizeof attribute / sizeof attribute[0]; i++)
        if (!attribute[i].has || (any && (ti->colourless & attribute[i].ncv)))
            l.attributes &= (uint8_t)~attribute[i].bit;
    return l;
}

struct look look_of_blank(struct look l) {
    if (l.attributes & LOOK_BLANK_SHOWS)
        return l;
    return (struct look){THEME_DEFAULT_COLOUR, l.background, 0};
}

/* ---- from one look to the next ---- */

struct sgr {
    char text[128];
    size_t length;
    int count;
};

static void add_parameter(struct sgr *s, const char *p) {
    if (s->count++)
        s->text[s->length++] = ';';
    size_t n = strlen(p);
    memcpy(s->text + s->length, p, n);
    s->length += n;
}

static void add_colour(struct sgr *s, int32_t c, bool background) {
    char p[32];
    if (c == THEME_DEFAULT_COLOUR)
        snprintf(p, sizeof p, background ? "49" : "39");
    else if (c & THEME_RGB)
        snprintf(p, sizeof p, "%d;2;%d;%d;%d", background ? 48 : 38, (int)(c >> 16 & 0xff),
                 (int)(c >> 8 & 0xff), (int)(c & 0xff));
    else
        terminfo_colour(c, background, p, sizeof p);
    if (p[0])
        add_parameter(s, p);
}

static const struct {
    uint8_t bit;
    char on[2], off[3];
} attributes[] = {
    {THEME_BOLD, "1", "22"},
    {THEME_DIM, "2", "22"},
    {THEME_REVERSE, "7", "27"},
    {THEME_UNDERLINE, "4", "24"},
};
#define ATTRIBUTES (sizeof attributes / sizeof attributes[0])

static void add_attributes(struct sgr *s, uint8_t set) {
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (set & attributes[i].bit)
            add_parameter(s, attributes[i].on);
}

/* Sets all of a look, from a reset on. */
static void whole_sgr(struct sgr *s, const struct look *to) {
    add_parameter(s, "");
    add_attributes(s, to->attributes);
    if (to->foreground != THEME_DEFAULT_COLOUR)
        add_colour(s, to->foreground, false);
    if (to->background != THEME_DEFAULT_COLOUR)
        add_colour(s, to->background, true);
}

/* Sets only the differences. Bold and dim are switched off together. */
static void delta_sgr(struct sgr *s, const struct look *from, const struct look *to) {
    uint8_t off = from->attributes & (uint8_t)~to->attributes;
    uint8_t on = to->attributes & (uint8_t)~from->attributes;
    uint8_t weight = THEME_BOLD | THEME_DIM;
    if (off & weight) {
        add_parameter(s, "22");
        on |= to->attributes & weight;
    }
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (off & attributes[i].bit & (uint8_t)~weight)
            add_parameter(s, attributes[i].off);
    add_attributes(s, on);
    if (from->foreground != to->foreground)
        add_colour(s, to->foreground, false);
    if (from->background != to->background)
        add_colour(s, to->background, true);
}

static void one_by_one(const struct terminfo *ti, const struct look *to, struct text *out) {
    const struct {
        uint8_t bit;
        const char *on;
    } one[] = {{THEME_BOLD, ti->bold_on},
               {THEME_DIM, ti->dim_on},
               {THEME_REVERSE, ti->reverse_on},
               {THEME_UNDERLINE, ti->underline_on}};
    text_add(out, ti->reset);
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (to->attributes & one[i].bit)
            text_add(out, one[i].on);
}

/* True if the terminal can go from one look to the other without a reset. */
static bool can_change(const struct terminfo *ti, const struct look *from, const struct look *to) {
    bool adds = !(from->attributes & (uint8_t)~to->attributes);
    bool resets = (from->foreground != to->foreground && to->foreground == THEME_DEFAULT_COLOUR) ||
                  (from->background != to->background && to->background == THEME_DEFAULT_COLOUR);
    return ti->single_off || (adds && !resets);
}

void look_change(const struct terminfo *ti, const struct look *from, const struct look *to,
                 struct text *out) {
    if (from && look_equal(from, to))
        return;
    if (!ti->ansi) {
        one_by_one(ti, to, out);
        return;
    }
    struct sgr whole = {.count = 0}, delta = {.count = 0};
    const struct sgr *best = &whole;
    whole_sgr(&whole, to);
    if (from && can_change(ti, from, to)) {
        delta_sgr(&delta, from, to);
        if (delta.length <= whole.length)
            best = &delta;
    }
    text_add(out, "\033[");
    text_add_n(out, best->text, best->length);
    text_add(out, "m");
}
