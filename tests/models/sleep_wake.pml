/*
 * The sleep and wake protocol of private locks (lib/slow.c), by the steps of the table in lib/word.h:
 * one atomic{} here is one access of the word there. Spinning is left out; time is whatever may happen:
 * a sleeper may find at any moment that it has waited too long, or that its deadline is over.
 *
 * Checked for all interleavings of N threads, each of which takes the lock ROUNDS times, in any mode:
 * exclusion, the invariants I2 and I3, an idle word at the end (assertions), and that nobody sleeps
 * for ever (spin's invalid end states: each run is finite, so a thread that cannot end was not woken).
 * -DBREAK=1..5 plants a fault, which must be found; see test_models.py.
 *   1 the wake-up is dropped   2 the release does not look whether someone waits
 *   3 who times out does not let in those behind   4 who was called and gives up keeps the promise
 *   5 one goes to sleep without looking again
 */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#define WAITING 0
#define CALLED  1
#define GRANTED 2
#define NOBODY  255

/* the word */
bit writer, queued, qlock, handoff, woken;
byte readers;
/* the queue, under qlock */
byte queue[N], qlen;
bit overdue[N], reads[N], in_queue[N];
/* the nodes' futexes */
byte state[N];
bit asleep[N];
/* what the program sees */
byte inside_r, inside_w, ended;

#define HELD          (writer || readers > 0)
#define SHUT(r)       (r -> writer : HELD)
#define OPEN(r, mine) (!SHUT(r) && (!handoff || mine))

/* a release without anyone to call */
#if BREAK == 2
#define PLAIN true
#else
#define PLAIN (!queued || (reads[me] && readers > 1) || woken)
#endif

inline check()
{
    assert(HELD || !queued || qlock || woken);
    assert(HELD || !handoff || woken)
}

inline remove(who)
{
    i = 0;
    do
    :: i < qlen && queue[i] != who -> i++
    :: else -> break
    od;
    do
    :: i + 1 < qlen -> queue[i] = queue[i + 1]; i++
    :: else -> break
    od;
    qlen--;
    in_queue[who] = 0
}

inline push(who, at_front)
{
    if
    :: at_front ->
        i = qlen;
        do
        :: i > 0 -> queue[i] = queue[i - 1]; i--
        :: else -> break
        od;
        queue[0] = who
    :: else -> queue[qlen] = who
    fi;
    qlen++;
    in_queue[who] = 1
}

inline unlock()
{
    d_step { qlock = 0; queued = (qlen > 0); i = 0; check() }
}

/* one step of the word: gives up `give` (1 a reader, 2 the writer), says who comes next */
inline decide(give)
{
    if
    :: give == 1 -> readers--
    :: give == 2 -> writer = 0
    :: else -> skip
    fi;
    lets_in = 0;
    calls = 0;
    if
    :: woken && !HELD -> skip
    :: else ->
        if
        :: qlen > 0 && !writer && reads[queue[0]] ->
            lets_in = 1;
            stays = NOBODY;
            i = 0;
            do
            :: i < qlen ->
                if
                :: reads[queue[i]] -> readers++
                :: !reads[queue[i]] && stays == NOBODY -> stays = queue[i]
                :: else -> skip
                fi;
                i++
            :: else -> break
            od
        :: qlen > 0 && !reads[queue[0]] && !HELD && !woken ->
            calls = 1;
            stays = queue[0]
        :: else -> stays = (qlen > 0 -> queue[0] : NOBODY)
        fi;
        if
        :: woken -> skip
        :: !woken && stays == NOBODY -> handoff = 0
        :: else -> handoff = overdue[stays]
        fi;
        woken = woken || calls
    fi;
    i = 0;
    stays = 0;
    check()
}

/* one step of the word */
inline go_to_sleep()
{
    was_called = mine;
    if
    :: mine -> handoff = overdue[me]; woken = 0
    :: else -> skip
    fi;
    mine = 0;
    queued = 1;
    qlock = 1;
    state[me] = WAITING
}

