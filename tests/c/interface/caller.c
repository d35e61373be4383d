/* Errors of calls name the program's own lines: THNNCaller.h. */

#include "../check.h"

#include <THNNCaller.h>

int main(void)
{
  catchErrors();
  THFloatTensor *const input = THFloatTensor_newWithSize1d(3), *const output = THFloatTensor_new();
  char place[32];

  CHECK_RAISES(THNN_FloatAbs_updateOutput(NULL, NULL, output), "Abs_updateOutput: ");
  snprintf(place, sizeof place, "/caller.c:%d", __LINE__ - 1);
  const char *const called = strstr(checkMessage, ", called at ");
  const char *const end = called ? strstr(called, place) : NULL;
  CHECK(end && end[strlen(place)] == 0);
  const char *const places = checkMessage + THGetErrorFacts().length;
  CHECK(strncmp(places, " at ", 4) == 0 && strstr(places, "thnn/call/check.c:"));

  /* Neither an error nor a call that has succeeded leaves its place to another call. */
  CHECK_RAISES((THNN_FloatAbs_updateOutput)(NULL, NULL, output), "Abs_updateOutput: argument #2");
  CHECK(!strstr(checkMessage, "called at"));
  THNN_FloatAbs_updateOutput(NULL, input, output);
  CHECK(THFloatTensor_nElement(output) == 3);
  CHECK_RAISES((THNN_FloatAbs_updateOutput)(NULL, NULL, output), "Abs_updateOutput: argument #2");
  CHECK(!strstr(checkMessage, "called at"));

  void (*const function)(THNNState *, THFloatTensor *, THFloatTensor *) =
      THNN_FloatAbs_updateOutput;
  function(NULL, input, output);
  THFloatTensor_free(input);
  THFloatTensor_free(output);
  return checkResult();
}
