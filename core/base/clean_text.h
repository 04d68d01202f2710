/*
 * Copies text from shared memory or a recording, so that it is safe to show and to keep: always
 * valid UTF-8, never a control character (C0, DEL or C1), never longer than requested.
 *
 * The VM's modified UTF-8 becomes standard UTF-8: a surrogate pair (two times three bytes) becomes
 * one character. '?' replaces the two-byte NUL, control characters and invalid bytes.
 *
 * Context: pure, any thread. The input must already be a private copy.
 */
#ifndef JTOP_BASE_CLEAN_TEXT_H
#define JTOP_BASE_CLEAN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Writes at most size - 1 bytes and a NUL; cuts only between characters. Returns the number of
 * bytes written, without the NUL. The output is never longer than the input. */
size_t clean_text(char *out, size_t size, const void *in, size_t length);

/* The same for a field of fixed size that should contain a NUL but may not. */
size_t clean_field(char *out, size_t size, const char *in, size_t field_bytes);

#endif
