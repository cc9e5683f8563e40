/*
 * Bad days of workloads. Every call that one makes fails once, by injection, at each of its first
 * places: the error comes out with the call's name, the gate is free again, and nothing stays
 * mapped. Then memory runs out in earnest, by limits.
 *
 * The linker puts the functions named __wrap_... between bench/ and libc (see meson.build).
 */
#include "bench/workload.h"
#include "result/config.h"
#include "tests/bench/drive.h"
#include "tests/bench/test.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum call { MMAP, MUNMAP, MPROTECT, MREMAP, MADVISE, MINCORE, MEMFD, FTRUNCATE, MALLOC, CALLOC };

static const char *const call_names[] = {
    [MMAP] = "mmap",          [MUNMAP] = "munmap",       [MPROTECT] = "mprotect",
    [MREMAP] = "mremap",      [MADVISE] = "madvise",     [MINCORE] = "mincore",
    [MEMFD] = "memfd_create", [FTRUNCATE] = "ftruncate", [MALLOC] = "malloc",
    [CALLOC] = "calloc",
};

enum { CALLS = CALLOC + 1, PLACES = 20, ITERATIONS = 70 };

static struct {
    enum call call;
    _Atomic int at, until; /* calls from the `at`th to the `until`th fail */
    _Atomic int seen;
    int error;
    _Atomic bool has_sprung;
    _Atomic bool was_a_hint; /* the failing call was advice that a kernel may refuse */
    _Atomic long mapped;     /* bytes that the workload has mapped just now */
    _Atomic long allocated;  /* blocks that it and drive.c have from malloc */
    uint64_t slow_ns;        /* `slow` takes so long more */
    enum call slow;
} trap;

static void be_slow(enum call call)
{
    uint64_t start_ns = clock_monotonic_ns();
    while (trap.slow_ns && call == trap.slow && clock_monotonic_ns() - start_ns < trap.slow_ns)
        ;
}

static bool fails(enum call call)
{
    be_slow(call);
    if (call != trap.call)
        return false;
    int nth = atomic_fetch_add(&trap.seen, 1) + 1;
    if (nth < atomic_load(&trap.at) || nth > atomic_load(&trap.until))
        return false;
    atomic_store(&trap.has_sprung, true);
    errno = trap.error;
    return true;
}

static void arm(enum call call, int at, int until, int error)
{
    trap.call = call;
    trap.error = error;
    atomic_store(&trap.seen, 0);
    atomic_store(&trap.has_sprung, false);
    atomic_store(&trap.was_a_hint, false);
    atomic_store(&trap.mapped, 0);
    atomic_store(&trap.allocated, 0);
    atomic_store(&trap.at, at);
    atomic_store(&trap.until, until);
}

static void disarm(void)
{
    atomic_store(&trap.at, 0);
    atomic_store(&trap.until, 0);
}

void *__real_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (fails(MMAP))
        return MAP_FAILED;
    void *area = __real_mmap64(at, size, prot, flags, fd, offset);
    if (area != MAP_FAILED && !(flags & MAP_FIXED))
        atomic_fetch_add(&trap.mapped, (long)size);
    return area;
}

int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size)
{
    if (fails(MUNMAP))
        return -1;
    int error = __real_munmap(at, size);
    if (!error)
        atomic_fetch_sub(&trap.mapped, (long)size);
    return error;
}

void *__real_mremap(void *at, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, ...)
{
    if (fails(MREMAP))
        return MAP_FAILED;
    void *area = __real_mremap(at, from, to, flags);
    if (area != MAP_FAILED)
        atomic_fetch_add(&trap.mapped, (long)to - (long)from);
    return area;
}

int __real_mprotect(void *at, size_t size, int prot);
int __wrap_mprotect(void *at, size_t size, int prot);
int __wrap_mprotect(void *at, size_t size, int prot)
{
    return fails(MPROTECT) ? -1 : __real_mprotect(at, size, prot);
}

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice)
{
    if (!fails(MADVISE))
        return __real_madvise(at, size, advice);
    atomic_store(&trap.was_a_hint, advice == MADV_NOHUGEPAGE);
    return -1;
}

int __real_mincore(void *at, size_t size, unsigned char *resident);
int __wrap_mincore(void *at, size_t size, unsigned char *resident);
int __wrap_mincore(void *at, size_t size, unsigned char *resident)
{
    return fails(MINCORE) ? -1 : __real_mincore(at, size, resident);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    return fails(MEMFD) ? -1 : __real_memfd_create(name, flags);
}

int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size)
{
    return fails(FTRUNCATE) ? -1 : __real_ftruncate64(fd, size);
}

