/*
 * Locks in every state that the printers for gdb tell apart, for test_gdb.py to look at: real ones,
 * with sleepers, and made-up ones that no library leaves behind. Stops by calling look_here().
 *
 *     gdb_cases states     all states
 *     gdb_cases deadlock   two threads that wait for each other, and one for itself
 *
 * With LOCKS_ONLY (an installed library, no headers of lib/) the deadlock is all there is.
 */
#include <pthread.h>
#include <rwsem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rwsem_t cache, table, names;
static pthread_barrier_t have_both;
static volatile pid_t tids[8];

void look_here(void);
__attribute__((noinline)) void look_here(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Returns once that thread sleeps, and has done so for longer than the bound of a hand-off. */
static void until_asleep(const volatile pid_t *tid)
{
    char path[64], state = 0;
    unsigned times = 0;
    FILE *stat;

    while (times < 20) {
        usleep(5000);
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)*tid);
        stat = *tid ? fopen(path, "r") : NULL;
        if (stat) {
            if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
                state = 0;
            fclose(stat);
        }
        times = state == 'S' ? times + 1 : 0;
        state = 0;
    }
}

static volatile pid_t *start(void *(*call)(void *))
{
    static unsigned count;
    pthread_t thread;

    if (pthread_create(&thread, NULL, call, (void *)&tids[count]))
        abort();
    until_asleep(&tids[count]);
    return &tids[count++];
}

__attribute__((noinline)) static void *cache_then_table(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_write(&cache);
    pthread_barrier_wait(&have_both);
    (void)rwsem_down_read(&table);
    return NULL;
}

__attribute__((noinline)) static void *table_then_cache(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_write(&table);
    pthread_barrier_wait(&have_both);
    (void)rwsem_down_write(&cache);
    return NULL;
}

__attribute__((noinline)) static void *names_twice(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_write(&names);
    (void)rwsem_down_write(&names);
    return NULL;
}

static int deadlock(void)
{
    volatile pid_t *one;

    pthread_barrier_init(&have_both, NULL, 2);
    one = start(cache_then_table);
    start(table_then_cache);
    start(names_twice);
    until_asleep(one); /* before, that was at the barrier */
    look_here();
    return 0;
}

#ifndef LOCKS_ONLY

#include "queue.h"
#include <sys/mman.h>
#include <sys/wait.h>

rwsem_t idle, readers, recursive, watched, written, *shared, *died, *lost;
rwsem_t garbage, cycle, torn, moving, crowd, stranger, noise, unlinked, broken, called, ghost;

static struct {
    int before;
    rwsem_t lock;
} object;
static struct rwsem__node nodes[100];

static void *reads(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_read(&written);
    return NULL;
}

static void *writes(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_write(&written);
    return NULL;
}

static void *writes_shared(void *tid)
{
    *(volatile pid_t *)tid = gettid();
    (void)rwsem_down_write(shared);
    return NULL;
}

static void die_with(rwsem_t *sem)
{
    pid_t child = fork();

    if (child == 0) {
        (void)rwsem_down_write(sem);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    (void)rwsem_down_read(sem); /* -EOWNERDEAD, and holds it */
}

/* A ring of `count` nodes whose last leads to number `back`. */
static void link_nodes(rwsem_t *sem, struct rwsem__node *node, unsigned count, unsigned back)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        node[i].tid = 100 + i;
        node[i].is_queued = true;
        node[i].mode = i % 2 ? MODE_WRITE : MODE_READ;
        node[i].next = &node[i + 1 < count ? i + 1 : back];
        node[i].prev = &node[(i + count - 1) % count];
    }
    sem->word = WORD_READER | WORD_QUEUED;
    sem->extra = (uintptr_t)node;
}

static void make_up(void)
{
    static struct rwsem__node round[3], odd[2], loose[3], single[1];

    garbage = (rwsem_t){WORD_READER | WORD_QUEUED, 0x10};
    link_nodes(&cycle, round, 3, 1);
    torn = (rwsem_t){WORD_READER | WORD_QUEUED | WORD_QLOCK, 0};
    link_nodes(&crowd, nodes, 100, 0);
    link_nodes(&stranger, odd, 2, 0);
    odd[1].mode = (enum rwsem__mode)77;
    memset(&noise, 0xa5, sizeof(noise));
    link_nodes(&unlinked, loose, 3, 0);
    loose[2].prev = &loose[0];
    broken = (rwsem_t){WORD_QUEUED, 0};
    link_nodes(&called, single, 1, 0);
    called.word = WORD_QUEUED | WORD_WOKEN | WORD_SPINNER | WORD_HANDOFF;
    link_nodes(&moving, single, 1, 0);
    moving.word |= WORD_QLOCK;
    ghost.word = word_write_hold(4000000);
}

static int states(void)
{
    rwsem_t *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned i;

    if (map == MAP_FAILED)
        return 1;
    shared = &map[0], died = &map[1], lost = &map[2];
    for (i = 0; i < 3; i++)
        rwsem_init(&map[i], RWSEM_SHARED);
    rwsem_init(&recursive, RWSEM_RECURSIVE_READ);
    rwsem_init(&watched, RWSEM_WATCHED);
    for (i = 0; i < 3; i++)
        (void)rwsem_down_read(&readers);
    (void)rwsem_down_read(&recursive);
    (void)rwsem_down_write(&object.lock);
    die_with(died);
    die_with(lost);
    rwsem_up_write(lost);
    (void)rwsem_down_write(&written);
    (void)rwsem_down_write(shared);
    start(reads);
    start(writes);
    start(reads);
    start(writes_shared);
    make_up();
    look_here();
    return 0;
}

#else

static int states(void)
{
    return 2;
}

#endif

int main(int argc, char **argv)
{
    alarm(300); /* whatever becomes of gdb */
    return argc == 2 && strcmp(argv[1], "deadlock") == 0 ? deadlock() : states();
}
