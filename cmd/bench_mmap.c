/* `rwsem bench mmap`: flags to a plan, one call, and what it prints. */
#include "report/bench_mmap.h"
#include "bench/crew.h"
#include "bench/mmap.h"
#include "cmd/cmd.h"
#include "cmd/options_bench_mmap.h"
#include "cmd/session.h"
#include "cmd/values.h"
#include "report/bench_mmap.h"
#include "report/style.h"
#include "result/cpus.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was said on the command line; defaults that depend on one another are filled in later. */
struct request {
    struct bench_plan plan;
    const struct cpus *cpus;
    struct session session;
    struct mmap_record record;
    bool has_gates, has_threads, has_touch, has_size, has_rounds, has_time, has_limit, has_seed;
    bool is_classic, is_csv, is_verbose;
};

static int set_threads(struct request *request, const char *list)
{
    struct bench_plan *plan = &request->plan;
    return value_threads(list, request->cpus->usable, PLAN_THREADS_MAX, plan->threads,
                         PLAN_LIST_MAX, &plan->thread_count);
}

static int set_workload(struct request *request, const char *name)
{
    const char *names[64] = {NULL};

    request->plan.workload = workload_find(name);
    if (request->plan.workload)
        return 0;
    for (size_t i = 0; workload_table[i] && i < 63; i++)
        names[i] = workload_table[i]->name;
    const char *nearest = nearest_name(name, names);
    complain("--workload: there is no workload '%s'%s%s%s ('--workload list' shows all)", name,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return -EINVAL;
}

static int set_touch(struct request *request, const char *name)
{
    for (enum bench_touch t = TOUCH_NONE; t <= TOUCH_ALL; t++)
        if (!strcmp(name, touch_name(t))) {
            request->plan.touch = t;
            request->has_touch = true;
            return 0;
        }
    complain("--touch: '%s' is neither none, first nor all", name);
    return -EINVAL;
}

static int set_size(struct request *request, const char *text)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size;

    if (parse_size(text, &size) || size == 0 || size >> 46) {
        complain("--size: '%s' is not a size such as 4096, 64K or 2M", text);
        return -EINVAL;
    }
    if (size % page) {
        complain("--size: %llu bytes are not a multiple of the page size of %llu; the next are "
                 "%llu",
                 (unsigned long long)size, (unsigned long long)page,
                 (unsigned long long)((size / page + 1) * page));
        return -EINVAL;
    }
    request->plan.size = size;
    request->has_size = true;
    return 0;
}

static int set_option(void *context, int key, const char *value)
{
    struct request *request = context;
    struct bench_plan *plan = &request->plan;
    uint64_t number;
    int error;

    switch (key) {
    case 'g':
        request->has_gates = true;
        return value_peers("gate", value, plan->gates, PLAN_LIST_MAX, &plan->gate_count);
    case 't':
        request->has_threads = true;
        return set_threads(request, value);
    case 'w':
        return set_workload(request, value);
    case OPT_TOUCH:
        return set_touch(request, value);
    case OPT_POPULATE:
        plan->is_populated = true;
        return 0;
    case 's':
        return set_size(request, value);
    case 'n':
        return value_number("iterations", value, 1, 1000000000000, &plan->iterations);
    case 'd':
        request->has_time = true;
        return value_duration("time", value, false, &plan->cell_ns);
    case 'r':
        error = value_number("rounds", value, 1, PLAN_ROUNDS_MAX, &number);
        if (!error)
            plan->rounds = (unsigned)number;
        request->has_rounds = true;
        return error;
    case OPT_LIMIT:
        request->has_limit = true;
        return value_duration("limit", value, false, &plan->limit_ns);
    case OPT_PIN:
        plan->is_pinned = true;
        return 0;
    case OPT_SEED:
        request->has_seed = true;
        return value_number("seed", value, 0, SEED_MOST, &plan->seed);
    case OPT_NO_SWITCHES:
        plan->has_switches = false;
        return 0;
    case OPT_CLASSIC:
        request->is_classic = true;
        return 0;
    case 'o':
        request->session.output = value;
        return 0;
    case OPT_JSON:
        request->session.is_json = true;
        return 0;
    case OPT_CSV:
        request->is_csv = true;
        return 0;
    case 'v':
        request->is_verbose = true;
        return 0;
    case 'q':
        request->session.is_quiet = true;
        return 0;
    default:
        return -EINVAL;
    }
}

/* Options that say opposite things, or that this workload would ignore. */
static int refuse_contradictions(const struct request *request)
{
    const struct bench_plan *plan = &request->plan;
    const char *unused = NULL;

    if (plan->iterations && request->has_time) {
        complain("--iterations and --time exclude each other");
        return -EINVAL;
    }
    if (request->has_limit && !plan->iterations && !request->is_classic) {
        complain("--limit goes with --iterations: a time is a limit already");
        return -EINVAL;
    }
    if (request->session.is_json + request->is_csv + request->is_classic > 1) {
        complain("only one of --json, --csv and --classic can be printed (--output FILE writes the "
                 "record besides)");
        return -EINVAL;
    }
    if (request->has_size && !(plan->workload->uses & USES_SIZE))
        unused = "--size";
    if (request->has_touch && !(plan->workload->uses & USES_TOUCH))
        unused = "--touch";
    if (plan->is_populated && !(plan->workload->uses & USES_POPULATE))
        unused = "--populate";
    if (unused) {
        complain("%s means nothing to the workload '%s', which %s", unused, plan->workload->name,
                 plan->workload->does);
        return -EINVAL;
    }
    return 0;
}