static void *counted(void *block)
{
    atomic_fetch_add(&trap.allocated, block != NULL);
    return block;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return fails(MALLOC) ? NULL : counted(__real_malloc(size));
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails(CALLOC) ? NULL : counted(__real_calloc(count, size));
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return counted(__real_aligned_alloc(alignment, size));
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
    atomic_fetch_sub(&trap.allocated, block != NULL);
    __real_free(block);
}

static struct drive two_threads_of(const struct bench_workload *workload)
{
    return (struct drive){.workload = workload,
                          .gate = peer_find("mutex"), /* left locked, it would hang the other */
                          .threads = 2,
                          .touch = TOUCH_FIRST,
                          .iterations = ITERATIONS,
                          .before_teardown = disarm};
}

/* True while the call has such a place. */
static bool try_place(const struct bench_workload *workload, enum call call, int place)
{
    struct drive d = two_threads_of(workload);
    int free_fd = lowest_free_fd();

    arm(call, place, place, ENOMEM);
    assert_int_equal(drive_run(&d), 0);
    disarm();
    assert_int_equal(trap.mapped, 0);
    assert_int_equal(trap.allocated, 0);
    assert_int_equal(lowest_free_fd(), free_fd);
    if (!trap.has_sprung)
        return false;
    if (trap.was_a_hint)
        return true;
    /* A thread that has all its iterations behind it gives back what is left; that may wait. */
    if (call == MUNMAP && !strcmp(workload->name, "unmap") && !d.error)
        return true;
    if (d.error != -ENOMEM || !d.failed_call)
        print_message("# %s, %s %d\n", workload->name, call_names[call], place);
    assert_int_equal(d.error, -ENOMEM);
    assert_non_null(d.failed_call);
    assert_memory_equal(d.failed_call, call_names[call], strlen(call_names[call]));
    return true;
}

static void each_call_that_fails_is_named_and_leaves_nothing(void **state)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++) {
        unsigned places = 0;
        for (int call = 0; call < CALLS; call++)
            for (int place = 1; place <= PLACES && try_place(*w, (enum call)call, place); place++)
                places++;
        assert_true(places > 0);
    }
}

static void a_kernel_short_of_memory_for_a_moment_is_asked_again(void **state)
{
    static const enum call calls[] = {MADVISE, MINCORE};

    for (int i = 0; i < 2; i++) {
        struct drive d = two_threads_of(workload_find("madvise"));
        arm(calls[i], 5, 8, EAGAIN);
        assert_int_equal(drive_run(&d), 0);
        disarm();
        assert_true(trap.has_sprung);
        assert_int_equal(d.error, 0);
        assert_int_equal(d.whole, 2 * ITERATIONS);
    }
}

static void a_kernel_that_stays_short_of_memory_is_an_error(void **state)
{
    static const enum call calls[] = {MADVISE, MINCORE};

    for (int i = 0; i < 2; i++) {
        struct drive d = two_threads_of(workload_find("madvise"));
        arm(calls[i], 5, 1 << 30, EAGAIN);
        assert_int_equal(drive_run(&d), 0);
        disarm();
        assert_int_equal(d.error, -EAGAIN);
        assert_string_equal(d.failed_call, call_names[calls[i]]);
    }
}

/* Calls that only prepare take 5 ms each here, and none of that may be seen. */
static void what_only_prepares_an_iteration_is_in_no_figure(void **state)
{
    static const struct {
        const char *workload;
        enum call slow;
        unsigned iterations, calls; /* so many calls in so many iterations */
    } cases[] = {{"unmap", MMAP, 32, 32}, {"mremap", MMAP, 32, 32}, {"fault", MADVISE, 640, 10}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drive d = {.workload = workload_find(cases[i].workload),
                          .gate = peer_find("none"),
                          .threads = 1,
                          .touch = TOUCH_FIRST,
                          .iterations = cases[i].iterations};
        trap.slow = cases[i].slow;
        trap.slow_ns = 5000000;
        uint64_t start_ns = clock_monotonic_ns();
        assert_int_equal(drive_run(&d), 0);
        uint64_t elapsed_ns = clock_monotonic_ns() - start_ns, slow_ns = trap.slow_ns;
        trap.slow_ns = 0;
        assert_int_equal(d.error, 0);
        assert_true(elapsed_ns >= cases[i].calls * slow_ns);
        assert_true(d.whole_ns <= elapsed_ns - cases[i].calls * slow_ns);
        assert_true(d.phases_ns <= elapsed_ns - cases[i].calls * slow_ns);
    }
}

/* What a limited process found out; in its exit status. */
enum { AS_EXPECTED, NO_LIMIT, NO_ERROR, OTHER_ERROR, OTHER_CALL, LEFT_MAPPED };

