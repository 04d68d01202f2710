/*
 * Text that came out of shared memory or a recording, made safe to show and to keep: always valid
 * UTF-8, never a control character (C0, DEL or C1), never longer than asked.
 *
 * The VM's modified UTF-8 becomes the usual one: a surrogate pair (two times three bytes) becomes
 * one character; the two-byte NUL, control characters and bytes that make no sense become '?'.
 *
 * Context: pure, any thread. The input must be a private copy already.
 */
#ifndef JTOP_BASE_CLEAN_TEXT_H
#define JTOP_BASE_CLEAN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Writes at most size - 1 bytes and a NUL; cuts between characters. Returns the bytes written
 * without the NUL. The output is never longer than the input. */
size_t clean_text(char *out, size_t size, const void *in, size_t length);

/* Same for a fixed-size field that should hold a NUL and may not. */
size_t clean_field(char *out, size_t size, const char *in, size_t field_bytes);

#endif
