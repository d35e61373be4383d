/* THC: states, storages, tensors, the plan, errors. */
#include "kernels.cuh"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/THC/THCBlas.h>
#include <cuda/THC/THCIndex.cuh>
#include <cuda/THCUNN.h>

static THCState *state;

/* A tensor of its own storage with these strides, filled from `values` where its elements lie. */
static THCudaTensor *tensorOf(int nDimension, const int64_t *size, const int64_t *stride,
                              const std::vector<float> &values)
{
  int64_t reach = 1;
  for (int d = 0; d < nDimension; d++)
    reach += (size[d] - 1) * stride[d];
  THCudaStorage *storage = THCudaStorage_newWithSize(state, reach);
  std::vector<float> memory(reach, -99.0f);
  for (size_t i = 0; i < values.size(); i++) {
    int64_t rest = (int64_t)i, offset = 0;
    for (int d = nDimension - 1; d >= 0; d--) {
      offset += rest % size[d] * stride[d];
      rest /= size[d];
    }
    memory[offset] = values[i];
  }
  THCudaStorage_copyFromHost(state, storage, memory.data());
  THCudaTensor *tensor = THCudaTensor_newWithStorage(state, storage, 0, nDimension, size, stride);
  THCudaStorage_free(state, storage);
  return tensor;
}

static std::vector<float> storageOf(const THCudaTensor *tensor)
{
  std::vector<float> values(tensor->storage->size);
  THCudaStorage_copyToHost(state, tensor->storage, values.data());
  return values;
}

static THCudaTensor *vectorOf(const std::vector<float> &values)
{
  const int64_t size = (int64_t)values.size(), stride = 1;
  return tensorOf(1, &size, &stride, values);
}

/* ---- States */

static void testState_()
{
  CHECK_RAISES(THCState_new(99), "expected 0 to 1, found 99");
  CHECK(checkArgument == 1);
  CHECK_RAISES(THCState_device(NULL), "found NULL");
  CHECK_RAISES(THCState_stream((THCState *)&checkJump), "found something else");
  THCState *other = THCState_new(1);
  int device;
  CHECK(THCState_device(other) == 1 && cudaGetDevice(&device) == cudaSuccess && device == 0);
  CHECK(!THCState_deterministic(other) && !THCState_checkIndices(other));
  THCState_setDeterministic(other, true);
  CHECK(THCState_deterministic(other));
  THCState_free(other);
  THCState_free(NULL);
}

/* A call on another device than the current one works there and leaves the current one alone, also
 * when it fails. */
static void testDevices()
{
  THCState *other = THCState_new(1);
  THCudaTensor *there = THCudaTensor_new(other);
  const int64_t size[] = {4, 5};
  THCudaTensor_resizeNd(other, there, 2, size, NULL);
  THCudaTensor_fill(other, there, 3.0f);
  int device;
  CHECK(cudaGetDevice(&device) == cudaSuccess && device == 0);
  CHECK_RAISES(THCudaTensor_fill(state, there, 1.0f),
               "THCTensor_fill: argument #2 'self': expected a tensor on device 0, found one on "
               "device 1");
  cuemu_failLaunch(1);
  CHECK_RAISES(THCudaTensor_fill(other, there, 1.0f), "fill failed");
  CHECK(cudaGetDevice(&device) == cudaSuccess && device == 0);
  const int64_t stride[] = {1, 4};
  THCudaTensor *strided = THCudaTensor_newWithStorage(other, there->storage, 0, 2, size, stride);
  cuemu_failAllocation(1);
  CHECK_RAISES(THCudaTensor_fill(other, strided, 1.0f), "not enough memory");
  CHECK(cudaGetDevice(&device) == cudaSuccess && device == 0);
  THCudaTensor_free(other, strided);
  CHECK_RAISES(THCudaStorage_free(state, there->storage),
               "the storage is on device 1, the state works on device 0");
  THCudaTensor_free(other, there);
  THCState_free(other);
}

