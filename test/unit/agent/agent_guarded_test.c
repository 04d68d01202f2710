#include "core/agent/process/guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* Two pages, of which the second cannot be read; the first holds 0, 1, 2 … */
static uint8_t *page_before_a_hole(void) {
    uint8_t *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < PAGE; i++)
        p[i] = (uint8_t)i;
    assert_int_equal(mprotect(p + PAGE, PAGE, PROT_NONE), 0);
    return p;
}

/* In the test, not around it: cmocka puts its own fault handlers in place for each test. */
static uint8_t *begin(void) {
    assert_int_equal(guarded_install(), 0);
    return page_before_a_hole();
}

static void end(uint8_t *p) {
    guarded_remove();
    munmap(p, 2 * PAGE);
}

static void loads_what_is_there(void **state) {
    uint8_t *page = begin();
    (void)state;
    uintptr_t p = (uintptr_t)page;
    uint64_t before = guarded_faults();
    for (uintptr_t at = p; at < p + 16; at++) {
        uint64_t want64;
        uint32_t want32;
        memcpy(&want64, (void *)at, 8);
        memcpy(&want32, (void *)at, 4);
        assert_int_equal(guarded_load64(at), want64);
        assert_int_equal(guarded_load32(at), want32);
        assert_int_equal(guarded_load8(at), *(uint8_t *)at);
    }
    for (uintptr_t at = p; at < p + 16; at += 2)
        assert_int_equal(guarded_load16(at), *(uint16_t *)at);
    assert_int_equal(guarded_faults(), before);
    end(page);
}

static void what_is_not_there_is_zero(void **state) {
    uint8_t *page = begin();
    (void)state;
    uintptr_t hole = (uintptr_t)page + PAGE;
    /* The last three are no addresses at all: the processor says so in another way. */
    const uintptr_t bad[] = {0,
                             8,
                             hole,
                             hole + 4088,
                             hole - 1,
                             hole - 7,
                             UINT64_C(0x8000000000000000),
                             UINT64_C(0xdeadbeefdeadbee8),
                             UINTPTR_MAX - 7};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t before = guarded_faults();
        assert_int_equal(guarded_load64(bad[i]), 0);
        assert_int_equal(guarded_faults(), before + 1);
    }
    assert_int_equal(guarded_load32(hole), 0);
    assert_int_equal(guarded_load32(hole - 3), 0);
    assert_int_equal(guarded_load16(hole), 0);
    assert_int_equal(guarded_load8(hole), 0);
    end(page);
}

static void edge_of_a_page(void **state) {
    uint8_t *page = begin();
    (void)state;
    uintptr_t hole = (uintptr_t)page + PAGE;
    uint64_t before = guarded_faults();
    assert_int_equal(guarded_load8(hole - 1), 0xff);
    assert_int_equal(guarded_load16(hole - 2), 0xfffe);
    assert_int_equal(guarded_load32(hole - 4), 0xfffefdfc);
    assert_int_equal(guarded_load64(hole - 8), UINT64_C(0xfffefdfcfbfaf9f8));
    assert_int_equal(guarded_faults(), before);
    end(page);
}

static void copies_as_far_as_it_goes(void **state) {
    uint8_t *page = begin();
    (void)state;
    uint8_t to[64];
    for (size_t there = 0; there <= sizeof to; there++) {
        memset(to, 0xaa, sizeof to);
        assert_int_equal(guarded_copy(to, (uintptr_t)page + PAGE - there, sizeof to),
                         sizeof to - there);
        assert_memory_equal(to, page + PAGE - there, there);
        for (size_t i = there; i < sizeof to; i++)
            assert_int_equal(to[i], 0xaa);
    }
    assert_int_equal(guarded_copy(to, (uintptr_t)page + PAGE, 0), 0);
    assert_int_equal(guarded_copy(to, 0, 5), 5);
    end(page);
}

/* Memory that is mapped and still not there: SIGBUS. */
static void file_that_was_cut(void **state) {
    uint8_t *page = begin();
    (void)state;
    int fd = memfd_create("cut", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)(2 * PAGE)), 0);
    uint8_t *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(ftruncate(fd, (off_t)PAGE), 0);
    uint64_t before = guarded_faults();
    assert_int_equal(guarded_load64((uintptr_t)p + PAGE), 0);
    assert_int_equal(guarded_load32((uintptr_t)p + PAGE), 0);
    assert_int_equal(guarded_faults(), before + 2);
    munmap(p, 2 * PAGE);
    close(fd);
    end(page);
}

