/* Per-call choices, given to a function as its first argument. NULL means the defaults.
 * A state holds no scratch memory and no results; use one per thread. */
#ifndef THNN_STATE_H
#define THNN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
#  define THNN_EXTERN extern "C"
#else
#  define THNN_EXTERN extern
#endif
#if defined(_WIN32)
#  define THNN_API THNN_EXTERN __declspec(dllexport)
#else
#  define THNN_API THNN_EXTERN __attribute__((visibility("default")))
#endif

typedef struct THNNState THNNState;

typedef enum THNNConvolutionAlgorithm {
  THNN_CONVOLUTION_AUTO = 0,   /* the fastest by measurement */
  THNN_CONVOLUTION_GEMM = 1,   /* im2col in tiles and BLAS: the reference */
  THNN_CONVOLUTION_DIRECT = 2, /* register-blocked kernels that read the padded image */
  /* Winograd's algorithms where they apply, otherwise the choice of `auto`: */
  /* F(2x2, 3x3), F(3x3, 2x2) and F(2, 3) */
  THNN_CONVOLUTION_WINOGRAD = 3,
  /* F(4x4, 3x3), F(2x2, 5x5), F(4x4, 2x2) and their gradients */
  THNN_CONVOLUTION_WINOGRAD4 = 4,
  /* Fourier transforms of tiles where they apply, otherwise the choice of `auto` */
  THNN_CONVOLUTION_FFT_TILING = 5
} THNNConvolutionAlgorithm;

/* What a convolution computes: an algorithm can be chosen for each. */
typedef enum THNNConvolutionResult {
  THNN_OUTPUT = 0,
  THNN_GRAD_INPUT = 1,
  THNN_GRAD_WEIGHT = 2,
  THNN_CONVOLUTION_RESULTS = 3 /* how many there are */
} THNNConvolutionResult;

/* How exact results are to be. Every algorithm keeps to an error bound that grows with the number
 * of terms of a sum; the accuracy limits the factor of that bound. */
typedef enum THNNAccuracy {
  THNN_ACCURACY_STANDARD = 0, /* any algorithm */
  THNN_ACCURACY_HIGH = 1 /* none with several times the error of sums of products: no winograd4 */
} THNNAccuracy;

/* How a result would be computed. */
typedef struct THNNConvolutionChoice {
  THNNConvolutionAlgorithm algorithm; /* never `auto` */
  const char *row;                    /* its row in the engine's table, or "planewise" */
  size_t scratchBytes;                /* memory that the call takes besides its tensors */
  double cost;                        /* expected time, in cycles of one core */
} THNNConvolutionChoice;

/* A new state with the defaults; raises an error when there is no memory. */
THNN_API THNNState *THNN_State_new(void);
/* Frees a state; NULL is ignored. */
THNN_API void THNN_State_free(THNNState *state);

/* Threads that a call may use: 0 for TH's setting (the default), otherwise 1 or more. */
THNN_API void THNN_State_setThreads(THNNState *state, int threads);
THNN_API int THNN_State_threads(const THNNState *state);

/* Work that makes another thread worth waking, in arithmetic operations or memory accesses; by
 * default 32768. A call with less than twice this work stays on the calling thread. */
THNN_API void THNN_State_setMinimumWork(THNNState *state, double operations);
THNN_API double THNN_State_minimumWork(const THNNState *state);

/* Scratch memory per thread that a call may use, in bytes; at least 64 KiB, by default 8 MiB. */
THNN_API void THNN_State_setWorkspaceLimit(THNNState *state, size_t bytes);
THNN_API size_t THNN_State_workspaceLimit(const THNNState *state);

THNN_API void THNN_State_setConvolutionAlgorithm(THNNState *state,
                                                 THNNConvolutionAlgorithm algorithm);
THNN_API THNNConvolutionAlgorithm THNN_State_convolutionAlgorithm(const THNNState *state);

/* The algorithm for one result; the two functions above set it for all results, and return that of
 * the output. */
THNN_API void THNN_State_setConvolutionAlgorithmOf(THNNState *state, THNNConvolutionResult which,
                                                   THNNConvolutionAlgorithm algorithm);
THNN_API THNNConvolutionAlgorithm THNN_State_convolutionAlgorithmOf(const THNNState *state,
                                                                    THNNConvolutionResult which);

/* Names one row of the table in the convolution engine, such as "lines" or "gemm"; NULL (the
 * default) for none. Convolutions to which that algorithm applies take it, whatever it costs;
 * others go by the costs, as with `auto`. For tests and measurements. The name is copied. */
THNN_API void THNN_State_setConvolutionRow(THNNState *state, const char *row);
THNN_API const char *THNN_State_convolutionRow(const THNNState *state);

/* A state that keeps weights is for one layer, whose weight stays as it is. The first call that
 * computes the output of a convolution or SeqLSTM, or a result of Linear, leaves in the state its
 * plan and what it made of the weight, such as a packed copy; later calls with the same weight at
 * the same address use them. Calls of other sizes share the copy if their algorithm is the same one,
 * and leave plans, and copies in other forms, of their own: up to eight in all. Preparing the weight
 * then costs nothing, so the engine may choose an algorithm that it would not choose otherwise.
 * Several threads may use such a state at once. Setting false frees what is kept, and so does
 * setting anything that the choice of an algorithm depends on. */
THNN_API void THNN_State_setKeepsWeights(THNNState *state, bool keeps);
THNN_API bool THNN_State_keepsWeights(const THNNState *state);

/* The bytes that the state keeps now. */
THNN_API size_t THNN_State_keptBytes(const THNNState *state);

THNN_API void THNN_State_setAccuracy(THNNState *state, THNNAccuracy accuracy);
THNN_API THNNAccuracy THNN_State_accuracy(const THNNState *state);

/* Reproducible results are the same bits on every processor with fused multiply-adds (x86-64 with
 * AVX2 or more, aarch64), in calls with the same arguments and otherwise the same settings: sums
 * are added up in one order, algorithms are chosen by sizes alone, and no BLAS library is called.
 * Calls take somewhat longer. Without fused multiply-adds, or with THNN_SIMD=baseline on x86-64,
 * setting true is an error (THNN_simdReproduces). For CUDA the setting means nothing.
 *
 * The environment variable THNN_REPRODUCIBLE=1, which is read when the library is loaded, makes
 * true the default, also of calls without a state. */
THNN_API void THNN_State_setReproducible(THNNState *state, bool reproducible);
THNN_API bool THNN_State_reproducible(const THNNState *state);

/* On the CPU every function is deterministic. True makes the CUDA functions that are not refuse to
 * run. */
THNN_API void THNN_State_setDeterministic(THNNState *state, bool deterministic);
THNN_API bool THNN_State_deterministic(const THNNState *state);

/* Raises an error when `state` is neither NULL nor a live state; every function begins with it. */
THNN_API void THNN_State_check(const THNNState *state, const char *function);

#endif
