/* Spatial pooling, sampling and padding from C, and an index that is rejected. */
#include "module.h"

static void testMaxPooling(void)
{
  Tensor *input = TENSOR_OF((1, 3, 3), 1, 2, 3, 9, 5, 6, 7, 8, 4), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 2, 2), 1, 2, 3, 4), *gradInput = emptyTensor();
  THLongTensor *indices = emptyIndices();
  MODULE(SpatialMaxPooling_updateOutput)
  (NULL, input, output, indices, 2, 2, 1, 1, 0, 0, false);
  EXPECT(output, (1, 2, 2), 9, 6, 9, 8);
  EXPECT_INDICES(indices, 4, 6, 4, 8);
  MODULE(SpatialMaxPooling_updateGradInput)
  (NULL, input, gradOutput, gradInput, indices, 2, 2, 1, 1, 0, 0, false);
  EXPECT(gradInput, (1, 3, 3), 0, 0, 0, 4, 0, 2, 0, 4, 0);

  THLongTensor_data(indices)[2] = 10;
  CHECK_RAISES(MODULE(SpatialMaxPooling_updateGradInput)(NULL, input, gradOutput, gradInput,
                                                         indices, 2, 2, 1, 1, 0, 0, false),
               "argument #5 'indices'");
  EXPECT(gradInput, (1, 3, 3), 0, 0, 0, 4, 0, 2, 0, 4, 0);
}

static void testAveragePooling(void)
{
  Tensor *input = TENSOR_OF((1, 2, 3), 1, 2, 3, 4, 5, 9), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 1, 2), 4, 6), *gradInput = emptyTensor();
  MODULE(SpatialAveragePooling_updateOutput)
  (NULL, input, output, 2, 2, 2, 2, 0, 0, true, false);
  EXPECT(output, (1, 1, 2), 3, 6);
  MODULE(SpatialAveragePooling_updateGradInput)
  (NULL, input, gradOutput, gradInput, 2, 2, 2, 2, 0, 0, true, false);
  EXPECT(gradInput, (1, 2, 3), 1, 1, 3, 1, 1, 3);
}

static void testUpSampling(void)
{
  Tensor *input = TENSOR_OF((1, 1, 1, 2), 1, 5), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 1, 2, 4), 1, 2, 3, 4, 5, 6, 7, 8), *gradInput = emptyTensor();
  MODULE(SpatialUpSamplingNearest_updateOutput)(NULL, input, output, 2);
  EXPECT(output, (1, 1, 2, 4), 1, 1, 5, 5);
  MODULE(SpatialUpSamplingNearest_updateGradInput)(NULL, input, gradOutput, gradInput, 2);
  EXPECT(gradInput, (1, 1, 1, 2), 14, 22);
  MODULE(SpatialUpSamplingBilinear_updateOutput)(NULL, input, output, 1, 5);
  EXPECT(output, (1, 1, 1, 5), 1, 2, 3, 4, 5);
  MODULE(SpatialUpSamplingBilinear_updateGradInput)(NULL, output, gradInput, 1, 1, 1, 2, 1, 5);
  EXPECT(gradInput, (1, 1, 1, 2), 5, 10);
}

static void testPadding(void)
{
  Tensor *input = TENSOR_OF((1, 2, 3), 1, 2, 3, 4, 5, 6), *output = emptyTensor();
  Tensor *gradInput = emptyTensor();
  MODULE(SpatialReflectionPadding_updateOutput)(NULL, input, output, 2, 0, 0, 1);
  EXPECT(output, (1, 3, 5), 3, 2, 1, 2, 3, 6, 5, 4, 5, 6, 3, 2, 1, 2, 3);
  MODULE(SpatialReflectionPadding_updateGradInput)(NULL, input, output, gradInput, 2, 0, 0, 1);
  EXPECT(gradInput, (1, 2, 3), 2, 8, 12, 4, 10, 12);
}

int main(void)
{
  catchErrors();
  testMaxPooling();
  testAveragePooling();
  testUpSampling();
  testPadding();
  return finish();
}
