/*
 * The text of a source file, by lines, as a screen can show them: tabs are blanks, and what is
 * beyond SOURCE_LINE_BYTES of a line is cut. They are valid UTF-8; control characters, and bytes
 * that are no character, are '?'.
 *
 * Context: pure, frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_SOURCE_FILE_H
#define JTOP_TUI_MODEL_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_BYTES_MAX ((size_t)2 << 20) /* of a file; larger ones are not read */
#define SOURCE_LINE_BYTES 500u
#define SOURCE_TAB 4u

struct source_file {
    char origin[1024]; /* where it is from, for people; in an archive: "ARCHIVE: ENTRY" */
    uint32_t lines;
    /* inner state */
    char *text;
    uint32_t *at; /* by line, from 0: its first byte in text */
};

/* Makes lines of `size` bytes. 0; -ENOMEM; -EFBIG. The struct owns copies: free with
 * source_file_free. */
int source_file_set(struct source_file *f, const char *data, size_t size, const char *origin);
void source_file_free(struct source_file *f);

/* Lines count from 1; NULL: there is no such line. */
const char *source_file_line(const struct source_file *f, uint32_t line);

/* The path of a class's file without its ending, "shop/cart/Cart" for "shop/cart/Cart$Item": of
 * the outermost class, or, with `nested` names more of those within, "shop/cart/Cart$Item". False
 * where there are not so many, and where the name is no path below a directory (it comes from the
 * JVM: "../../etc/passwd" is none). */
bool source_file_base(const char *class_name, unsigned nested, char *out, size_t size);

#endif
