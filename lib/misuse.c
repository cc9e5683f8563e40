/*
 * Debug mode: what is wrong with an operation on a watched lock, and the report of it: the lock,
 * the threads, and both stacks. Each kind is told once a lock; RWSEM_DEBUG=2 aborts after the
 * first.
 */
#include "watch.h"
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAY_MOST = 64 };

static const char *const texts[MISUSES] = {
    [MISUSE_RECURSIVE_READ] =
        "recursive read: a writer that comes in between stops this thread for ever",
    [MISUSE_SELF_DEADLOCK] = "deadlock: this thread waits for a lock that it holds itself",
    [MISUSE_UP_WITHOUT_DOWN] = "up without down: the lock is not held in that mode",
    [MISUSE_WRONG_OWNER] = "wrong owner: another thread holds the lock for writing",
    [MISUSE_DESTROY] = "destroy while held or waited for",
    [MISUSE_ORDER] = "lock-order inversion: these locks have been taken in the opposite order",
};

__attribute__((noinline)) void rwsem__note_stack(struct rwsem__stack *stack)
{
    stack->depth = backtrace(stack->frames, WATCH_FRAMES);
}

static void print_stack(const char *of, uint32_t tid, const struct rwsem__stack *stack)
{
    fprintf(stderr, "  %s, thread %u:\n", of, tid);
    fflush(stderr);
    backtrace_symbols_fd(stack->frames, stack->depth, STDERR_FILENO);
}

static void print_lock(const char *what, const struct rwsem__watched *lock)
{
    fprintf(stderr, "  %s %p", what, (void *)lock->sem);
    if (lock->name)
        fprintf(stderr, " \"%s\"", lock->name);
    fputc('\n', stderr);
}

void rwsem__report(struct rwsem__watched *lock, enum misuse misuse, const struct rwsem__edge *edge)
{
    struct rwsem__stack here;
    uint64_t word = RWSEM__LOAD(&lock->sem->word, RWSEM__RELAXED); /* relaxed: for the reader */

    if (lock->is_reported[misuse])
        return;
    lock->is_reported[misuse] = true;
    rwsem__note_stack(&here);
    fprintf(stderr, "rwsem: %s\n", texts[misuse]);
    print_lock("lock", lock);
    if (word & WORD_WRITER)
        fprintf(stderr, "  held for writing by thread %u\n", word_holder(word));
    else
        fprintf(stderr, "  held by %u reader%s\n", word_holder(word),
                word_holder(word) == 1 ? "" : "s");
    print_stack("here", word_holder(rwsem__own_hold()), &here);
    if (edge) {
        print_lock("the other lock", edge->to);
        print_stack("the other order, first seen", edge->tid, &edge->stack);
    } else if (lock->last_tid) {
        print_stack("last taken", lock->last_tid, &lock->last_stack);
    }
    rwsem__must_abort |= rwsem__debug_level > 1;
}

/* An edge that leads from `from` towards `goal`, over WAY_MOST others at most (it recurses, and the
 * stack may be small), or NULL. Each lock is looked at once a search. */
static const struct rwsem__edge *way_to(struct rwsem__watched *from,
                                        const struct rwsem__watched *goal, uint64_t search,
                                        unsigned steps)
{
    const struct rwsem__edge *edge;

    if (from->last_search == search || steps > WAY_MOST)
        return NULL;
    from->last_search = search;
    for (edge = from->edges; edge; edge = edge->next) {
        if (edge->to == goal || way_to(edge->to, goal, search, steps + 1))
            return edge;
    }
    return NULL;
}

/* Notes that `lock` is taken while `from` is held, and tells if that closes a ring. */
static void note_order(struct rwsem__watched *from, struct rwsem__watched *lock)
{
    static uint64_t searches; /* under the table's mutex */
    const struct rwsem__edge *back;
    struct rwsem__edge *edge;

    for (edge = from->edges; edge; edge = edge->next) {
        if (edge->to == lock)
            return;
    }
    back = way_to(lock, from, ++searches, 0);
    if (back)
        rwsem__report(lock, MISUSE_ORDER, back);
    edge = calloc(1, sizeof(*edge));
    if (!edge)
        return; /* one order less is known */
    edge->to = lock;
    edge->tid = word_holder(rwsem__own_hold());
    rwsem__note_stack(&edge->stack);
    edge->next = from->edges;
    from->edges = edge;
}

void rwsem__check_take(struct rwsem__watched *lock, enum rwsem__mode mode, bool is_try,
                       const struct rwsem__held_list *list)
{
    uint64_t word = RWSEM__LOAD(&lock->sem->word, RWSEM__RELAXED); /* relaxed: modes */
    struct rwsem__watched *from;
    unsigned i;

    for (i = 0; i < list->count && !is_try; i++) {
        if (list->held[i].sem != lock->sem) {
            from = rwsem__find_watched(list->held[i].sem);
            if (from)
                note_order(from, lock);
        } else if (mode == MODE_WRITE || list->held[i].mode == MODE_WRITE) {
            rwsem__report(lock, MISUSE_SELF_DEADLOCK, NULL);
        } else if (!(word & WORD_RECURSIVE)) {
            rwsem__report(lock, MISUSE_RECURSIVE_READ, NULL);
        }
    }
}

bool rwsem__check_release(struct rwsem__watched *lock, enum rwsem__mode mode, uint64_t word)
{
    if (mode == MODE_READ ? !word_readers(word) : !(word & WORD_WRITER)) {
        rwsem__report(lock, MISUSE_UP_WITHOUT_DOWN, NULL);
        return false;
    }
    if (mode == MODE_WRITE && (word & WORD_WRITE_HOLD) != rwsem__own_hold())
        rwsem__report(lock, MISUSE_WRONG_OWNER, NULL);
    return true;
}
