/* Unfolding images into matrices of columns and folding them back.
 *
 * Columns are channels*kH*kW rows (channel slowest, then kH, then kW) of outputHeight*outputWidth
 * elements: row (c, i, j) holds, for each output position, the image element under tap (i, j) of
 * the kernel laid there, or 0 outside the image. Pads may be negative; output sizes are given. */

/* clang-format off */

/* Unfolds an image of channels x height x width. */
THNN_API void THNN_(im2col)(
    const real *image, int64_t channels, int64_t height, int64_t width,
    int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH, int64_t padW,
    int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW, real *columns);

/* Overwrites the image with the sums of the column elements that im2col would read from each of
 * its elements. */
THNN_API void THNN_(col2im)(
    const real *columns, int64_t channels, int64_t height, int64_t width,
    int64_t outputHeight, int64_t outputWidth, int64_t kH, int64_t kW, int64_t padH, int64_t padW,
    int64_t dH, int64_t dW, int64_t dilationH, int64_t dilationW, real *image);

/* The same for volumes of channels x depth x height x width. */
THNN_API void THNN_(vol2col)(
    const real *volume, int64_t channels, int64_t depth, int64_t height, int64_t width,
    int64_t outputDepth, int64_t outputHeight, int64_t outputWidth, int64_t kT, int64_t kH,
    int64_t kW, int64_t padT, int64_t padH, int64_t padW, int64_t dT, int64_t dH, int64_t dW,
    int64_t dilationT, int64_t dilationH, int64_t dilationW, real *columns);

THNN_API void THNN_(col2vol)(
    const real *columns, int64_t channels, int64_t depth, int64_t height, int64_t width,
    int64_t outputDepth, int64_t outputHeight, int64_t outputWidth, int64_t kT, int64_t kH,
    int64_t kW, int64_t padT, int64_t padH, int64_t padW, int64_t dT, int64_t dH, int64_t dW,
    int64_t dilationT, int64_t dilationH, int64_t dilationW, real *volume);

/* How a convolution in groups (THNNExtraModules.h) would compute a result, of
 * THNNConvolutionResult; `add` is that of updateGradInput. `state` may be NULL. `sizes` has 22
 * numbers: groups; batch; planes of the image and of the map in a group; depth, height and width
 * each of the image, the map, the kernel, the strides, the dilation and the padding in front, where
 * a transposed convolution goes from the map to the image. */
THNN_API void THNN_(GroupedConvolution_plan)(
    const THNNState *state, int which, bool transposed, bool add, const int64_t *sizes,
    THNNConvolutionChoice *choice);
