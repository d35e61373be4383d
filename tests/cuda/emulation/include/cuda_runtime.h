/* Stands in for the toolkit's <cuda_runtime.h>, so that a C++ compiler turns the very same .cu
 * files into code that runs on the CPU. Threads of a block are fibers, blocks run one after the
 * other, device memory is a guarded region of the process. A broken rule (docs/cuda.md lists them)
 * ends the process with a message that names the kernel.
 *
 * Differences from CUDA that a kernel's author meets:
 *   - shared memory is declared with THC_SHARED and THC_DYNAMIC_SHARED, never with __shared__;
 *   - kernels are launched with THC_LAUNCH, never with <<<>>>;
 *   - there is no cudaDeviceSynchronize: nothing here may wait for a whole device. */
#ifndef CUDA_EMULATION
#  define CUDA_EMULATION 1

#  include <math.h>
#  include <stddef.h>
#  include <stdint.h>
#  include <string.h>
#  include <type_traits>

/* ---- language ---------------------------------------------------------------------------- */

#  define __global__
#  define __device__
#  define __host__
#  define __constant__ static
#  define __forceinline__ inline __attribute__((always_inline))
#  define __noinline__ __attribute__((noinline))
#  define __launch_bounds__(...)
#  define __shared__ static_assert(false, "declare shared memory with THC_SHARED");

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct uint3 {
  unsigned x, y, z;
};
template <typename T> struct alignas(2 * sizeof(T)) CuemuVector2 {
  T x, y;
};
template <typename T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) CuemuVector4 {
  T x, y, z, w;
};
typedef CuemuVector2<float> float2;
typedef CuemuVector4<float> float4;
typedef CuemuVector2<double> double2;
typedef CuemuVector2<int> int2;
typedef CuemuVector4<int> int4;

/* ---- errors, with the toolkit's numbers -------------------------------------------------- */

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorNotSupported = 801
};
typedef enum cudaError cudaError_t;

extern "C" {

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

/* ---- devices, streams, events ------------------------------------------------------------ */

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMemoryPoolsSupported = 115
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
#  define cudaStreamLegacy ((cudaStream_t)0x1)
#  define cudaStreamPerThread ((cudaStream_t)0x2)
#  define cudaStreamDefault 0x00
#  define cudaStreamNonBlocking 0x01
#  define cudaEventDefault 0x00
#  define cudaEventDisableTiming 0x02

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

/* ---- memory ------------------------------------------------------------------------------ */

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
#  define cudaHostAllocDefault 0x00
#  define cudaHostAllocPortable 0x01
#  define cudaHostAllocMapped 0x02

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream);

/* ---- what tests ask of the emulation ----------------------------------------------------- */

void cuemu_setReverse(int reverse);       /* blocks and threads run in reversed order */
void cuemu_failAllocation(int64_t which); /* the which-th allocation from now fails; 0: none */
void cuemu_failLaunch(int64_t which);     /* the same for launches */
void cuemu_setPools(int supported);       /* whether devices have stream-ordered memory */
int64_t cuemu_liveAllocations(void);      /* device allocations not freed */
int64_t cuemu_launches(void);             /* kernels launched so far */
int64_t cuemu_waits(void); /* calls so far in which a GPU's runtime waits for the device */
int cuemu_checked(void);   /* whether every access of kernels is checked */
}

template <typename T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
  return cudaMalloc((void **)pointer, bytes);
}

template <typename T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes)
{
  if (bytes > sizeof(T))
    return cudaErrorInvalidValue;
  memcpy((void *)&symbol, from, bytes);
  return cudaSuccess;
}

/* ---- kernels ----------------------------------------------------------------------------- */

