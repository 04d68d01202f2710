#include "core/source/source_finder.h"

#include "symbols/elf/target_files.h"
#include "core/source/archive_list.h"
#include "core/source/source_archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT 8          /* results kept, including those without a file */
#define NESTED 3u       /* p/A, p/A$B, p/A$B$C: a '$' may be part of a file's name */
#define PATH_BYTES 1024 /* of a file */
#define SCANNED_FILES 400
#define SCANNED_DIRECTORIES 200
#define ARCHIVE_BYTES_MAX ((off_t)1 << 30)
#define JDK_BYTES_MAX ((off_t)128 << 20) /* the target's src.zip, whose list is kept in memory */
#define MAPS_BYTES_MAX 1000000
#define JDK_LEVELS 5 /* from bin/java or jre/lib/amd64/server/libjvm.so up to where src.zip is */

static const char *const ending[] = {".java", ".kt", ".scala", ".groovy"};
static const char *const below[] = {
    "", "src/main/java/", "src/main/kotlin/", "src/main/scala/", "src/", "src/test/java/",
};
enum { ENDINGS = sizeof ending / sizeof ending[0], BELOW = sizeof below / sizeof below[0] };

struct answer {
    char class_name[PATH_BYTES], path[PATH_BYTES];
    pid_t pid;
    bool asked;
    struct source_file file; /* no text: no source was found */
};

struct source_finder {
    struct answer answer[KEPT];
    unsigned turn;
    struct source_archive
        *archive; /* the last one opened, because listing a large one takes a while */
    char archive_path[PATH_BYTES];
    struct source_archive *jdk; /* src.zip of the JVM `jdk_pid`; NULL: none */
    pid_t jdk_pid;
    char jdk_path[PATH_BYTES + 16];
};

struct source_finder *source_finder_new(void) {
    return calloc(1, sizeof(struct source_finder));
}

static void close_archive(struct source_archive **a) {
    source_archive_close(*a);
    *a = NULL;
}

void source_finder_free(struct source_finder *f) {
    if (!f)
        return;
    for (int i = 0; i < KEPT; i++)
        source_file_free(&f->answer[i].file);
    close_archive(&f->archive);
    close_archive(&f->jdk);
    free(f);
}

/* Reads a regular file of at most `size` bytes. Returns the number of bytes, or -1. Takes ownership
 * of the descriptor. */
