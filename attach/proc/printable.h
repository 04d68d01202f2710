/*
 * Text from somebody else's process, made safe to put on a terminal.
 *
 * Context: any thread, pure.
 */
#ifndef JTOP_ATTACH_PRINTABLE_H
#define JTOP_ATTACH_PRINTABLE_H

/* Replaces, in place, every byte that could steer a terminal or break its decoder by '?': C0
 * controls, DEL, C1 controls (also as UTF-8), and whatever is not valid UTF-8, a character that
 * was cut at the end of a buffer included. The length stays. */
void printable(char *s);

#endif
