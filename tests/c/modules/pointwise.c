/* Element-by-element modules from C: with a parameter, in place, with weights, with random numbers,
 * and rejected calls. */
#include "../allocations.h"
#include "module.h"

static void testElu(void)
{
  Tensor *input = TENSOR_OF((2, 2), -1, 0, 0.5, 3), *output = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((2, 2), 1, -1, 2, 4), *gradInput = emptyTensor();
  const double negative = 0.5 * (exp(-1) - 1);
  MODULE(ELU_updateOutput)(NULL, input, output, 0.5, false);
  EXPECT(output, (2, 2), negative, 0, 0.5, 3);
  EXPECT(input, (2, 2), -1, 0, 0.5, 3);
  MODULE(ELU_updateGradInput)(NULL, NULL, gradOutput, gradInput, output, 0.5, false);
  EXPECT(gradInput, (2, 2), negative + 0.5, -0.5, 2, 4);

  MODULE(ELU_updateOutput)(NULL, input, output, 0.5, true);
  EXPECT(output, (2, 2), negative, 0, 0.5, 3);
  CHECK(TENSOR(data)(output) == TENSOR(data)(input));
}

static void testPRelu(void)
{
  Tensor *input = TENSOR_OF((2, 3), -2, 1, -1, 3, -4, 0), *weight = TENSOR_OF((3), 0.5, -1, 2);
  Tensor *gradOutput = TENSOR_OF((2, 3), 1, 2, 3, 4, 5, 6), *gradWeight = TENSOR_OF((3), 1);
  Tensor *output = emptyTensor(), *gradInput = emptyTensor();
  MODULE(PReLU_updateOutput)(NULL, input, output, weight, 3);
  EXPECT(output, (2, 3), -1, 1, -2, 3, 4, 0);
  MODULE(PReLU_updateGradInput)(NULL, input, gradOutput, gradInput, weight, 3);
  EXPECT(gradInput, (2, 3), 0.5, 2, 6, 4, -5, 12);
  MODULE(PReLU_accGradParameters)
  (NULL, input, gradOutput, NULL, weight, gradWeight, NULL, NULL, 3, 2);
  EXPECT(gradWeight, (3), 1 - 2 * 2, 1 - 2 * 20, 1 - 2 * 3);
}

static void testHardTanh(void)
{
  Tensor *input = TENSOR_OF((2, 2), -2, 0.5, 3, NAN), *output = emptyTensor();
  MODULE(HardTanh_updateOutput)(NULL, input, output, -1, 1, false);
  EXPECT(output, (2, 2), -1, 0.5, 1, 1);
}

/* One slope for all elements is accepted where there are no elements. */
static void testPReluOfNothing(void)
{
  Tensor *input = emptyTensor(), *output = TENSOR_OF((2), 7), *weight = TENSOR_OF((1), 0.25);
  Tensor *gradInput = TENSOR_OF((2), 7), *gradWeight = TENSOR_OF((1), 3);
  MODULE(PReLU_updateOutput)(NULL, input, output, weight, 0);
  CHECK(TENSOR(nElement)(output) == 0);
  MODULE(PReLU_updateGradInput)(NULL, input, input, gradInput, weight, 0);
  CHECK(TENSOR(nElement)(gradInput) == 0);
  MODULE(PReLU_accGradParameters)
  (NULL, input, input, NULL, weight, gradWeight, NULL, NULL, 0, 1);
  EXPECT(gradWeight, (1), 3);
}

static void testRandomSlopes(void)
{
  Tensor *input = TENSOR_OF((4), -2, 1, -0.5, 3), *output = emptyTensor(), *noise = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((4), 1, 2, 3, 4), *gradInput = emptyTensor();
  THGenerator *generator = THGenerator_new(), *other = THGenerator_new();
  THRandom_manualSeed(generator, 5);
  THRandom_manualSeed(other, 5);
  MODULE(RReLU_updateOutput)(NULL, input, output, noise, 0.125, 0.375, true, false, generator);
  const double first = THRandom_uniform(other, 0.125, 0.375);
  const double second = THRandom_uniform(other, 0.125, 0.375);
  EXPECT(noise, (4), first, 1, second, 1);
  EXPECT(output, (4), -2 * first, 1, -0.5 * second, 3);
  MODULE(RReLU_updateGradInput)
  (NULL, input, gradOutput, gradInput, noise, 0.125, 0.375, true, false);
  EXPECT(gradInput, (4), first, 2, 3 * second, 4);
  THGenerator_free(generator);
  THGenerator_free(other);
}

