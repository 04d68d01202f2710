/* What the doctor reads, from texts; and what it makes of them. */
#include "attach/doctor/examine.h"

#include "tui/cli/command/doctor_command.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void says(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %s", part, text);
}

static void statuses(void **unused) {
    (void)unused;
    struct process_status s;
    assert_true(process_status_parse("Name:\tState:\nState:\tt (tracing stop)\nTracerPid:\t77\n"
                                     "Uid:\t1\t1000\t1\t1\nGid:\t1\t1001\t1\t1\nThreads:\t12\n"
                                     "SigBlk:\t0000000004000000\nSigIgn:\t0\n"
                                     "SigCgt:\t0000000004000004\nCapEff:\t0000004000200000\n"
                                     "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n",
                                     &s));
    assert_int_equal(s.state, 't');
    assert_int_equal(s.tracer, 77);
    assert_int_equal(s.uid, 1000);
    assert_int_equal(s.gid, 1001);
    assert_int_equal(s.threads, 12);
    assert_int_equal(s.seccomp, 2);
    assert_int_equal(s.no_new_privs, 1);
    assert_true(process_status_signal(s.caught, SIGQUIT));
    assert_true(process_status_signal(s.caught, SIGPROF));
    assert_true(process_status_signal(s.blocked, SIGPROF));
    assert_false(process_status_signal(s.caught, SIGVTALRM));
    assert_true(process_status_has(s.capabilities, CAPABILITY_PERFMON));
    assert_true(process_status_has(s.capabilities, CAPABILITY_SYS_ADMIN));
    assert_false(process_status_has(s.capabilities, CAPABILITY_SETUID));
    assert_false(process_status_parse("", &s));
    assert_int_equal(s.state, '?');
    assert_int_equal(s.seccomp, -1);
    assert_false(process_status_parse("State:", &s));
    assert_int_equal(process_status_read(getpid(), &s), 0);
    assert_int_equal(s.uid, geteuid());
}

static void lines(struct process_maps *m, const char *const *line, size_t n) {
    *m = (struct process_maps){0};
    for (size_t i = 0; i < n; i++)
        process_maps_line(m, line[i]);
}

