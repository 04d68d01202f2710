#include "core/http/push/protocol/label_sources.h"

#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_MAX (128u << 10)
#define PATIENCE_NS 2000000000u

enum { CGROUP, ENVIRON, CMDLINE, NAMESPACE, TEXTS };

/* The child's task: it reads one text after another into a file in memory. Reading the JVM's
 * environment can block forever, if that memory is mapped from another process's file system. */
struct look {
    pid_t pid;
    int file; /* memfd */
    char *buf;
};

struct seen {
    int32_t length[TEXTS]; /* 0: none */
};

static ssize_t read_namespace(pid_t pid, char *buf, size_t size) {
    int root = inside_enter(pid, "root");
    if (root < 0)
        return root;
    int fd =
        inside_read(inside_open(root, "var/run/secrets/kubernetes.io/serviceaccount/namespace", 0));
    close(root);
    if (fd < 0)
        return fd;
    ssize_t n = file_read(fd, buf, size);
    close(fd);
    return n;
}

static void look(void *context, void *result, int *fd) {
    static const char *const file[] = {"cgroup", "environ", "cmdline"};
    struct look *l = context;
    struct seen *seen = result;
    off_t at = 0;
    *fd = -1; /* the results are in the file */
    for (int i = 0; i < TEXTS; i++) {
        ssize_t n = i == NAMESPACE ? read_namespace(l->pid, l->buf, 256)
                                   : proc_read(l->pid, file[i], l->buf, TEXT_MAX);
        if (n > 0 && pwrite(l->file, l->buf, (size_t)n, at) == n) {
            seen->length[i] = (int32_t)n;
            at += n;
        }
    }
}

static void take(int what, char *text, size_t bytes, struct push_labels *out) {
    text[bytes] = '\0'; /* terminates a text that was cut, too */
    switch (what) {
    case CGROUP:
        label_sources_cgroup(text, out);
        break;
    case ENVIRON:
        label_sources_environ(text, bytes, out);
        break;
    case CMDLINE:
        label_sources_cmdline(text, bytes + (bytes && text[bytes - 1]), out);
        break;
    default:
        text[strcspn(text, " \r\n")] = '\0';
        if (!labels_get(out, "namespace") && text[0])
            (void)labels_set(out, "namespace", text);
        break;
    }
}

static void read_texts(pid_t pid, struct push_labels *out) {
    struct look l = {.pid = pid, .buf = malloc(TEXT_MAX)};
    struct seen seen = {0};
    off_t at = 0;
    int none;
    l.file = memfd_create("labels", MFD_CLOEXEC);
    if (l.buf && l.file >= 0 &&
        errand_run(look, &l, proc_now_ns() + PATIENCE_NS, &seen, sizeof seen, &none) == 0)
        for (int i = 0; i < TEXTS; i++) {
            int32_t n = seen.length[i];
            if (n <= 0 || n >= (int32_t)TEXT_MAX || pread(l.file, l.buf, (size_t)n, at) != n)
                continue;
            take(i, l.buf, (size_t)n, out);
            at += n;
        }
    if (l.file >= 0)
        close(l.file);
    free(l.buf);
}

void label_sources_read(const struct jvm *j, const char *const *own, uint32_t owns,
                        struct push_labels *out) {
    char text[256];
    const char *node = getenv("NODE_NAME"); /* we run in a pod, whose name is not a host's */
    *out = (struct push_labels){0};
    read_texts(j->pid, out);
    if (!labels_get(out, "service_name"))
        (void)labels_set(out, "service_name", j->name);
    snprintf(text, sizeof text, "%d", (int)j->pid);
    (void)labels_set(out, "pid", text);
    text[0] = '\0';
    (void)gethostname(text, sizeof text - 1);
    if (node && *node)
        (void)labels_set(out, "node", node);
    if (!labels_get(out, "host"))
        (void)labels_set(out, "host", node && *node ? node : text);
    (void)labels_set(out, "jvm_version", j->version);
    (void)labels_set(out, "jvm_name", j->vm_name);
    for (uint32_t i = 0; i < owns; i++)
        (void)labels_set_pair(out, own[i]);
    if (!labels_get(out, "service_name"))
        (void)labels_set(out, "service_name", "java");
}
