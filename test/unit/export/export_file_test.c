#include "core/export/export.h"

#include "test/unit/export/export_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct place {
    char dir[64];
    struct profile *profile;
    struct snapshot *snapshot;
};

static int set_up(void **state) {
    struct place *p = calloc(1, sizeof(*p));
    snprintf(p->dir, sizeof(p->dir), "/tmp/export-file-test-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    p->profile = profile_new(0);
    fixture_add(p->profile, 1, "n:main\tn:work", 7, 70);
    p->snapshot = fixture_snapshot(p->profile, false, false);
    *state = p;
    return 0;
}

static char *at(const struct place *p, const char *name) {
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", p->dir, name);
    return path;
}

static int tear_down(void **state) {
    struct place *p = *state;
    snapshot_free(p->snapshot);
    profile_free(p->profile);
    DIR *d = opendir(p->dir);
    for (struct dirent *e; (e = readdir(d));) {
        if (unlink(at(p, e->d_name)))
            rmdir(at(p, e->d_name));
    }
    closedir(d);
    int err = rmdir(p->dir);
    free(p);
    return err;
}

static unsigned files_in(const struct place *p) {
    unsigned n = 0;
    DIR *d = opendir(p->dir);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static int export_as(const struct place *p, const char *path, const char *format, struct err *e) {
    const struct export_quality q = {.event = "cpu", .unit = "ns"};
    struct export_options o = {0};
    const struct exporter *x = exporter_by_format(format, &o);
    *e = (struct err){0};
    return export_file(path, x, p->profile, p->snapshot, &q, &o, e);
}

static void expect_content(const char *path, const char *want) {
    char got[256] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, want);
}

static void test_writes_and_replaces(void **state) {
    struct place *p = *state;
    struct err e;
    struct stat st;
    mode_t before = umask(027);
    assert_int_equal(export_as(p, at(p, "a.folded"), "collapsed", &e), 0);
    umask(before);
    expect_content(at(p, "a.folded"), "main;work 7\n");
    assert_int_equal(stat(at(p, "a.folded"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(export_as(p, at(p, "a.folded"), "collapsed=total", &e), 0);
    assert_int_equal(files_in(p), 1);
}

static void test_replaces_a_link_and_not_its_target(void **state) {
    struct place *p = *state;
    struct err e;
    struct stat st;
    char victim[512];
    snprintf(victim, sizeof(victim), "%s", at(p, "victim"));
    FILE *f = fopen(victim, "w");
    fputs("precious", f);
    fclose(f);
    assert_int_equal(symlink(victim, at(p, "out.svg")), 0);
    assert_int_equal(export_as(p, at(p, "out.svg"), "collapsed", &e), 0);
    expect_content(victim, "precious");
    expect_content(at(p, "out.svg"), "main;work 7\n");
    assert_int_equal(lstat(at(p, "out.svg"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

/* A full disk, as far as one can be had here: a file may grow no larger than 4 bytes. */
static void test_full_disk_leaves_nothing(void **state) {
    struct place *p = *state;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct err e;
        struct rlimit few = {4, 4};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &few);
        int err = export_as(p, at(p, "full"), "collapsed", &e);
        _exit(err == -EFBIG && e.exit_code == ERR_EXIT_PROFILER &&
                      strstr(e.message, at(p, "full")) &&
                      strstr(e.message, "8 of 12 bytes were not written")
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(files_in(p), 0);

    struct err e;
    assert_int_equal(export_as(p, "/dev/full", "collapsed", &e), -ENOSPC);
    assert_non_null(strstr(e.message, "No space left"));
}

/* ---- files larger than what is kept in memory of them ---- */

/* Replaces the profile by one of which most formats make some megabytes. */
static void grow(struct place *p) {
    char stack[2048];
    uint32_t seed = 1;
    for (int i = 0; i < 6000; i++) {
        size_t len = (size_t)snprintf(stack, sizeof(stack), "n:main");
        for (int d = 0; d < 12; d++) {
            seed = seed * 1664525u + 1013904223u;
            len += (size_t)snprintf(stack + len, sizeof(stack) - len,
                                    "\tj:com/example/shop/service/Handler%u.handleRequest(I)V",
                                    seed >> 22);
        }
        fixture_add(p->profile, 1, stack, 1 + seed % 5, 70);
    }
    snapshot_free(p->snapshot);
    p->snapshot = fixture_snapshot(p->profile, false, false);
}

struct pieces {
    struct text all;
    unsigned count;
};

static int take_piece(void *arg, const char *data, size_t len) {
    struct pieces *k = arg;
    text_add_n(&k->all, data, len);
    k->count++;
    return 0;
}

/* Formats that do not want the whole never look back: in pieces it is the same file. */
static void test_formats_in_pieces(void **state) {
    struct place *p = *state;
    const struct export_quality q = {.event = "cpu", .unit = "ns", .day_ns = 1};
    const struct export_options o = {.minwidth = 1e-9, .traces = 100000};
    unsigned in_pieces = 0;
    grow(p);
    for (const struct exporter *x = exporters; x->name; x++) {
        struct pieces k = {0};
        struct text whole = {0}, t = {.sink = take_piece, .sink_arg = &k};
        if (x->whole)
            continue;
        assert_int_equal(x->write(&whole, p->profile, p->snapshot, &q, &o), 0);
        assert_int_equal(x->write(&t, p->profile, p->snapshot, &q, &o), 0);
        text_add_n(&k.all, t.data, t.len);
        assert_int_equal(k.all.len, whole.len);
        assert_memory_equal(k.all.data, whole.data, whole.len);
        assert_true(whole.len < 2 * TEXT_GATHERED || k.count > 0);
        in_pieces += k.count > 0;
        text_free(&k.all);
        text_free(&t);
        text_free(&whole);
    }
    assert_true(in_pieces >= 3);
}

static void expect_same(const char *path, const struct text *want) {
    char *got = malloc(want->len + 1);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, want->len + 1, f), want->len);
    fclose(f);
    assert_memory_equal(got, want->data, want->len);
    free(got);
}

/* A profile that gets more samples, with names of their own, whenever its lock is given up. */
struct busy {
    struct profile *profile;
    unsigned times;
    bool held;
};

static void grow_busily(void *arg) {
    struct busy *b = arg;
    char stack[200];
    assert_true(b->held);
    b->held = false;
    b->times++;
    for (unsigned i = 0; i < 300; i++) {
        snprintf(stack, sizeof stack,
                 "j:java/lang/Thread.run()V\tj:new/Class%u.f%u()V\tj:a/A.g%u()V", b->times, i,
                 i * b->times);
        fixture_add(b->profile, 1 + i, stack, 1, 70);
    }
}

static void hold_again(void *arg) {
    struct busy *b = arg;
    b->held = true;
}

static void test_lock_is_given_up(void **state) {
    struct place *p = *state;
    const struct export_quality q = {.event = "cpu", .unit = "ns", .day_ns = 1};
    struct busy b = {.profile = p->profile, .held = true};
    const struct export_lock lock = {grow_busily, hold_again, &b};
    grow(p);
    for (const struct exporter *x = exporters; x->name; x++) {
        const struct query ask = {.tree = true, .forks = x->walks, .to_second = 600};
        struct export_options o = {.minwidth = 1e-9, .traces = 100000, .question = &ask};
        struct snapshot *s = snapshot_take(p->profile, &ask);
        struct text whole = {0};
        struct err e = {0};
        assert_non_null(s);
        assert_int_equal(x->write(&whole, p->profile, s, &q, &o), 0);
        b.times = 0;
        o.lock = &lock;
        assert_int_equal(export_file(at(p, "out"), x, p->profile, s, &q, &o, &e), 0);
        assert_true(b.held);
        assert_in_range(b.times, 1, x->whole ? 1 : 1 + whole.len / TEXT_GATHERED);
        assert_true(whole.len < 2 * TEXT_GATHERED || x->whole || b.times > 1);
        expect_same(at(p, "out"), &whole);
        text_free(&whole);
        snapshot_free(s);
    }
}

static void test_large_files(void **state) {
    struct place *p = *state;
    static const char *const format[] = {"collapsed", "json", "speedscope"};
    const struct export_quality q = {.event = "cpu", .unit = "ns"};
    struct export_options o = {0};
    struct err e = {0};
    grow(p);
    const struct export_part part = {p->snapshot, &q, NULL};
    const struct export_part parts[] = {part, part};
    for (size_t i = 0; i < sizeof(format) / sizeof(format[0]); i++) {
        const struct exporter *x = exporter_by_format(format[i], &o);
        struct text t = {0};
        assert_int_equal(export_format(&t, x, p->profile, p->snapshot, &q, &o, &e), 0);
        assert_int_equal(export_as(p, at(p, "large"), format[i], &e), 0);
        expect_same(at(p, "large"), &t);
        text_free(&t);
        if (!x->write_all)
            continue;
        assert_int_equal(x->write_all(&t, p->profile, parts, 2, &o), 0);
        assert_int_equal(export_file_all(at(p, "large"), x, p->profile, parts, 2, &o, &e), 0);
        expect_same(at(p, "large"), &t);
        text_free(&t);
    }
    assert_int_equal(files_in(p), 1);
}

static int export_to_small_disk(const struct place *p, rlim_t bytes) {
    struct err e;
    struct rlimit some = {bytes, bytes};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &some);
    int err = export_as(p, at(p, "kept"), "collapsed", &e);
    if (err == -EFBIG && e.exit_code == ERR_EXIT_PROFILER && strstr(e.message, at(p, "kept")) &&
        strstr(e.message, "space for 1572864 bytes, raise ulimit -f") && !strchr(e.message, '\n'))
        return 0;
    fprintf(stderr, "%d: '%s'\n", err, e.message);
    return 1;
}

/* Also where the disk is full only after some of it: what was there before stays. */
static void test_full_disk_in_the_middle(void **state) {
    struct place *p = *state;
    struct err e;
    assert_int_equal(export_as(p, at(p, "kept"), "collapsed", &e), 0);
    grow(p);
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(export_to_small_disk(p, 3 << 19));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(files_in(p), 1);
    expect_content(at(p, "kept"), "main;work 7\n");

    assert_int_equal(export_as(p, "/dev/full", "collapsed", &e), -ENOSPC);
    assert_int_equal(e.exit_code, ERR_EXIT_PROFILER);
    assert_non_null(strstr(e.message, "cannot write /dev/full: No space left"));
    assert_null(strchr(e.message, '\n'));
}

/* | head: it is for the caller to say that this is no failure. */
static void test_reader_that_leaves(void **state) {
    struct place *p = *state;
    int end[2];
    struct err e;
    char path[32];
    grow(p);
    assert_int_equal(pipe(end), 0);
    close(end[0]);
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof(path), "/dev/fd/%d", end[1]);
    assert_int_equal(export_as(p, path, "collapsed", &e), -EPIPE);
    signal(SIGPIPE, SIG_DFL);
    close(end[1]);
}

static void test_devices_and_pipes_are_written_to(void **state) {
    struct place *p = *state;
    struct err e;
    struct stat st;
    assert_int_equal(export_check_path("/dev/null", &e), 0);
    assert_int_equal(export_as(p, "/dev/null", "svg", &e), 0);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    char buf[64];
    assert_int_equal(mkfifo(at(p, "pipe"), 0600), 0);
    assert_int_equal(export_check_path(at(p, "pipe"), &e), 0); /* and does not wait for a reader */
    int reader = open(at(p, "pipe"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(export_as(p, at(p, "pipe"), "collapsed", &e), 0);
    assert_int_equal(read(reader, buf, sizeof(buf)), 12);
    close(reader);
}

static void test_stdout(void **state) {
    struct place *p = *state;
    struct err e;
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    int fd = open(at(p, "out"), O_WRONLY | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    printf("before\n");
    int err = export_as(p, NULL, "collapsed", &e);
    int again = export_as(p, "/dev/stdout", "collapsed", &e);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    assert_int_equal(err, 0);
    assert_int_equal(again, 0);
    struct stat st;
    assert_int_equal(lstat("/dev/stdout", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    expect_content(at(p, "out"), "before\nmain;work 7\nmain;work 7\n");
}

static void expect_refused(const char *path, int code, const char *why) {
    struct err e = {0};
    assert_int_equal(export_check_path(path, &e), -code);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    if (!strstr(e.message, why))
        print_error("'%s' does not say '%s'\n", e.message, why);
    assert_non_null(strstr(e.message, why));
    assert_null(strchr(e.message, '\n'));
}

static void test_bad_paths_are_refused_before(void **state) {
    struct place *p = *state;
    struct err e;
    char path[PATH_MAX + 8];
    assert_int_equal(export_check_path(at(p, "new.svg"), &e), 0);
    assert_int_equal(files_in(p), 0);
    expect_refused("", EINVAL, "empty");
    expect_refused(p->dir, EISDIR, "directory");
    expect_refused(at(p, "sub/"), EISDIR, "directory");
    expect_refused(at(p, "no/such/out.svg"), ENOENT, "create it first");
    expect_refused("/dev/null/out.svg", ENOTDIR, "Not a directory");
    expect_refused("/dev/fd/9999", EBADF, "Bad file descriptor");
    expect_refused("/proc/self/none", ENOENT, "no new files can be created");
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    expect_refused(path, ENAMETOOLONG, "too long");
    path[300] = '\0';
    expect_refused(path, ENAMETOOLONG, "too long");
}

static void test_no_permission(void **state) {
    struct place *p = *state;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct err e = {0};
        if (chmod(p->dir, 0555) || (!geteuid() && (setgid(65534) || setuid(65534))))
            _exit(2);
        int err = export_check_path(at(p, "out.svg"), &e);
        _exit(err == -EACCES && strstr(e.message, "no new files can be created") ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    chmod(p->dir, 0755);
}

static void expand(const char *pattern, unsigned sequence, const char *want) {
    struct text t = {0};
    struct err e = {0};
    const struct export_path of = {.pid = 123, .sequence = sequence, .event = "a:b/c"};
    assert_int_equal(export_path_expand(pattern, &of, &t, &e), 0);
    assert_string_equal(t.data, want);
    text_free(&t);
}

static void expect_bad_pattern(const char *pattern, int code) {
    struct text t = {0};
    struct err e = {0};
    const struct export_path of = {.pid = 1, .sequence = 1};
    assert_int_equal(export_path_expand(pattern, &of, &t, &e), -code);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    text_free(&t);
}

static void test_path_expand(void **state) {
    (void)state;
    setenv("EXPORT_TEST", "some where", 1);
    unsetenv("EXPORT_NONE");
    expand("plain.svg", 0, "plain.svg");
    expand("", 0, "");
    expand("%p-%n-%%.svg", 12, "123-12-%.svg");
    expand("%n{5}/%{EXPORT_TEST}%{EXPORT_NONE}", 12, "2/some where");
    expand("%e.svg", 0, "a_b_c.svg");
    expect_bad_pattern("%x", EINVAL);
    expect_bad_pattern("end%", EINVAL);
    expect_bad_pattern("%{EXPORT_TEST", EINVAL);
    expect_bad_pattern("%n{0}", EINVAL);
    expect_bad_pattern("%n{-3}", EINVAL);
    expect_bad_pattern("%n{99999999999999}", EINVAL);
    static char long_name[PATH_MAX + 1];
    memset(long_name, 'x', PATH_MAX);
    expect_bad_pattern(long_name, ENAMETOOLONG);

    struct text t = {0};
    struct err e;
    assert_int_equal(export_path_expand("%t", &(struct export_path){.pid = 1}, &t, &e), 0);
    int digits = 0;
    for (const char *c = t.data; *c; c++)
        digits += *c >= '0' && *c <= '9';
    assert_true(t.len == 15 && digits == 14 && t.data[8] == '-');
    text_free(&t);
}

/* Where there is a file for each event. */
static void test_path_of_event(void **state) {
    (void)state;
    static const struct {
        const char *format, *path, *becomes;
    } cases[] = {
        {"svg", "out.svg", "out-alloc.svg"}, {"collapsed", "a.b/x.FOLDED", "a.b/x-alloc.FOLDED"},
        {"svg", "a.b/out", "a.b/out-alloc"}, {"text", "report.log", "report-alloc.log"},
        {"svg", ".svg", ".svg-alloc"},       {"svg", "dir/.hidden", "dir/.hidden-alloc"},
    };
    struct export_options unused = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text t = {0};
        export_path_add_event(cases[i].path, exporter_by_format(cases[i].format, &unused), "alloc",
                              &t);
        assert_string_equal(t.data, cases[i].becomes);
        text_free(&t);
    }
    assert_true(export_path_has_event("x-%e.svg"));
    assert_false(export_path_has_event("x-%%e.svg"));
    assert_false(export_path_has_event("%p%"));
}

static void test_formats(void **state) {
    (void)state;
    struct export_options o = {0};
    assert_string_equal(exporter_by_format("flat=12", &o)->name, "text");
    assert_string_equal(exporter_by_format("traces", &o)->name, "text");
    assert_true(o.want_flat && o.want_traces && !o.want_summary && o.flat == 12 && o.traces == 0);
    assert_string_equal(exporter_by_format("svg=total", &o)->name, "svg");
    assert_true(o.total);
    assert_string_equal(exporter_by_format("collapsed=samples", &o)->name, "collapsed");
    assert_false(o.total);
    static const char *const bad[] = {"",          "xml",       "sv",     "svgs",
                                      "svg=bytes", "flat=0",    "flat=",  "flat=-1",
                                      "flat=1x",   "summary=1", "=total", "traces=99999999999",
                                      "collapsed="};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_null(exporter_by_format(bad[i], &o));
    assert_string_equal(exporter_by_path("/a.b/out.SVG")->name, "svg");
    assert_string_equal(exporter_by_path("x.folded")->name, "collapsed");
    assert_string_equal(exporter_by_path("x.svg.txt")->name, "text");
    assert_null(exporter_by_path("svg"));
    assert_null(exporter_by_path("out.svgz"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_writes_and_replaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaces_a_link_and_not_its_target, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_formats_in_pieces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lock_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk_in_the_middle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reader_that_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_devices_and_pipes_are_written_to, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stdout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_paths_are_refused_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_permission, set_up, tear_down),
        cmocka_unit_test(test_path_expand),
        cmocka_unit_test(test_path_of_event),
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
