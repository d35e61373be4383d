/* The expected cost of gemm's products, which a linear layer has too. */
#ifndef THNN_CONVOLUTION_GEMM_H
#define THNN_CONVOLUTION_GEMM_H

#include "generic/convolution/engine/algorithm.h"

double THNN_(gemm_cost)(const AlgorithmPlan *plan);

#endif