static uintptr_t hole_of_handler;
static volatile uint64_t loaded;

static void load_in_handler(int signo) {
    (void)signo;
    loaded = guarded_load64(hole_of_handler) + guarded_load64(hole_of_handler - 8);
}

static void in_a_handler(void **state) {
    struct sigaction on = {.sa_handler = load_in_handler};
    struct sigaction before;
    uint8_t *page = begin();
    (void)state;
    hole_of_handler = (uintptr_t)page + PAGE;
    loaded = 0;
    assert_int_equal(sigaction(SIGUSR1, &on, &before), 0);
    raise(SIGUSR1);
    assert_int_equal(loaded, UINT64_C(0xfffefdfcfbfaf9f8));
    sigaction(SIGUSR1, &before, NULL);
    end(page);
}

static void *load_often(void *hole) {
    uintptr_t wrong = 0;
    for (int i = 0; i < 2000; i++) {
        wrong |= guarded_load64((uintptr_t)hole) != 0;
        wrong |= guarded_load32((uintptr_t)hole - 4) != 0xfffefdfc;
    }
    return (void *)wrong;
}

static void in_many_threads(void **state) {
    uint8_t *page = begin();
    (void)state;
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, load_often, page + PAGE), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    end(page);
}

/* ---- the handler's place among others ---- */

static sigjmp_buf back;
static void *fault_address;

static void of_the_vm(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)context;
    fault_address = info->si_addr;
    siglongjmp(back, 1);
}

static void other_faults_go_on(void **state) {
    volatile uint8_t *hole = page_before_a_hole() + PAGE;
    (void)state;
    struct sigaction vm = {.sa_sigaction = of_the_vm, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    struct sigaction now;
    assert_int_equal(sigaction(SIGSEGV, &vm, &before), 0);
    assert_int_equal(guarded_install(), 0);
    assert_int_equal(guarded_load64((uintptr_t)hole), 0);
    fault_address = NULL;
    if (sigsetjmp(back, 1) == 0)
        *hole = 1;
    assert_ptr_equal(fault_address, (const uint8_t *)hole);
    guarded_remove();
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_equal(now.sa_sigaction, of_the_vm);
    sigaction(SIGSEGV, &before, NULL);
    munmap((uint8_t *)(uintptr_t)hole - PAGE, 2 * PAGE);
}

/* With nobody to go on to, a fault ends the process as it always did. */
static void default_is_death(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL);
        if (guarded_install() == 0)
            *(volatile uint8_t *)(page_before_a_hole() + PAGE) = 1;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void somebody_in_front(void **state) {
    (void)state;
    struct sigaction other = {.sa_sigaction = of_the_vm, .sa_flags = SA_SIGINFO};
    struct sigaction ours;
    struct sigaction now;
    assert_int_equal(guarded_install(), 0);
    assert_int_equal(guarded_install(), 0); /* as an attach after a detach */
    assert_int_equal(sigaction(SIGSEGV, &other, &ours), 0);
    guarded_remove();
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_equal(now.sa_sigaction, of_the_vm);
    assert_int_equal(guarded_install(), 0); /* in front of the other one */
    fault_address = NULL;
    assert_int_equal(guarded_load64(8), 0);
    assert_null(fault_address);
    guarded_remove();
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_equal(now.sa_sigaction, of_the_vm);
    assert_int_equal(sigaction(SIGSEGV, &ours, NULL), 0);
    assert_int_equal(guarded_install(), 0);
    guarded_remove();
    sigaction(SIGSEGV, NULL, &now);
    assert_ptr_not_equal(now.sa_sigaction, ours.sa_sigaction);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_what_is_there), cmocka_unit_test(what_is_not_there_is_zero),
        cmocka_unit_test(edge_of_a_page),      cmocka_unit_test(copies_as_far_as_it_goes),
        cmocka_unit_test(file_that_was_cut),   cmocka_unit_test(in_a_handler),
        cmocka_unit_test(in_many_threads),     cmocka_unit_test(other_faults_go_on),
        cmocka_unit_test(default_is_death),    cmocka_unit_test(somebody_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