static void maps(void **unused) {
    (void)unused;
    struct process_maps m;
    static const char *const glibc[] = {
        "7f01-7f02 r-xp 00000000 fd:01 12   /usr/lib/x86_64-linux-gnu/libc.so.6",
        "7f03-7f04 r-xp 00000000 fd:01 13   /usr/lib/jvm/17/lib/server/libjvm.so (deleted)",
        "7f05-7f06 r-xp 00000000 fd:01 14   /opt/libasyncProfiler.so",
        "7f07-7f08 rw-p 00000000 00:00 0    [heap]",
        "7f07-7f08 rw-p 00000000 00:00 0",
    };
    lines(&m, glibc, sizeof glibc / sizeof *glibc);
    assert_int_equal(m.libc, LIBC_GLIBC);
    assert_string_equal(m.libc_path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
    assert_string_equal(m.vm_path, "/usr/lib/jvm/17/lib/server/libjvm.so");
    assert_true(m.vm_deleted);
    assert_string_equal(m.profiler, "libasyncProfiler.so");
    assert_false(m.j9 || m.nameless || m.agent);

    static const char *const musl[] = {
        "1-2 r-xp 0 fd:01 12 /lib/ld-musl-x86_64.so.1",
        "1-2 r-xp 0 fd:01 12 /tmp/.jtop-prof-01234567-89abcdef.so (deleted)",
        "1-2 r-xp 0 fd:01 12 /",
        "1-2 r-xp 0 fd:01 12 /x/libj9vm29.so",
    };
    lines(&m, musl, sizeof musl / sizeof *musl);
    assert_int_equal(m.libc, LIBC_MUSL);
    assert_true(m.agent && m.nameless && m.j9);
    static const char *const debian[] = {"1-2 r-xp 0 fd:01 9 /usr/lib/x86_64-linux-musl/libc.so"};
    lines(&m, debian, 1);
    assert_int_equal(m.libc, LIBC_MUSL);
    static const char *const old[] = {"1-2 r-xp 0 fd:01 9 /lib64/libc-2.17.so",
                                      "1-2 r-xp 0 fd:01 9 /a\033[2Jb/libjvm.so"};
    lines(&m, old, 2);
    assert_int_equal(m.libc, LIBC_GLIBC);
    assert_string_equal(m.vm_path, "/a?[2Jb/libjvm.so");
}

static void options(void **unused) {
    (void)unused;
    struct java_options o = {.error = 0};
    static const char first[] = "-Xmx1g\0-XX:+DisableAttachMechanism\0-Xrsx\0-XX:-UsePerfData";
    java_options_scan(&o, "a", first, sizeof first - 1);
    assert_int_equal(o.option[JAVA_DISABLE_ATTACH].said, 1);
    assert_string_equal(o.option[JAVA_DISABLE_ATTACH].source, "a");
    assert_int_equal(o.option[JAVA_FEW_SIGNALS].said, 0);
    assert_int_equal(o.option[JAVA_PERF_DATA].said, -1);
    static const char later[] = "\"-Xrs\" '-XX:-DisableAttachMechanism'\n"
                                "-XX:MaxJavaStackTraceDepth=-1 -XX:+EnableDynamicAgentLoadingX";
    java_options_scan(&o, "b", later, sizeof later - 1);
    assert_int_equal(o.option[JAVA_DISABLE_ATTACH].said, -1);
    assert_string_equal(o.option[JAVA_DISABLE_ATTACH].source, "b");
    assert_int_equal(o.option[JAVA_FEW_SIGNALS].said, 1);
    assert_int_equal(o.option[JAVA_STACK_DEPTH].said, -1);
    assert_int_equal(o.option[JAVA_DYNAMIC_AGENTS].said, 0);
    java_options_scan(&o, "c", "-XX:MaxJavaStackTraceDepth=100", 30);
    assert_int_equal(o.option[JAVA_STACK_DEPTH].said, 1);
    java_options_scan(&o, "d", "-XX:MaxJavaStackTraceDepth=", 27);
    assert_string_equal(o.option[JAVA_STACK_DEPTH].source, "c");
    java_options_scan(&o, "e", "-XX:", 4);
    java_options_scan(&o, "e", "-", 1);
    java_options_scan(&o, "e", "", 0);
}

/* A shared library with one dynamic section. */
struct library {
    Elf64_Ehdr header;
    Elf64_Dyn dynamic[4];
    char strings[64];
    Elf64_Shdr section[2];
};

static struct library make_library(void) {
    struct library l = {.header = {.e_machine = EM_X86_64,
                                   .e_shnum = 2,
                                   .e_shentsize = sizeof(Elf64_Shdr),
                                   .e_shoff = offsetof(struct library, section)}};
    static const char strings[] = "\0libc.so.6\0ld-linux-x86-64.so.2\0GLIBC_2.2.5\0GLIBC_2.17";
    memcpy(l.header.e_ident, ELFMAG, SELFMAG);
    l.header.e_ident[EI_CLASS] = ELFCLASS64;
    l.header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(l.strings, strings, sizeof strings);
    l.dynamic[0] = (Elf64_Dyn){DT_NEEDED, {1}};
    l.dynamic[1] = (Elf64_Dyn){DT_NEEDED, {11}};
    l.section[0] = (Elf64_Shdr){.sh_type = SHT_DYNAMIC,
                                .sh_link = 1,
                                .sh_offset = offsetof(struct library, dynamic),
                                .sh_size = sizeof l.dynamic};
    l.section[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                .sh_offset = offsetof(struct library, strings),
                                .sh_size = sizeof l.strings};
    return l;
}

static void libraries(void **unused) {
    (void)unused;
    struct library l = make_library(), bad;
    struct library_needs n;
    assert_int_equal(library_needs_parse(&l, sizeof l, &n), 0);
    assert_int_equal(n.machine, EM_X86_64);
    assert_int_equal(n.glibc_minor, 17);
    assert_string_equal(n.beyond_libc, "ld-linux-x86-64.so.2");
    for (size_t cut = 0; cut < sizeof l; cut++) { /* whatever is missing, nothing breaks */
        char part[sizeof l];
        memcpy(part, &l, cut);
        library_needs_parse(part, cut, &n);
    }
    bad = l;
    bad.dynamic[1].d_un.d_val = UINT64_MAX;
    bad.section[0].sh_size = UINT64_MAX;
    bad.section[1].sh_size = UINT64_MAX;
    assert_int_equal(library_needs_parse(&bad, sizeof bad, &n), 0);
    bad.section[0].sh_offset = UINT64_MAX - 8;
    library_needs_parse(&bad, sizeof bad, &n);
    bad.header.e_shoff = UINT64_MAX - 8;
    assert_int_equal(library_needs_parse(&bad, sizeof bad, &n), -ENOEXEC);
    assert_int_equal(library_needs_parse("#!/bin/sh", 9, &n), -ENOEXEC);

    static const char banner[] = "x\0GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release "
                                 "version 2.36.\n";
    assert_int_equal(library_glibc_minor(banner, sizeof banner), 36);
    assert_int_equal(library_glibc_minor(banner, 40), 0);
    assert_int_equal(library_glibc_minor("", 0), 0);
    assert_string_equal(library_machine(EM_AARCH64), "aarch64");
    assert_string_equal(library_machine(-1), "another architecture");
}

static void small(void **unused) {
    (void)unused;
    char text[160], line[64];
    int error;
    assert_int_equal(examine_release("17.0.15+6-Debian-1deb12u1"), 17);
    assert_int_equal(examine_release("25.412-b08"), 8);
    assert_int_equal(examine_release("25+36-LTS"), 25);
    assert_int_equal(examine_release("25.0.3+9-2-deb13u1-b"), 25);
    assert_int_equal(examine_release(""), 0);
    assert_int_equal(examine_release("-3"), 0);
    says(examine_capabilities(0, text, sizeof text), "none of CAP_PERFMON");
    assert_string_equal(examine_capabilities(1ULL << CAPABILITY_PERFMON | 1ULL << CAPABILITY_SETUID,
                                             text, sizeof text),
                        "CAP_PERFMON, CAP_SETUID");
    assert_int_equal(examine_number("/nosuch", -5, &error), -5);
    assert_int_equal(error, ENOENT);
    assert_int_equal(examine_line("/nosuch", line, sizeof line), -ENOENT);
    assert_int_equal(examine_number("/proc/self/comm", -5, &error), -5);
    assert_int_equal(error, EPROTO);
}

/* What is found fits, is one line, and goes on where there is no more room. */
static void room(void **unused) {
    (void)unused;
    static struct finding all[FINDINGS_MAX], few[3];
    int n = examine(NULL, geteuid(), NULL, all, FINDINGS_MAX);
    assert_true(n > 10 && n < FINDINGS_MAX);
    for (int i = 0; i < n; i++) {
        assert_true(all[i].machine);
        assert_true(all[i].fact[0] && strlen(all[i].title) <= FINDING_TITLE);
        assert_null(strchr(all[i].fact, '\n'));
    }
    assert_int_equal(examine(NULL, geteuid(), NULL, few, 3), 3);
    assert_int_equal(examine(NULL, geteuid(), NULL, NULL, 0), 0);
    struct examiner x = {.out = few, .cap = 1};
    examine_remedy(examine_add(&x, "a", "b", FINDING_NOTE, "%s", "x\033[2J\ny"), "%s", "\r");
    assert_string_equal(few[0].fact, "x?[2J?y");
    assert_string_equal(few[0].remedy, "?");
}

static struct doctor_report report(void) {
    struct doctor_report r = {.jvm = {.pid = 12, .name = "Ma\"in"}, .count = 2};
    r.finding[0] = (struct finding){.id = "kernel",
                                    .title = "kernel",
                                    .level = FINDING_WARNING,
                                    .machine = true,
                                    .fact = "one two three four five six seven eight",
                                    .remedy = "do \"this\""};
    r.finding[1] = (struct finding){.id = "user", .title = "user", .fact = "fine"};
    return r;
}

static void printed(void **unused) {
    (void)unused;
    struct text t = {0};
    struct doctor_report r = report();
    doctor_judge(&r, NULL);
    assert_string_equal(r.verdict, "can be profiled; 1 warning");
    doctor_print(&r, 0, false, &t);
    assert_string_equal(t.data, "This machine\n"
                                "  warning  kernel           one two three four five six seven "
                                "eight\n"
                                "                            -> do \"this\"\n"
                                "JVM 12 Ma\"in\n"
                                "  ok       user             fine\n"
                                "can be profiled; 1 warning\n");
    text_clear(&t);
    doctor_print(&r, 60, true, &t);
    says(t.data, "three four five six\n                            seven eight\n");
    says(t.data, "\033[1;33mwarning ");
    text_clear(&t);
    doctor_print_json(&r, &t);
    says(t.data, "\"can_be_profiled\": true, \"failures\": 0, \"warnings\": 1");
    says(t.data, "\"name\": \"Ma\\u0022in\"");
    says(t.data, "\"remedy\": \"do \\u0022this\\u0022\"");
    text_free(&t);
}

/* What attaching would say counts, whether there is a finding for it or not. */
static void judged(void **unused) {
    (void)unused;
    struct doctor_report r = report();
    doctor_judge(&r, "it is gone");
    assert_string_equal(r.verdict, "cannot be profiled: it is gone");
    assert_int_equal(r.failures, 1);
    assert_string_equal(r.finding[2].id, "attach");
    r = report();
    r.finding[1].level = FINDING_FAILURE;
    doctor_judge(&r, NULL);
    assert_string_equal(r.verdict, "cannot be profiled: fine");
    r = report();
    r.jvm.pid = 0;
    r.finding[0].level = FINDING_OK;
    doctor_judge(&r, NULL);
    assert_string_equal(r.verdict, "JVMs can be profiled here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses),  cmocka_unit_test(maps),   cmocka_unit_test(options),
        cmocka_unit_test(libraries), cmocka_unit_test(small),  cmocka_unit_test(room),
        cmocka_unit_test(printed),   cmocka_unit_test(judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
