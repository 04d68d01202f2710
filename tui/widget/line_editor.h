/*
 * An editor for one line of text.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_WIDGET_LINE_EDITOR_H
#define JTOP_TUI_WIDGET_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_EDITOR_BYTES 512

struct line_editor {
    char text[LINE_EDITOR_BYTES]; /* UTF-8, NUL-terminated */
    size_t length;                /* bytes */
    size_t at;                    /* bytes before the caret */
    bool open;                    /* it receives the keys */
};

/* Starts with this text and the caret behind it. Text that is too long is cut. */
void line_editor_open(struct line_editor *l, const char *text);

/* Handles characters (pasted ones too), arrows, Home, End, Backspace, Delete, ^A ^E ^U ^K ^W. True
 * if the text changed. The caller handles Enter and Escape. */
bool line_editor_press(struct line_editor *l, int32_t press);

#endif