static void testStreams()
{
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  THCState_setStream(state, stream);
  CHECK(THCState_stream(state) == stream);
  THCudaTensor *tensor = vectorOf({1, 2, 3});
  THCudaTensor_fill(state, tensor, 4);
  THCState_synchronize(state);
  THCState_setStream(state, NULL);
  cudaStreamDestroy(stream);
  THCState_setStream(state, stream);
  CHECK_RAISES(THCudaTensor_fill(state, tensor, 4), "cudaErrorInvalidResourceHandle");
  CHECK_RAISES(THCState_synchronize(state), "cudaErrorInvalidResourceHandle");
  THCState_setStream(state, NULL);
  THCudaTensor_free(state, tensor);
}

/* ---- Allocators */

struct Counts {
  int taken, given, failIn;
};

static void *countingAllocate(void *context, size_t bytes, int device, void *stream)
{
  Counts *counts = (Counts *)context;
  (void)device;
  void *block = NULL;
  if (counts->failIn > 0 && --counts->failIn == 0)
    return NULL;
  cudaMallocAsync(&block, bytes, (cudaStream_t)stream);
  counts->taken++;
  return block;
}

static int countingRelease(void *context, void *block, int device, void *stream)
{
  Counts *counts = (Counts *)context;
  (void)device;
  counts->given++;
  return cudaFreeAsync(block, (cudaStream_t)stream);
}

static void testAllocator()
{
  const THCAllocator allocator = {countingAllocate, countingRelease};
  Counts counts = {0, 0, 0};
  THCState_setAllocator(state, &allocator, &counts);
  const int64_t size[] = {3, 2}, stride[] = {1, 3};
  THCudaTensor *strided = tensorOf(2, size, stride, {0, 1, 2, 3, 4, 5});
  CHECK(counts.taken == 1);
  THCudaTensor *output = THCudaTensor_new(state);
  THNN_CudaThreshold_updateOutput(state, strided, output, 2, -1, false);
  CHECK(counts.taken == 3 && counts.given == 1); /* output, scratch */

  /* Without memory for the scratch: an error, nothing held, the same after it. */
  counts.failIn = 1;
  CHECK_RAISES(THNN_CudaThreshold_updateOutput(state, strided, output, 2, -1, false),
               "not enough memory");
  THNN_CudaThreshold_updateOutput(state, strided, output, 2, -1, false);
  CHECK(counts.taken - counts.given == 2);

  /* Without memory for the output: it stays as it was. */
  THCudaTensor *fresh = THCudaTensor_new(state);
  counts.failIn = 1;
  CHECK_RAISES(THNN_CudaThreshold_updateOutput(state, strided, fresh, 2, -1, false),
               "not enough memory");
  CHECK(fresh->nDimension == 0 && THCudaTensor_data(state, fresh) == NULL);

  /* A storage goes back to where it came from. */
  THCState_setAllocator(state, NULL, NULL);
  THCudaTensor_free(state, fresh);
  THCudaTensor_free(state, output);
  THCudaTensor_free(state, strided);
  CHECK(counts.taken == counts.given);
}

/* A device without pools has memory all the same. */
static void testWithoutPools()
{
  cuemu_setPools(0);
  THCState *other = THCState_new(0);
  THCudaStorage *storage = THCudaStorage_newWithSize(other, 5);
  CHECK(storage->size == 5 && storage->data);
  THCudaStorage_resize(other, storage, 50);
  THCudaStorage_free(other, storage);
  THCState_free(other);
  cuemu_setPools(1);
}

/* ---- Tensors */

