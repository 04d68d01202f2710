/* Thread dumps as HotSpot writes them. Those of JDK 8 to 25 are of the program test/java/Stuck.java,
 * and stand in the corpus of the fuzz target. */
#include "tui/model/thread_dump.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void read_dump(const char *name, struct thread_dump *d) {
    static char text[1 << 16];
    char path[128];
    snprintf(path, sizeof path, "test/fuzz/corpus/thread_dump/%s", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_int_equal(thread_dump_parse(d, text, n), 0);
    assert_int_equal(d->bytes, n);
    assert_memory_equal(d->text, text, n); /* nothing of it had to be replaced */
}

static const struct thread_dump_thread *named(const struct thread_dump *d, const char *name) {
    uint32_t i = thread_dump_find(d, 0, name);
    if (i == THREAD_DUMP_NONE)
        fail_msg("no thread %s", name);
    return &d->thread[i];
}

static const struct thread_dump_line *line(const struct thread_dump *d, const char *name,
                                           uint32_t n) {
    const struct thread_dump_thread *t = named(d, name);
    assert_true(n < t->lines);
    return &d->line_of[t->line + n];
}

static const char *owner_of(const struct thread_dump *d, const char *name) {
    uint32_t owner = named(d, name)->owner;
    return owner == THREAD_DUMP_NONE ? "" : d->thread[owner].name;
}

static const char *waits_for(const struct thread_dump *d, const char *name) {
    uint32_t wait = named(d, name)->wait;
    return wait == THREAD_DUMP_NONE ? "" : d->line_of[wait].text;
}

static void of_every_jdk(void **unused) {
    (void)unused;
    static const char *const jdk[] = {"jdk8", "jdk11", "jdk17", "jdk21", "jdk25"};
    for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++) {
        struct thread_dump d;
        read_dump(jdk[i], &d);
        print_message("%s: %u threads, %u lines\n", jdk[i], d.threads, d.lines);
        assert_false(d.cut);
        assert_string_equal(named(&d, "main")->state, "RUNNABLE");
        assert_string_equal(named(&d, "mon-1")->state, "BLOCKED (on object monitor)");
        assert_string_equal(named(&d, "lock-1")->state, "WAITING (parking)");
        assert_string_equal(named(&d, "waiter \"of\" \u00e4")->state,
                            "WAITING (on object monitor)");
        assert_string_equal(named(&d, "worker-3")->state, "TIMED_WAITING (sleeping)");
        assert_string_equal(named(&d, "VM Thread")->state, "");
        assert_string_equal(named(&d, "VM Thread")->activity, "runnable");
        assert_string_equal(named(&d, "worker-4")->activity, "waiting for monitor entry");
        assert_true(named(&d, "main")->number > 0);
        assert_int_equal(named(&d, "VM Thread")->number, 0);
        /* frames */
        assert_int_equal(line(&d, "worker-4", 0)->kind, THREAD_DUMP_FRAME);
        assert_string_equal(line(&d, "worker-4", 0)->text, "Stuck.want(Stuck.java:62)");
        const char *native = line(&d, "parked", 0)->text;
        assert_string_equal(strrchr(native, '('), "(Native Method)");
        /* what is waited for, and who holds it */
        assert_string_equal(waits_for(&d, "worker-4"), "java.lang.Object");
        assert_string_equal(owner_of(&d, "worker-4"), "worker-3");
        assert_string_equal(waits_for(&d, "lock-1"),
                            "java.util.concurrent.locks.ReentrantLock$NonfairSync");
        assert_string_equal(owner_of(&d, "lock-1"), "lock-2");
        assert_string_equal(waits_for(&d, "waiter \"of\" \u00e4"), "Stuck$Shelf");
        assert_string_equal(owner_of(&d, "waiter \"of\" \u00e4"), "");
        assert_string_equal(waits_for(&d, "parked"), "");
        /* deadlocks */
        assert_int_equal(d.deadlocks, 2);
        assert_int_equal(named(&d, "mon-1")->deadlock, named(&d, "mon-2")->deadlock);
        assert_int_equal(named(&d, "lock-1")->deadlock, named(&d, "lock-2")->deadlock);
        assert_int_not_equal(named(&d, "lock-1")->deadlock, named(&d, "mon-1")->deadlock);
        assert_int_equal(named(&d, "worker-4")->deadlock, 0);
        /* the threads of the VM */
        assert_true(thread_dump_is_application(named(&d, "main")));
        assert_false(thread_dump_is_application(named(&d, "Finalizer")));
        assert_false(thread_dump_is_application(named(&d, "VM Thread")));
        /* the part of the text */
        const struct thread_dump_thread *t = named(&d, "worker-3");
        assert_memory_equal(d.text + t->at, "\"worker-3\" #", 12);
        assert_memory_equal(d.text + t->at + t->bytes - 7, "- None\n", 7);
        thread_dump_free(&d);
    }
}

