/*
 * Uses up nearly all mappings that a process may have, then runs the benchmark's engine: it must
 * report the exhausted map count, by name, and leave everything as it found it. Exits with 77 where
 * vm.max_map_count is too high to be used up in a test.
 */
#include "bench/mmap.h"
#include "bench/workload.h"
#include "result/bench_mmap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SKIPPED = 77, MOST_USABLE = 300000 };

static long read_limit(void)
{
    long limit = -1;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    if (f) {
        if (fscanf(f, "%ld", &limit) != 1)
            limit = -1;
        fclose(f);
    }
    return limit;
}

/* Pages with alternating protection cannot merge: each is a mapping of its own. */
static void use_up_mappings(size_t most)
{
    enum { SPARE = 6 }; /* for our own threads' stacks; the workload is to fail, not we */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *area = mmap(NULL, page * (most + 2), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return;
    for (size_t i = 0; i < most; i += 2)
        if (mprotect(area + i * page, page, PROT_READ)) {
            for (size_t spare = 1; spare <= SPARE; spare++)
                mprotect(area + (i - 2 * spare) * page, page, PROT_NONE);
            return;
        }
}

int main(void)
{
    long limit = read_limit();
    struct mmap_record record;
    struct bench_plan plan = {
        .workload = workload_find("stack"),
        .gates = {peer_find("none")},
        .gate_count = 1,
        .threads = {16},
        .thread_count = 1,
        .touch = TOUCH_FIRST,
        .size = 65536,
        .iterations = 1000,
        .limit_ns = 10000000000,
        .rounds = 1,
    };

    if (limit < 0 || limit > MOST_USABLE) {
        printf("vm.max_map_count is %ld, too many mappings to use up here\n", limit);
        return SKIPPED;
    }
    use_up_mappings((size_t)limit + 2);
    int error = bench_mmap_run(&plan, &record, NULL, NULL);
    const struct mmap_variant *v = &record.cells[0].variants[0];
    printf("error %d, status %s, note: %s\n", error, outcome_word(v->series.status),
           v->series.note);
    bool is_told = v->series.status == OUTCOME_FAILED && strstr(v->series.note, "vm.max_map_count");
    mmap_record_free(&record);
    return is_told ? 0 : 1;
}
