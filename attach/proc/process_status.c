#include "attach/proc/process_status.h"

#include "attach/proc/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The text after "NAME:" at the beginning of a line, or NULL. */
static const char *field(const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            return line + n + 1 + strspn(line + n + 1, " \t");
    }
    return NULL;
}

static uint64_t number(const char *text, const char *name, int base) {
    const char *at = field(text, name);
    return at ? strtoull(at, NULL, base) : 0;
}

static int small(const char *text, const char *name) {
    const char *at = field(text, name);
    return at && *at >= '0' && *at <= '9' ? *at - '0' : -1;
}

/* The second of four numbers: real, effective, saved, file system. */
static unsigned effective(const char *text, const char *name) {
    const char *at = field(text, name);
    char *end = NULL;
    if (!at)
        return 0;
    strtoul(at, &end, 10);
    return (unsigned)strtoul(end, NULL, 10);
}

bool process_status_parse(const char *text, struct process_status *out) {
    const char *state = field(text, "State");
    *out = (struct process_status){
        .state = state && *state && *state != '\n' ? *state : '?',
        .tracer = (pid_t)number(text, "TracerPid", 10),
        .uid = effective(text, "Uid"),
        .gid = effective(text, "Gid"),
        .threads = (uint32_t)number(text, "Threads", 10),
        .blocked = number(text, "SigBlk", 16),
        .ignored = number(text, "SigIgn", 16),
        .caught = number(text, "SigCgt", 16),
        .capabilities = number(text, "CapEff", 16),
        .seccomp = small(text, "Seccomp"),
        .no_new_privs = small(text, "NoNewPrivs"),
    };
    return state && field(text, "Uid");
}

int process_status_read(pid_t pid, struct process_status *out) {
    char text[32768];
    *out = (struct process_status){.state = '?', .seccomp = -1, .no_new_privs = -1};
    ssize_t n = proc_read(pid, "status", text, sizeof text);
    if (n < 0)
        return (int)n;
    return process_status_parse(text, out) ? 0 : -EPROTO;
}