static int fill_defaults(struct request *request)
{
    struct bench_plan *plan = &request->plan;
    int error = 0;

    if (!request->has_gates)
        error = value_peers("gate",
                            request->is_classic ? "none,spin,mutex"
                                                : "none,spin,mutex,adaptive,rwlock,rwsem",
                            plan->gates, PLAN_LIST_MAX, &plan->gate_count);
    if (!error && !request->has_threads)
        error = set_threads(request, request->is_classic ? "4" : "1,2,4,2x,8x");
    if (!request->has_size)
        plan->size = plan->workload->default_size ? plan->workload->default_size
                                                  : (uint64_t)sysconf(_SC_PAGESIZE);
    if (!request->has_rounds)
        plan->rounds = request->is_classic ? 1 : 10;
    if (request->is_classic && !plan->iterations && !request->has_time)
        plan->iterations = 10000;
    if (!plan->iterations && !request->has_time)
        plan->cell_ns = 2000000000;
    if (!request->has_limit)
        plan->limit_ns = 10000000000;
    if (!request->has_seed)
        plan->seed = seed_from_clock();
    if (!error && plan->cell_ns && plan->cell_ns / plan->rounds < 1000) {
        complain("--time: %u rounds leave less than a microsecond for each", plan->rounds);
        error = -EINVAL;
    }
    return error;
}

static void print_gates(void)
{
    for (const struct peer *const *p = peer_table; *p; p++)
        printf("%-16s %s\n", (*p)->name, (*p)->summary);
    print_peers_away(0);
}

static void print_workloads(void)
{
    for (const struct bench_workload *const *w = workload_table; *w; w++)
        printf("%-10s %s\n%-10s each iteration %s\n", (*w)->name, (*w)->like, "", (*w)->does);
}

static int run(void *context, struct progress *progress)
{
    struct request *request = context;
    return bench_mmap_run(&request->plan, &request->record, progress_show, progress);
}

static int add_to_record(void *context, json_t *frame)
{
    struct request *request = context;
    return mmap_record_to_json(&request->record, frame);
}

static void print_wrapped(const struct mmap_record *record)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (memory)
        report_mmap_words(record, memory);
    if (memory && !fclose(memory))
        print_paragraph(text, stdout);
    else
        report_mmap_words(record, stdout); /* short of memory: unwrapped */
    free(text);
}

static void print(void *context)
{
    const struct request *request = context;
    struct report_style style = {.has_color = wants_color(), .is_verbose = request->is_verbose};

    if (request->is_csv) {
        report_mmap_csv(&request->record, stdout);
    } else if (request->is_classic) {
        report_mmap_classic(&request->record, stdout);
    } else {
        report_mmap_table(&request->record, &style, stdout);
        if (!request->session.is_quiet) {
            putchar('\n');
            print_wrapped(&request->record);
        }
    }
}

static int status(void *context)
{
    const struct mmap_record *record = &((struct request *)context)->record;

    for (unsigned c = 0; c < record->cell_count; c++)
        for (unsigned g = 0; g < record->gate_count; g++) {
            const struct mmap_variant *v = &record->cells[c].variants[g];
            if (v->series.status == OUTCOME_FAILED) {
                complain("%u thread%s, %s: %s", record->cells[c].threads,
                         record->cells[c].threads > 1 ? "s" : "", v->gate, v->series.note);
                return EXIT_FAILED;
            }
        }
    return EXIT_DONE;
}

static int measure(struct request *request, int argc, char **argv)
{
    char why[256];

    int error = plan_check(&request->plan, why, sizeof why);
    if (error) {
        complain("%s", why);
        return error == -ENOMEM ? EXIT_CAPABILITY : EXIT_USAGE;
    }
    if (request->plan.is_pinned && probe_pinning())
        return EXIT_CAPABILITY;
    int exit_status = session_run(&request->session, argc, argv);
    mmap_record_free(&request->record);
    return exit_status;
}

int cmd_bench_mmap(int argc, char **argv)
{
    struct request request = {
        .plan = {.workload = workload_table[0], .touch = TOUCH_FIRST, .has_switches = true},
        .session = {.kind = "bench mmap",
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
    if (asks_for_list(argc, argv, "gate", 'g')) {
        print_gates();
        exit_status = EXIT_DONE;
    } else if (asks_for_list(argc, argv, "workload", 'w')) {
        print_workloads();
        exit_status = EXIT_DONE;
    } else if (!options_parse(&options_bench_mmap, argc, argv, set_option, &request) &&
               !refuse_contradictions(&request) && !fill_defaults(&request)) {
        exit_status = measure(&request, argc, argv);
    }
    free(cpus);
    return exit_status;
}