static void testTensors()
{
  THCudaTensor *tensor = THCudaTensor_new(state);
  const int64_t size[] = {2, 3}, larger[] = {2, 2, 3};
  THCudaTensor_resizeNd(state, tensor, 2, size, NULL);
  CHECK(tensor->stride[0] == 3 && tensor->stride[1] == 1 && tensor->storage->size == 6);
  CHECK(THCudaTensor_nElement(state, tensor) == 6 && THCudaTensor_isContiguous(state, tensor));
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  THCudaStorage_copyFromHost(state, tensor->storage, values.data());
  THCudaTensor_resizeNd(state, tensor, 3, larger, NULL);
  const std::vector<float> grown = storageOf(tensor);
  CHECK(grown.size() == 12 && grown[0] == 0 && grown[5] == 5);

  THCudaTensor *view = THCudaTensor_new(state);
  THCudaTensor_set(state, view, tensor);
  CHECK(view->storage == tensor->storage && tensor->storage->refcount == 2);
  CHECK(view->nDimension == 3 && view->size[2] == 3);
  THCudaTensor_free(state, view);
  CHECK(tensor->storage->refcount == 1);

  THCudaStorage *fixed = THCudaStorage_newWithData(state, tensor->storage->data, 12);
  CHECK_RAISES(THCudaStorage_resize(state, fixed, 13), "not resizable");
  CHECK_RAISES(THCudaTensor_newWithStorage(state, fixed, 7, 2, size, NULL), "outside its storage");
  THCudaStorage_free(state, fixed);
  CHECK_RAISES(THCudaStorage_newWithSize(state, -1), "do not fit");
  cuemu_failAllocation(1);
  CHECK_RAISES(THCudaStorage_newWithSize(state, 5), "not enough memory on device 0");
  THCudaTensor_free(state, tensor);

  THCudaLongTensor *indices = THCudaLongTensor_new(state);
  THCudaLongTensor_resizeNd(state, indices, 2, size, NULL);
  THCudaLongTensor_fill(state, indices, 41);
  std::vector<int64_t> found(6);
  THCudaLongStorage_copyToHost(state, indices->storage, found.data());
  CHECK(found[5] == 41);
  THCudaLongTensor_free(state, indices);
}

static void testStridedContent()
{
  const int64_t size[] = {2, 3}, transposed[] = {1, 2}, gaps[] = {10, 3};
  THCudaTensor *from = tensorOf(2, size, transposed, {0, 1, 2, 3, 4, 5});
  THCudaTensor *to = tensorOf(2, size, gaps, {9, 9, 9, 9, 9, 9});
  THCudaTensor_copy(state, to, from);
  std::vector<float> found = storageOf(to);
  for (int i = 0; i < (int)found.size(); i++) {
    const bool element = i % 10 % 3 == 0 && i % 10 < 9;
    CHECK(found[i] == (element ? (float)(i / 10 * 3 + i % 10 / 3) : -99.0f));
  }
  THCudaTensor_fill(state, to, 7);
  found = storageOf(to);
  CHECK(found[0] == 7 && found[1] == -99 && found[3] == 7 && found[16] == 7);
  THCudaTensor *other = vectorOf({1, 2});
  CHECK_RAISES(THCudaTensor_copy(state, to, other), "as many elements");

  /* All elements at one place: the last one stays. */
  const int64_t none[] = {0, 0};
  THCudaTensor *expanded = tensorOf(2, size, none, {5});
  THCudaTensor_copy(state, expanded, from);
  CHECK(storageOf(expanded)[0] == 5);
  THCudaTensor_free(state, expanded);
  THCudaTensor_free(state, other);
  THCudaTensor_free(state, from);
  THCudaTensor_free(state, to);
}

/* Outputs that overlap inputs give the results of separate ones. */
static void testOverlap()
{
  THCudaTensor *all = vectorOf({1, -2, 3, -4, 5, -6});
  const int64_t size = 5, stride = 1;
  THCudaTensor *input = THCudaTensor_newWithStorage(state, all->storage, 0, 1, &size, &stride);
  THCudaTensor *output = THCudaTensor_newWithStorage(state, all->storage, 1, 1, &size, &stride);
  THNN_CudaThreshold_updateOutput(state, input, output, 0, 9, false);
  const std::vector<float> wanted = {1, 1, 9, 3, 9, 5};
  CHECK(storageOf(all) == wanted);
  THCudaTensor_free(state, input);
  THCudaTensor_free(state, output);
  THCudaTensor_free(state, all);
}

/* Whether the call raises. */
static bool fullConvolutionFails(THCudaTensor *input, THCudaTensor *weight, THCudaTensor *bias,
                                 THCudaTensor *output)
{
  if (setjmp(checkJump) != 0)
    return true;
  THNN_CudaSpatialFullConvolution_updateOutput(state, input, output, weight, bias, NULL, NULL, 2, 2,
                                               1, 1, 0, 0, 0, 0);
  return false;
}

