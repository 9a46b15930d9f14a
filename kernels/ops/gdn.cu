/* gdn.cu - the two passes of the forward direction: what a chunk's tokens do to each other, a block a chunk and head; the scan
 * of gdn_scan.cuh. */
#include "kernels/ops/gdn_scan.cuh"

namespace gpu
{
/* T = (I + A)^-1, a thread a column: t_j = 1, then row i of it is the sum of a_il t_l over the rows before; a = -A. */
static __device__ void invert(const float *a, float *t, int n)
{
    int j = (int)threadIdx.x;
    if (j >= TILE)
        return;
    for (int i = 0; i < TILE; i++) {
        float sum = i == j && i < n ? 1 : 0;
        for (int l = j; l < i && i < n; l++)
            sum += a[i * TILE_SQUARE_LD + l] * t[l * TILE_SQUARE_LD + j];
        t[i * TILE_SQUARE_LD + j] = sum;
    }
}

/* Block (chunk number, head). */
static __global__ void __launch_bounds__(TILE_THREADS, 1) gdn_scan_prepare(const __grid_constant__ struct gdn_inputs in)
{
    __shared__ struct decay d;
    __shared__ __align__(16) float shared[2 * TILE_STAGE + TILE_SQUARE];
    float *a = shared, *t = shared + TILE_SQUARE, *stage = shared, acc[4][4]; /* staging is over before a and t begin */
    int seg = gdn_segment_numbered(in, blockIdx.x);
    struct chunk c = gdn_chunk_of(in, seg, blockIdx.x - gdn_number(in, seg));
    int h = (int)blockIdx.y;
    if (c.n == 0)
        return;
    gdn_decay_load(&d, in, c, h);
    tile_clear(acc);
    struct operand k = operand_of(gdn_keys(in, in.k, c, h), in.ldqk, c.n, NULL);
    tile_product<TILE_ROWS, TILE_ROWS>(acc, stage, k, k, in.dk);
    __syncthreads();
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            int i = tile_y() + 16 * x, j = tile_x() + 16 * y;
            a[i * TILE_SQUARE_LD + j] = j < i && i < c.n ? -d.beta[i] * acc[x][y] * gdn_between(&d, i, j) : 0;
        }
    __syncthreads();
    invert(a, t, c.n);
    __syncthreads();
    float *tm = gdn_inverse(in, c, h);
    for (int at = (int)threadIdx.x; at < c.n * in.C; at += TILE_THREADS)
        tm[at] = t[at / in.C * TILE_SQUARE_LD + at % in.C];
}
} // namespace gpu

static void cuda_gdn_scan_prepare(struct cuda_call *c, const void *args)
{
    const struct gdn_inputs *in = &((const struct gdn_scan_prepare_args *)args)->in;
    dim3 grid((unsigned)gdn_numbers(in), (unsigned)in->HV);
    if (gdn_fits(c, in) && grid.x > 0 && grid.y > 0)
        CUDA_LAUNCH(gpu::gdn_scan_prepare, grid, TILE_THREADS, 0, c, *in);
}

static void cuda_gdn_scan_fwd(struct cuda_call *c, const void *args)
{
    const struct gdn_scan_fwd_args *a = (const struct gdn_scan_fwd_args *)args;
    struct gdn_scan s = {};
    s.in = a->in, s.E = a->in.dv, s.h_in = a->h_in, s.h_out = a->h_out, s.o = a->o, s.ldo = a->ldo;
    if (gdn_fits(c, &a->in))
        gdn_scan_launch(c, &s);
}

CUDA_TABLE(gdn) = {CUDA_ROW(gdn_scan_prepare), CUDA_ROW(gdn_scan_fwd), {0}};
