/*
 * Files:
 *   cache_file  files with what was found out before, for later processes
 *   clean_text  copies of untrusted text as valid UTF-8 without control characters
 *   clock       reading of the system clocks as a number of ns or ms
 *   err         error messages for people, with errno and the process's exit code
 *   expression  regular expressions written by users, with a limit on search time
 *   file        small files, read whole
 *   format      numbers as short text: bytes, counts, times, percent
 *   grow        arrays that double in size when they are full
 *   gzip        gzip compression of a text in memory
 *   hash        hash functions for tables, and seeds for them
 *   home        paths of a user's files, by the XDG base directory specification
 *   id_map      hash table with a size limit, from 64-bit keys to 64-bit values
 *   nearest     spelling distance of two words, to suggest what was meant
 *   quantity    parser of numbers with units (10s, 500us, 8m), with their limits
 *   text        growable string buffer, optionally emptied through a callback
 *   utf8        UTF-8 decoding and encoding, and which characters may be shown
 *
 * Error messages for people.
 *
 * Library code returns 0 or a negative errno. Where a user will read the reason, it also fills a
 * struct err: one line that says what failed, why (the fact that was checked), and what to try.
 * Nothing below tui/cli/main.c prints or exits.
 *
 * Context: frontend only, any thread. The agent does not use this.
 */
#ifndef JTOP_BASE_ERR_H
#define JTOP_BASE_ERR_H

/* The exit code of the process for an error. */
enum err_exit {
    ERR_EXIT_USAGE = 1,      /* wrong command line, or the JVM was not found or not attached */
    ERR_EXIT_ARGUMENT = 100, /* a profiling argument is wrong: event, interval, format, file */
    ERR_EXIT_PROFILER = 200, /* the profiler itself failed after it was attached */
};

struct err {
    int code;      /* positive errno, 0 when nothing failed */
    int exit_code; /* enum err_exit */
    char message[512];
};

/* Fills `e` (which may be NULL) and returns -code, so that callers can write `return err_set(...)`.
 * Sets exit_code to ERR_EXIT_USAGE; err_exit_as() sets another one. A message that is too long is
 * cut. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Same, with the exit code given. */
int err_exit_as(struct err *e, enum err_exit exit_code, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
