#include "tui/terminal/theme.h"

#include "tui/terminal/colour.h"

#include <math.h>
#include <string.h>

/* Least contrast of text: that of WCAG 2.1 level AA, and less for roles that are meant to be
 * quiet. */
#define CONTRAST 4.5
#define CONTRAST_DIM 3.0
/* Colours closer than this look the same at a glance (colour_distance). */
#define ALIKE 12.0

/* True for roles that are meant to be quiet. */
static bool is_quiet(const struct theme_style *s, enum role role) {
    return (s->attributes & THEME_DIM) || role == ROLE_DIM || role == ROLE_DISABLED ||
           role == ROLE_LINE_NUMBER || role == ROLE_GLYPH || role == ROLE_LABEL;
}

/* Roles with different meanings in the same place. mono: they must differ without colour too. The
 * kinds of frames need not, because the kind is also written beside the frame. */
static const struct {
    enum role a, b;
    bool mono;
} pairs[] = {
    {ROLE_CURSOR, ROLE_TEXT, true},
    {ROLE_COLUMNS, ROLE_TEXT, true},
    {ROLE_TAB_ON, ROLE_TAB, true},
    {ROLE_JVM_TAB_ON, ROLE_JVM_TAB, true},
    {ROLE_STATE_HELD, ROLE_STATE, true},
    {ROLE_MATCH, ROLE_TEXT, true},
    {ROLE_MATCH, ROLE_JAVA, true},
    {ROLE_TAGGED, ROLE_TEXT, true},
    {ROLE_TAGGED, ROLE_NUMBER, true},
    {ROLE_WARNING, ROLE_STATUS, true},
    {ROLE_HOT, ROLE_NUMBER, true},
    {ROLE_DISABLED, ROLE_TEXT, true},
    {ROLE_KEY, ROLE_FOOTER, true},
    {ROLE_ERROR, ROLE_JAVA, true},
    {ROLE_MORE, ROLE_LESS, true},
    {ROLE_GC, ROLE_STRIP, true},
    {ROLE_GC, ROLE_SAFEPOINT, true},
    {ROLE_JAVA, ROLE_NATIVE, false},
    {ROLE_JAVA, ROLE_KERNEL, false},
    {ROLE_JAVA, ROLE_CPP, false},
    {ROLE_NATIVE, ROLE_KERNEL, false},
    {ROLE_FLAME_JAVA, ROLE_TEXT, true},
    {ROLE_FLAME_OTHER, ROLE_TEXT, true},
    {ROLE_FLAME_JAVA, ROLE_FLAME_NATIVE, false},
    {ROLE_FLAME_JAVA, ROLE_FLAME_KERNEL, false},
    {ROLE_FLAME_JAVA, ROLE_FLAME_CPP, false},
    {ROLE_FLAME_NATIVE, ROLE_FLAME_KERNEL, false},
    {ROLE_FLAME_NATIVE, ROLE_FLAME_CPP, false},
    {ROLE_FLAME_KERNEL, ROLE_FLAME_CPP, false},
    {ROLE_FLAME_MORE, ROLE_FLAME_LESS, true},
    {ROLE_FLAME_MORE, ROLE_FLAME_SAME, true},
    {ROLE_FLAME_LESS, ROLE_FLAME_SAME, false},
    {ROLE_FLAME_MATCH, ROLE_FLAME_JAVA, true},
    {ROLE_FLAME_MATCH, ROLE_FLAME_CURSOR, true},
    {ROLE_FLAME_CURSOR, ROLE_FLAME_JAVA, true},
    {ROLE_FLAME_CURSOR, ROLE_FLAME_NATIVE, true},
};

struct drawn {
    uint32_t text, back;
};

/* Returns the colours of a role as they are seen, on the kind of terminal the theme is made for. */
static struct drawn draw(const struct theme *t, enum role role) {
    const struct theme_style *s = &t->style[role];
    struct drawn d = {t->light ? 0x000000 : 0xe5e5e5, t->light ? 0xffffff : 0x000000};
    if (s->foreground != THEME_DEFAULT_COLOUR)
        d.text = colour_rgb(s->foreground);
    if (s->background != THEME_DEFAULT_COLOUR)
        d.back = colour_rgb(s->background);
    if (s->attributes & THEME_REVERSE)
        d = (struct drawn){d.back, d.text};
    return d;
}

static int check_contrast(const struct theme *t, enum role role, struct text *out) {
    struct drawn d = draw(t, role);
    double least = is_quiet(&t->style[role], role) ? CONTRAST_DIM : CONTRAST;
    double contrast = colour_contrast(d.text, d.back);
    if (contrast >= least)
        return 0;
    text_addf(out, "%s: contrast %.1f, should be %.1f (#%06x on #%06x)\n", theme_role_name(role),
              contrast, least, d.text, d.back);
    return 1;
}

/* Bold, underline and dim are visible next to text without them. Reverse changes the colours, which
 * are compared. */
static bool differ(const struct theme *t, enum role a, enum role b, enum colour_sight sight) {
    uint8_t shapes = THEME_BOLD | THEME_UNDERLINE | THEME_DIM;
    if ((t->style[a].attributes ^ t->style[b].attributes) & shapes)
        return true;
    struct drawn x = draw(t, a), y = draw(t, b);
    double text = colour_distance(colour_seen(x.text, sight), colour_seen(y.text, sight));
    double back = colour_distance(colour_seen(x.back, sight), colour_seen(y.back, sight));
    return text >= ALIKE || back >= ALIKE;
}

/* True if the theme has colours. A theme without colours leaves out some differences on purpose:
 * only those that `mono` requires are checked. */
static bool has_colours(const struct theme *t) {
    for (int i = 0; i < ROLES; i++)
        if (t->style[i].foreground != THEME_DEFAULT_COLOUR ||
            t->style[i].background != THEME_DEFAULT_COLOUR)
            return true;
    return false;
}

static int check_pair(const struct theme *t, size_t i, struct text *out) {
    static const char *const sights[SIGHTS] = {"", " with deuteranopia", " with tritanopia"};
    const char *a = theme_role_name(pairs[i].a), *b = theme_role_name(pairs[i].b);
    int complaints = 0;
    bool colour = pairs[i].mono || has_colours(t);
    for (int sight = 0; colour && sight < SIGHTS && !complaints; sight++) {
        if (differ(t, pairs[i].a, pairs[i].b, (enum colour_sight)sight))
            continue;
        text_addf(out, "%s and %s look alike%s\n", a, b, sights[sight]);
        complaints++;
    }
    if (pairs[i].mono && t->style[pairs[i].a].mono == t->style[pairs[i].b].mono) {
        text_addf(out, "%s and %s look alike without colour (the last column)\n", a, b);
        complaints++;
    }
    return complaints;
}

int theme_check(const char *name, struct text *out, struct err *e) {
    struct theme t;
    int err = theme_load(name, &t, e), complaints = 0;
    if (err)
        return err;
    for (int i = 0; i < ROLES; i++)
        complaints += check_contrast(&t, (enum role)i, out);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        complaints += check_pair(&t, i, out);
    return complaints;
}
