/* Two threads that yield, or that hand a futex to and fro. */
#include "bench/switch_game.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int yield_work(void *context, unsigned index, uint64_t *iterations)
{
    struct game *game = context;
    uint64_t n = 0;

    while (n < game->steps / 2 && !game_is_over(game)) {
        sched_yield();
        n++;
    }
    *iterations = n;
    return 0;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t while_value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/*
 * Each side waits for its turn and gives it to the other; whoever has to stop early sends the other
 * home by TURN_OVER, which nobody overwrites. Nothing else is shared: the orders of the turn
 * (acquire against release) only keep the game honest. is_over is looked at before waiting, too:
 * the other side may never have entered, and then nobody would end the wait.
 */
int futex_work(void *context, unsigned index, uint64_t *iterations)
{
    struct game *game = context;
    uint32_t mine = index ? TURN_SECOND : TURN_FIRST, other = index ? TURN_FIRST : TURN_SECOND;
    uint64_t n = 0;

    while (n < game->steps / 2) {
        uint32_t turn = mine;
        while (atomic_load_explicit(&game->turn, memory_order_acquire) == other &&
               !game_is_over(game))
            futex_wait(&game->turn, other);
        if (game_is_over(game) ||
            !atomic_compare_exchange_strong_explicit(&game->turn, &turn, other,
                                                     memory_order_acq_rel, memory_order_relaxed))
            break;
        futex_wake(&game->turn);
        n++;
    }
    if (n < game->steps / 2) {
        atomic_store_explicit(&game->turn, TURN_OVER, memory_order_release);
        futex_wake(&game->turn);
    }
    *iterations = n;
    return 0;
}