/* The same thread by its number: in hexadecimal before JDK 19. */
static void numbers(void **unused) {
    (void)unused;
    struct thread_dump d;
    read_dump("jdk17", &d);
    uint32_t main = thread_dump_find(&d, 0, "main");
    assert_int_equal(d.thread[main].nid, 0x2b59);
    assert_int_equal(thread_dump_find(&d, 0x2b59, NULL), main);
    assert_int_equal(thread_dump_find(&d, 0x2b59, "mon-1"), THREAD_DUMP_NONE);
    thread_dump_free(&d);
    read_dump("jdk25", &d);
    assert_int_equal(named(&d, "main")->nid, 11156);
    assert_int_equal(named(&d, "main")->number, 3);
    thread_dump_free(&d);
}

static void parse(struct thread_dump *d, const char *text) {
    assert_int_equal(thread_dump_parse(d, text, strlen(text)), 0);
}

#define THREAD(name, state)                                                                        \
    "\"" name "\" #1 prio=5 nid=0x1 x [0x1]\n   java.lang.Thread.State: " state "\n"

/* A thread in Object.wait has given the monitor back; one that was notified wants it again. */
static void object_wait(void **unused) {
    (void)unused;
    struct thread_dump d;
    static const char *const again[] = {"waiting on",
                                        "waiting to re-lock in wait()"}; /* JDK 8, 9 */
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            THREAD("waits", "WAITING (on object monitor)") "\tat a.B.c(B.java:1)\n"
                                                           "\t- waiting on <0x10> (a X)\n\t- "
                                                           "locked <0x10> (a X)\n" THREAD(
                                                               "again",
                                                               "BLOCKED (on object "
                                                               "monitor)") "\tat "
                                                                           "a.B.c(B."
                                                                           "java:1)\n"
                                                                           "\t- %s "
                                                                           "<0x10> (a "
                                                                           "X)\n\t- "
                                                                           "locked "
                                                                           "<0x10> (a "
                                                                           "X)\n" THREAD("owner",
                                                                                         "RUNNABL"
                                                                                         "E") "\ta"
                                                                                              "t "
                                                                                              "a."
                                                                                              "B."
                                                                                              "d("
                                                                                              "B."
                                                                                              "jav"
                                                                                              "a:"
                                                                                              "2)"
                                                                                              "\n"
                                                                                              "\t-"
                                                                                              " lo"
                                                                                              "cke"
                                                                                              "d "
                                                                                              "<0x"
                                                                                              "10>"
                                                                                              " ("
                                                                                              "a "
                                                                                              "X)"
                                                                                              "\n",
            again[i]);
        parse(&d, text);
        assert_string_equal(owner_of(&d, "waits"), "");
        assert_string_equal(owner_of(&d, "again"), "owner");
        assert_int_equal(d.deadlocks, 0);
        assert_int_equal(line(&d, "again", 1)->kind, THREAD_DUMP_ENTERS);
        thread_dump_free(&d);
    }
}

/* Without the locks of java.util.concurrent, the VM's own report tells who holds them. */
static void report(void **unused) {
    (void)unused;
    struct thread_dump d;
    parse(&d, THREAD("a", "WAITING (parking)") "\t- parking to wait for  <0x10> (a L)\n" THREAD(
                  "b", "WAITING (parking)") "\t- parking to wait for  <0x20> (a L)\n"
                                            "\nJNI global references: 9\n\n\nFound one Java-level "
                                            "deadlock:\n======\n"
                                            "\"a\":\n  waiting for ownable synchronizer 0x10, (a "
                                            "L),\n  which is held by \"b\"\n"
                                            "\"b\":\n  waiting for ownable synchronizer 0x20, (a "
                                            "L),\n  which is held by \"a\"\n\n"
                                            "Java stack information for the threads listed "
                                            "above:\n====\n\"a\":\n\tat q.R.s(Q)\n");
    assert_int_equal(d.deadlocks, 1);
    assert_string_equal(owner_of(&d, "a"), "b");
    assert_string_equal(owner_of(&d, "b"), "a");
    assert_int_equal(named(&d, "b")->lines, 1); /* the report's frames are no one's */
    thread_dump_free(&d);
}

