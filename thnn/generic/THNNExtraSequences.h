/* The prototypes of recurrent layers over sequences, once per real type: included by
 * THNNExtraModules.h, for the CPU and for CUDA. The comments are as in THNN.h. */

/* clang-format off */

/* All steps of an LSTM layer, given the products of its input. A step is that of LSTMFused, with
 * weight * output of the step before as hidden. */
THNN_API void THNN_(LSTMSteps_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *gates,  /* inout: steps x batch x (4 units); the products, then gates i, f, c, o */
    THTensor *weight, /* in: (4 units) x units */
    THTensor *bias1,  /* in, optional: 4 units; added to gates, given together with bias2 */
    THTensor *bias2,  /* in, optional: 4 units; added too */
    THTensor *output, /* inout: (steps + 1) x batch x units; the one before the first step is given */
    THTensor *cells,  /* inout: (steps + 1) x batch x units; the one before the first step is given */
    bool reverse);    /* whether steps run backwards; the states before them then come last */

/* All steps of an LSTM layer, backward. */
THNN_API void THNN_(LSTMSteps_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gates,      /* in: steps x batch x (4 units); from the forward call */
    THTensor *weight,     /* in: (4 units) x units */
    THTensor *cells,      /* in: (steps + 1) x batch x units; from the forward call */
    THTensor *gradOutput, /* in, optional: steps x batch x units; zeros if NULL */
    THTensor *gradGates,  /* out: steps x batch x (4 units); with respect to the products */
    THTensor *gradState,  /* inout: batch x units; with respect to the last output, then to the first */
    THTensor *gradCell,   /* inout: batch x units; the same of the cell's state */
    bool reverse);        /* as in the forward call */

/* All steps of a GRU layer, given the products of its input. A step is that of GRUFused, with
 * weight * output of the step before as hidden. */
THNN_API void THNN_(GRUSteps_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: steps x batch x (3 units); the products */
    THTensor *weight,  /* in: (3 units) x units */
    THTensor *bias1,   /* in, optional: 3 units; added to input, given together with bias2 */
    THTensor *bias2,   /* in, optional: 3 units; added to what weight multiplies */
    THTensor *output,  /* inout: (steps + 1) x batch x units; the one before the first step is given */
    THTensor *storage, /* out: steps x batch x (5 units); for the backward call */
    bool reverse);     /* whether steps run backwards; the state before them then comes last */

/* All steps of a GRU layer, backward. */
THNN_API void THNN_(GRUSteps_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *storage,      /* in: steps x batch x (5 units); from the forward call */
    THTensor *weight,       /* in: (3 units) x units */
    THTensor *gradOutput,   /* in, optional: steps x batch x units; zeros if NULL */
    THTensor *gradInInput,  /* out: steps x batch x (3 units); with respect to input and bias1 */
    THTensor *gradInHidden, /* out: steps x batch x (3 units); with respect to hidden and bias2 */
    THTensor *gradState,    /* inout: batch x units; with respect to the last output, then to the first */
    bool reverse);          /* as in the forward call */

/* All steps of a plain recurrent layer, given the products of its input: an output is tanh(input +
 * weight * output of the step before + bias), or the greater of that sum and 0. */
THNN_API void THNN_(RNNSteps_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: steps x batch x units; the products */
    THTensor *weight, /* in: units x units */
    THTensor *bias,   /* in, optional: units; 0 if NULL */
    THTensor *output, /* inout: (steps + 1) x batch x units; the one before the first step is given */
    bool rectify,     /* the greater of the sum and 0; otherwise tanh */
    bool reverse);    /* from the last step to the first, before which the last state stands */

/* All steps of a plain recurrent layer, backward. */
THNN_API void THNN_(RNNSteps_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *output,     /* in: (steps + 1) x batch x units; from the forward call */
    THTensor *weight,     /* in: units x units */
    THTensor *gradOutput, /* in, optional: steps x batch x units; zeros if NULL */
    THTensor *gradInput,  /* out: steps x batch x units; with respect to input and bias */
    THTensor *gradState,  /* inout: batch x units; with respect to the last output, then to the first */
    bool rectify,         /* as in the forward call */
    bool reverse);        /* as in the forward call */

/* All steps of an LSTM with the parameters of Lua's SeqLSTM, given the products of its input: gates
 * i, f, o = sigmoid and c = tanh of gates + output of the step before * weight + bias. Padding gives
 * zeros, in the states too. */
THNN_API void THNN_(SeqLSTM_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *gates,  /* inout: steps x batch x (4 units); the products, then gates i, f, o, c */
    THTensor *weight, /* in: units x (4 units) */
    THTensor *bias,   /* in, optional: 4 units; 0 if NULL */
    THTensor *mask,   /* in, optional: steps x batch; not 0 for padding */
    THTensor *output, /* inout: (steps + 1) x batch x units; the one before the first step is given */
    THTensor *cells); /* inout: (steps + 1) x batch x units; the one before the first step is given */

/* All steps of such an LSTM, backward. */
THNN_API void THNN_(SeqLSTM_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gates,      /* in: steps x batch x (4 units); from the forward call */
    THTensor *weight,     /* in: units x (4 units) */
    THTensor *mask,       /* in, optional: steps x batch; as in the forward call */
    THTensor *cells,      /* in: (steps + 1) x batch x units; from the forward call */
    THTensor *gradOutput, /* in, optional: steps x batch x units; zeros if NULL */
    THTensor *gradGates,  /* out: steps x batch x (4 units); with respect to the products and bias */
    THTensor *gradState,  /* inout: batch x units; with respect to the last output, then to the first */
    THTensor *gradCell);  /* inout: batch x units; the same of the cell's state */

/* All steps of a GRU with the parameters of Lua's SeqGRU, given the products of its input: r and u
 * are sigmoid of gates + h * weight + bias, n is tanh of gates + (r h) * weight + bias, and an output
 * is (1 - u) n + u h, where h is the one of the step before. Padding gives zeros. */
THNN_API void THNN_(SeqGRU_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *gates,  /* inout: steps x batch x (3 units); the products, then gates r, u, n */
    THTensor *weight, /* in: units x (3 units) */
    THTensor *bias,   /* in, optional: 3 units; 0 if NULL */
    THTensor *mask,   /* in, optional: steps x batch; not 0 for padding */
    THTensor *output, /* inout: (steps + 1) x batch x units; the one before the first step is given */
    THTensor *reset); /* out: steps x batch x units; r h, which the third gate's weight multiplies */

/* All steps of such a GRU, backward. */
THNN_API void THNN_(SeqGRU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gates,      /* in: steps x batch x (3 units); from the forward call */
    THTensor *weight,     /* in: units x (3 units) */
    THTensor *mask,       /* in, optional: steps x batch; as in the forward call */
    THTensor *output,     /* in: (steps + 1) x batch x units; from the forward call */
    THTensor *gradOutput, /* in, optional: steps x batch x units; zeros if NULL */
    THTensor *gradGates,  /* out: steps x batch x (3 units); with respect to the products and bias */
    THTensor *gradState); /* inout: batch x units; with respect to the last output, then to the first */
