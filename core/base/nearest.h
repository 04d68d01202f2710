/*
 * Compares the spelling of two words, to suggest what a user may have meant.
 *
 * Context: frontend only, pure.
 */
#ifndef JTOP_BASE_NEAREST_H
#define JTOP_BASE_NEAREST_H

/* The distance between two words. It costs 2 to insert, delete or change a letter or to swap two
 * neighbours, and 1 to change its case. Only the first 31 letters count. */
int nearest_distance(const char *a, const char *b);

#endif
