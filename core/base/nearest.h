/*
 * Which known word somebody may have meant.
 *
 * Context: frontend only, pure.
 */
#ifndef JTOP_BASE_NEAREST_H
#define JTOP_BASE_NEAREST_H

/* How many edits make one word of the other: a letter more, less, changed, or two swapped cost 2,
 * another case 1. Only the first 31 letters count. */
int nearest_distance(const char *a, const char *b);

#endif
