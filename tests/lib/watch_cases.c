/* One misuse or one count a run, by name; test_watch.py knows what must come of it. */
#include "rwsem-stats.h"
#include "watchdog.h"
#include <pthread.h>
#include <string.h>
#include <sys/time.h>

static rwsem_t a, b, c;

static void *up_elsewhere(void *arg)
{
    rwsem_up_write(&a);
    return NULL;
}

static void take_both(rwsem_t *first, rwsem_t *second)
{
    (void)rwsem_down_write(first);
    (void)rwsem_down_read(second);
    rwsem_up_read(second);
    rwsem_up_write(first);
}

static int recursive_read(void)
{
    (void)rwsem_down_read(&a);
    (void)rwsem_down_read(&a);
    rwsem_up_read(&a);
    rwsem_up_read(&a);
    return 0;
}

static int self_deadlock(void)
{
    struct timespec deadline = in_ms(5);

    (void)rwsem_down_read(&a);
    (void)rwsem_down_write_until(&a, &deadline);
    rwsem_up_read(&a);
    return 0;
}

/* The lock must come out of it unharmed in debug mode; otherwise it is undefined what does. */
static int up_without_down(void)
{
    (void)rwsem_down_read(&a);
    rwsem_up_read(&a);
    if (getenv("RWSEM_DEBUG"))
        rwsem_up_read(&a);
    return rwsem_is_locked(&a);
}

static int wrong_owner(void)
{
    pthread_t thread;

    (void)rwsem_down_write(&a);
    pthread_create(&thread, NULL, up_elsewhere, NULL);
    pthread_join(thread, NULL);
    return rwsem_is_locked(&a);
}

static int destroy_while_held(void)
{
    (void)rwsem_down_write(&a);
    if (rwsem_destroy(&a) == 0)
        return 1;
    rwsem_up_write(&a);
    return 0;
}

static int order_inversion(void)
{
    take_both(&a, &b);
    take_both(&b, &c);
    take_both(&c, &a);
    return 0;
}

static int right_use(void)
{
    int i;

    for (i = 0; i < 3; i++) {
        take_both(&a, &b);
        take_both(&a, &c);
        take_both(&b, &c);
    }
    (void)rwsem_down_write(&a);
    rwsem_downgrade_write(&a);
    (void)rwsem_try_upgrade(&a);
    rwsem_up_write(&a);
    return rwsem_destroy(&a) || rwsem_destroy(&b) || rwsem_destroy(&c);
}

static int flagged(void)
{
    (void)rwsem_init(&b, RWSEM_WATCHED);
    (void)rwsem_set_name(&b, "the cache");
    (void)rwsem_down_read(&b);
    (void)rwsem_down_read(&b);
    rwsem_up_read(&b);
    rwsem_up_read(&b);
    return 0;
}

static void *up_read_elsewhere(void *arg)
{
    rwsem_up_read(&a);
    return NULL;
}

