/* The functions of generic/THNNExtra.h on addresses of the device, with a state that says where
 * they run: included by ../THCUNNExtra.h, once per real type. */

/* clang-format off */

/* Unfolds an image of channels x height x width. */
THC_API void THCUNN_(im2col)(
    THCState *state, const real *image, int64_t channels, int64_t height, int64_t width,
    int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH, int64_t padW,
    int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW, real *columns);

/* Overwrites the image with the sums of the column elements that im2col would read from each of
 * its elements. */
THC_API void THCUNN_(col2im)(
    THCState *state, const real *columns, int64_t channels, int64_t height, int64_t width,
    int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH, int64_t padW,
    int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW, real *image);

/* The same for volumes of channels x depth x height x width. */
THC_API void THCUNN_(vol2col)(
    THCState *state, const real *volume, int64_t channels, int64_t depth, int64_t height,
    int64_t width, int64_t outputDepth, int64_t outputHeight, int64_t outputWidth, int64_t kT,
    int64_t kH, int64_t kW, int64_t padT, int64_t padH, int64_t padW, int64_t dT, int64_t dH,
    int64_t dW, int64_t dilationT, int64_t dilationH, int64_t dilationW, real *columns);

THC_API void THCUNN_(col2vol)(
    THCState *state, const real *columns, int64_t channels, int64_t depth, int64_t height,
    int64_t width, int64_t outputDepth, int64_t outputHeight, int64_t outputWidth, int64_t kT,
    int64_t kH, int64_t kW, int64_t padT, int64_t padH, int64_t padW, int64_t dT, int64_t dH,
    int64_t dW, int64_t dilationT, int64_t dilationH, int64_t dilationW, real *volume);