struct limited {
    const struct bench_workload *workload;
    const char *failed_call;
    bool at_setup;        /* set the limits before setup(), not after enter() */
    bool no_data;         /* no more writable private memory */
    unsigned spare_pages; /* of address space; -1u: no limit */
};

static int set_limits(const struct limited *l)
{
    struct rlimit none = {0, 0}, space;
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%lu", &pages) != 1)
        return -1;
    fclose(f);
    space.rlim_cur = (pages + l->spare_pages) * (unsigned long)sysconf(_SC_PAGESIZE);
    space.rlim_max = space.rlim_cur;
    if (l->spare_pages != -1u && setrlimit(RLIMIT_AS, &space))
        return -1;
    return l->no_data ? setrlimit(RLIMIT_DATA, &none) : 0;
}

static int judge(const struct limited *l, int error, const char *call)
{
    if (!error)
        return NO_ERROR;
    if (error != -ENOMEM)
        return OTHER_ERROR;
    return call && !strcmp(call, l->failed_call) ? AS_EXPECTED : OTHER_CALL;
}

/* In a process of its own, without threads: the one worker is this thread. */
static int run_limited(const struct limited *l)
{
    static struct bench_job job;
    static struct bench_worker worker = {.job = &job};
    int error = 0;

    job = (struct bench_job){.workload = l->workload,
                             .gate = peer_find("none"),
                             .page_size = (size_t)sysconf(_SC_PAGESIZE),
                             .touch = TOUCH_FIRST,
                             .threads = 1};
    job.size = l->workload->default_size ? l->workload->default_size : job.page_size;
    atomic_store(&trap.mapped, 0);
    if (l->at_setup && set_limits(l))
        return NO_LIMIT;
    if (l->workload->setup && (error = l->workload->setup(&job)))
        return trap.mapped ? LEFT_MAPPED : judge(l, error, job.failed_call);
    if (l->workload->enter && (error = l->workload->enter(&worker)))
        return judge(l, error, worker.failed_call);
    if (!l->at_setup && set_limits(l))
        return NO_LIMIT;
    for (int i = 0; i < ITERATIONS && !error; i++)
        error = l->workload->step(&worker);
    if (l->workload->leave)
        l->workload->leave(&worker);
    if (l->workload->teardown)
        l->workload->teardown(&job);
    return trap.mapped ? LEFT_MAPPED : judge(l, error, worker.failed_call);
}

static void memory_that_runs_out_is_an_error_and_nothing_stays_mapped(void **state)
{
    const struct limited cases[] = {
        {.workload = workload_find("map"), .failed_call = "mmap"},
        {.workload = workload_find("protect"), .failed_call = "mmap"},
        {.workload = workload_find("protect"),
         .failed_call = "mprotect",
         .no_data = true,
         .spare_pages = -1u},
        {.workload = workload_find("stack"), .failed_call = "mmap"},
        {.workload = workload_find("fault"), .failed_call = "mmap", .at_setup = true},
        {.workload = workload_find("madvise"), .failed_call = "mmap", .at_setup = true},
        {.workload = workload_find("unmap"), .failed_call = "mmap", .spare_pages = 5},
        {.workload = workload_find("mremap"), .failed_call = "mmap"},
        {.workload = workload_find("mremap"), .failed_call = "mremap", .spare_pages = 2},
        {.workload = workload_find("malloc"), .failed_call = "malloc", .no_data = true},
        {.workload = workload_find("smaps"), .failed_call = "mmap"},
        {.workload = workload_find("smaps"), .failed_call = "mmap", .at_setup = true},
    };

    if (strcmp(RWSEM_SANITIZERS, "none"))
        skip_because("a sanitizer needs address space itself");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            _exit(run_limited(&cases[i]));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status)
            print_message("# %s, expected of %s\n", cases[i].workload->name, cases[i].failed_call);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), AS_EXPECTED);
    }
}

static int calibrate(void **state)
{
    clock_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First, while no thread has made libc an arena that could still serve. */
        cmocka_unit_test(memory_that_runs_out_is_an_error_and_nothing_stays_mapped),
        cmocka_unit_test(each_call_that_fails_is_named_and_leaves_nothing),
        cmocka_unit_test(what_only_prepares_an_iteration_is_in_no_figure),
        cmocka_unit_test(a_kernel_short_of_memory_for_a_moment_is_asked_again),
        cmocka_unit_test(a_kernel_that_stays_short_of_memory_is_an_error),
    };
    return cmocka_run_group_tests_name("bench/workload_failures", tests, calibrate, NULL);
}
