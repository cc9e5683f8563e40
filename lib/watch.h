/*
 * What the files of watching share: the side table of watched locks, and each thread's list of what
 * it holds. All of the table belongs to the holder of its mutex.
 */
#ifndef LIB_WATCH_H
#define LIB_WATCH_H

#include "check.h"
#include "rwsem-stats.h"

enum { WATCH_FRAMES = 16, WATCH_HELD = 64 };

struct rwsem__stack {
    void *frames[WATCH_FRAMES];
    int depth;
};

/* "While `from` was held, this one was taken": by whom and where, the first time. */
struct rwsem__edge {
    struct rwsem__edge *next;
    struct rwsem__watched *to;
    uint32_t tid;
    struct rwsem__stack stack;
};

enum misuse {
    MISUSE_RECURSIVE_READ,
    MISUSE_SELF_DEADLOCK,
    MISUSE_UP_WITHOUT_DOWN,
    MISUSE_WRONG_OWNER,
    MISUSE_DESTROY,
    MISUSE_ORDER,
    MISUSES
};

struct rwsem__watched {
    struct rwsem__watched *next; /* in its bucket */
    uint64_t id;                 /* no other entry had it: the memory may be another lock's later */
    rwsem_t *sem;
    const char *name; /* or NULL */
    struct rwsem_stats stats;
    uint32_t last_tid; /* who took it last, and where */
    struct rwsem__stack last_stack;
    struct rwsem__edge *edges;
    bool is_reported[MISUSES]; /* each kind once a lock */
    bool hands_over;           /* read holds have been released by other threads than took them */
    uint64_t last_search;      /* for a ring that looked here */
};

struct rwsem__held {
    rwsem_t *sem;
    uint64_t id; /* of its entry */
    enum rwsem__mode mode;
    uint64_t since_ns;
};

/* What the calling thread holds, of watched locks; beyond WATCH_HELD it is not known. */
struct rwsem__held_list {
    struct rwsem__held held[WATCH_HELD];
    unsigned count;
};

/* misuse.c. With the table locked. */
void rwsem__check_take(struct rwsem__watched *lock, enum rwsem__mode mode, bool is_try,
                       const struct rwsem__held_list *list);
bool rwsem__check_release(struct rwsem__watched *lock, enum rwsem__mode mode, uint64_t word);
void rwsem__report(struct rwsem__watched *lock, enum misuse misuse, const struct rwsem__edge *edge);
void rwsem__note_stack(struct rwsem__stack *stack);

/* The table's entry of the lock, or NULL; the table must be locked. */
struct rwsem__watched *rwsem__find_watched(const rwsem_t *sem);

/* Set once from RWSEM_DEBUG: 0 off, 1 report, 2 report and abort. */
extern int rwsem__debug_level;
/* A report was made that is to end the process, once the table is unlocked. */
extern bool rwsem__must_abort;

/* Is the watched lock checked for misuse, too? Those are that were made to be watched. */
static inline bool rwsem__is_checked(const rwsem_t *sem)
{
    /* relaxed: a mode never changes */
    return rwsem__debug_level || RWSEM__LOAD(&sem->word, RWSEM__RELAXED) & WORD_WATCHED;
}

#endif
