/* The record of `rwsem bench mmap` as JSON, in the shape that docs/record.schema.json gives it. */
#include "result/bench_mmap.h"
#include "result/hist_json.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static json_t *options_to_json(const struct mmap_record *r)
{
    json_t *threads = json_array();
    for (unsigned c = 0; c < r->cell_count; c++)
        json_array_append_new(threads, json_from_count(r->cells[c].threads));
    return json_pack("{so so ss ss sb so so ss so so so sb so so}", "gates",
                     json_from_strings(r->gates, r->gate_count), "threads", threads, "workload",
                     r->workload, "touch", r->touch, "populate", r->is_populated, "size",
                     json_from_count(r->size), "page_size", json_from_count(r->page_size), "mode",
                     r->is_timed ? "time" : "iterations", "cell_ns", json_from_count(r->cell_ns),
                     "iterations", json_from_count(r->iterations), "rounds",
                     json_from_count(r->rounds), "pinned", r->is_pinned, "seed",
                     json_from_count(r->seed), "limit_ns", json_from_count(r->limit_ns));
}

static json_t *clock_to_json(const struct mmap_record *r)
{
    double share = r->fastest_iteration_ns > 0 ? r->overhead_ns / r->fastest_iteration_ns : NAN;
    return json_pack("{ss so so so}", "name", r->clock, "overhead_ns_per_iteration",
                     json_from_real(r->overhead_ns), "fastest_iteration_ns",
                     json_from_real(r->fastest_iteration_ns > 0 ? r->fastest_iteration_ns : NAN),
                     "overhead_share", json_from_real(share));
}

static json_t *switches_to_json(const struct mmap_record *r)
{
    json_t *array = json_array();
    for (unsigned k = 0; r->has_switches && k < SWITCH_KINDS; k++) {
        const struct switch_cost *s = &r->switches[k];
        if (!r->switch_names[k])
            break; /* interrupted before this one */
        json_t *item = json_pack("{ss ss sb so so so so}", "kind", r->switch_names[k], "about",
                                 r->switch_abouts[k], "measured", s->was_measured, "steps",
                                 json_from_count(s->steps), "elapsed_ns",
                                 json_from_counts(s->elapsed_ns, s->rounds), "context_switches",
                                 json_from_count(s->switches), "step_ns",
                                 json_from_real(s->was_measured ? s->step_ns : NAN));
        if (!s->was_measured)
            json_object_set_new(item, "why_not", json_string(s->why_not));
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *variant_to_json(const struct mmap_record *record, const struct mmap_variant *v)
{
    json_t *latency = json_object();

    for (unsigned p = 0; p < MMAP_PHASES && record->phases[p]; p++)
        json_object_set_new(latency, record->phases[p], hist_to_json(&v->phase[p]));
    json_object_set_new(latency, "whole", hist_to_json(&v->whole));
    json_t *object =
        json_pack("{ss ss so so so}", "gate", v->gate, "status", outcome_word(v->series.status),
                  "rounds", series_rounds_to_json(&v->series), "latency_ns", latency, "summary",
                  series_summary_to_json(&v->series));
    if (v->series.note[0])
        json_object_set_new(object, "note", json_string(v->series.note));
    return object;
}

static json_t *cells_to_json(const struct mmap_record *r)
{
    json_t *cells = json_array();
    for (unsigned c = 0; c < r->cell_count; c++) {
        json_t *variants = json_array();
        for (unsigned g = 0; g < r->gate_count; g++)
            json_array_append_new(variants, variant_to_json(r, &r->cells[c].variants[g]));
        json_array_append_new(cells,
                              json_pack("{so so}", "threads", json_from_count(r->cells[c].threads),
                                        "variants", variants));
    }
    return cells;
}

int mmap_record_to_json(const struct mmap_record *r, json_t *frame)
{
    json_t *workload = json_pack("{ss ss ss so}", "name", r->workload, "like", r->like, "does",
                                 r->does, "phases", json_from_strings(r->phases, MMAP_PHASES));
    json_t *body = json_pack("{so so so so so so}", "options", options_to_json(r), "usable_cpus",
                             json_from_count(r->usable_cpus), "clock", clock_to_json(r), "workload",
                             workload, "switches", switches_to_json(r), "cells", cells_to_json(r));

    return body && json_object_set_new(frame, "bench_mmap", body) == 0 ? 0 : -ENOMEM;
}

void mmap_record_free(struct mmap_record *record)
{
    for (unsigned c = 0; c < record->cell_count; c++) {
        struct mmap_cell *cell = &record->cells[c];
        for (unsigned g = 0; cell->variants && g < record->gate_count; g++)
            series_free(&cell->variants[g].series);
        free(cell->variants);
    }
    free(record->cells);
    free((void *)record->gates);
}
