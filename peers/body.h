/*
 * The measured loop of `rwsem bench lock`, once for all locks. An adapter instantiates it with its
 * own calls (PEER_WORK below); they are constants where the loop is inlined, so that a lock whose
 * fast path is inline is measured inlined, as its users have it.
 *
 * Also compiled as C++ by the adapters of C++ locks.
 */
#ifndef PEERS_BODY_H
#define PEERS_BODY_H

#include "result/clock.h"
#include "result/hist.h"
#include <stdbool.h>
#include <stdint.h>

enum { PEER_DATA_WORDS = 24 };

/*
 * What the lock protects: words on three cache lines that are all equal whenever nobody writes. A
 * writer reads the first, works, and writes all; a reader reads first and last word with its work
 * between. So two writers at once lose an update, and a reader beside a writer sees words apart.
 */
struct peer_data {
    volatile uint64_t word[PEER_DATA_WORDS] __attribute__((aligned(64)));
};

/* One thread's work, and what came of it. Written by that thread only. */
struct peer_work {
    void *lock;
    struct peer_data *data;
    const bool *is_over;  /* read with __atomic_load_n */
    uint32_t write_below; /* an operation is a write when 32 random bits are below this ... */
    bool only_writes;     /* ... or always */
    uint64_t inside_turns, outside_turns; /* of the delay loop */
    uint64_t random;                      /* xorshift's state, not 0 */
    struct hist *read_wait, *write_wait;  /* NULL: do not read the clock */
    uint64_t reads, writes;
    uint64_t torn_reads; /* reads that saw a write half done */
} __attribute__((aligned(128)));

/* Burns `turns` turns of about one cycle. */
static inline __attribute__((always_inline)) void peer_delay(uint64_t turns)
{
    for (; turns; turns--)
        __asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void peer_write(struct peer_work *w)
{
    struct peer_data *data = w->data;
    uint64_t next = data->word[0] + 1;
    data->word[0] = next;
    peer_delay(w->inside_turns);
    data->word[PEER_DATA_WORDS / 2] = next;
    data->word[PEER_DATA_WORDS - 1] = next;
}

static inline __attribute__((always_inline)) void peer_read(struct peer_work *w)
{
    const struct peer_data *data = w->data;
    uint64_t first = data->word[PEER_DATA_WORDS - 1];
    peer_delay(w->inside_turns);
    w->torn_reads += first != data->word[0] || first != data->word[PEER_DATA_WORDS / 2];
}

typedef void peer_call(void *lock);

/* An operation under one side of the lock, its wait timed where that is asked for. */
static inline __attribute__((always_inline)) void
peer_operation(struct peer_work *w, peer_call *down, peer_call *up, struct hist *wait, bool writes)
{
    if (__builtin_expect(wait != 0, 0)) {
        uint64_t asked = clock_ticks();
        down(w->lock);
        hist_add(wait, clock_span_ns(asked, clock_ticks()));
    } else {
        down(w->lock);
    }
    if (writes)
        peer_write(w);
    else
        peer_read(w);
    up(w->lock);
}

static inline __attribute__((always_inline)) void
peer_work_with(struct peer_work *w, peer_call *down_read, peer_call *up_read, peer_call *down_write,
               peer_call *up_write)
{
    uint64_t random = w->random;

    while (!__atomic_load_n(w->is_over, __ATOMIC_RELAXED)) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if (w->only_writes || (uint32_t)(random >> 16) < w->write_below) {
            peer_operation(w, down_write, up_write, w->write_wait, true);
            w->writes++;
        } else {
            peer_operation(w, down_read, up_read, w->read_wait, false);
            w->reads++;
        }
        peer_delay(w->outside_turns);
    }
    w->random = random;
}

/* Defines NAME, the loop over these four calls. */
#define PEER_WORK(name, down_read, up_read, down_write, up_write)                                  \
    static void name(struct peer_work *w)                                                          \
    {                                                                                              \
        peer_work_with(w, down_read, up_read, down_write, up_write);                               \
    }

#endif