/* With the first, second, … allocation failing, and then the launches, until the call succeeds:
 * each time an error, and nothing is held after it. */
static void testFailingCalls()
{
  const int64_t inputSize[] = {2, 3, 4, 4}, inputStride[] = {1, 2, 6, 24};
  const int64_t weightSize[] = {3, 2, 2, 2}, weightStride[] = {8, 4, 2, 1};
  THCudaTensor *input = tensorOf(4, inputSize, inputStride, std::vector<float>(96, 1.0f));
  THCudaTensor *weight = tensorOf(4, weightSize, weightStride, std::vector<float>(24, 1.0f));
  THCudaTensor *bias = vectorOf({10, 20});
  const int64_t held = cuemu_liveAllocations();
  int failures = 0;
  for (int launches = 0; launches < 2; launches++)
    for (int64_t which = 1;; which++) {
      THCudaTensor *output = THCudaTensor_new(state);
      (launches ? cuemu_failLaunch : cuemu_failAllocation)(which);
      const bool failed = fullConvolutionFails(input, weight, bias, output);
      (launches ? cuemu_failLaunch : cuemu_failAllocation)(0);
      if (!failed)
        CHECK(storageOf(output)[0] == 13 && storageOf(output)[25] == 23);
      THCudaTensor_free(state, output);
      CHECK(cuemu_liveAllocations() == held);
      if (!failed)
        break;
      failures++;
    }
  CHECK(failures >= 4); /* output, scratch; gathering, folding */
  THCudaTensor_free(state, input);
  THCudaTensor_free(state, weight);
  THCudaTensor_free(state, bias);
}

/* What equals the threshold is replaced, and nothing flows back from it. */
static void testThresholdAtItsBoundary()
{
  THCudaTensor *input = vectorOf({0.5f, 1, 1.5f}), *gradOutput = vectorOf({7, 8, 9});
  THCudaTensor *result = THCudaTensor_new(state);
  THNN_CudaThreshold_updateOutput(state, input, result, 1, -2, false);
  CHECK(storageOf(result) == std::vector<float>({-2, -2, 1.5f}));
  THNN_CudaThreshold_updateGradInput(state, input, gradOutput, result, 1, -2, false);
  CHECK(storageOf(result) == std::vector<float>({0, 0, 9}));
  THCudaTensor_free(state, input);
  THCudaTensor_free(state, gradOutput);
  THCudaTensor_free(state, result);
}

/* ---- Index errors */

static __global__ void __launch_bounds__(32)
    lookUp(const int64_t *indices, const float *table, float *out, THCIndexRange range)
{
  const int64_t index = indices[threadIdx.x];
  out[threadIdx.x] = THC_indexIsValid(index, range) ? table[index - 1] : 0.0f;
}

static void runLookUp(const std::vector<int64_t> &values, float *found)
{
  DeviceArray<int64_t> indices(values);
  DeviceArray<float> table(std::vector<float>{10, 20, 30}), out(values.size());
  THCPlan plan;
  THC_planStart(&plan, "lookUp", state);
  THC_planAcquire(&plan);
  THC_LAUNCH(&plan, lookUp, 1, (unsigned)values.size(), 0, indices.data, table.data, out.data,
             THC_indexRange(&plan, 1, 3));
  THC_planRelease(&plan);
  memcpy(found, out.read().data(), values.size() * sizeof(float));
}

static void testIndexErrors()
{
  float found[3];
  runLookUp({3, 1, 2}, found);
  THCState_synchronize(state);
  CHECK(found[0] == 30 && found[1] == 10 && found[2] == 20);
  const char *message = "lookUp: an index of an earlier call was outside its range: expected 1 to "
                        "3, found 4";
  runLookUp({1, 4, 2}, found);
  CHECK(found[1] == 0 && found[2] == 20);
  THCudaTensor *tensor = vectorOf({1});
  CHECK_RAISES(THCudaTensor_fill(state, tensor, 1), message); /* the next call */
  THCudaTensor_fill(state, tensor, 1);                        /* raised once */
  runLookUp({4, 1, 2}, found);
  CHECK_RAISES(THCState_synchronize(state), message);
  THCState_synchronize(state);
  THCudaTensor_free(state, tensor);
}

