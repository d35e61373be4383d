/* Calls on one thread from within a parallel region of the caller's: each does all of its work. */
#include "module.h"

enum { CALLERS = 3 };

int main(void)
{
  THNNState *state = THNN_State_new();
  THNN_State_setThreads(state, 1);
  Tensor *output[CALLERS], *rectified[CALLERS];
  /* Several blocks of elements; rows of 40 planes, which are worked on in one region of several loops. */
  Tensor *input = TENSOR_OF((100000), -1, 2, -3), *rows = TENSOR_OF((200, 40), -4);
  Tensor *slopes = TENSOR_OF((40), 0.5);
  for (int i = 0; i < CALLERS; i++) {
    output[i] = emptyTensor();
    rectified[i] = emptyTensor();
  }
#pragma omp parallel for num_threads(CALLERS) schedule(static, 1)
  for (int i = 0; i < CALLERS; i++) {
    MODULE(Abs_updateOutput)(state, input, output[i]);
    MODULE(PReLU_updateOutput)(state, rows, rectified[i], slopes, 40);
  }
  for (int i = 0; i < CALLERS; i++) {
    EXPECT(output[i], (100000), 1, 2, 3);
    EXPECT(rectified[i], (200, 40), -2);
  }
  THNN_State_free(state);
  return finish();
}
