/*
 * Where the agent's library is put for processes that do not see ours: another user's, with file
 * systems of their own. Needs root.
 */
#include "attach/place/place.h"

#include "attach/proc/inside.h"
#include "attach/proc/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define WAIT_MS 20000
#define LIBRARY_BYTES 100000

static char place_dir[64]; /* of all that is here; open to anybody */
static char library[128];  /* which only root may read */
static uint8_t content[LIBRARY_BYTES];

/* What stands for a JVM: a process of nobody with mounts of its own. */
struct target {
    struct jvm j;
    int hold; /* it ends when this is closed */
};

struct mount_of {
    const char *where, *options;
    unsigned long flags;
};

struct target_options {
    struct mount_of mounts[6]; /* of tmpfs, in the new root where there is one */
    const char *root;          /* becomes its root; NULL: ours */
    const char *tmp;           /* what its /tmp is a symbolic link to */
    const char *loaded;        /* a file that is mapped, and gone */
    bool fuse;                 /* on /tmp, and nobody answers */
    bool bare_root;            /* it stays root, and has no capability */
};

static void mount_one(const struct mount_of *m) {
    mkdir(m->where, 0755);
    unsigned long flags = m->flags & ~(unsigned long)MS_RDONLY;
    if (mount("none", m->where, "tmpfs", flags, m->options ? m->options : "mode=1777") != 0 ||
        (m->flags & MS_RDONLY && mount(NULL, m->where, NULL, MS_REMOUNT | m->flags, NULL) != 0))
        _exit(2);
}

static void mount_fuse(void) {
    char options[128];
    int fd = open("/dev/fuse", O_RDWR);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    if (fd < 0 || mount("none", "/tmp", "fuse", 0, options) != 0)
        _exit(3);
}

static void map_and_forget(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
    if (fd < 0 || ftruncate(fd, 4096) != 0 ||
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
        unlink(path) != 0)
        _exit(4);
}

static void become(const struct target_options *o) {
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(1);
    if (o->root && (mount("none", o->root, "tmpfs", 0, "mode=755") != 0 || chroot(o->root) != 0))
        _exit(1);
    umask(0);
    if (chdir("/") != 0 || (o->root && (mkdir("/var", 0755) || mkdir("/dev", 0755))))
        _exit(1);
    for (size_t i = 0; i < 6 && o->mounts[i].where; i++)
        mount_one(&o->mounts[i]);
    if (o->tmp && symlink(o->tmp, "/tmp") != 0)
        _exit(1);
    if (o->loaded)
        map_and_forget(o->loaded);
    if (o->fuse)
        mount_fuse();
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (o->bare_root ? syscall(SYS_capset, &header, none) != 0
                     : setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(1);
}

static struct target start(struct target_options o) {
    int hold[2], ready[2];
    char byte = 0;
    assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(hold[1]);
        setenv("HOME", "/var/tmp", 1);
        become(&o);
        if (write(ready[1], "x", 1) != 1 || read(hold[0], &byte, 1) != 0)
            _exit(1);
        _exit(0);
    }
    close(hold[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    struct proc_stat st;
    assert_int_equal(proc_stat(pid, &st), 0);
    return (struct target){.hold = hold[1],
                           .j = {.pid = pid,
                                 .inner_pid = pid,
                                 .uid = NOBODY,
                                 .gid = NOBODY,
                                 .container = true,
                                 .start_ticks = st.start_ticks}};
}

static void end(struct target *t) {
    close(t->hold);
    assert_int_equal(waitpid(t->j.pid, NULL, 0), t->j.pid);
}

static uint64_t deadline(void) {
    return proc_now_ns() + WAIT_MS * UINT64_C(1000000);
}

static struct place put(const struct target *t, unsigned wants) {
    struct place p;
    struct err e = {0};
    if (place_agent(&t->j, library, wants, deadline(), &p, &e) != 0)
        fail_msg("%s", e.message);
    return p;
}

/* Opens what the target has at a path; -errno. */
static int open_its(const struct target *t, const char *path) {
    int root = inside_enter(t->j.pid, "root");
    assert_true(root >= 0);
    int fd = inside_open(root, path, 0);
    close(root);
    return fd;
}

/* Names of ours in one of its directories. */
static int count_ours(const struct target *t, const char *dir) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/root%s", (int)t->j.pid, dir);
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *entry; d && (entry = readdir(d));)
        n += strncmp(entry->d_name, ".jtop-prof-", 11) == 0;
    if (d)
        closedir(d);
    return n;
}