static ssize_t read_all(int fd, char *data, size_t size) {
    struct stat st;
    size_t n = 0;
    bool fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 &&
                (uint64_t)st.st_size <= size;
    while (fits && n < size) {
        ssize_t got = read(fd, data + n, size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fits = false;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(fd);
    return fits ? (ssize_t)n : -1;
}

/* Returns a file's bytes, malloc'ed; NULL if it cannot be read. */
static char *read_file(const char *path, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *data = fd >= 0 ? malloc(SOURCE_BYTES_MAX) : NULL;
    if (!data) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    ssize_t n = read_all(fd, data, SOURCE_BYTES_MAX);
    if (n < 0) {
        free(data);
        return NULL;
    }
    *size = (size_t)n;
    return data;
}

static bool take_file(const char *path, struct source_file *out) {
    size_t size;
    char *data = read_file(path, &size);
    bool taken = data && source_file_set(out, data, size, path) == 0;
    free(data);
    return taken;
}

/* True if the text declares that class: "class Outer", "object Outer". */
static bool declares(const char *data, size_t size, const char *simple) {
    static const char *const word[] = {"class ", "interface ", "object ",
                                       "enum ",  "record ",    "trait "};
    size_t length = strlen(simple);
    for (const char *at = data; (at = memmem(at, size - (size_t)(at - data), simple, length));) {
        const char *end = at + length;
        bool whole = end == data + size || !strchr("$_", *end);
        char c = end < data + size ? *end : ' ';
        whole =
            whole && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9');
        for (size_t i = 0; whole && i < sizeof word / sizeof word[0]; i++) {
            size_t n = strlen(word[i]);
            if ((size_t)(at - data) >= n && !memcmp(at - n, word[i], n))
                return true;
        }
        at = end;
    }
    return false;
}

static bool is_source_name(const char *name) {
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < ENDINGS; i++)
        if (!strcmp(dot, ending[i]))
            return true;
    return false;
}

/* Searches the package's directory for any file that declares the class. */
static bool scan_package(const char *root, const char *base, struct source_file *out) {
    const char *slash = strrchr(base, '/'), *simple = slash ? slash + 1 : base;
    char path[2 * PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s%.*s", root, (int)(simple - base), base);
    DIR *d = n > 0 && (size_t)n < sizeof path ? opendir(n ? path : ".") : NULL;
    bool found = false;
    const struct dirent *e;
    for (int i = 0; d && !found && i < SCANNED_FILES && (e = readdir(d)); i++) {
        size_t size;
        if (!is_source_name(e->d_name) || (size_t)snprintf(path + n, sizeof path - (size_t)n, "%s",
                                                           e->d_name) >= sizeof path - (size_t)n)
            continue;
        char *data = read_file(path, &size);
        found = data && declares(data, size, simple) && source_file_set(out, data, size, path) == 0;
        free(data);
    }
    if (d)
        closedir(d);
    return found;
}

/* Searches below one root, which ends with a '/'. */
static bool find_below(const char *root, const char *class_name, bool scan,
                       struct source_file *out) {
    char base[PATH_BYTES], path[3 * PATH_BYTES];
    for (int b = 0; b < BELOW; b++) {
        snprintf(path, sizeof path, "%s%s", root, below[b]);
        if (access(path, X_OK) != 0)
            continue;
        for (unsigned nested = 0; nested < NESTED; nested++) {
            if (!source_file_base(class_name, nested, base, sizeof base))
                break;
            for (int i = 0; i < ENDINGS; i++) {
                snprintf(path, sizeof path, "%s%s%s%s", root, below[b], base, ending[i]);
                if (take_file(path, out))
                    return true;
            }
        }
        snprintf(path, sizeof path, "%s%s", root, below[b]);
        if (scan && source_file_base(class_name, 0, base, sizeof base) &&
            scan_package(path, base, out))
            return true;
    }
    return false;
}

/* Searches the directory itself, then each directory in it: it may be a module, or a project of
 * several. */
static bool find_in_directory(const char *directory, const char *class_name,
                              struct source_file *out) {
    char root[2 * PATH_BYTES];
    snprintf(root, sizeof root, "%s/", directory);
    if (find_below(root, class_name, true, out))
        return true;
    DIR *d = opendir(root);
    bool found = false;
    const struct dirent *e;
    for (int i = 0; d && !found && i < SCANNED_DIRECTORIES && (e = readdir(d)); i++) {
        if (e->d_name[0] == '.' ||
            (e->d_type != DT_DIR && e->d_type != DT_LNK && e->d_type != DT_UNKNOWN))
            continue;
        snprintf(root, sizeof root, "%s/%s/", directory, e->d_name);
        found = find_below(root, class_name, true, out);
    }
    if (d)
        closedir(d);
    return found;
}

static bool take_entry(struct source_archive *a, int64_t entry, const char *archive,
                       struct source_file *out) {
    char origin[sizeof out->origin];
    const char *name = source_archive_name(a, entry);
    int64_t size = source_archive_size(a, entry);
    if (!name || size < 0 || (uint64_t)size > SOURCE_BYTES_MAX)
        return false;
    char *data = malloc((size_t)size + 1);
    int64_t n = data ? source_archive_read(a, entry, data, (uint64_t)size) : -1;
    snprintf(origin, sizeof origin, "%s: %s", archive, name);
    bool taken = n >= 0 && source_file_set(out, data, (size_t)n, origin) == 0;
    free(data);
    return taken;
}

/* Finds the entry "pkg/Outer.java", or the one with the shortest prefix:
 * "java.base/pkg/Outer.java". */
static bool find_in_archive(struct source_archive *a, const char *archive, const char *class_name,
                            struct source_file *out) {
    char base[PATH_BYTES];
    int64_t entries = source_archive_entries(a), best = -1;
    size_t least = SIZE_MAX;
    if (!source_file_base(class_name, 0, base, sizeof base))
        return false;
    size_t length = strlen(base);
    for (int64_t i = 0; i < entries; i++) {
        const char *name = source_archive_name(a, i);
        const char *dot = name ? strrchr(name, '.') : NULL;
        size_t before = dot ? (size_t)(dot - name) : 0;
        if (!dot || before < length || !is_source_name(dot))
            continue;
        before -= length;
        if (before < least && !memcmp(name + before, base, length) &&
            (before == 0 || name[before - 1] == '/')) {
            best = i;
            least = before;
        }
    }
    return best >= 0 && take_entry(a, best, archive, out);
}

/* Opens an archive, and takes ownership of the descriptor. NULL: it is no archive. */
static struct source_archive *open_archive(int fd, off_t most) {
    struct stat st;
    if (fd < 0)
        return NULL;
    struct source_archive *a = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= most &&
                                       archive_list_is_short(fd, st.st_size)
                                   ? source_archive_open(fd)
                                   : NULL;
    if (!a)
        close(fd);
    return a;
}

static bool find_in_named(struct source_finder *f, const char *place, const char *class_name,
                          struct source_file *out) {
    struct stat st;
    if (stat(place, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return find_in_directory(place, class_name, out);
    if (!f->archive || strcmp(place, f->archive_path) != 0) {
        close_archive(&f->archive);
        f->archive = open_archive(open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                                  ARCHIVE_BYTES_MAX);
        snprintf(f->archive_path, sizeof f->archive_path, "%s", place);
    }
    return f->archive && find_in_archive(f->archive, place, class_name, out);
}

/* Finds the directory of the first libjvm.so that is mapped. The target may have any number of
 * mappings. */
static void find_libjvm(pid_t pid, char *out, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    char line[PATH_BYTES + 128];
    size_t bytes = 0;
    out[0] = '\0';
    while (maps && bytes < MAPS_BYTES_MAX && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/'), *end = path ? strstr(path, "/libjvm.so\n") : NULL;
        bytes += strlen(line);
        if (!end)
            continue;
        snprintf(out, size, "%.*s", (int)(end - path), path);
        break;
    }
    if (maps)
        fclose(maps);
}

/* Opens src.zip in `directory` or above it, with paths as the target sees them. */
static bool open_jdk_from(struct source_finder *f, int root, const char *directory) {
    static const char *const place[] = {"lib/src.zip", "src.zip"};
    char at[PATH_BYTES], path[PATH_BYTES + 16];
    snprintf(at, sizeof at, "%s", directory);
    for (int level = 0; level < JDK_LEVELS && at[0]; level++) {
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "%s/%s", at, place[i]);
            f->jdk = open_archive(target_files_open_below(root, path), JDK_BYTES_MAX);
            if (f->jdk) {
                snprintf(f->jdk_path, sizeof f->jdk_path, "%s", path);
                return true;
            }
        }
        char *slash = strrchr(at, '/');
        *(slash ? slash : at) = '\0';
    }
    return false;
}

static void open_jdk(struct source_finder *f, pid_t pid) {
    struct target_files t;
    struct err e;
    char link[64], directory[PATH_BYTES];
    close_archive(&f->jdk);
    f->jdk_pid = pid;
    if (target_files_open(pid, &t, &e) != 0)
        return;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, directory, sizeof directory - 1);
    directory[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash)
        *slash = '\0';
    if (t.root >= 0 && !open_jdk_from(f, t.root, directory)) {
        find_libjvm(pid, directory, sizeof directory);
        open_jdk_from(f, t.root, directory);
    }
    target_files_close(&t);
}

static bool look(struct source_finder *f, const struct answer *ask, struct source_file *out) {
    char place[PATH_BYTES];
    for (const char *s = ask->path; *s;) {
        size_t n = strcspn(s, ":");
        snprintf(place, sizeof place, "%.*s", (int)n, s);
        if (n && find_in_named(f, place, ask->class_name, out))
            return true;
        s += n + (s[n] == ':');
    }
    if (!ask->pid)
        return false;
    if (f->jdk_pid != ask->pid)
        open_jdk(f, ask->pid);
    return f->jdk && find_in_archive(f->jdk, f->jdk_path, ask->class_name, out);
}

const struct source_file *source_finder_find(struct source_finder *f, const char *path, pid_t pid,
                                             const char *class_name) {
    if (strlen(class_name) >= PATH_BYTES || strlen(path) >= PATH_BYTES)
        return NULL;
    for (int i = 0; i < KEPT; i++) {
        struct answer *a = &f->answer[i];
        if (a->asked && a->pid == pid && !strcmp(a->class_name, class_name) &&
            !strcmp(a->path, path))
            return a->file.text ? &a->file : NULL;
    }
    struct answer *a = &f->answer[f->turn++ % KEPT];
    source_file_free(&a->file);
    a->asked = true;
    a->pid = pid;
    snprintf(a->class_name, sizeof a->class_name, "%s", class_name);
    snprintf(a->path, sizeof a->path, "%s", path);
    if (!look(f, a, &a->file))
        a->file = (struct source_file){0};
    return a->file.text ? &a->file : NULL;
}
