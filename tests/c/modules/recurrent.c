/* The fused recurrent cells from C, with gates that are known: sigmoid(log(a / b)) = a / (a + b),
 * tanh(log(a)) = (a^2 - 1) / (a^2 + 1). */
#include "module.h"

static void testGru(void)
{
  /* r = 1/4, z = 3/4, m = 2 log 3 + 2 log 3 and n = tanh(r m) = tanh(log 3). */
  const double log3 = log(3);
  Tensor *input = TENSOR_OF((1, 3), -2 * log3, 0, -log3);
  Tensor *hidden = TENSOR_OF((1, 3), 0, log3, 2 * log3);
  Tensor *bias1 = TENSOR_OF((3), log3, 0, log3), *bias2 = TENSOR_OF((3), 0, 0, 2 * log3);
  Tensor *hx = TENSOR_OF((1, 1), 2), *output = emptyTensor(), *storage = emptyTensor();
  Tensor *gradInput = emptyTensor(), *gradHidden = emptyTensor(), *gradHx = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 1), 10);
  const double r = 0.25, z = 0.75, m = 4 * log3, n = 0.8;
  MODULE(GRUFused_updateOutput)(NULL, input, hidden, bias1, bias2, hx, output, storage);
  EXPECT(output, (1, 1), n + z * (2 - n));
  EXPECT(storage, (1, 5), r, z, n, 2, m);
  MODULE(GRUFused_updateGradInput)(NULL, gradInput, gradHidden, gradOutput, gradHx, storage);
  const double toN = 10 * (1 - z) * (1 - n * n);
  EXPECT(gradHx, (1, 1), 7.5);
  EXPECT(gradInput, (1, 3), toN * m * r * (1 - r), 10 * (2 - n) * z * (1 - z), toN);
  EXPECT(gradHidden, (1, 3), toN * m * r * (1 - r), 10 * (2 - n) * z * (1 - z), toN * r);
}

static void testLstm(void)
{
  const double log3 = log(3), i = 0.75, f = 0.25, c = 0.8, o = 0.5;
  Tensor *input = TENSOR_OF((1, 4), log3, 0, 2 * log3, -1);
  Tensor *hidden = TENSOR_OF((1, 4), 0, -log3, -log3, 1);
  Tensor *cell = TENSOR_OF((1, 1), 2), *output = emptyTensor(), *outputCell = emptyTensor();
  Tensor *gradGates = emptyTensor(), *gradCell = emptyTensor();
  Tensor *gradOutput = TENSOR_OF((1, 1), 10), *gradOutputCell = TENSOR_OF((1, 1), 3);
  MODULE(LSTMFused_updateOutput)(NULL, input, hidden, NULL, NULL, cell, output, outputCell);
  const double after = f * 2 + i * c, squashed = tanh(after);
  EXPECT(input, (1, 4), i, f, c, o);
  EXPECT(outputCell, (1, 1), after);
  EXPECT(output, (1, 1), o * squashed);
  MODULE(LSTMFused_updateGradInput)
  (NULL, input, gradGates, cell, outputCell, gradOutput, gradOutputCell, gradCell);
  const double toCell = 10 * o * (1 - squashed * squashed) + 3;
  EXPECT(gradCell, (1, 1), toCell * f);
  EXPECT(gradGates, (1, 4), toCell * c * i * (1 - i), toCell * 2 * f * (1 - f),
         toCell * i * (1 - c * c), 10 * squashed * o * (1 - o));
}

int main(void)
{
  catchErrors();
  testGru();
  testLstm();
  return finish();
}