static void check_copy(const struct target *t, const struct place *p, const char *dir) {
    static uint8_t got[LIBRARY_BYTES + 1];
    char link[64];
    struct stat st;
    size_t n = strlen(dir);
    if (strncmp(p->path, dir, n) != 0 || strncmp(p->path + n, "/.jtop-prof-", 12) != 0)
        fail_msg("it is at %s", p->path);
    assert_true(p->copied && !p->loaded);
    int fd = open_its(t, p->path);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0500);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(st.st_gid, NOBODY);
    assert_int_equal(st.st_nlink, 1);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int readable = open(link, O_RDONLY);
    assert_int_equal(read(readable, got, sizeof got), LIBRARY_BYTES);
    assert_memory_equal(got, content, LIBRARY_BYTES);
    close(readable);
    close(fd);
    assert_int_equal(count_ours(t, dir), 1);
}

/* It is put there, and is gone afterwards. */
static void goes_to(const char *dir, struct target_options o) {
    struct target t = start(o);
    struct place p = put(&t, 0);
    check_copy(&t, &p, dir);
    assert_int_equal(p.listener, -1);
    assert_string_equal(p.socket_path, "");
    place_release(&p);
    assert_int_equal(open_its(&t, p.path), -ENOENT);
    assert_int_equal(count_ours(&t, dir), 0);
    place_release(&p);
    end(&t);
}

static void the_same_file_needs_no_copy(void **state) {
    (void)state;
    struct target t = start((struct target_options){0});
    assert_int_equal(chmod(library, 0644), 0);
    struct place p = put(&t, 0);
    assert_int_equal(chmod(library, 0600), 0);
    assert_string_equal(p.path, library);
    assert_false(p.copied || p.loaded);
    assert_int_equal(p.keeper.child, 0);
    end(&t);
}

static void one_that_it_may_not_read_is_copied(void **state) {
    (void)state;
    goes_to("/tmp", (struct target_options){.mounts = {{.where = "/tmp"}}});
}

