/* Programs for a race checker, by name: some right, some wrong; test_races.py knows which. */
#include "rwsem.h"
#include "watchdog.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, CLASHES = 6 };

static rwsem_t a, b;
static long data[2];

static void add(long n)
{
    data[0] += n;
    data[1] += n;
}

/* Holds so long that the others have to sleep, now and then. */
static void dwell(int i)
{
    if (i % (ROUNDS / CLASHES) == 0)
        usleep(2000);
}

static void *write_in_every_way(void *arg)
{
    struct timespec soon;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        soon = in_ms(1);
        if (i % 4 == 0   ? rwsem_try_down_write(&a)
            : i % 4 == 1 ? rwsem_down_write_until(&a, &soon)
            : i % 4 == 2 ? rwsem_down_write_interruptible(&a)
                         : rwsem_down_write(&a))
            continue;
        add(1);
        dwell(i);
        if (i % 3 == 0) {
            rwsem_downgrade_write(&a);
            if (data[0] != data[1])
                abort();
            if (i % 2 == 0 && rwsem_try_upgrade(&a) == 0) {
                add(1);
                rwsem_up_write(&a);
            } else {
                rwsem_up_read(&a);
            }
        } else {
            rwsem_up_write(&a);
        }
    }
    return NULL;
}

static void *read_in_every_way(void *arg)
{
    struct timespec soon;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        soon = in_ms(1);
        if (i % 3 == 0   ? rwsem_try_down_read(&a)
            : i % 3 == 1 ? rwsem_down_read_until(&a, &soon)
                         : rwsem_down_read(&a))
            continue;
        if (data[0] != data[1])
            abort();
        dwell(i);
        rwsem_up_read(&a);
    }
    return NULL;
}

static void run(void *(*const bodies[])(void *), int n)
{
    pthread_t threads[8];
    int i;

    for (i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static int right_use(void)
{
    run((void *(*const[])(void *)){write_in_every_way, read_in_every_way, write_in_every_way,
                                   read_in_every_way},
        4);
    return data[0] != data[1];
}

struct counted {
    rwsem_t sem;
    int users;
    long value;
};

static void *last_one_frees(void *arg)
{
    struct counted *object = arg;
    bool is_last;

    (void)rwsem_down_write(&object->sem);
    object->value++;
    is_last = --object->users == 0;
    rwsem_up_write(&object->sem);
    if (is_last)
        free(object);
    return NULL;
}

/* Locks in memory that comes and goes, with other locks and other data after one another in it. */
static int freed_by_the_last(void)
{
    int i;

    for (i = 0; i < ROUNDS; i++) {
        struct counted *object = calloc(1, sizeof(*object) + (size_t)(i % 2) * sizeof(rwsem_t));
        pthread_t threads[2];

        if (!object)
            return 1;
        object->users = 2;
        if (i % 3 == 0)
            (void)rwsem_init(&object->sem, 0);
        pthread_create(&threads[0], NULL, last_one_frees, object);
        pthread_create(&threads[1], NULL, last_one_frees, object);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
    }
    return 0;
}

static void *write_while_reading(void *arg)
{
    (void)rwsem_down_read(&a);
    add(1);
    rwsem_up_read(&a);
    return NULL;
}

static int written_by_readers(void)
{
    run((void *(*const[])(void *)){write_while_reading, write_while_reading}, 2);
    return 0;
}

static void *write_after_downgrade(void *arg)
{
    (void)rwsem_down_write(&a);
    rwsem_downgrade_write(&a);
    add(1);
    rwsem_up_read(&a);
    return NULL;
}

static void *write_while_reading_later(void *arg)
{
    usleep(50000);
    return write_while_reading(arg);
}

static int written_after_downgrade(void)
{
    run((void *(*const[])(void *)){write_after_downgrade, write_while_reading_later}, 2);
    return 0;
}

static void *take_a_then_b(void *arg)
{
    (void)rwsem_down_write(&a);
    (void)rwsem_down_write(&b);
    rwsem_up_write(&b);
    rwsem_up_write(&a);
    return NULL;
}

static void *take_b_then_a(void *arg)
{
    (void)rwsem_down_write(&b);
    (void)rwsem_down_write(&a);
    rwsem_up_write(&a);
    rwsem_up_write(&b);
    return NULL;
}

static int order_inversion(void)
{
    run((void *(*const[])(void *)){take_a_then_b}, 1);
    run((void *(*const[])(void *)){take_b_then_a}, 1);
    return 0;
}

/* Tries cannot deadlock, whatever their order. */
static void *try_b_then_a(void *arg)
{
    (void)rwsem_down_write(&b);
    if (rwsem_try_down_write(&a) == 0)
        rwsem_up_write(&a);
    rwsem_up_write(&b);
    return NULL;
}

static int tried_in_another_order(void)
{
    run((void *(*const[])(void *)){take_a_then_b}, 1);
    run((void *(*const[])(void *)){try_b_then_a}, 1);
    return 0;
}

/* Which way do uncontended calls go? */
static int print_the_way(void)
{
    puts(rwsem__idle_guess ? "out of line" : "inlined");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {
    {"right_use", right_use},
    {"freed_by_the_last", freed_by_the_last},
    {"written_by_readers", written_by_readers},
    {"written_after_downgrade", written_after_downgrade},
    {"order_inversion", order_inversion},
    {"tried_in_another_order", tried_in_another_order},
    {"print_the_way", print_the_way},
};

int main(int argc, char **argv)
{
    size_t i;

    watch_for_hang(&a, 120);
    for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) == 0)
            return cases[i].run();
    }
    return 64;
}