inline settle(give)
{
    d_step { decide(give) }
    d_step { /* under qlock: nobody else sees the queue */
        out = 0;
        if
        :: calls -> out = 1 << queue[0]; i = queue[0]; stays = i; remove(stays)
        :: lets_in ->
            j = 0;
            do
            :: j < qlen ->
                if
                :: reads[queue[j]] -> stays = queue[j]; out = out | (1 << stays); remove(stays)
                :: else -> j++
                fi
            :: else -> break
            od
        :: else -> skip
        fi;
        lets_in = 0; calls = 0; i = 0; j = 0; stays = 0
    }
    unlock();
    do
    :: out != 0 ->
        d_step {
            stays = 0;
            do
            :: !(out & (1 << stays)) -> stays++
            :: else -> break
            od;
            out = out & ~(1 << stays);
            state[stays] = (reads[stays] -> GRANTED : CALLED)
        }
        d_step {
#if BREAK != 1
            asleep[stays] = 0;
#endif
            stays = 0
        }
    :: else -> break
    od
}

proctype thread(byte me)
{
    byte i, j, out, stays, rounds;
    bit mine, lets_in, calls, was_called, gives_up, is_timed;

again:
    skip;
    d_step { mine = 0; gives_up = 0; was_called = 0; overdue[me] = 0 }
    if
    :: reads[me] = 0
    :: reads[me] = 1
    fi;
    if
    :: is_timed = 0
    :: is_timed = 1
    fi;

try:
    atomic {
        if
#if BREAK != 5
        :: OPEN(reads[me], mine) ->
            handoff = handoff && !mine;
            woken = woken && !mine;
            mine = 0;
            if
            :: reads[me] -> readers++
            :: else -> writer = 1
            fi;
            check();
            goto got
#else
        :: OPEN(reads[me], mine) && !queued && !mine ->
            if
            :: reads[me] -> readers++
            :: else -> writer = 1
            fi;
            goto got
        :: queued && !qlock && !mine && OPEN(reads[me], mine) -> go_to_sleep()
#endif
        :: !OPEN(reads[me], mine) && gives_up && !mine -> goto left
        :: !OPEN(reads[me], mine) && gives_up && mine && (!queued || !qlock) ->
#if BREAK == 4
            goto left;
#endif
            handoff = 0;
            woken = 0;
            mine = 0;
            if
            :: !queued -> check(); goto left
            :: else -> qlock = 1
            fi
        :: !OPEN(reads[me], mine) && !gives_up && !qlock -> go_to_sleep()
        fi
    }
    if
    :: gives_up -> settle(0); goto left
    :: else -> skip
    fi;
    d_step { push(me, was_called); was_called = 0; i = 0 }
    unlock();

look:
    atomic { /* the futex compares and sleeps in one */
        if
        :: state[me] == GRANTED -> goto got
        :: state[me] == CALLED -> mine = 1; goto try
        :: else -> asleep[me] = 1
        fi
    }
    if
    :: !asleep[me] -> goto look
    :: is_timed -> is_timed = 0; asleep[me] = 0; gives_up = 1
    :: !overdue[me] && in_queue[me] -> asleep[me] = 0
    fi;

    /* locks the queue, for to leave it or to say that it has waited too long */
    atomic {
        if
        :: !queued -> goto taken_out
        :: queued && !qlock ->
            qlock = 1;
            if
            :: !in_queue[me] -> goto unlock_taken_out
            :: in_queue[me] && !gives_up -> overdue[me] = 1
            :: else -> remove(me); i = 0
            fi
        fi
    }
#if BREAK == 3
    if
    :: gives_up -> unlock(); goto left
    :: else -> skip
    fi;
#endif
    settle(0);
    if
    :: gives_up -> goto left
    :: else -> goto look
    fi;

unlock_taken_out:
    unlock();
taken_out:
    if
    :: state[me] == GRANTED -> goto got
    :: state[me] == CALLED -> mine = 1; goto try
    fi;

got:
    skip;
    d_step {
        inside_r = inside_r + reads[me];
        inside_w = inside_w + !reads[me];
        assert(inside_w == 0 || (inside_w == 1 && inside_r == 0))
    }
    d_step {
        inside_r = inside_r - reads[me];
        inside_w = inside_w - !reads[me]
    }
    atomic {
        if
        :: PLAIN ->
            if
            :: reads[me] -> readers--
            :: else -> writer = 0
            fi;
#if BREAK != 2
            check();
#endif
            goto left
        :: !(PLAIN) && !qlock -> qlock = 1
        fi
    }
    settle((reads[me] -> 1 : 2));

left:
    rounds++;
    if
    :: rounds < ROUNDS -> goto again
    :: else -> skip
    fi;
    atomic {
        ended++;
        assert(ended < N || (!HELD && !queued && !qlock && !handoff && !woken && qlen == 0))
    }
}

init
{
    byte n;

    atomic {
        do
        :: n < N -> run thread(n); n++
        :: else -> break
        od
    }
}
