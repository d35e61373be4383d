/* A program as a user of the C library writes it. */

#include <THNN.h>

#include <stdio.h>

int main(void)
{
  THFloatTensor *input = THFloatTensor_newWithSize2d(2, 3), *output = THFloatTensor_new();
  THFloatTensor_fill(input, -1);
  THFloatTensor_set2d(input, 1, 2, 5);
  THNN_FloatThreshold_updateOutput(NULL, input, output, 0, 7, false);
  double first = THFloatTensor_get2d(output, 0, 0), last = THFloatTensor_get2d(output, 1, 2);
  printf("%s %g %g\n", THFloatTensor_sizeDesc(output).str, first, last);
  THFloatTensor_free(input);
  THFloatTensor_free(output);
  return first == 7 && last == 5 ? 0 : 1;
}
