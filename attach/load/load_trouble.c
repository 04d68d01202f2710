#include "attach/load/load_trouble.h"

#include "attach/load/connect.h"
#include "attach/load/jvm_flag.h"
#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOOK_MS 2000

#if defined __x86_64__
#define OUR_MACHINE EM_X86_64
#elif defined __aarch64__
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static const char no_loading[] = "Dynamic agent loading is not enabled";

/* The first entry found in the text counts; so specific texts come first. */
static const struct {
    const char *text;
    enum load_kind kind;
} sayings[] = {
    {no_loading, LOAD_DISABLED},
    {"Agent_OnAttach is not available", LOAD_NOT_AGENT},
    {"wrong ELF class", LOAD_MACHINE},
    {"can't load ", LOAD_MACHINE},
    {"endianness mismatch", LOAD_MACHINE},
    {"Exec format error", LOAD_MACHINE},
    {"failed to map segment", LOAD_NOEXEC},
    {"Operation not permitted", LOAD_NOEXEC},
    {"Permission denied", LOAD_DENIED},
    {"version `", LOAD_OLD_LIBC},
    {"undefined symbol", LOAD_OLD_LIBC},
    {"symbol not found", LOAD_OLD_LIBC},
    {"cannot allocate memory in static TLS block", LOAD_OLD_LIBC},
    {"No such file", LOAD_MISSING},
    {"invalid ELF header", LOAD_NOT_LIBRARY},
    {"file too short", LOAD_NOT_LIBRARY},
    {"Is a directory", LOAD_NOT_LIBRARY},
};

/* What each kind means, and what to do. */
static const char *const meaning[] = {
    [LOAD_UNKNOWN] = "the reason is not known",
    [LOAD_DISABLED] = "it was started with -XX:-EnableDynamicAgentLoading: restart it without this "
                      "flag, or let it profile itself with -agentpath:...=start,file=...",
    [LOAD_MISSING] = "it sees no such file: for a JVM in a container, give with --libpath the path "
                     "that is valid inside the container",
    [LOAD_NEEDS] =
        "a library that the agent needs is missing: is this the agent that came with jtop-prof?",
    [LOAD_MACHINE] = "the agent is built for another machine than the JVM: use a jtop-prof built "
                     "for the JVM's machine",
    [LOAD_NOEXEC] = "files in its directory may not be executed (mounted noexec, or a security "
                    "module forbids it): put it elsewhere, and give that path with --libpath",
    [LOAD_DENIED] =
        "the JVM's user may not read it: chmod a+rx the file and the directories above it",
    [LOAD_OLD_LIBC] = "its C library lacks what the agent needs: use the agent of a jtop-prof "
                      "release, which works with older and other C libraries",
    [LOAD_NOT_LIBRARY] = "the file is not a shared library, or it is truncated: install it again",
    [LOAD_NOT_AGENT] =
        "the file is not an agent: omit --libpath, or give the libjtop-agent.so of this jtop-prof",
};

enum load_kind load_kind(const char *text, const char *library) {
    enum load_kind kind = LOAD_UNKNOWN;
    for (size_t i = 0; kind == LOAD_UNKNOWN && i < sizeof sayings / sizeof *sayings; i++)
        if (strstr(text, sayings[i].text))
            kind = sayings[i].kind;
    /* "LIBRARY was not loaded. WHAT: cannot open …": the missing file may be a library that it
     * requires. */
    static const char loaded[] = "was not loaded. ";
    const char *what = strstr(text, loaded);
    what = what ? what + sizeof loaded - 1 : text;
    bool needed = strstr(what, "needed by") || !strstr(what, library);
    return kind == LOAD_MISSING && needed ? LOAD_NEEDS : kind;
}

/* The task of examining the library's path as the JVM's user, and its result. */
struct look {
    const struct jvm *j;
    const char *library;
};

struct found {
    int error;    /* of opening it */
    bool regular; /* a regular file, and long enough */
    bool noexec;
    unsigned char elf[EI_NIDENT + 4]; /* the file's first bytes, up to e_machine */
};

static void look(void *context, void *result, int *passed) {
    const struct look *l = context;
    struct found f = {0};
    struct statvfs fs;
    *passed = -1;
    int root = inside_enter(l->j->pid, "root");
    f.error = -credentials_take(l->j->pid, l->j->uid, l->j->gid);
    if (root < 0)
        root = inside_enter(l->j->pid, "root"); /* that user may enter it */
    int fd = f.error ? -f.error : root < 0 ? root : inside_read(inside_open(root, l->library, 0));
    if (fd >= 0 && !f.error && fstatvfs(fd, &fs) == 0) {
        f.regular = read(fd, f.elf, sizeof f.elf) == sizeof f.elf;
        f.noexec = fs.f_flag & ST_NOEXEC;
    } else if (!f.error && fd != -EINVAL) {
        f.error = fd < 0 ? -fd : EIO;
    }
    memcpy(result, &f, sizeof f);
}

static enum load_kind judge(const struct found *f) {
    uint16_t machine = 0;
    if (f->error)
        return f->error == ENOENT ? LOAD_MISSING : f->error == EACCES ? LOAD_DENIED : LOAD_UNKNOWN;
    if (!f->regular || memcmp(f->elf, ELFMAG, SELFMAG) != 0)
        return LOAD_NOT_LIBRARY;
    memcpy(&machine, f->elf + EI_NIDENT + 2, sizeof machine);
    if (f->elf[EI_CLASS] != ELFCLASS64 || machine != OUR_MACHINE)
        return LOAD_MACHINE;
    return f->noexec ? LOAD_NOEXEC : LOAD_UNKNOWN;
}

static enum load_kind look_at(const struct jvm *j, const char *library) {
    struct look l = {j, library};
    struct found f = {.error = EIO};
    int fd;
    int rc = errand_run(look, &l, proc_now_ns() + LOOK_MS * UINT64_C(1000000), &f, sizeof f, &fd);
    if (fd >= 0)
        close(fd);
    return rc < 0 || library[0] != '/' ? LOAD_UNKNOWN : judge(&f);
}

int load_trouble(const struct jvm *j, const char *library, const char *text, struct err *e) {
    enum load_kind kind = *text ? load_kind(text, library) : look_at(j, library);
    return err_set(e, kind == LOAD_DISABLED ? EOPNOTSUPP : EPROTO,
                   "JVM %d did not load the agent %s: %s (%s%.200s)", (int)j->pid, library,
                   meaning[kind], *text ? "it says: " : "it says nothing", text);
}

int load_check(const struct jvm *j, const char *library, struct err *e) {
    unsigned char ident[EI_NIDENT + 1] = {0};
    if (proc_read(j->pid, "exe", (char *)ident, sizeof ident) > EI_CLASS &&
        memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32) {
        const struct helper_outcome o = {.step = HELPER_NARROW};
        return connect_explain(j, &o, e);
    }
    /* JDK 8 has no such flag. */
    bool eight =
        strncmp(j->version, "25.", 3) == 0 && strchr(j->version, '-') && !strchr(j->version, '+');
    if (library[0] == '/' && !eight && jvm_flag(j, "EnableDynamicAgentLoading") < 0)
        return load_trouble(j, library, no_loading, e);
    return 0;
}