/* A circle of three, and a thread that waits for one of them but is not part of it. */
static void circle(void **unused) {
    (void)unused;
    struct thread_dump d;
    parse(
        &d,
        THREAD("d", "BLOCKED (on object monitor)") "\t- waiting to lock <0x10> (a X)\n" THREAD(
            "a",
            "BLOCKED (on object monitor)") "\t- waiting to lock <0x20> (a X)\n\t- locked "
                                           "<0x10> (a X)\n" THREAD(
                                               "b",
                                               "BLOCKED (on object "
                                               "monitor)") "\t- waiting to "
                                                           "lock <0x30> (a "
                                                           "X)\n\t- locked "
                                                           "<0x20> (a "
                                                           "X)\n" THREAD(
                                                               "c",
                                                               "B"
                                                               "L"
                                                               "O"
                                                               "C"
                                                               "K"
                                                               "E"
                                                               "D"
                                                               " "
                                                               "("
                                                               "o"
                                                               "n"
                                                               " "
                                                               "o"
                                                               "b"
                                                               "j"
                                                               "e"
                                                               "c"
                                                               "t"
                                                               " "
                                                               "m"
                                                               "o"
                                                               "n"
                                                               "i"
                                                               "t"
                                                               "o"
                                                               "r"
                                                               ")") "\t- waiting to lock <0x10> (a "
                                                                    "java.lang.Class for p.Q)\n\t- "
                                                                    "locked <0x30> (a X)\n");
    assert_int_equal(d.deadlocks, 1);
    assert_int_equal(named(&d, "d")->deadlock, 0);
    assert_string_equal(owner_of(&d, "d"), "a");
    assert_int_equal(thread_dump_deadlock(&d, 1), 1);
    assert_int_equal(thread_dump_deadlock(&d, 2), THREAD_DUMP_NONE);
    assert_string_equal(waits_for(&d, "c"), "java.lang.Class for p.Q");
    thread_dump_free(&d);
}

/* A name may look like the VM's report. The threads behind it are there all the same. */
static void forged_report(void **unused) {
    (void)unused;
    struct thread_dump d;
    parse(&d, "Full thread dump OpenJDK 64-Bit Server VM (17 mixed mode):\n\n"
              "\"a\nFound one Java-level deadlock:\" #1 nid=0x1 runnable\n\n"
              "\"b\" #2 prio=5 os_prio=0 tid=0x1 nid=0x2 runnable  [0x1]\n"
              "   java.lang.Thread.State: RUNNABLE\n\tat B.b(B.java:1)\n\n");
    assert_string_equal(named(&d, "b")->state, "RUNNABLE");
    thread_dump_free(&d);
}

static void hostile(void **unused) {
    (void)unused;
    struct thread_dump d;
    assert_int_equal(thread_dump_parse(&d, "", 0), -EBADMSG);
    assert_null(d.text);
    assert_int_equal(thread_dump_parse(&d, "no threads\n", 11), -EBADMSG);
    static const char bytes[] =
        "\"e\x1b[2J\0\xff\" #x nid=zz\n\tat \n\t- \n\t- locked <\n"
        "\t- locked <0x (a\n\t- waiting on <no object reference available>\n";
    assert_int_equal(thread_dump_parse(&d, bytes, sizeof bytes - 1), 0);
    assert_string_equal(d.thread[0].name, "e?[2J??");
    assert_int_equal(d.thread[0].nid, 0);
    assert_string_equal(waits_for(&d, "e?[2J??"), "");
    assert_null(strchr(d.text, '\x1b'));
    thread_dump_free(&d);
}

/* What is longer than the limit is cut, and says so. */
static void limit(void **unused) {
    (void)unused;
    struct thread_dump d;
    size_t bytes = THREAD_DUMP_BYTES + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, '\n', bytes);
    memcpy(text, "\"a\" nid=1\n", 10);
    for (int more = 0; more < 2; more++) {
        assert_int_equal(thread_dump_parse(&d, text, THREAD_DUMP_BYTES + (size_t)more), 0);
        assert_int_equal(d.cut, more);
        assert_int_equal(d.bytes, THREAD_DUMP_BYTES);
        thread_dump_free(&d);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_jdk), cmocka_unit_test(numbers), cmocka_unit_test(object_wait),
        cmocka_unit_test(report),       cmocka_unit_test(circle),  cmocka_unit_test(forged_report),
        cmocka_unit_test(hostile),      cmocka_unit_test(limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
