/* grid.h - what a kernel's source sees on the stand-in. The threads of a block take turns, and change only where they wait
 * for each other: __syncthreads(), __syncwarp(), shuffles and votes. A thread that waits for one that has ended, or that
 * meets another barrier, ends the program with a line: on a GPU it would hang or be wrong. STANDIN_ORDER=reverse in the
 * environment lets the last thread come first: results must not change. */
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(N) __attribute__((aligned(N)))
#define __shared__ static __thread /* a launch runs on one thread, block after block */

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};
extern __thread dim3 threadIdx, blockIdx, blockDim, gridDim;

extern "C" {
void standin_grid(dim3 grid, dim3 block, size_t shared, void (*body)(void *), void *ctx);
void *standin_shared(void);
void standin_block_barrier(void);
/* Gives `value` to the warp and takes lane `from`'s; all lanes of the mask must come. */
uint64_t standin_exchange(unsigned mask, uint64_t value, int from);
unsigned standin_ballot(unsigned mask, int predicate);
int standin_lane(void);
}

template <typename BODY> static void standin_launch(dim3 grid, dim3 block, size_t shared, BODY body)
{
    standin_grid(
        grid, block, shared, [](void *p) { (*(BODY *)p)(); }, &body);
}
#define CUDA_LAUNCH(FUNCTION, GRID, BLOCK, SHARED, CALL, ...)                                                                                        \
    standin_launch(dim3(GRID), dim3(BLOCK), (SHARED), [=]() { (void)(CALL), FUNCTION(__VA_ARGS__); })
#define CUDA_SHARED(TYPE, NAME) TYPE *NAME = (TYPE *)standin_shared()
template <typename FUNCTION> static inline cudaError_t cudaFuncSetAttribute(FUNCTION *, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

static inline void __syncthreads()
{
    standin_block_barrier();
}
static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    standin_exchange(mask, 0, standin_lane());
}
static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return standin_ballot(mask, predicate);
}
static inline int __any_sync(unsigned mask, int predicate)
{
    return standin_ballot(mask, predicate) != 0;
}
static inline int __all_sync(unsigned mask, int predicate)
{
    return standin_ballot(mask, predicate) == mask;
}

/* Lanes are counted within groups of `width`; a source outside of the group is the lane itself. */
template <typename T> static inline T standin_shuffle(unsigned mask, T value, int from)
{
    static_assert(sizeof(T) <= 8, "what a register pair holds");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = standin_exchange(mask, bits, from);
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    return standin_shuffle(mask, value, standin_lane() / width * width + (from & (width - 1)));
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    int me = standin_lane(), from = me ^ bits;
    return standin_shuffle(mask, value, from / width == me / width ? from : me);
}
template <typename T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    int me = standin_lane(), from = me + (int)by;
    return standin_shuffle(mask, value, from / width == me / width ? from : me);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32)
{
    int me = standin_lane(), from = me - (int)by;
    return standin_shuffle(mask, value, from >= me / width * width ? from : me);
}

template <typename T> static inline T atomicAdd(T *to, T value)
{
    T before = *to;
    *to = before + value;
    return before;
}
template <typename T> static inline T atomicMax(T *to, T value)
{
    T before = *to;
    *to = before < value ? value : before;
    return before;
}
template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
#define __expf expf
static inline float __fdividef(float x, float y)
{
    return x / y;
}
static inline void __threadfence()
{
}
template <typename T> static inline T min(T x, T y)
{
    return y < x ? y : x;
}
template <typename T> static inline T max(T x, T y)
{
    return x < y ? y : x;
}

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline float2 make_float2(float x, float y)
{
    return {x, y};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
