/* Calls on one thread: from within a parallel region of the caller's each does all of its work, and
 * outside of one it needs none of libgomp's. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "../regions.h"
#include "module.h"

enum { CALLERS = 3 };

/* Several blocks of elements; rows of 40 planes, which are worked on in one region of several
 * loops. */
static void rectify(THNNState *state, Tensor *input, Tensor *output, Tensor *rows, Tensor *slopes,
                    Tensor *rectified)
{
  MODULE(Abs_updateOutput)(state, input, output);
  MODULE(PReLU_updateOutput)(state, rows, rectified, slopes, 40);
}

#ifdef COUNTS_REGIONS
static void testRegions(THNNState *state, Tensor *input, Tensor *rows, Tensor *slopes)
{
  Tensor *output = emptyTensor(), *rectified = emptyTensor();
  rectify(state, input, output, rows, slopes, rectified);
  CHECK(regions == 0);
  THNN_State_setThreads(state, 2);
  THNN_State_setMinimumWork(state, 1);
  rectify(state, input, output, rows, slopes, rectified);
  CHECK(regions > 0);
  THNN_State_setThreads(state, 1);
}

/* Whether 2 threads share the average over each of `planes` planes of size x size. */
static bool sharesAverages(int planes, int size)
{
  THNNState *state = THNN_State_new();
  THNN_State_setThreads(state, 2);
  Tensor *input = TENSOR_OF((planes, size, size), 3), *output = emptyTensor();
  const int before = regions;
  MODULE(SpatialAveragePooling_updateOutput)(state, input, output, size, size, 1, 1, 0, 0, false,
                                             true);
  const bool shares = regions > before;
  MODULE(SpatialAveragePooling_updateGradInput)(state, input, output, input, size, size, 1, 1, 0, 0,
                                                false, true);
  CHECK(shares == (regions > before + 1));
  THNN_State_free(state);
  return shares;
}

static void testAverages(void)
{
  CHECK(sharesAverages(1000, 13)); /* the last layer of SqueezeNet */
  CHECK(sharesAverages(2048, 7));  /* of ResNet-50 */
  CHECK(!sharesAverages(256, 7));
}
#else
static void testRegions(THNNState *state, Tensor *input, Tensor *rows, Tensor *slopes)
{
  (void)state, (void)input, (void)rows, (void)slopes;
}

static void testAverages(void) {}
#endif

int main(void)
{
  THNNState *state = THNN_State_new();
  THNN_State_setThreads(state, 1);
  Tensor *output[CALLERS], *rectified[CALLERS];
  Tensor *input = TENSOR_OF((100000), -1, 2, -3), *rows = TENSOR_OF((200, 40), -4);
  Tensor *slopes = TENSOR_OF((40), 0.5);
  testRegions(state, input, rows, slopes);
  testAverages();
  for (int i = 0; i < CALLERS; i++) {
    output[i] = emptyTensor();
    rectified[i] = emptyTensor();
  }
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
  for (int i = 0; i < CALLERS; i++)
    rectify(state, input, output[i], rows, slopes, rectified[i]);
  for (int i = 0; i < CALLERS; i++) {
    EXPECT(output[i], (100000), 1, 2, 3);
    EXPECT(rectified[i], (200, 40), -2);
  }
  THNN_State_free(state);
  return finish();
}
