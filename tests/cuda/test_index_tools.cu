/* What kernels do with indices: dividing, sorting, drawing numbers by them, and counting elements
 * in 32 or 64 bits. */
#include <algorithm>
#include <functional>
#include <numeric>

#include <cuda/THC/THCDivision.cuh>
#include <cuda/THC/THCRandom.cuh>
#include <cuda/THC/THCSort.cuh>
#include <cuda/THCUNN.h>

#include "kernels.cuh"

static THCState *state;
static uint64_t seed = 1;

static uint64_t next()
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed >> 33;
}

/* ---- Division ------------------------------------------------------------------------------- */

static void testDivision()
{
  const int64_t largest = INT32_MAX;
  for (int64_t divisor : {1, 2, 3, 5, 7, 10, 63, 64, 65, 1000, 65537, 1 << 30, INT32_MAX}) {
    const THCDivisor<uint32_t> by(divisor);
    for (int64_t i : {(int64_t)0, divisor - 1, divisor, 2 * divisor - 1, 2 * divisor, largest})
      if (i <= largest)
        CHECK(by.quotient((uint32_t)i) == i / divisor);
    for (int k = 0; k < 1000; k++) {
      const int64_t i = (int64_t)next();
      CHECK(by.quotient((uint32_t)i) == i / divisor);
    }
  }
  CHECK(THCDivisor<uint32_t>(0).quotient(0) == 0);
  const THCSplit<uint64_t> at = THC_divide((uint64_t)1 << 40, THCDivisor<uint64_t>(7));
  CHECK(at.quotient == ((uint64_t)1 << 40) / 7 && at.remainder == ((uint64_t)1 << 40) % 7);
}

/* ---- Sorting -------------------------------------------------------------------------------- */

static void testSort(int64_t count, int64_t largestKey)
{
  std::vector<int64_t> keys(count), order(count);
  for (int64_t &key : keys)
    key = (int64_t)(next() * next() % (uint64_t)(largestKey + 1));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });

  DeviceArray<int64_t> source(keys);
  DeviceArray<char> memory(THC_sortScratchBytes(count) + 1);
  THNNBuffer scratch = {};
  scratch.data = memory.data;
  THCPlan plan;
  THC_planStart(&plan, "test", state);
  THC_planAcquire(&plan);
  cudaMemcpy(memory.data, source.data, count * sizeof(int64_t), cudaMemcpyDeviceToDevice);
  const THCSorted sorted = THC_sort(&plan, count, largestKey, &scratch);
  THC_planRelease(&plan);
  CHECK(sorted.count == count);
  std::vector<int64_t> found(count), positions(count);
  cudaMemcpy(found.data(), sorted.keys, count * sizeof(int64_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(positions.data(), sorted.positions, count * sizeof(int64_t), cudaMemcpyDeviceToHost);
  CHECK(positions == order);
  for (int64_t i = 0; i < count; i++)
    CHECK(found[i] == keys[order[i]]);
}

static void testSorts()
{
  for (int64_t count : {0, 1, 31, 256, 2048, 2049, 9001})
    for (int64_t largest : {0, 9, 255, 256, 70000, 1 << 30})
      testSort(count, largest);
}

/* ---- Random numbers ------------------------------------------------------------------------- */

static void testRandom()
{
  /* From the paper's test vectors. */
  const THCRandomWords words = THC_randomWords(0, 0);
  CHECK(words.word[0] == 0x6627e8d5u && words.word[1] == 0xe169c58du);
  CHECK(words.word[2] == 0xbc57ac4cu && words.word[3] == 0x9b00dbd8u);
  const THCRandomWords most = {{~0u, ~0u, ~0u, ~0u}}, least = {{0, 0, 0, 0}};
  CHECK(THCUniform<float>::at(most, 3) < 1 && THCUniform<float>::at(least, 3) == 0);
  CHECK(THCUniform<double>::at(most, 1) < 1 && THCUniform<double>::at(least, 1) == 0);
}

/* ---- 64-bit indices -------------------------------------------------------------------------- */

/* A tensor with the numbers 0 to 1 in a fixed order. */
static THCudaTensor *tensor(std::vector<int64_t> size)
{
  int64_t count = 1;
  std::vector<int64_t> stride(size.size());
  for (size_t d = size.size(); d-- > 0; count *= size[d])
    stride[d] = count;
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; i++)
    values[i] = (float)(i * 37 % 101 + 1) / 102;
  THCudaStorage *storage = THCudaStorage_newWithSize(state, count);
  THCudaStorage_copyFromHost(state, storage, values.data());
  THCudaTensor *made =
      THCudaTensor_newWithStorage(state, storage, 0, (int)size.size(), size.data(), stride.data());
  THCudaStorage_free(state, storage);
  return made;
}

