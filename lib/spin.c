/*
 * Waiting awake: when it may pay, for how long, and what is remembered about whether it did.
 *
 * One thread a lock spins at most, and makes WORD_SPINNER its promise; releases then need not call
 * anyone. It spins only while those that want the lock and are awake (its holder included) have a
 * CPU each, is bounded in time by the clock (PAUSE takes 10 to 140 cycles), and ends early when the
 * lock does not move, as when the holder has lost its CPU or holds for long.
 */
#include "annotate.h"
#include "slow.h"

/* What is known of the threads that want a lock: a table by the lock's address. Two locks in one
 * place make each other look busier, which costs a spin and nothing else; so do the lost updates of
 * its relaxed accesses. Not in the lock, which has no room, nor for the whole process, where
 * threads that are parked at one lock would keep others from spinning at theirs. */
enum { CROWDS = 256, SKIP_MAX = 63, LOOKS_PER_CLOCK = 8, PASSES_PER_CLOCK = 8 };

static struct crowd {
    uint32_t waiting;  /* threads in the slow path that are awake */
    uint32_t skip;     /* that many do not spin, after spins that were lost */
    uint32_t lost;     /* spins lost in a row, as 2^n-1 */
    uint32_t pad[11];  /* a cache line each */
    uint64_t bound_ns; /* until then the one that comes next may be passed */
} crowds[CROWDS];

static struct crowd *crowd_of(const rwsem_t *sem)
{
    uint64_t key = (uint64_t)(uintptr_t)sem >> 4;

    return &crowds[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

void rwsem__enter_crowd(const rwsem_t *sem)
{
    ANNOTATE(ignores, crowd_of(sem), sizeof(struct crowd));
    RWSEM__ADD(&crowd_of(sem)->waiting, 1u, RWSEM__RELAXED); /* an estimate: orders nothing */
}

void rwsem__leave_crowd(const rwsem_t *sem)
{
    RWSEM__SUB(&crowd_of(sem)->waiting, 1u, RWSEM__RELAXED); /* as above */
}

void rwsem__set_bound(const rwsem_t *sem, uint64_t overdue_ns)
{
    RWSEM__STORE(&crowd_of(sem)->bound_ns, overdue_ns, RWSEM__RELAXED); /* advice */
}

uint64_t rwsem__bound(const rwsem_t *sem)
{
    return RWSEM__LOAD(&crowd_of(sem)->bound_ns, RWSEM__RELAXED); /* advice */
}

bool rwsem__is_bound_over(const rwsem_t *sem, uint64_t *now_ns)
{
    static __thread unsigned passes;
    unsigned n = RWSEM__LOAD(&passes, RWSEM__RELAXED); /* its own thread's */
    uint64_t ns;

    if (n % PASSES_PER_CLOCK == 0) {
        ns = os_now_ns();
        if (ns >= rwsem__bound(sem)) {
            *now_ns = ns; /* and the next pass looks again: the queue may be locked just now */
            return true;
        }
    }
    RWSEM__STORE(&passes, n + 1, RWSEM__RELAXED);
    return false;
}

void rwsem__wait_for_queue(unsigned *tries)
{
    unsigned rests;
    uint64_t ns;

    if ((*tries)++ < rwsem__tunable.queue_spins) {
        os_pause();
        return;
    }
    rests = *tries - (unsigned)rwsem__tunable.queue_spins - 1;
    ns = rwsem__tunable.queue_sleep_ns << (rests < 8 ? rests : 8);
    os_sleep_ns(ns < 1000000 ? ns : 1000000);
}

static bool may_spin(const struct rwsem__request *rq, struct crowd *crowd, uint64_t now_ns)
{
    unsigned cpus;
    uint32_t skip;

    if (!rwsem__tunable.spin_ns)
        return false;
    cpus = os_usable_cpus(now_ns);
    /* relaxed, all of the crowd: advice */
    if (RWSEM__LOAD(&crowd->waiting, RWSEM__RELAXED) + 1 > cpus)
        return false;
    skip = RWSEM__LOAD(&crowd->skip, RWSEM__RELAXED);
    if (!skip)
        return true;
    RWSEM__STORE(&crowd->skip, skip - 1, RWSEM__RELAXED);
    return false;
}

static void remember(struct rwsem__request *rq, struct crowd *crowd, bool is_won)
{
    uint32_t lost = 0;

    if (!is_won)
        lost = (RWSEM__LOAD(&crowd->lost, RWSEM__RELAXED) * 2 + 1) & SKIP_MAX;
    RWSEM__STORE(&crowd->lost, lost, RWSEM__RELAXED);
    RWSEM__STORE(&crowd->skip, lost, RWSEM__RELAXED);
    if (rq->limits->story && is_won)
        rq->limits->story->spins_won++;
    else if (rq->limits->story)
        rq->limits->story->spins_lost++;
}

/* Becomes the one that spins. Returns 0 (took the lock instead), -EBUSY (another spins, or the lock
 * is reserved), -EINPROGRESS. */
static int claim(struct rwsem__request *rq)
{
    uint64_t word;
    int rc;

    for (;;) {
        rc = rwsem__try_take(rq, &word);
        if (rc != -EBUSY)
            return rc;
        if (word & (WORD_SPINNER | WORD_HANDOFF))
            return -EBUSY;
        /* relaxed: a promise to look; what is looked at is ordered by the take */
        if (RWSEM__CAS(&rq->sem->word, &word, word | WORD_SPINNER, RWSEM__RELAXED)) {
            rq->mine |= WORD_SPINNER;
            return -EINPROGRESS;
        }
    }
}

/* Spins until it has the lock, or the time is over. */
static int spin(struct rwsem__request *rq, uint64_t now_ns)
{
    uint64_t end_ns = now_ns + rwsem__tunable.spin_max_ns, moved_ns = now_ns;
    uint64_t word = 0, seen;
    unsigned looks = 0;
    int rc;

    while ((rc = rwsem__try_take(rq, &seen)) == -EBUSY) {
        if (seen & WORD_HANDOFF && !(rq->mine & WORD_WOKEN))
            return -EBUSY;
        if ((seen ^ word) & WORD_WRITE_HOLD) {
            word = seen;
            moved_ns = now_ns;
        }
        os_pause();
        if (++looks % LOOKS_PER_CLOCK)
            continue;
        now_ns = os_now_ns();
        if (now_ns >= end_ns || now_ns - moved_ns >= rwsem__tunable.spin_ns ||
            now_ns >= rq->limits->until_ns)
            return -EBUSY;
    }
    return rc;
}

int rwsem__spin(struct rwsem__request *rq)
{
    struct crowd *crowd = crowd_of(rq->sem);
    uint64_t now_ns = os_now_ns();
    int rc;

    if (!may_spin(rq, crowd, now_ns))
        return -EBUSY;
    rc = claim(rq);
    if (rc != -EINPROGRESS)
        return rc;
    rc = spin(rq, now_ns);
    remember(rq, crowd, rc == 0);
    return rc;
}