static void testCheckedIndices()
{
  THCudaLongTensor *indices = THCudaLongTensor_new(state);
  const int64_t size[] = {2, 3};
  THCudaLongTensor_resizeNd(state, indices, 2, size, NULL);
  THCudaLongTensor_fill(state, indices, 4);
  THC_checkIndices(state, "f", indices, "target", 3, 1, 3); /* switched off */
  THCState_setCheckIndices(state, true);
  THC_checkIndices(state, "f", indices, "target", 3, 1, 4);
  CHECK_RAISES(THC_checkIndices(state, "f", indices, "target", 3, 1, 3),
               "f: argument #3 'target': expected indices from 1 to 3, found 4");
  CHECK(checkArgument == 3);
  THCState_synchronize(state);
  THCState_setCheckIndices(state, false);
  THCudaLongTensor_free(state, indices);
}

/* ---- Products */

static void testProducts()
{
  /* Two products of stored 2x3 and 3x2 matrices, the first one transposed and back. */
  DeviceArray<double> a(std::vector<double>{1, 4, 2, 5, 3, 6, 1, 0, 0, 1, 0, 0});
  DeviceArray<double> b(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  DeviceArray<double> c(std::vector<double>(8, 1.0));
  THCPlan plan;
  THC_planStart(&plan, "product", state);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);
  THC_multiply(&plan, 2, 2, 2, 3, 1.0, THC_matrix((const double *)a.data, 2, true, 6),
               THC_matrix((const double *)b.data, 2, false, 6), 10.0,
               THC_matrix(c.data, 2, false, 4));
  THC_planRelease(&plan);
  const std::vector<double> wanted = {32, 38, 59, 74, 17, 18, 19, 20};
  CHECK(c.read() == wanted);

  THC_planStart(&plan, "product", state);
  THC_planAcquire(&plan);
  THC_multiply(&plan, 1, (int64_t)1 << 40, 2, 3, 1.0, THC_matrix((const double *)a.data, 2),
               THC_matrix((const double *)b.data, 2), 0.0, THC_matrix(c.data, 2));
  CHECK_RAISES(THC_planRelease(&plan),
               "product: a cuBLAS product failed: CUBLAS_STATUS_INVALID_VALUE");
}

/* In a process of its own, since a loaded library stays loaded. */
static void testMissingBlas()
{
  const pid_t child = fork();
  if (child == 0) {
    setenv("THCUNN_CUBLAS", "/nowhere/libcublas.so", 1);
    THCPlan plan;
    THC_planStart(&plan, "product", state);
    CHECK_RAISES(THC_planBlas(&plan), "product: cuBLAS could not be loaded (/nowhere/libcublas.so");
    CHECK(strstr(checkMessage, "pip install nvidia-cublas"));
    _exit(checkFailures);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

/* What becomes a view of gradOutput may be the tensor that is read: its memory is there to the
 * end. */
static void testSharingTheInput()
{
  THCudaTensor *input = vectorOf({-1, 2}), *gradOutput = vectorOf({10, 20});
  THNN_CudaLeakyReLU_updateGradInput(state, input, gradOutput, input, 0.5, true);
  CHECK(storageOf(gradOutput) == (std::vector<float>{5, 20}));
  CHECK(input->storage == gradOutput->storage);
  THCudaTensor_free(state, input);
  THCudaTensor_free(state, gradOutput);
}

int main(void)
{
  catchErrors();
  state = THCState_new(0);
  RUN(testMissingBlas());
  RUN(testState_());
  RUN(testDevices());
  RUN(testStreams());
  RUN(testAllocator());
  RUN(testWithoutPools());
  RUN(testTensors());
  RUN(testStridedContent());
  RUN(testOverlap());
  RUN(testFailingCalls());
  RUN(testThresholdAtItsBoundary());
  RUN(testIndexErrors());
  RUN(testCheckedIndices());
  RUN(testProducts());
  RUN(testSharingTheInput());
  THCState_free(state);
  CHECK(cuemu_liveAllocations() == 0);
  return checkResult();
}
