/* hostread.c - see hostread.h. The shape of all four:
 *
 *   op begin -> [kernels] -> blocking copy of a few bytes -> [kernels that needed the value] -> op end
 */
#include "kernels/device/hostread.h"
#include "kernels/device/hostread_args.h"

static void item(struct stream *s, void *host, const void *value, size_t bytes, const struct site *site)
{
    dev_op_begin(stream_device(s), "item", site);
    dev_download(s, host, value, bytes, site);
    dev_op_end(stream_device(s));
}

int64_t hostread_item_i64(struct stream *s, const int64_t *value, const struct site *site)
{
    int64_t host;
    item(s, &host, value, sizeof host, site);
    return host;
}

float hostread_item_f32(struct stream *s, const float *value, const struct site *site)
{
    float host;
    item(s, &host, value, sizeof host, site);
    return host;
}

bool hostread_is_nonzero(struct stream *s, const uint8_t *flag, const struct site *site)
{
    uint8_t host;
    dev_op_begin(stream_device(s), "is_nonzero", site);
    item(s, &host, flag, sizeof host, site);
    dev_op_end(stream_device(s));
    return host != 0;
}

static void count_set(const void *args)
{
    const struct hostread_count_args *a = args;
    int64_t count = 0;
    for (int64_t i = 0; i < a->n; i++)
        count += a->mask[i] != 0;
    *a->count = count;
}

static void write_indices(const void *args)
{
    const struct hostread_write_args *a = args;
    int64_t count = 0;
    for (int64_t i = 0; i < a->n; i++)
        if (a->mask[i])
            a->out[count++] = i;
}

static void write_values(const void *args)
{
    const struct hostread_write_args *a = args;
    int64_t count = 0;
    for (int64_t i = 0; i < a->n; i++)
        if (a->mask[i])
            a->out[count++] = a->values[i];
}

/* A pass over the mask reads a byte an element; writing costs eight (and reading values eight more). */
static struct cost cost_count(const void *args)
{
    const struct hostread_count_args *a = args;
    return (struct cost){0, (double)a->n + sizeof *a->count};
}

static struct cost cost_write(const void *args)
{
    const struct hostread_write_args *a = args;
    return (struct cost){0, (double)a->n * (1 + sizeof *a->out + (a->values ? sizeof *a->values : 0))};
}

static const struct kernel kernel_count = {"nonzero_count", count_set, cost_count, true};
static const struct kernel kernel_indices = {"nonzero_write", write_indices, cost_write, true};
static const struct kernel kernel_values = {"index_mask_write", write_values, cost_write, true};

static int64_t *compact(struct stream *s, const char *op, const struct kernel *write, const int64_t *values, const uint8_t *mask, int64_t n,
                        int64_t *count, const struct site *site)
{
    struct device *d = stream_device(s);
    dev_op_begin(d, op, site);
    int64_t *on_device = dev_alloc_index(d, sizeof *on_device);
    DEV_LAUNCH(s, kernel_count, (struct hostread_count_args){mask, n, on_device});
    dev_download(s, count, on_device, sizeof *count, site);
    dev_free(d, on_device);
    int64_t *out = dev_alloc_index(d, (size_t)*count * sizeof *out);
    dev_launch(s, write, &(struct hostread_write_args){mask, values, n, out}, sizeof(struct hostread_write_args));
    dev_op_end(d);
    return out;
}

int64_t *hostread_nonzero(struct stream *s, const uint8_t *mask, int64_t n, int64_t *count, const struct site *site)
{
    return compact(s, "nonzero", &kernel_indices, NULL, mask, n, count, site);
}

int64_t *hostread_index_mask_i64(struct stream *s, const int64_t *values, const uint8_t *mask, int64_t n, int64_t *count, const struct site *site)
{
    return compact(s, "index", &kernel_values, values, mask, n, count, site);
}