/* A read hold may be another thread's to release; what the taker does next is right, then. */
static int handed_over(void)
{
    pthread_t thread;
    int i;

    for (i = 0; i < 200; i++) {
        (void)rwsem_down_read(&a);
        pthread_create(&thread, NULL, up_read_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    take_both(&b, &a);
    take_both(&a, &b); /* this is not */
    return 0;
}

/* Another lock in the same memory has an order of its own. */
static int made_anew(void)
{
    take_both(&a, &b);
    (void)rwsem_init(&a, 0);
    take_both(&b, &a);
    return 0;
}

static int handed_over_and_gone(void)
{
    pthread_t thread;

    (void)rwsem_down_read(&b);
    (void)rwsem_down_read(&a);
    pthread_create(&thread, NULL, up_read_elsewhere, NULL);
    pthread_join(thread, NULL);
    rwsem_up_read(&b);
    if (rwsem_destroy(&a))
        return 1;
    (void)rwsem_down_write(&a);
    rwsem_up_write(&a);
    return 0;
}

static void use_b(int number)
{
    (void)rwsem_down_write(&b);
    rwsem_up_write(&b);
}

/* A handler may use a lock that the code it interrupts has nothing to do with. */
static int used_in_a_handler(void)
{
    struct itimerval soon = {{0, 200}, {0, 200}};
    int i;

    signal(SIGVTALRM, use_b);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
    for (i = 0; i < 200000; i++) {
        (void)rwsem_down_write(&a);
        rwsem_up_write(&a);
    }
    return 0;
}

static void *be_cancelled_while_reporting(void *arg)
{
    (void)rwsem_down_read(&a);
    pthread_cancel(pthread_self());
    (void)rwsem_down_read(&a); /* reported */
    rwsem_up_read(&a);
    rwsem_up_read(&a);
    return NULL;
}

static int cancelled(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, be_cancelled_while_reporting, NULL);
    pthread_join(thread, NULL);
    (void)rwsem_down_write(&a);
    rwsem_up_write(&a);
    return 0;
}

static void *take_a(void *arg)
{
    (void)rwsem_down_write(&a);
    rwsem_up_write(&a);
    return NULL;
}

/* The first wait of a process finds out about CPUs and control groups. */
static int small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    size = 1 << 20; /* theirs is much of it */
#endif
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, size))
        return 1;
    (void)rwsem_down_write(&a);
    if (pthread_create(&thread, &attributes, take_a, NULL))
        return 2;
    until_contended(&a);
    rwsem_up_write(&a);
    pthread_join(thread, NULL);
    return 0;
}

static void *read_within_3_ms(void *arg)
{
    struct timespec deadline = in_ms(3);

    (void)rwsem_down_read_until(arg, &deadline);
    return NULL;
}

static int counts(void)
{
    struct rwsem_stats stats;
    rwsem_t *sem = &b;
    pthread_t thread;

    if (!getenv("RWSEM_STATS"))
        rwsem_init(sem, RWSEM_WATCHED);
    (void)rwsem_down_write(sem);
    pthread_create(&thread, NULL, read_within_3_ms, sem);
    pthread_join(thread, NULL);
    rwsem_downgrade_write(sem);
    rwsem_up_read(sem);
    (void)rwsem_down_read(sem);
    rwsem_up_read(sem);
    if (rwsem_get_stats(sem, &stats))
        return 1;
    if (stats.reads != 1 || stats.writes != 1 || stats.refused != 1 || stats.waits != 1)
        return 2;
    if (stats.wait_ns < 2000000 || stats.wait_max_ns != stats.wait_ns || !stats.hold_ns)
        return 3;
    rwsem_destroy(sem);
    return rwsem_get_stats(sem, &stats) ? 0 : 4;
}

static int counts_nothing(void)
{
    struct rwsem_stats stats;

    (void)rwsem_down_write(&a);
    rwsem_up_write(&a);
    return rwsem_get_stats(&a, &stats) == 0;
}

static int tunable_is(uint64_t expected)
{
    uint64_t value = 0;

    return rwsem_tunable("handoff_ns", &value) || value != expected ||
           !rwsem_tunable("no_such", &value);
}

static int tunable_is_5(void)
{
    return tunable_is(5);
}

static int tunable_is_default(void)
{
    return tunable_is(2000000);
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {
    {"recursive_read", recursive_read},
    {"self_deadlock", self_deadlock},
    {"up_without_down", up_without_down},
    {"wrong_owner", wrong_owner},
    {"destroy_while_held", destroy_while_held},
    {"order_inversion", order_inversion},
    {"right_use", right_use},
    {"flagged", flagged},
    {"handed_over", handed_over},
    {"made_anew", made_anew},
    {"handed_over_and_gone", handed_over_and_gone},
    {"used_in_a_handler", used_in_a_handler},
    {"cancelled", cancelled},
    {"small_stack", small_stack},
    {"counts", counts},
    {"counts_all", counts},
    {"counts_nothing", counts_nothing},
    {"tunable_is_5", tunable_is_5},
    {"tunable_is_default", tunable_is_default},
};

int main(int argc, char **argv)
{
    size_t i;

    watch_for_hang(&a, 30);
    (void)rwsem_set_name(&a, "the cache");
    for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, argv[1]) == 0)
            return cases[i].run();
    }
    return 64;
}
