/* A thread that hands a byte to and fro with a child process, through two pipes. */
#include "bench/crew.h"
#include "bench/switch_game.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The child: gives back each byte until the pipe is closed. Only calls that are safe after fork.
 * Signals are blocked, as in all of a crew: what ends the child is the end of file, which comes
 * with the parent's end, and SIGKILL should only the thread be gone that waits for it.
 */
static void child_main(const struct game *game, pid_t parent)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1); /* the parent died before we asked to die with it */
    close(game->to_child[1]);
    close(game->to_parent[0]);
    while (read(game->to_child[0], &byte, 1) == 1)
        if (write(game->to_parent[1], &byte, 1) != 1)
            break;
    _exit(0);
}

/* Forks the child on its CPU, the last of the kind's; this thread stays on the first. */
static int fork_child(struct game *game)
{
    const struct cpus *cpus = game->cpus;
    pid_t parent = getpid();
    int error = crew_pin_self(cpus->list[cpus->allowed - 1]);

    if (error)
        goto out;
    pid_t child = fork();
    if (child == 0)
        child_main(game, parent);
    if (child < 0)
        return -errno;
    pthread_mutex_lock(&game->child_mutex);
    game->child = child;
    pthread_mutex_unlock(&game->child_mutex);
    error = crew_pin_self(cpus->list[0]);
out:
    if (error)
        snprintf(game->why_not, game->why_not_size, "processes may not be pinned: %s",
                 strerror(-error));
    return error;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
    pair[0] = pair[1] = -1;
}

/* Kills the child: one that is stopped sees no end of file. Once waited for, its number may be
 * another's. */
static void kill_child(struct game *game)
{
    pthread_mutex_lock(&game->child_mutex);
    if (game->child > 0)
        kill(game->child, SIGKILL);
    pthread_mutex_unlock(&game->child_mutex);
}

void pipe_leave(void *context, unsigned index)
{
    struct game *game = context;
    struct rusage used;
    int status;

    close_pair(game->to_child);
    close_pair(game->to_parent);
    kill_child(game);
    pthread_mutex_lock(&game->child_mutex);
    if (game->child > 0) {
        pid_t waited;
        do
            waited = wait4(game->child, &status, 0, &used);
        while (waited < 0 && errno == EINTR);
        if (waited > 0)
            game->child_switches = (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw;
        game->child = 0;
    }
    pthread_mutex_unlock(&game->child_mutex);
}

/* A child that does not answer, because it is stopped perhaps, must not hold the thread in read().
 */
void pipe_hurry(void *context)
{
    kill_child(context);
}

int pipe_enter(void *context, unsigned index)
{
    struct game *game = context;
    int error;

    game->to_child[0] = game->to_child[1] = game->to_parent[0] = game->to_parent[1] = -1;
    if (pipe2(game->to_child, O_CLOEXEC) || pipe2(game->to_parent, O_CLOEXEC))
        error = -errno;
    else
        error = fork_child(game);
    if (error) {
        pipe_leave(game, index);
        return error;
    }
    /* So that the child's death is an end of file, or EPIPE. */
    close(game->to_child[0]);
    close(game->to_parent[1]);
    game->to_child[0] = game->to_parent[1] = -1;
    return 0;
}

/* Signals are blocked in a crew's threads: writing to a child that was killed is EPIPE. */
int pipe_work(void *context, unsigned index, uint64_t *iterations)
{
    struct game *game = context;
    uint64_t n = 0;
    char byte = 0;

    while (n < game->steps && !game_is_over(game)) {
        if (write(game->to_child[1], &byte, 1) != 1 || read(game->to_parent[0], &byte, 1) != 1)
            return -EPIPE;
        n += 2; /* there and back */
    }
    *iterations = n;
    return 0;
}