static std::vector<float> read(THCudaTensor *from)
{
  std::vector<float> values(from->storage ? from->storage->size : 0);
  if (!values.empty())
    THCudaStorage_copyToHost(state, from->storage, values.data());
  return values;
}

typedef std::vector<THCudaTensor *> Tensors;

/* The same results whichever indices count. */
static void testWidths(const char *name, const std::function<void(Tensors &)> &call)
{
  const int64_t usual = THC_largestIndex;
  std::vector<std::vector<float>> results[2];
  for (int large = 0; large < 2; large++) {
    THC_largestIndex = large ? 0 : usual;
    Tensors tensors;
    call(tensors);
    for (THCudaTensor *each : tensors) {
      results[large].push_back(read(each));
      THCudaTensor_free(state, each);
    }
  }
  THC_largestIndex = usual;
  if (results[0] != results[1])
    printf("%s differs\n", name);
  CHECK(results[0] == results[1]);
}

/* Tensors of these sizes; an empty one for {}. */
static void make(Tensors &tensors, std::initializer_list<std::vector<int64_t>> sizes)
{
  for (const std::vector<int64_t> &size : sizes)
    tensors.push_back(size.empty() ? THCudaTensor_new(state) : tensor(size));
}

#define WIDTHS(function, ...)                                                                      \
  testWidths(#function, [](Tensors &t) {                                                           \
    (void)t;                                                                                       \
    __VA_ARGS__                                                                                    \
  })

static void testAllWidths()
{
  WIDTHS(GatedLinear, make(t, {{3, 14, 5}, {}, {3, 7, 5}, {}});
         THNN_CudaGatedLinear_updateOutput(state, t[0], t[1], 2);
         THNN_CudaGatedLinear_updateGradInput(state, t[0], t[2], t[3], 2););
  WIDTHS(PReLU, make(t, {{3, 7, 11}, {}, {7}, {3, 7, 11}, {}, {7}});
         THNN_CudaPReLU_updateOutput(state, t[0], t[1], t[2], 7);
         THNN_CudaPReLU_updateGradInput(state, t[0], t[3], t[4], t[2], 7);
         THNN_CudaPReLU_accGradParameters(state, t[0], t[3], NULL, t[2], t[5], NULL, NULL, 7, 1););
  for (int64_t positions : {3, 11})
    testWidths("BatchNormalization", [=](Tensors &t) {
      make(t, {{9, 5, positions}, {}, {5}, {5}, {5}, {5}, {5}, {5}, {9, 5, positions}, {}});
      THNN_CudaBatchNormalization_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6],
                                               t[7], true, 0.1, 1e-3);
      THNN_CudaBatchNormalization_backward(state, t[0], t[8], t[9], t[2], t[3], t[2], t[4], t[5],
                                           t[6], t[7], true, 1, 1e-3);
    });
  WIDTHS(FeatureLPPooling, make(t, {{3, 17, 5}, {}, {3, 7, 5}, {}});
         THNN_CudaFeatureLPPooling_updateOutput(state, t[0], t[1], 2, 5, 2, true);
         THNN_CudaFeatureLPPooling_updateGradInput(state, t[2], t[0], t[1], t[3], 2, 5, 2, true););
  WIDTHS(SpatialCrossMapLRN, make(t, {{2, 7, 3, 5}, {}, {}, {2, 7, 3, 5}, {}});
         THNN_CudaSpatialCrossMapLRN_updateOutput(state, t[0], t[1], t[2], 5, 1, 0.75f, 1);
         THNN_CudaSpatialCrossMapLRN_updateGradInput(state, t[0], t[3], t[4], t[2], t[1], 5, 1,
                                                     0.75f, 1););
  WIDTHS(GRUFused, make(t, {{3, 21}, {3, 21}, {3, 7}, {}, {}, {}, {}, {}});
         THNN_CudaGRUFused_updateOutput(state, t[0], t[1], NULL, NULL, t[2], t[3], t[4]);
         THNN_CudaGRUFused_updateGradInput(state, t[5], t[6], t[2], t[7], t[4]););
  WIDTHS(LSTMFused, make(t, {{3, 28}, {3, 28}, {3, 7}, {}, {}, {}, {}});
         THNN_CudaLSTMFused_updateOutput(state, t[0], t[1], NULL, NULL, t[2], t[3], t[4]);
         THNN_CudaLSTMFused_updateGradInput(state, t[0], t[5], t[2], t[4], t[3], t[2], t[6]););
  WIDTHS(MSECriterion, make(t, {{301}, {7, 43}, {1}, {}});
         THNN_CudaMSECriterion_updateOutput(state, t[0], t[1], t[2], true);
         THNN_CudaMSECriterion_updateGradInput(state, t[0], t[1], t[3], true););
}

int main(void)
{
  catchErrors();
  state = THCState_new(0);
  RUN(testDivision());
  RUN(testSorts());
  RUN(testRandom());
  RUN(testAllWidths());
  THCState_free(state);
  return checkResult();
}
