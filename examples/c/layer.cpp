// A convolution followed by ReLU as a C++ class: tensors free themselves, errors are exceptions.
//   c++ -std=c++20 layer.cpp $(pkg-config --cflags --libs thnn) -o layer && ./layer

#include <THNN.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace
{

struct Free {
  void operator()(THFloatTensor *tensor) const { THFloatTensor_free(tensor); }
};
using Tensor = std::unique_ptr<THFloatTensor, Free>;

[[noreturn]] void raise(const char *message, void *)
{
  throw std::runtime_error(message);
}

[[noreturn]] void raiseAtArgument(int, const char *message, void *)
{
  throw std::invalid_argument(message);
}

Tensor filled(int64_t planes, int64_t rows, int64_t columns, float value)
{
  Tensor tensor(THFloatTensor_newWithSize3d(planes, rows, columns));
  THFloatTensor_fill(tensor.get(), value);
  return tensor;
}

// A square kernel without padding, and its gradients.
class Convolution
{
public:
  Convolution(int inputs, int outputs, int kernel)
      : kernel(kernel), weight(THFloatTensor_newWithSize4d(outputs, inputs, kernel, kernel)),
        gradWeight(THFloatTensor_newWithSize4d(outputs, inputs, kernel, kernel)),
        output(THFloatTensor_new()), gradInput(THFloatTensor_new()), sums(THFloatTensor_new()),
        gradSums(THFloatTensor_new())
  {
    THFloatTensor_fill(weight.get(), 0.25f);
    THFloatTensor_zero(gradWeight.get());
  }

  const Tensor &forward(const Tensor &input)
  {
    THNN_FloatSpatialConvolutionMM_updateOutput(nullptr, input.get(), sums.get(), weight.get(),
                                                nullptr, nullptr, nullptr, kernel, kernel, 1, 1, 0,
                                                0);
    THNN_FloatThreshold_updateOutput(nullptr, sums.get(), output.get(), 0, 0, false);
    return output;
  }

  const Tensor &backward(const Tensor &input, const Tensor &gradOutput)
  {
    THNN_FloatThreshold_updateGradInput(nullptr, sums.get(), gradOutput.get(), gradSums.get(), 0, 0,
                                        false);
    THNN_FloatSpatialConvolutionMM_updateGradInput(nullptr, input.get(), gradSums.get(),
                                                   gradInput.get(), weight.get(), nullptr, nullptr,
                                                   kernel, kernel, 1, 1, 0, 0);
    THNN_FloatSpatialConvolutionMM_accGradParameters(nullptr, input.get(), gradSums.get(),
                                                     gradWeight.get(), nullptr, nullptr, nullptr,
                                                     kernel, kernel, 1, 1, 0, 0, 1);
    return gradInput;
  }

  const Tensor &gradient() const { return gradWeight; }

private:
  int kernel;
  Tensor weight, gradWeight, output, gradInput, sums, gradSums;
};

} // namespace

int main()
{
  THSetErrorHandler(raise, nullptr);
  THSetArgErrorHandler(raiseAtArgument, nullptr);

  Convolution layer(2, 3, 3);
  const Tensor image = filled(2, 5, 5, 1);
  const float result = THFloatTensor_get3d(layer.forward(image).get(), 0, 1, 1);
  const Tensor ones = filled(3, 3, 3, 1);
  // Nine windows of three planes see the pixel in the middle, each with a weight of 1/4.
  const float gradient = THFloatTensor_get3d(layer.backward(image, ones).get(), 0, 2, 2);
  const float ofWeight = THFloatTensor_get4d(layer.gradient().get(), 0, 0, 0, 0);
  std::printf("output %g, gradient of the input %g, of the weight %g\n", result, gradient,
              ofWeight);

  bool refused = false;
  try {
    layer.forward(filled(4, 5, 5, 1));
  } catch (const std::invalid_argument &error) {
    refused = true;
    std::printf("an image with four planes: %s\n", error.what());
  }
  const bool right = std::fabs(result - 4.5f) < 1e-5f && std::fabs(gradient - 6.75f) < 1e-5f &&
                     std::fabs(ofWeight - 9) < 1e-5f;
  return right && refused ? 0 : 1;
}
