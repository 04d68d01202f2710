/*
 * What went wrong, for people.
 *
 * Library code returns 0 or a negative errno and, where a person will read the reason, fills a
 * struct err: one line saying what failed, why (the fact that was checked), and what to try.
 * Nothing below tui/cli/main.c prints or exits.
 *
 * Context: frontend only, any thread. The agent does not use this.
 */
#ifndef JTOP_BASE_ERR_H
#define JTOP_BASE_ERR_H

/* The process's exit code that an error asks for. */
enum err_exit {
    ERR_EXIT_USAGE = 1,      /* wrong command line, or the JVM could not be found or attached */
    ERR_EXIT_ARGUMENT = 100, /* a profiling argument is wrong: event, interval, format, file */
    ERR_EXIT_PROFILER = 200, /* the profiler itself failed after it was attached */
};

struct err {
    int code;      /* positive errno, 0 when nothing failed */
    int exit_code; /* enum err_exit */
    char message[512];
};

/* Fills `e` (which may be NULL) and returns -code, so that `return err_set(...)` reads well.
 * exit_code is set to ERR_EXIT_USAGE; err_exit_as() changes it. A message too long is cut. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Same, with the exit code given. */
int err_exit_as(struct err *e, enum err_exit exit_code, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
