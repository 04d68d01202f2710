/*
 * Parser of the java launcher's command line as in /proc/PID/cmdline: strings, each ended by a NUL.
 * source: java.c of the JDK's launcher, JDK 8-28
 *
 * Context: any thread, pure.
 */
#ifndef JTOP_ATTACH_FIND_JAVA_ARGS_H
#define JTOP_ATTACH_FIND_JAVA_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct java_args {
    const char *main;    /* main class, jar file or module[/class] as written; argv[0] if the
                            program is not called java */
    size_t options_len;  /* bytes of the command line before `main` */
    const char *program; /* the program's own arguments: NUL-separated strings */
    size_t program_len;
};

/* `cmdline` must end with a NUL at cmdline[len - 1]. False if it holds no word for `main`. */
bool java_args_parse(const char *cmdline, size_t len, struct java_args *out);

/* The last -XX:+FLAG or -XX:-FLAG in `text`: 1 for +, -1 for -, 0 if there is none. NULs, blanks,
 * newlines and quotes separate words. */
int java_args_flag(const char *text, size_t len, const char *flag);

#endif
