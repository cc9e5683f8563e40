/* The record of `rwsem bench lock` as JSON, in the shape that docs/record.schema.json gives it. */
#include "result/bench_lock.h"
#include "result/hist_json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *case_to_json(const struct lock_case *is)
{
    return json_pack("{ss so so so so so}", "preset", is->preset, "threads",
                     json_from_count(is->threads), "writers", json_from_count(is->writers),
                     "write_share", is->writers ? json_null() : json_from_real(is->write_share),
                     "inside_ns", json_from_count(is->inside_ns), "outside_ns",
                     json_from_count(is->outside_ns));
}

bool lock_competes(const struct lock_variant *v)
{
    return (v->series.status == OUTCOME_OK || v->series.status == OUTCOME_COLLAPSED) &&
           strcmp(v->lock, "none") != 0;
}

const char *lock_place_word(enum lock_place place)
{
    static const char *const words[] = {
        [PLACE_UNKNOWN] = "unknown",
        [PLACE_FIRST] = "first",
        [PLACE_LEVEL] = "level",
        [PLACE_BEHIND] = "behind",
    };

    return words[place];
}

static json_t *variant_to_json(const struct lock_variant *v)
{
    json_t *object = json_pack(
        "{ss ss so so so so so so so so ss}", "lock", v->lock, "status",
        outcome_word(v->series.status), "rounds", series_rounds_to_json(&v->series), "timed_rounds",
        series_rounds_to_json(&v->timed), "read_wait_ns", hist_to_json(&v->read_wait),
        "write_wait_ns", hist_to_json(&v->write_wait), "reads", json_from_count(v->reads), "writes",
        json_from_count(v->writes), "rates",
        json_pack("{so so}", "reads_per_second", json_from_real(v->reads_per_second),
                  "writes_per_second", json_from_real(v->writes_per_second)),
        "summary", series_summary_to_json(&v->series), "place", lock_place_word(v->place));
    if (v->beaten_by)
        json_object_set_new(object, "beaten_by", json_string(v->beaten_by));
    if (v->series.note[0])
        json_object_set_new(object, "note", json_string(v->series.note));
    return object;
}

static json_t *cells_to_json(const struct lock_record *r)
{
    json_t *cells = json_array();
    for (unsigned c = 0; c < r->cell_count; c++) {
        json_t *variants = json_array(), *cell = case_to_json(&r->cells[c].is);
        for (unsigned i = 0; i < r->lock_count; i++)
            json_array_append_new(variants, variant_to_json(&r->cells[c].variants[i]));
        json_object_set_new(cell, "variants", variants);
        json_array_append_new(cells, cell);
    }
    return cells;
}

int lock_record_to_json(const struct lock_record *r, json_t *frame)
{
    json_t *options = json_pack(
        "{so so so so so so sb so}", "locks", json_from_strings(r->locks, r->lock_count), "cell_ns",
        json_from_count(r->cell_ns), "timed_ns", json_from_count(r->timed_ns), "rounds",
        json_from_count(r->rounds), "timed_rounds", json_from_count(r->timed_rounds), "patience_ns",
        json_from_count(r->patience_ns), "pinned", r->is_pinned, "seed", json_from_count(r->seed));
    json_t *clock =
        json_pack("{ss so}", "name", r->clock, "loop_ns_per_operation", json_from_real(r->loop_ns));
    json_t *body =
        json_pack("{so so so so}", "options", options, "usable_cpus",
                  json_from_count(r->usable_cpus), "clock", clock, "cells", cells_to_json(r));

    return body && json_object_set_new(frame, "bench_lock", body) == 0 ? 0 : -ENOMEM;
}

void lock_record_free(struct lock_record *record)
{
    for (unsigned c = 0; c < record->cell_count; c++) {
        struct lock_variant *variants = record->cells[c].variants;
        for (unsigned i = 0; variants && i < record->lock_count; i++) {
            series_free(&variants[i].series);
            series_free(&variants[i].timed);
        }
        free(variants);
    }
    free(record->cells);
    free((void *)record->locks);
}
