/* The emulation computes what CUDA would: indices, barriers, warp functions, atomics, memory. */
#include "kernels.cuh"

enum { THREADS = 96 };

static __global__ void __launch_bounds__(THREADS) writeIndices(int *out)
{
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * (int)threadIdx.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * (int)blockIdx.z);
  out[block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread] =
      1000 * block + 100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x;
}

static void testIndices()
{
  DeviceArray<int> out(2 * 3 * 2 * 24);
  launch(writeIndices, dim3(2, 3, 2), dim3(2, 3, 4), 0, out.data);
  const std::vector<int> found = out.read();
  for (int block = 0; block < 12; block++)
    for (int thread = 0; thread < 24; thread++)
      CHECK(found[block * 24 + thread] ==
            1000 * block + 100 * (thread / 6) + 10 * (thread / 2 % 3) + thread % 2);
}

/* Reverses each block's part through shared memory. */
static __global__ void __launch_bounds__(THREADS) reverse(const int *in, int *out)
{
  THC_SHARED(int, part, [THREADS]);
  const int i = blockIdx.x * THREADS + threadIdx.x;
  part[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = part[THREADS - 1 - threadIdx.x];
}

static __global__ void __launch_bounds__(THREADS) reverseDynamic(const int *in, int *out)
{
  THC_DYNAMIC_SHARED(int, part);
  part[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

static void testSharedMemory()
{
  std::vector<int> values(3 * THREADS);
  for (int i = 0; i < 3 * THREADS; i++)
    values[i] = i;
  DeviceArray<int> in(values), out(3 * THREADS);
  launch(reverse, 3, THREADS, 0, in.data, out.data);
  std::vector<int> found = out.read();
  for (int i = 0; i < 3 * THREADS; i++)
    CHECK(found[i] == i / THREADS * THREADS + THREADS - 1 - i % THREADS);
  launch(reverseDynamic, 1, 64, 64 * sizeof(int), in.data, out.data);
  found = out.read();
  for (int i = 0; i < 64; i++)
    CHECK(found[i] == 63 - i);
}

static __global__ void __launch_bounds__(THREADS) barrierVotes(int *out)
{
  const int odd = threadIdx.x % 2;
  out[threadIdx.x] = __syncthreads_count(odd) + 1000 * __syncthreads_or(odd) +
                     10000 * __syncthreads_and(odd) + 100000 * __syncthreads_and(1);
}

static __global__ void __launch_bounds__(THREADS) warpFunctions(int *out)
{
  const unsigned all = 0xffffffffu;
  const int lane = threadIdx.x % 32;
  int *row = out + threadIdx.x * 8;
  row[0] = __shfl_sync(all, 10 * lane, 5);
  row[1] = __shfl_up_sync(all, lane, 3);
  row[2] = __shfl_down_sync(all, lane, 3, 16);
  row[3] = __shfl_xor_sync(all, lane, 1);
  row[4] = (int)__ballot_sync(all, lane < 4);
  row[5] =
      __any_sync(all, lane == 31) + 2 * __all_sync(all, lane >= 0) + 4 * __all_sync(all, lane > 0);
  row[6] = (int)__shfl_sync(all, 0.5 * lane, 7);
  row[7] = lane;
  if (lane < 8) {
    row[7] = __shfl_xor_sync(0xffu, lane, 4);
    __syncwarp(0xffu);
  }
  __syncwarp();
}

static void testVotesAndShuffles()
{
  DeviceArray<int> votes(THREADS), rows(THREADS * 8);
  launch(barrierVotes, 1, THREADS, 0, votes.data);
  for (const int vote : votes.read())
    CHECK(vote == THREADS / 2 + 1000 + 100000);
  launch(warpFunctions, 1, THREADS, 0, rows.data);
  const std::vector<int> found = rows.read();
  for (int thread = 0; thread < THREADS; thread++) {
    const int lane = thread % 32, *row = &found[thread * 8];
    CHECK(row[0] == 50);
    CHECK(row[1] == (lane < 3 ? lane : lane - 3));
    CHECK(row[2] == (lane % 16 + 3 < 16 ? lane + 3 : lane));
    CHECK(row[3] == (lane ^ 1));
    CHECK(row[4] == 15);
    CHECK(row[5] == 1 + 2);
    CHECK(row[6] == 3);
    CHECK(row[7] == (lane < 8 ? lane ^ 4 : lane));
  }
}

static __global__ void __launch_bounds__(THREADS)
    addUp(int *i, unsigned long long *u, float *f, double *d)
{
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], mine);
  atomicMax(&i[1], mine);
  atomicMin(&i[2], -mine);
  atomicCAS(&i[3], 0, 77);
  atomicExch(&i[4], 5);
  atomicAdd(u, (unsigned long long)mine << 32);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

static void testAtomics()
{
  DeviceArray<int> i(std::vector<int>(5, 0));
  DeviceArray<unsigned long long> u(std::vector<unsigned long long>(1, 0));
  DeviceArray<float> f(std::vector<float>(1, 0));
  DeviceArray<double> d(std::vector<double>(1, 0));
  launch(addUp, 4, THREADS, 0, i.data, u.data, f.data, d.data);
  const int count = 4 * THREADS, sum = count * (count - 1) / 2;
  const std::vector<int> found = i.read();
  CHECK(found[0] == sum && found[1] == count - 1 && found[2] == 1 - count);
  CHECK(found[3] == 77 && found[4] == 5);
  CHECK(u.read()[0] == (unsigned long long)sum << 32);
  CHECK(f.read()[0] == 0.5f * count);
  CHECK(d.read()[0] == 0.25 * count);
}

template <int threads>
static __global__ void __launch_bounds__(threads) sumAll(int count, const double *in, double *out)
{
  double sum = 0;
  THC_FOR_ELEMENTS(int, i, count) sum += in[i];
  sum = THC_blockSum<threads>(sum);
  if (threadIdx.x == 0)
    out[0] = sum;
  /* A second one at once finds the shared memory free. */
  const double again = THC_blockSum<threads>(1.0);
  if (threadIdx.x == 0)
    out[1] = again;
}

static void testBlockSum()
{
  std::vector<double> values(1000);
  double wanted = 0;
  for (int i = 0; i < 1000; i++)
    wanted += values[i] = i % 7 - 2;
  DeviceArray<double> in(values), out(2);
  launch(sumAll<32>, 1, 32, 0, 1000, in.data, out.data);
  CHECK(out.read()[0] == wanted && out.read()[1] == 32);
  launch(sumAll<256>, 1, 256, 0, 1000, in.data, out.data);
  CHECK(out.read()[0] == wanted && out.read()[1] == 256);
}

static __global__ void __launch_bounds__(32) arithmetic(float *out)
{
  out[0] = rsqrt(4.0f);
  out[1] = max(1.0f, -2.0f) + min(3, 7);
  out[2] = (float)__umulhi(0x80000000u, 6u);
  out[3] = (float)(__popc(0xf0f0u) + __clz(1) + __ffs(8));
  out[4] = (float)exp(0.0) + __ldg(out);
}

static void testArithmetic()
{
  DeviceArray<float> out(5);
  launch(arithmetic, 1, 1, 0, out.data);
  const std::vector<float> found = out.read();
  CHECK(found[0] == 0.5f && found[1] == 4 && found[2] == 3 && found[3] == 8 + 31 + 4);
  CHECK(found[4] == 1.5f);
}

static void testRuntime()
{
  void *pointer;
  int device = -1;
  CHECK(cudaSetDevice(1) == cudaSuccess && cudaGetDevice(&device) == cudaSuccess && device == 1);
  CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
  CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);
  cudaSetDevice(0);
  cuemu_failAllocation(2);
  CHECK(cudaMalloc(&pointer, 8) == cudaSuccess);
  cudaFree(pointer);
  CHECK(cudaMalloc(&pointer, 8) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&pointer, (size_t)1 << 60) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess && !pointer);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

int main(void)
{
  catchErrors();
  RUN(testIndices());
  RUN(testSharedMemory());
  RUN(testVotesAndShuffles());
  RUN(testAtomics());
  RUN(testBlockSum());
  RUN(testArithmetic());
  RUN(testRuntime());
  THCState_free(testState());
  CHECK(cuemu_liveAllocations() == 0);
  return checkResult();
}
