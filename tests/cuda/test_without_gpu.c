/* The real library loads on any machine; without a GPU it says what is missing, and no more. */
#include "check.h"

#include <THCUNN.h>

int main(void)
{
  catchErrors();
  if (setjmp(checkJump) == 0) {
    THCState *state = THCState_new(0); /* a machine with a GPU */
    CHECK(THCState_device(state) == 0);
    THCState_free(state);
  } else {
    CHECK(strstr(checkMessage, "THCState_new: cudaGetDeviceCount failed: "));
    CHECK(strstr(checkMessage, "(cudaError"));
  }
  CHECK_RAISES(THNN_CudaThreshold_updateOutput(NULL, NULL, NULL, 0, 0, false),
               "argument #1 'state'");
  CHECK(checkArgument == 1);
  return checkResult();
}
