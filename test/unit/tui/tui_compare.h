/*
 * Screens as text, compared with test/screens/WORD/NAME.txt, WORD being what NAME begins with, up to
 * a '-'. JTOP_SCREENS_UPDATE=1 writes them anew; read the difference before it is committed.
 */
#ifndef JTOP_TEST_TUI_COMPARE_H
#define JTOP_TEST_TUI_COMPARE_H

#include "test/unit/tui/tui_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    char *data = calloc(1, 1 << 18);
    assert_non_null(data);
    size_t n = fread(data, 1, (1 << 18) - 1, f);
    data[n] = '\0';
    fclose(f);
    return data;
}

static void compare(const struct text *now, const char *name) {
    char path[256], seen[256];
    snprintf(path, sizeof path, "test/screens/%.*s/%s.txt", (int)strcspn(name, "-"), name, name);
    assert_false(now->failed);
    if (getenv("JTOP_SCREENS_UPDATE")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(now->data, f);
        fclose(f);
        return;
    }
    char *expected = read_file(path);
    if (!expected || strcmp(expected, now->data) != 0) {
        const char *directory = getenv("TMPDIR");
        snprintf(seen, sizeof seen, "%s/%s.txt", directory ? directory : "/tmp", name);
        FILE *f = fopen(seen, "w");
        if (f) {
            fputs(now->data, f);
            fclose(f);
        }
        print_message("%s:\n%s", name, now->data);
        fail_msg("the screen differs from %s; it is in %s", path, seen);
    }
    free(expected);
}

static void compare_canvas(const struct canvas *c, const char *name) {
    struct text t = {0};
    canvas_dump(c, &t);
    compare(&t, name);
    text_free(&t);
}

__attribute__((unused)) static void compare_screen(struct fixture *f, const char *name) {
    screen_draw(f->screen, &f->canvas, NULL);
    compare_canvas(&f->canvas, name);
}

/* What a terminal without colour shows of the roles: under each row that has any, its attributes
 * as letters (b bold, d dim, r reverse, u underline). */
__attribute__((unused)) static void compare_mono(struct fixture *f, const char *name) {
    static const char letters[] = ".bdBrRxXuUxXxXxX";
    struct theme theme;
    assert_int_equal(theme_default(&theme, NULL), 0);
    screen_draw(f->screen, &f->canvas, NULL);
    for (int i = 0; i < f->canvas.rows * f->canvas.cols; i++) {
        struct cell *cell = &f->canvas.cells[i];
        bool plain = cell->text[0] == L' ' && !theme.style[cell->role].mono;
        *cell = (struct cell){
            .width = 1,
            .text = {plain ? L' ' : (wchar_t)letters[theme.style[cell->role].mono & 15]}};
    }
    compare_canvas(&f->canvas, name);
}

#endif