namespace cuemu
{

/* The indices of the thread that runs now. */
struct Builtins {
  uint3 threadIdx, blockIdx;
  dim3 blockDim, gridDim;
};
extern Builtins builtins;

enum BarrierKind { BARRIER_PLAIN, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };
enum WarpKind { WARP_SYNC, WARP_SHUFFLE, WARP_BALLOT };
enum ShuffleKind { SHUFFLE_INDEX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR };

int barrier(BarrierKind kind, int predicate, const char *file, int line);
uint64_t warp(WarpKind kind, unsigned mask, uint64_t value, int sourceLane, const char *file,
              int line);
int shuffleSource(ShuffleKind kind, int operand, int width);
unsigned activeMask();

/* The shared array declared at `site`: the same one for all threads of the block. */
void *sharedArray(const void *site, size_t bytes, const char *name);
void *dynamicShared(size_t element, const char *name);

void atomicBegin(void *address, size_t bytes);
void atomicEnd();

/* The start and end of a launch. `arguments` is the closure that `body` reads. */
cudaError_t runGrid(const char *kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                    void (*body)(const void *), const void *arguments, size_t argumentBytes);
void checkPointerArgument(const char *kernel, int index, const void *pointer);

template <typename T> void checkArgument(const char *kernel, int index, const T &value)
{
  if constexpr (std::is_pointer<T>::value)
    checkPointerArgument(kernel, index, (const void *)value);
}

template <typename Closure>
cudaError_t runClosure(const char *kernel, dim3 grid, dim3 block, size_t shared,
                       cudaStream_t stream, const Closure &closure)
{
  return runGrid(
      kernel, grid, block, shared, stream,
      [](const void *arguments) { (*(const Closure *)arguments)(); }, &closure, sizeof(Closure));
}

template <typename... Parameters>
cudaError_t launch(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   size_t shared, cudaStream_t stream, Parameters... values)
{
  int index = 0;
  (checkArgument(name, ++index, values), ...);
  (void)index;
  return runClosure(name, grid, block, shared, stream, [=]() { kernel(values...); });
}

template <typename T> uint64_t toBits(T value)
{
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T> T fromBits(uint64_t bits)
{
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T>
T shuffle(ShuffleKind kind, unsigned mask, T value, int operand, int width, const char *file,
          int line)
{
  return fromBits<T>(
      warp(WARP_SHUFFLE, mask, toBits(value), shuffleSource(kind, operand, width), file, line));
}

template <typename T, typename Change> T atomic(T *address, Change change)
{
  atomicBegin(address, sizeof(T));
  const T old = *address;
  *address = change(old);
  atomicEnd();
  return old;
}

} // namespace cuemu

#  define threadIdx (cuemu::builtins.threadIdx)
#  define blockIdx (cuemu::builtins.blockIdx)
#  define blockDim (cuemu::builtins.blockDim)
#  define gridDim (cuemu::builtins.gridDim)
#  define warpSize 32

/* THC_SHARED(float, tile, [32][33]) and THC_DYNAMIC_SHARED(float, tile): see THC/THCLaunch.h. */
#  define THC_SHARED(T, name, dims)                                                                \
    typedef T name##Array dims;                                                                    \
    static char name##Site;                                                                        \
    name##Array &name = *(name##Array *)cuemu::sharedArray(&name##Site, sizeof(name##Array), #name)
#  define THC_DYNAMIC_SHARED(T, name) T *name = (T *)cuemu::dynamicShared(sizeof(T), #name)

/* The place of the call, which all threads that meet there must share. */
#  define CUEMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(CUEMU_HERE)
{
  cuemu::barrier(cuemu::BARRIER_PLAIN, 0, file, line);
}
static inline int __syncthreads_count(int predicate, CUEMU_HERE)
{
  return cuemu::barrier(cuemu::BARRIER_COUNT, predicate != 0, file, line);
}
static inline int __syncthreads_and(int predicate, CUEMU_HERE)
{
  return cuemu::barrier(cuemu::BARRIER_AND, predicate != 0, file, line);
}
static inline int __syncthreads_or(int predicate, CUEMU_HERE)
{
  return cuemu::barrier(cuemu::BARRIER_OR, predicate != 0, file, line);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, CUEMU_HERE)
{
  cuemu::warp(cuemu::WARP_SYNC, mask, 0, 0, file, line);
}
template <typename T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUEMU_HERE)
{
  return cuemu::shuffle(cuemu::SHUFFLE_INDEX, mask, value, source, width, file, line);
}
template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUEMU_HERE)
{
  return cuemu::shuffle(cuemu::SHUFFLE_UP, mask, value, (int)delta, width, file, line);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUEMU_HERE)
{
  return cuemu::shuffle(cuemu::SHUFFLE_DOWN, mask, value, (int)delta, width, file, line);
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32, CUEMU_HERE)
{
  return cuemu::shuffle(cuemu::SHUFFLE_XOR, mask, value, laneMask, width, file, line);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, CUEMU_HERE)
{
  return (unsigned)cuemu::warp(cuemu::WARP_BALLOT, mask, predicate != 0, 0, file, line);
}
static inline int __any_sync(unsigned mask, int predicate, CUEMU_HERE)
{
  return __ballot_sync(mask, predicate, file, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, CUEMU_HERE)
{
  return __ballot_sync(mask, predicate, file, line) == mask;
}
static inline unsigned __activemask()
{
  return cuemu::activeMask();
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}

/* ---- atomics, for the types CUDA has them for -------------------------------------------- */

#  define CUEMU_ATOMIC(T, name, expression)                                                        \
    static inline T name(T *address, T value)                                                      \
    {                                                                                              \
      return cuemu::atomic(address, [=](T old) { return (T)(expression); });                       \
    }
#  define CUEMU_ATOMIC_INTEGER(T)                                                                  \
    CUEMU_ATOMIC(T, atomicAdd, old + value)                                                        \
    CUEMU_ATOMIC(T, atomicMax, old > value ? old : value)                                          \
    CUEMU_ATOMIC(T, atomicMin, old < value ? old : value)                                          \
    CUEMU_ATOMIC(T, atomicExch, ((void)old, value))                                                \
    CUEMU_ATOMIC(T, atomicOr, old | value)                                                         \
    CUEMU_ATOMIC(T, atomicAnd, old &value)                                                         \
    static inline T atomicCAS(T *address, T expected, T value)                                     \
    {                                                                                              \
      return cuemu::atomic(address, [=](T old) { return old == expected ? value : old; });         \
    }
CUEMU_ATOMIC_INTEGER(int)
CUEMU_ATOMIC_INTEGER(unsigned)
CUEMU_ATOMIC_INTEGER(unsigned long long)
CUEMU_ATOMIC(float, atomicAdd, old + value)
CUEMU_ATOMIC(double, atomicAdd, old + value)
CUEMU_ATOMIC(float, atomicExch, ((void)old, value))
#  undef CUEMU_ATOMIC_INTEGER
#  undef CUEMU_ATOMIC

/* ---- arithmetic that CUDA offers without a header ---------------------------------------- */

#  define CUEMU_MIN_MAX(T)                                                                         \
    static inline T min(T a, T b)                                                                  \
    {                                                                                              \
      return b < a ? b : a;                                                                        \
    }                                                                                              \
    static inline T max(T a, T b)                                                                  \
    {                                                                                              \
      return a < b ? b : a;                                                                        \
    }
CUEMU_MIN_MAX(int)
CUEMU_MIN_MAX(unsigned)
CUEMU_MIN_MAX(long)
CUEMU_MIN_MAX(unsigned long)
CUEMU_MIN_MAX(long long)
CUEMU_MIN_MAX(unsigned long long)
#  undef CUEMU_MIN_MAX
static inline float min(float a, float b)
{
  return fminf(a, b);
}
static inline float max(float a, float b)
{
  return fmaxf(a, b);
}
static inline double min(double a, double b)
{
  return fmin(a, b);
}
static inline double max(double a, double b)
{
  return fmax(a, b);
}

static inline float rsqrtf(float x)
{
  return 1.0f / sqrtf(x);
}
static inline float rsqrt(float x)
{
  return 1.0f / sqrtf(x);
}
static inline double rsqrt(double x)
{
  return 1.0 / sqrt(x);
}
/* Products that are rounded before a sum takes them. */
static inline float __fmul_rn(float a, float b)
{
  const volatile float product = a * b;
  return product;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
  return (unsigned)((uint64_t)a * b >> 32);
}
static inline int __popc(unsigned x)
{
  return __builtin_popcount(x);
}
static inline int __clz(int x)
{
  return x == 0 ? 32 : __builtin_clz((unsigned)x);
}
static inline int __ffs(int x)
{
  return __builtin_ffs(x);
}
template <typename T> static inline T __ldg(const T *pointer)
{
  return *pointer;
}

#endif
