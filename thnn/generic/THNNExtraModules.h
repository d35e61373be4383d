/* The prototypes of modules that the original has on CUDA only, once per real type: included by
 * ../THNNExtra.h. The comments are as in THNN.h. */

/* clang-format off */

/* Sums or means of rows of a table: row b of output is that of the rows of weight whose indices stand
 * in input from offsets[b] on, up to the next bag; 0 for an empty bag. */
THNN_API void THNN_(LookupTableBag_updateOutput)(
    THNNState *state,           /* may be NULL */
    THIndexTensor *input,       /* in: indices; rows of weight */
    THIndexTensor *offsets,     /* in: bags; where each begins in input, the first one at 1 */
    THTensor *weight,           /* in: rows x columns */
    THTensor *output,           /* out: bags x columns */
    THIndexTensor *offset2bag,  /* out: indices; the bag of each index */
    int mode,                   /* 0: sums, 1: means */
    THIndexTensor *seq_length); /* out, optional: bags; number of indices in each, written for means, which need it */

/* Sums or means of rows of a table, backward: adds to the row of gradWeight of each index scale *
 * gradOutput of its bag, divided by the size of the bag for means, and by how often the index occurs
 * when scaleGradByFreq. */
THNN_API void THNN_(LookupTableBag_accGradParameters)(
    THNNState *state,             /* may be NULL */
    THIndexTensor *input,         /* in: indices; rows of gradWeight */
    THTensor *gradOutput,         /* in: bags x columns */
    THTensor *gradWeight,         /* accumulate: rows x columns */
    THIndexTensor *offset2bag,    /* in: indices; from the forward call */
    THIndexTensor *count,         /* scratch, optional: unused */
    THIndexTensor *sortedIndices, /* scratch, optional: unused */
    THIndexTensor *origIndices,   /* scratch, optional: unused */
    bool scaleGradByFreq,         /* divide by the number of times that an index occurs */
    int mode,                     /* 0: sums, 1: means */
    THIndexTensor *seq_length,    /* in, optional: bags; from the forward call, needed for means */
    accreal scale_);              /* factor of what is added */

/* Local response normalisation across channels: output = input * scale^-beta with
 * scale = k + alpha / size * sum of input^2 over the `size` channels around each one. */
THNN_API void THNN_(SpatialCrossMapLRN_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] channels x height x width */
    THTensor *output, /* out: shape of input */
    THTensor *scale,  /* out: shape of input; for the backward call */
    int size,         /* channels in a window: (size - 1) / 2, rounded down, before the one */
    accreal alpha,    /* factor of the mean square */
    accreal beta,     /* exponent */
    accreal k);       /* what the mean square is added to */

/* Local response normalisation across channels, backward. */
THNN_API void THNN_(SpatialCrossMapLRN_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] channels x height x width */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *scale,      /* in: as many elements as input; from the forward call */
    THTensor *output,     /* in: as many elements as input; from the forward call */
    int size,             /* as in the forward call */
    accreal alpha,        /* as in the forward call */
    accreal beta,         /* as in the forward call */
    accreal k);           /* as in the forward call; unused */
