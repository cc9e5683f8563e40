/*
 * The queue of a private lock: a circular list of nodes on the sleepers' stacks, first one in
 * sem->extra. All of it belongs to the holder of WORD_QLOCK, except `state`, by which a node that
 * has been taken out is called.
 */
#ifndef LIB_QUEUE_H
#define LIB_QUEUE_H

#include "word.h"

enum rwsem__mode { MODE_READ, MODE_WRITE };

enum node_state {
    NODE_WAITING, /* also: taken out, and about to be told */
    NODE_CALLED,  /* a writer: come and try, WOKEN is yours */
    NODE_GRANTED, /* a reader: the lock is yours */
};

struct rwsem__node {
    uint32_t state; /* enum node_state, the futex; left NODE_WAITING once, by the caller */
    uint32_t tid;   /* whose node, for dumps; never changed */
    struct rwsem__node *next, *prev;
    enum rwsem__mode mode;
    uint64_t overdue_ns; /* when it will have waited longer than the bound; never changed */
    bool is_queued;
    bool is_overdue; /* has, and somebody has noticed */
};

static inline struct rwsem__node *queue_first(const rwsem_t *sem)
{
    /* relaxed: under QLOCK, whose acquire pairs with its release */
    return (struct rwsem__node *)(uintptr_t)RWSEM__LOAD(&sem->extra, RWSEM__RELAXED);
}

static inline void queue_set_first(rwsem_t *sem, struct rwsem__node *node)
{
    RWSEM__STORE(&sem->extra, (uint64_t)(uintptr_t)node, RWSEM__RELAXED);
}

/* The one after `node`, or NULL after the last. */
static inline struct rwsem__node *queue_next(const rwsem_t *sem, const struct rwsem__node *node)
{
    return node->next == queue_first(sem) ? NULL : node->next;
}

static inline void queue_push(rwsem_t *sem, struct rwsem__node *node, bool at_front)
{
    struct rwsem__node *first = queue_first(sem);

    if (!first) {
        node->next = node->prev = node;
    } else {
        node->next = first;
        node->prev = first->prev;
        first->prev->next = node;
        first->prev = node;
    }
    if (!first || at_front)
        queue_set_first(sem, node);
    node->is_queued = true;
}

static inline void queue_remove(rwsem_t *sem, struct rwsem__node *node)
{
    if (node->next == node) {
        queue_set_first(sem, NULL);
    } else {
        node->next->prev = node->prev;
        node->prev->next = node->next;
        if (queue_first(sem) == node)
            queue_set_first(sem, node->next);
    }
    node->is_queued = false;
}

#endif