static void directories_that_will_not_do_are_passed_over(void **state) {
    (void)state;
    static const struct mount_of bad[] = {
        {.where = "/tmp", .flags = MS_NOEXEC},
        {.where = "/tmp", .flags = MS_RDONLY},
        {.where = "/tmp", .options = "mode=1777,size=64k"},
        {.where = "/tmp", .options = "mode=1777,nr_inodes=1"},
        {.where = "/tmp", .options = "mode=755"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        goes_to("/dev/shm", (struct target_options){.mounts = {bad[i], {.where = "/dev/shm"}}});
    /* group and mode are not the directory's */
    goes_to("/tmp",
            (struct target_options){.mounts = {{.where = "/tmp", .options = "mode=3777,gid=4"}}});
}

static void links_lead_nowhere_else(void **state) {
    (void)state;
    char root[128];
    snprintf(root, sizeof root, "%s/root", place_dir);
    static const char *const link[] = {"/var/tmp", "var/tmp", "../../../../../../var/tmp"};
    for (size_t i = 0; i < sizeof link / sizeof link[0]; i++)
        goes_to("/var/tmp", (struct target_options){
                                .root = root, .tmp = link[i], .mounts = {{.where = "/var/tmp"}}});
    goes_to("/data dir", (struct target_options){.root = root,
                                                 .tmp = "/proc/self/root",
                                                 .mounts = {{.where = "/data dir"}}});
}

static void with_no_directory_all_are_named(void **state) {
    (void)state;
    char root[128];
    struct place p;
    struct err e;
    snprintf(root, sizeof root, "%s/root", place_dir);
    struct target t = start(
        (struct target_options){.root = root,
                                .mounts = {{.where = "/tmp", .flags = MS_NOEXEC},
                                           {.where = "/dev/shm", .flags = MS_NOEXEC},
                                           {.where = "/var/tmp", .options = "mode=1777,size=4k"},
                                           {.where = "/with\nnewline"}}});
    assert_int_equal(place_agent(&t.j, library, PLACE_SOCKET, deadline(), &p, &e), -ENOENT);
    assert_non_null(strstr(e.message, "(/tmp, /dev/shm: mounted noexec; /var/tmp: no space; "
                                      "/run/user/65534"));
    assert_non_null(strstr(e.message, ": No such file or directory; "));
    assert_non_null(strstr(e.message, "/with?newline: its path cannot be passed to the JVM"));
    assert_int_equal(e.exit_code, ERR_EXIT_USAGE);
    assert_int_equal(p.keeper.child, 0);
    assert_int_equal(p.listener, -1);
    assert_int_equal(count_ours(&t, "/tmp") + count_ours(&t, "/var/tmp"), 0);
    end(&t);
}

static void a_socket_is_the_users_own(void **state) {
    (void)state;
    struct target t = start((struct target_options){
        .mounts = {{.where = "/tmp", .flags = MS_NOEXEC}, {.where = "/dev/shm"}}});
    struct place p = put(&t, PLACE_SOCKET);
    check_copy(&t, &p, "/dev/shm");
    assert_int_equal(strncmp(p.socket_path, "/tmp/.jtop-prof-", 16), 0);
    struct stat st;
    int fd = open_its(&t, p.socket_path);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFSOCK | 0600);
    assert_int_equal(st.st_uid, NOBODY);
    close(fd);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char path[PLACE_PATH + 32];
    int n = snprintf(path, sizeof path, "/proc/%d/root%s", (int)t.j.pid, p.socket_path);
    assert_in_range(n, 1, sizeof a.sun_path - 1);
    memcpy(a.sun_path, path, (size_t)n);
    int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&a, sizeof a), 0);
    int server = accept(p.listener, NULL, NULL);
    assert_true(server >= 0);
    assert_int_equal(accept(p.listener, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    place_release(&p);
    assert_int_equal(p.listener, -1);
    assert_int_equal(count_ours(&t, "/tmp") + count_ours(&t, "/dev/shm"), 0);
    close(server);
    close(client);
    end(&t);
}

static void what_is_loaded_is_found_by_its_name(void **state) {
    (void)state;
    char loaded[PLACE_PATH], other[PLACE_PATH];
    struct target_options o = {.mounts = {{.where = "/tmp"}}};
    struct target t = start(o);
    struct place p = put(&t, 0);
    place_release(&p);
    end(&t);
    snprintf(loaded, sizeof loaded, "/tmp/.jtop-prof-00c0ffee%s", strrchr(p.path, '-'));
    o.loaded = loaded;
    t = start(o);
    p = put(&t, PLACE_SOCKET);
    assert_string_equal(p.path, loaded);
    assert_true(p.loaded && !p.copied && p.listener >= 0);
    place_release(&p);
    p = put(&t, PLACE_ANEW);
    check_copy(&t, &p, "/tmp");
    place_release(&p);
    end(&t);
    /* of another build */
    snprintf(other, sizeof other, "/tmp/.jtop-prof-00c0ffee-%s", "0badc0de.so");
    o.loaded = other;
    goes_to("/tmp", o);
}

static void nothing_stays_of_one_who_is_killed(void **state) {
    (void)state;
    struct target t = start((struct target_options){.mounts = {{.where = "/tmp"}}});
    pid_t caller = fork();
    if (caller == 0) {
        struct place p = put(&t, PLACE_SOCKET);
        kill(getpid(), p.copied ? SIGKILL : SIGTERM);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(caller, &status, 0), caller);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int ms = 0; count_ours(&t, "/tmp") && ms < WAIT_MS; ms++)
        poll(NULL, 0, 1);
    assert_int_equal(count_ours(&t, "/tmp"), 0);
    end(&t);
}

/* We could write where it could not read. */
static void a_root_without_rights_is_no_more_than_that(void **state) {
    (void)state;
    static const struct mount_of others = {.where = "/tmp", .options = "mode=755,uid=65534"};
    struct target t = start(
        (struct target_options){.mounts = {others, {.where = "/dev/shm"}}, .bare_root = true});
    t.j.uid = t.j.gid = 0;
    assert_int_equal(chown(library, NOBODY, NOBODY), 0);
    struct place p = put(&t, 0);
    assert_int_equal(chown(library, 0, 0), 0);
    assert_true(p.copied);
    assert_int_equal(strncmp(p.path, "/dev/shm/.jtop-prof-", 20), 0);
    place_release(&p);
    assert_int_equal(count_ours(&t, "/tmp") + count_ours(&t, "/dev/shm"), 0);
    end(&t);
}

