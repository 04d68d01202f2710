/*
 * The java launcher's command line, as /proc/PID/cmdline has it: strings, each ended by a NUL.
 * source: java.c of the JDK's launcher, JDK 8-28
 *
 * Context: any thread, pure.
 */
#ifndef JTOP_ATTACH_FIND_JAVA_ARGS_H
#define JTOP_ATTACH_FIND_JAVA_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct java_args {
    const char *main;    /* main class, jar file or module[/class] as written; or, of a program
                            that is not called java, argv[0] */
    size_t options_len;  /* bytes of the command line before it */
    const char *program; /* the program's own arguments: NUL-separated strings */
    size_t program_len;
};

/* `cmdline` must end with a NUL at cmdline[len - 1]. False when there is no such word. */
bool java_args_parse(const char *cmdline, size_t len, struct java_args *out);

/* What the last -XX:+FLAG or -XX:-FLAG in `text` says: 1, -1, or 0 where there is none. Words
 * are separated by NULs, spaces or quotes. */
int java_args_flag(const char *text, size_t len, const char *flag);

#endif
