/* `rwsem bench lock`: flags to a plan, one call, and what it prints. */
#include "report/bench_lock.h"
#include "bench/lock.h"
#include "cmd/cmd.h"
#include "cmd/options_bench_lock.h"
#include "cmd/session.h"
#include "cmd/values.h"
#include "report/number.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES_MAX = 16 };

struct request {
    struct lock_plan plan;
    struct lock_record record;
    struct session session;
    const struct cpus *cpus;
    unsigned threads[PLAN_LIST_MAX], thread_count;
    double shares[SHARES_MAX];
    unsigned share_count;
    uint64_t writers, inside_ns, outside_ns;
    bool has_custom, has_writers, has_presets, is_csv, has_seed;
};

static int add_presets(struct request *request, const char *list)
{
    char item[32];

    request->has_presets = true;
    do {
        list = list_next(list, item, sizeof item);
        int error = lock_preset_add(&request->plan, item, request->cpus->usable);
        if (error == -ENOENT) {
            const char *nearest = nearest_name(item, lock_preset_names);
            complain("--preset: there is no preset '%s'%s%s%s ('--preset list' shows all)", item,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
        } else if (error) {
            complain("--preset: more than %d cases", LOCK_CASES_MAX);
        }
        if (error)
            return -EINVAL;
    } while (list);
    return 0;
}

static int set_shares(struct request *request, const char *list)
{
    char item[32], *end;

    request->share_count = 0;
    do {
        list = list_next(list, item, sizeof item);
        double percent = strtod(item, &end);
        bool is_number = item[0] >= '0' && item[0] <= '9' && *end == '\0';
        if (!is_number || !(percent >= 0 && percent <= 100)) {
            complain("--writes: '%s' is not a share from 0 to 100 percent", item);
            return -EINVAL;
        }
        if (request->share_count == SHARES_MAX) {
            complain("--writes: more than %d shares", SHARES_MAX);
            return -EINVAL;
        }
        request->shares[request->share_count++] = percent / 100;
    } while (list);
    return 0;
}

static int set_option(void *context, int key, const char *value)
{
    struct request *request = context;
    struct lock_plan *plan = &request->plan;
    uint64_t number;

    switch (key) {
    case 'l':
        return value_peers("lock", value, plan->locks, PLAN_LIST_MAX, &plan->lock_count);
    case 'p':
        return add_presets(request, value);
    case 't':
        request->has_custom = true;
        return value_threads(value, request->cpus->usable, LOCK_THREADS_MAX, request->threads,
                             PLAN_LIST_MAX, &request->thread_count);
    case LOCK_OPT_WRITES:
        request->has_custom = true;
        return set_shares(request, value);
    case LOCK_OPT_WRITERS:
        request->has_custom = request->has_writers = true;
        return value_number("writers", value, 1, LOCK_THREADS_MAX, &request->writers);
    case LOCK_OPT_INSIDE:
        request->has_custom = true;
        return value_duration("inside", value, true, &request->inside_ns);
    case LOCK_OPT_OUTSIDE:
        request->has_custom = true;
        return value_duration("outside", value, true, &request->outside_ns);
    case 'd':
        return value_duration("time", value, false, &plan->cell_ns);
    case 'r':
        if (value_number("rounds", value, 1, PLAN_ROUNDS_MAX, &number))
            return -EINVAL;
        plan->rounds = (unsigned)number;
        return 0;
    case LOCK_OPT_PIN:
        plan->is_pinned = true;
        return 0;
    case LOCK_OPT_PATIENCE:
        return value_duration("patience", value, false, &plan->patience_ns);
    case LOCK_OPT_SEED:
        request->has_seed = true;
        return value_number("seed", value, 0, SEED_MOST, &plan->seed);
    case 'o':
        request->session.output = value;
        return 0;
    case LOCK_OPT_JSON:
        request->session.is_json = true;
        return 0;
    case LOCK_OPT_CSV:
        request->is_csv = true;
        return 0;
    case 'q':
        request->session.is_quiet = true;
        return 0;
    default:
        return -EINVAL;
    }
}

static int add_custom(struct request *request)
{
    struct lock_plan *plan = &request->plan;

    if (request->has_writers && request->share_count) {
        complain("--writers and --writes exclude each other: either some threads only write, or "
                 "all write sometimes");
        return -EINVAL;
    }
    if (!request->thread_count)
        request->threads[request->thread_count++] = 2;
    if (!request->share_count)
        request->shares[request->share_count++] = 0.1;
    for (unsigned t = 0; t < request->thread_count; t++)
        for (unsigned s = 0; s < request->share_count; s++) {
            if (request->writers > request->threads[t]) {
                complain("--writers: %llu writers are more than %u threads",
                         (unsigned long long)request->writers, request->threads[t]);
                return -EINVAL;
            }
            if (plan->case_count == LOCK_CASES_MAX) {
                complain("more than %d cases", LOCK_CASES_MAX);
                return -EINVAL;
            }
            plan->cases[plan->case_count++] = (struct lock_case){
                .preset = "custom",
                .threads = request->threads[t],
                .writers = (unsigned)request->writers,
                .write_share = request->shares[s],
                .inside_ns = request->inside_ns,
                .outside_ns = request->outside_ns,
            };
        }
    return 0;
}

/* Whether all that was asked for is the preset of 2011, before cases of one's own are added. */
static bool is_classic(const struct request *request)
{
    const struct lock_plan *plan = &request->plan;

    for (unsigned i = 0; i < plan->case_count; i++)
        if (strcmp(plan->cases[i].preset, "classic"))
            return false;
    return plan->case_count && !request->has_custom;
}

/* Every lock that sleeps; for `classic` the kernel's through the years, then ours and a mutex. */
static void choose_locks(struct request *request)
{
    struct lock_plan *plan = &request->plan;
    bool wants_history = is_classic(request);

    for (size_t i = 0; peer_table[i] && plan->lock_count < PLAN_LIST_MAX; i++)
        if (peer_table[i]->size && !peer_table[i]->only_spins &&
            peer_table[i]->is_history == wants_history)
            plan->locks[plan->lock_count++] = peer_table[i];
    if (wants_history) {
        plan->locks[plan->lock_count++] = peer_find("rwsem");
        plan->locks[plan->lock_count++] = peer_find("mutex");
    }
}

static int fill_defaults(struct request *request)
{
    struct lock_plan *plan = &request->plan;

    if (request->session.is_json && request->is_csv) {
        complain("only one of --json and --csv can be printed (--output FILE writes the record "
                 "besides)");
        return -EINVAL;
    }
    if (request->inside_ns + request->outside_ns > plan->cell_ns / plan->rounds) {
        complain("--inside, --outside: an operation of %s is longer than a round of %s",
                 number_time((double)(request->inside_ns + request->outside_ns)).text,
                 number_time((double)plan->cell_ns / plan->rounds).text);
        return -EINVAL;
    }
    if (!plan->lock_count)
        choose_locks(request);
    if (request->has_custom && add_custom(request))
        return -EINVAL;
    if (!request->has_custom && !request->has_presets)
        for (size_t i = 0; lock_preset_names[i] && strcmp(lock_preset_names[i], "classic"); i++)
            lock_preset_add(plan, lock_preset_names[i], request->cpus->usable);
    if (!request->has_seed)
        plan->seed = seed_from_clock();
    if (plan->cell_ns / plan->rounds < 1000) {
        complain("--time: %u rounds leave less than a microsecond for each", plan->rounds);
        return -EINVAL;
    }
    return 0;
}

static int run(void *context, struct progress *progress)
{
    struct request *request = context;
    return bench_lock_run(&request->plan, &request->record, progress_show, progress);
}

static int add_to_record(void *context, json_t *frame)
{
    struct request *request = context;
    return lock_record_to_json(&request->record, frame);
}

static void print(void *context)
{
    const struct request *request = context;
    struct report_style style = {.has_color = wants_color()};

    if (request->is_csv)
        report_lock_csv(&request->record, stdout);
    else
        report_lock_table(&request->record, &style, stdout);
}

static int status(void *context)
{
    const struct lock_record *record = &((struct request *)context)->record;
    int exit_status = EXIT_DONE;

    for (unsigned c = 0; c < record->cell_count; c++)
        for (unsigned i = 0; i < record->lock_count; i++) {
            const struct lock_variant *v = &record->cells[c].variants[i];
            if (v->series.status == OUTCOME_FAILED || v->series.status == OUTCOME_HUNG) {
                complain("%s, %u threads, %s %s: %s", record->cells[c].is.preset,
                         record->cells[c].is.threads, v->lock, outcome_word(v->series.status),
                         v->series.note);
                exit_status = EXIT_FAILED;
            }
        }
    return exit_status;
}

static void print_presets(void)
{
    for (size_t i = 0; lock_preset_names[i]; i++)
        printf("%-14s %s\n", lock_preset_names[i], lock_preset_about(lock_preset_names[i]));
}

static void print_locks(void)
{
    for (const struct peer *const *p = peer_table; *p; p++)
        printf("%-16s %4zu bytes  %s\n", (*p)->name, (*p)->size, (*p)->summary);
    print_peers_away(10);
}

static int measure(struct request *request, int argc, char **argv)
{
    if (request->plan.is_pinned && probe_pinning())
        return EXIT_CAPABILITY;
    int exit_status = session_run(&request->session, argc, argv);
    lock_record_free(&request->record);
    return exit_status;
}

int cmd_bench_lock(int argc, char **argv)
{
    struct request request = {
        .plan = {.cell_ns = 400000000, .patience_ns = 10000000000, .rounds = 10},
        .inside_ns = 50,
        .outside_ns = 50,
        .session = {.kind = "bench lock",
                    .run = run,
                    .add_to_record = add_to_record,
                    .print = print,
                    .status = status},
    };
    struct cpus *cpus = calloc(1, sizeof *cpus);
    int exit_status = EXIT_USAGE;

    request.session.context = &request;
    if (!cpus) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    cpus_read(cpus);
    request.cpus = cpus;
    if (asks_for_list(argc, argv, "lock", 'l')) {
        print_locks();
        exit_status = EXIT_DONE;
    } else if (asks_for_list(argc, argv, "preset", 'p')) {
        print_presets();
        exit_status = EXIT_DONE;
    } else if (!options_parse(&options_bench_lock, argc, argv, set_option, &request) &&
               !fill_defaults(&request)) {
        exit_status = measure(&request, argc, argv);
    }
    free(cpus);
    return exit_status;
}
