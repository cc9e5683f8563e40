/* Spinning for a lock in a line, with two clocks by which to leave. */
#include "peers/history/spin.h"
#include <stddef.h>

enum { SPIN_READERS_NS = 10000, SPIN_READER_NS = 500, READERS_MOST = 30 };

void history_line_up(struct history_spun *spun, struct history_spinner *spinner)
{
    history_mutex_lock(&spun->mutex);
    spinner->next = NULL;
    spinner->previous = spun->last;
    /* relaxed, here and below: who is first only decides who competes, not who has the lock */
    atomic_store_explicit(&spinner->is_first, !spun->last, memory_order_relaxed);
    if (spun->last)
        spun->last->next = spinner;
    else
        spun->first = spinner;
    spun->last = spinner;
    history_mutex_unlock(&spun->mutex);
}

void history_leave_line(struct history_spun *spun, struct history_spinner *spinner)
{
    history_mutex_lock(&spun->mutex);
    if (spinner->next)
        spinner->next->previous = spinner->previous;
    else
        spun->last = spinner->previous;
    if (spinner->previous) {
        spinner->previous->next = spinner->next;
    } else {
        spun->first = spinner->next;
        if (spinner->next)
            atomic_store_explicit(&spinner->next->is_first, true, memory_order_relaxed);
    }
    history_mutex_unlock(&spun->mutex);
}

/* How long one owner is borne. */
static uint64_t patience_ns(uint64_t readers)
{
    if (!readers)
        return SPIN_OWNER_NS;
    return SPIN_READERS_NS + SPIN_READER_NS * (readers < READERS_MOST ? readers : READERS_MOST);
}

/* Writers differ by their turn; readers, however many, are one owner as long as no writer comes. */
static uint64_t owner_of(struct history_spun *spun, uint64_t readers)
{
    uint64_t turn = atomic_load_explicit(&spun->turn, memory_order_relaxed);
    return turn * 2 + (readers > 0);
}

bool history_spin_write(struct history_spun *spun, bool spins_on_readers)
{
    struct history_spinner spinner;
    uint64_t start = clock_monotonic_ns(), seen_at = start, seen = UINT64_MAX;
    bool is_mine = false;

    history_line_up(spun, &spinner);
    for (;;) {
        /* relaxed: a look; taking the lock is what acquires */
        if (atomic_load_explicit(&spinner.is_first, memory_order_relaxed) &&
            history_try_write(&spun->lock, HISTORY_HAND_OFF)) {
            is_mine = true;
            break;
        }
        uint64_t word = atomic_load_explicit(&spun->lock.word, memory_order_relaxed);
        uint64_t readers = history_readers(word), now = clock_monotonic_ns();
        if ((word & HISTORY_HAND_OFF) || (readers && !spins_on_readers))
            break;
        uint64_t owner = owner_of(spun, readers);
        if (owner != seen) {
            seen = owner;
            seen_at = now;
        }
        if (now - seen_at > patience_ns(readers) || now - start > SPIN_MOST_NS)
            break;
        history_pause();
    }
    history_leave_line(spun, &spinner);
    return is_mine;
}
