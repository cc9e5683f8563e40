/*
 * struct hist to JSON and back. Everything that is read is checked: records come from other
 * machines, other versions and other people's scripts.
 */
#include "result/hist_json.h"
#include <errno.h>
#include <stdbool.h>

static json_t *integer(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *buckets_to_json(const struct hist *h)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < HIST_BUCKETS; i++) {
        if (h->bucket[i] == 0)
            continue;
        json_t *pair = json_pack("[o, o]", integer(hist_lower_ns(i)), integer(h->bucket[i]));
        if (json_array_append_new(list, pair) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *hist_to_json(const struct hist *h)
{
    /* json_pack() takes over every value and returns NULL if one of them is. */
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", integer(h->count),
                     "sum_ns", integer(h->sum_ns), "min_ns", integer(h->count ? h->min_ns : 0),
                     "max_ns", integer(h->max_ns), "p50_ns", integer(hist_quantile_ns(h, 0.5)),
                     "p90_ns", integer(hist_quantile_ns(h, 0.9)), "p99_ns",
                     integer(hist_quantile_ns(h, 0.99)), "p99_9_ns",
                     integer(hist_quantile_ns(h, 0.999)), "buckets", buckets_to_json(h));
}

/* A member that has to be an integer of 0 or more. */
static bool read_count(const json_t *json, const char *key, uint64_t *out)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

/* One [lower_ns, count]; false unless it names a bucket exactly and counted something. */
static bool read_bucket(const json_t *pair, size_t *index, uint64_t *count)
{
    const json_t *lower = json_array_get(pair, 0);
    const json_t *counted = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_integer(lower) || !json_is_integer(counted) ||
        json_integer_value(lower) < 0 || json_integer_value(counted) <= 0)
        return false;
    *index = hist_index((uint64_t)json_integer_value(lower));
    *count = (uint64_t)json_integer_value(counted);
    return hist_lower_ns(*index) == (uint64_t)json_integer_value(lower);
}

/* Fills the buckets; false unless they are in order and add up to `count`. */
static bool read_buckets(const json_t *list, struct hist *h, size_t *first, size_t *last)
{
    uint64_t total = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t index;
        uint64_t count;
        if (!read_bucket(json_array_get(list, i), &index, &count))
            return false;
        if (i > 0 && index <= *last)
            return false;
        if (i == 0)
            *first = index;
        *last = index;
        h->bucket[index] = count;
        if (__builtin_add_overflow(total, count, &total))
            return false;
    }
    return total == h->count;
}

int hist_from_json(const json_t *json, struct hist *out)
{
    struct hist h = {0};
    size_t first = 0;
    size_t last = 0;
    const json_t *list = json_object_get(json, "buckets");
    if (!json_is_array(list) || !read_count(json, "count", &h.count) ||
        !read_count(json, "sum_ns", &h.sum_ns) || !read_count(json, "min_ns", &h.min_ns) ||
        !read_count(json, "max_ns", &h.max_ns) || !read_buckets(list, &h, &first, &last))
        return -EINVAL;
    if (h.count > 0 && (hist_index(h.min_ns) != first || hist_index(h.max_ns) != last ||
                        h.min_ns > h.max_ns || h.sum_ns < h.max_ns))
        return -EINVAL;
    if (h.count == 0 && (h.sum_ns || h.min_ns || h.max_ns))
        return -EINVAL;
    *out = h;
    return 0;
}
