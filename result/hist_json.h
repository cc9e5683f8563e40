/*
 * The histogram in a record: sparse, integers only, with the quantiles that tables show, so that a
 * reader without our code needs no arithmetic and one with it can merge.
 */
#ifndef RESULT_HIST_JSON_H
#define RESULT_HIST_JSON_H

#include "result/hist.h"
#include <jansson.h>

/*
 * {"count":n,"sum_ns":n,"min_ns":n,"max_ns":n,"p50_ns":n,"p90_ns":n,"p99_ns":n,"p99_9_ns":n,
 *  "buckets":[[lower_ns,count],...]}: only buckets that counted something, ascending, each named by
 * the least value that it counts. All 0 and no buckets for an empty histogram. Integers of JSON end
 * at 2^63-1 here: greater ones are told as that. A new reference, or NULL when memory ran out.
 */
json_t *hist_to_json(const struct hist *h);

/*
 * Reads that back; the quantiles are not looked at, they follow from the rest. Returns 0, or
 * -EINVAL when it is no histogram of this precision or contradicts itself (an unknown or unordered
 * bucket, counts that do not add up, a least or greatest sample outside the outer buckets); `out`
 * is written on success only.
 */
int hist_from_json(const json_t *json, struct hist *out);

#endif