/* What becomes a view of gradOutput may be the tensor that is read: its memory is there to the
 * end. */
static void testSharingTheInput(void)
{
  Tensor *input = TENSOR_OF((2, 2), -1, 2, -3, 4), *gradOutput = TENSOR_OF((2, 2), 10, 20, 30, 40);
  MODULE(LeakyReLU_updateGradInput)(NULL, input, gradOutput, input, 0.5, true);
  EXPECT(gradOutput, (2, 2), 5, 20, 15, 40);
  CHECK(input->storage == gradOutput->storage);

  Tensor *noise = TENSOR_OF((4), 0.5, 1, 0.25, 1), *drawn = TENSOR_OF((4), -1, 1, -1, 1);
  gradOutput = TENSOR_OF((2, 2), 10, 20, 30, 40);
  TENSOR(transpose)(gradOutput, NULL, 0, 1);
  MODULE(RReLU_updateGradInput)(NULL, drawn, gradOutput, noise, noise, 0.1, 0.3, true, true);
  CHECK(noise->storage == gradOutput->storage && noise->stride[0] == 1);
  TENSOR(transpose)(gradOutput, NULL, 0, 1);
  EXPECT(gradOutput, (2, 2), 5, 5, 30, 40);
}

/* A lack of memory is noticed before anything has changed, and nothing leaks. */
static void testSharingWithoutMemory(void)
{
  countAllocations();
  Tensor *input = TENSOR_OF((2, 2), -1, 2, -3, 4), *gradOutput = TENSOR_OF((2, 2), 10, 20, 30, 40);
  Tensor *gradInput = TENSOR_OF((1), 7);
  TENSOR(transpose)(gradOutput, NULL, 0, 1);
  const long before = liveAllocations;
  volatile long failing = 1; /* changed between setjmp and longjmp */
  for (volatile bool done = false; !done; failing++) {
    failAllocation(failing);
    if (setjmp(checkJump) == 0) {
      MODULE(LeakyReLU_updateGradInput)(NULL, input, gradOutput, gradInput, 0.5, true);
      done = true;
    } else {
      CHECK(liveAllocations == before);
      EXPECT(gradInput, (1), 7);
      CHECK(TENSOR(get2d)(gradOutput, 1, 0) == 20);
    }
  }
  failAllocation(0);
  CHECK(failing > 3); /* the lists of sizes and strides, and the copies */
  CHECK(gradInput->storage == gradOutput->storage && gradInput->stride[0] == 1);
  TENSOR(transpose)(gradInput, NULL, 0, 1);
  EXPECT(gradInput, (2, 2), 5, 10, 30, 40);
}

/* An output in the input's storage, which has to grow for it. */
static void testOutputInTheInputsStorage(void)
{
  Tensor *input = TENSOR_OF((2, 3), -1, 2, -3, 4, -5, 6), *output = emptyTensor();
  TENSOR(setStorage1d)(output, input->storage, 3, 1, 1);
  MODULE(Abs_updateOutput)(NULL, input, output);
  EXPECT(output, (2, 3), 1, 2, 3, 4, 5, 6);
  CHECK(output->storage == input->storage);
}

static void testRejected(void)
{
  Tensor *input = TENSOR_OF((2, 3), 1), *gradOutput = TENSOR_OF((1, 5), 1);
  Tensor *gradInput = TENSOR_OF((2), 7, 8);
  CHECK_RAISES(MODULE(Abs_updateGradInput)(NULL, input, gradOutput, gradInput),
               "Abs_updateGradInput: argument #3 'gradOutput': expected 6 elements like input "
               "[2 x 3], found [1 x 5]");
  CHECK(checkArgument == 3);
  EXPECT(gradInput, (2), 7, 8);
  CHECK_RAISES(MODULE(GatedLinear_updateOutput)(NULL, input, gradInput, 2), "argument #2 'input'");
}

int main(void)
{
  catchErrors();
  testElu();
  testPRelu();
  testPReluOfNothing();
  testHardTanh();
  testRandomSlopes();
  testSharingTheInput();
  testOutputInTheInputsStorage();
  testRejected();
  testSharingWithoutMemory();
  return finish();
}
