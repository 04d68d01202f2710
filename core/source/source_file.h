/*
 * The text of a source file by lines, ready for the screen: tabs are replaced by blanks, and a line
 * is cut after SOURCE_LINE_BYTES bytes. Lines are valid UTF-8. Control characters and invalid bytes
 * are replaced by '?'.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_SOURCE_SOURCE_FILE_H
#define JTOP_SOURCE_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_BYTES_MAX ((size_t)2 << 20) /* of a file; larger ones are rejected */
#define SOURCE_LINE_BYTES 500u
#define SOURCE_TAB 4u

struct source_file {
    char origin[1024]; /* origin, for display; in an archive: "ARCHIVE: ENTRY" */
    uint32_t lines;
    /* internal state */
    char *text;
    uint32_t *at; /* by line, from 0: index of its first byte in text */
};

/* Splits `size` bytes into lines. Returns 0, -ENOMEM or -EFBIG. The struct owns copies: free it
 * with source_file_free. */
int source_file_set(struct source_file *f, const char *data, size_t size, const char *origin);
void source_file_free(struct source_file *f);

/* Lines count from 1; NULL: no such line. */
const char *source_file_line(const struct source_file *f, uint32_t line);

/* Writes the path of a class's source file without its ending: "shop/cart/Cart" for
 * "shop/cart/Cart$Item", the outermost class. With `nested` > 0, that many nested names are added:
 * "shop/cart/Cart$Item". False if the class has fewer nested names, or if its name is no path below
 * a directory (it comes from the JVM, so "../../etc/passwd" is rejected). */
bool source_file_base(const char *class_name, unsigned nested, char *out, size_t size);

#endif