/* The JVM's user has killed, or stopped, the child that was to remove it. */
static void a_keeper_that_is_killed_leaves_nothing(void **state) {
    (void)state;
    static const int with[] = {SIGKILL, SIGSTOP};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        struct target t = start((struct target_options){.mounts = {{.where = "/tmp"}}});
        struct place p = put(&t, PLACE_SOCKET);
        assert_int_equal(count_ours(&t, "/tmp"), 2);
        assert_int_equal(kill(p.keeper.child, with[i]), 0);
        place_release(&p);
        assert_int_equal(count_ours(&t, "/tmp"), 0);
        place_release(&p);
        end(&t);
    }
}

static void a_file_system_that_hangs_is_left(void **state) {
    (void)state;
    int fuse = open("/dev/fuse", O_RDWR);
    if (fuse < 0)
        skip();
    close(fuse);
    struct target t = start((struct target_options){.fuse = true});
    struct place p;
    struct err e;
    uint64_t until = proc_now_ns() + 200 * UINT64_C(1000000);
    assert_int_equal(place_agent(&t.j, library, 0, until, &p, &e), -ETIMEDOUT);
    assert_non_null(strstr(e.message, "the file systems of JVM"));
    assert_int_equal(p.keeper.child, 0);
    end(&t);
}

static void what_cannot_be_read_is_said(void **state) {
    (void)state;
    struct target t = start((struct target_options){.mounts = {{.where = "/tmp"}}});
    struct place p;
    struct err e;
    assert_int_equal(place_agent(&t.j, "/nowhere/a.so", 0, deadline(), &p, &e), -ENOENT);
    assert_non_null(strstr(e.message, "cannot read the agent library /nowhere/a.so"));
    assert_int_equal(place_agent(&t.j, place_dir, 0, deadline(), &p, &e), -EINVAL);
    assert_int_equal(place_check(&t.j, "/nowhere/a.so", deadline(), &e), -ENOENT);
    assert_int_equal(place_check(&t.j, "/tmp", deadline(), &e), 0);
    t.j.start_ticks++; /* another process by now: whoever loads it will tell */
    p = put(&t, PLACE_SOCKET);
    assert_string_equal(p.path, library);
    assert_true(!p.copied && p.listener < 0);
    end(&t);
}

static int setup(void **state) {
    (void)state;
    char root[128];
    if (geteuid() != 0)
        return 0;
    snprintf(place_dir, sizeof place_dir, "/var/tmp/jtop-prof-place-XXXXXX");
    if (!mkdtemp(place_dir) || chmod(place_dir, 0755) != 0)
        return -1;
    snprintf(root, sizeof root, "%s/root", place_dir);
    snprintf(library, sizeof library, "%s/library.so", place_dir);
    for (size_t i = 0; i < LIBRARY_BYTES; i++)
        content[i] = (uint8_t)(i * 31 >> 3);
    int fd = open(library, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool ok = mkdir(root, 0755) == 0 && write(fd, content, LIBRARY_BYTES) == LIBRARY_BYTES;
    close(fd);
    return ok ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char root[128];
    snprintf(root, sizeof root, "%s/root", place_dir);
    unlink(library);
    rmdir(root);
    rmdir(place_dir);
    return 0;
}

static int as_root(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_file_needs_no_copy, as_root),
        cmocka_unit_test_setup(one_that_it_may_not_read_is_copied, as_root),
        cmocka_unit_test_setup(directories_that_will_not_do_are_passed_over, as_root),
        cmocka_unit_test_setup(links_lead_nowhere_else, as_root),
        cmocka_unit_test_setup(with_no_directory_all_are_named, as_root),
        cmocka_unit_test_setup(a_socket_is_the_users_own, as_root),
        cmocka_unit_test_setup(what_is_loaded_is_found_by_its_name, as_root),
        cmocka_unit_test_setup(nothing_stays_of_one_who_is_killed, as_root),
        cmocka_unit_test_setup(a_keeper_that_is_killed_leaves_nothing, as_root),
        cmocka_unit_test_setup(a_root_without_rights_is_no_more_than_that, as_root),
        cmocka_unit_test_setup(a_file_system_that_hangs_is_left, as_root),
        cmocka_unit_test_setup(what_cannot_be_read_is_said, as_root),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
