"""An object of each class of the packages beside nn, and what to call it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pythnn import nn

RNG = np.random.default_rng(8)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.2, 0.9, shape)


@dataclass
class Example:
    """How an object is made, what it gets, and what its results are not."""

    build: Callable[[], Any]
    input: Any
    target: Any = None
    no_derivative: str = ""
    """Why backward is no derivative of forward."""
    steps: bool = False
    """Whether the input is one for each step, and backward goes the other way."""
    resets: bool = False
    """Whether it goes on from its last state unless ``forget`` is called."""
    differentiable: Callable[[Any], Any] = field(default=lambda value: value)


def images(*shape: int) -> Any:
    return real(2, *shape)


def _two_steps() -> Any:
    return [real(2, 3), real(2, 3), real(2, 3)]


def _tables() -> Any:
    return [[real(2, 3), real(2, 3)], [real(2, 2), real(2, 2)]]


def _reward() -> Any:
    return nn.Sequential(nn.Linear(2, 2), nn.ReinforceNormal(0.5))


def _forecast(recurrent: Any) -> Callable[[], Any]:
    return lambda: nn.Sequencer(recurrent())


def _stacked() -> Any:
    return nn.Recursor(nn.Sequential(nn.Linear(3, 3), nn.FastLSTM(3, 2), nn.Tanh()))


def _recurrent() -> Any:
    return nn.Recurrent(3, nn.Linear(3, 3), nn.Linear(3, 3), nn.Tanh())


def _recurrence() -> Any:
    return nn.Recurrence(nn.Sequential(nn.JoinTable(1, 1), nn.Linear(5, 2), nn.Tanh()), 2, 1)


def _masked() -> Any:
    given = real(3, 3)
    given[1] = 0
    return given


def _attention() -> Any:
    rnn = nn.Recurrence(
        nn.Sequential(nn.FlattenTable(), nn.JoinTable(1, 1), nn.Linear(3 + 2 + 2, 2), nn.Tanh()),
        2, 1,
    )  # fmt: skip
    return nn.RecurrentAttention(rnn, nn.Sequential(nn.Linear(2, 2), nn.HardTanh()), 2, [2])


def _pushed() -> Any:
    push = nn.PushTable(2)
    rest = nn.ParallelTable(nn.Linear(3, 2), nn.Tanh())
    return nn.Sequential(push, rest, push.pull(1))


def _perceptual() -> Any:
    return nn.PerceptualCriterion(
        nn.Sequential(
            nn.SpatialConvolution(2, 3, 3, 3), nn.Tanh(), nn.ContentLoss(0.5),
            nn.StyleLoss(3, False, "SmoothL1"), nn.SpatialConvolution(3, 2, 1, 1),
        )
    )  # fmt: skip


INSIDE = "adds the gradient of a loss that is not in the output"
DRAWS = "draws: the gradient is that of the reward"
PASSES = "passes the gradient on as it is"
INDEX = "its output, or its input, is an index"

EXAMPLES: dict[str, Example] = {
    # rnn
    "LSTM": Example(lambda: nn.LSTM(3, 2), _two_steps(), steps=True),
    "FastLSTM": Example(lambda: nn.FastLSTM(3, 2), _two_steps(), steps=True),
    "GRU": Example(lambda: nn.GRU(3, 2), _two_steps(), steps=True),
    "MuFuRu": Example(lambda: nn.MuFuRu(3, 2), _two_steps(), steps=True),
    "RecLSTM": Example(lambda: nn.RecLSTM(3, 2), _two_steps(), steps=True),
    "RecGRU": Example(lambda: nn.RecGRU(3, 2), _two_steps(), steps=True),
    "LinearRNN": Example(lambda: nn.LinearRNN(3, 2), _two_steps(), steps=True),
    "LookupRNN": Example(
        lambda: nn.LookupRNN(4, 2),
        [np.array([1, 4]), np.array([0, 2])],
        steps=True,
        no_derivative=INDEX,
    ),
    "Recurrent": Example(_recurrent, _two_steps(), steps=True),
    "Recurrence": Example(_recurrence, _two_steps(), steps=True),
    "Recursor": Example(_stacked, _two_steps(), steps=True),
    "NormStabilizer": Example(
        lambda: nn.NormStabilizer(0.5),
        _two_steps(),
        steps=True,
        no_derivative="adds the gradient of a penalty that is not in the output",
    ),
    "Sequencer": Example(_forecast(lambda: nn.FastLSTM(3, 2)), real(4, 2, 3)),
    "Repeater": Example(lambda: nn.Repeater(nn.FastLSTM(3, 2), 3), real(2, 3)),
    "BiSequencer": Example(lambda: nn.BiSequencer(nn.FastLSTM(3, 2)), _two_steps()),
    "BiSequencerLM": Example(lambda: nn.BiSequencerLM(nn.FastLSTM(3, 2)), _two_steps()),
    "RecurrentAttention": Example(
        _attention, real(2, 3), no_derivative="the gradient does not go through actions"
    ),
    "SeqLSTM": Example(lambda: nn.SeqLSTM(3, 2), real(4, 2, 3)),
    "SeqLSTMP": Example(lambda: nn.SeqLSTMP(3, 4, 2), real(4, 2, 3)),
    "SeqGRU": Example(lambda: nn.SeqGRU(3, 2), real(4, 2, 3)),
    "SeqBRNN": Example(lambda: nn.SeqBRNN(3, 2), real(4, 2, 3)),
    "SeqBLSTM": Example(lambda: nn.SeqBLSTM(3, 2), real(4, 2, 3)),
    "SeqBGRU": Example(lambda: nn.SeqBGRU(3, 2), real(4, 2, 3)),
    "SeqReverseSequence": Example(lambda: nn.SeqReverseSequence(2), real(2, 3, 2)),
    "StepLSTM": Example(lambda: nn.StepLSTM(3, 2), [real(2, 3), real(2, 2), real(2, 2)]),
    "StepGRU": Example(lambda: nn.StepGRU(3, 2), [real(2, 3), real(2, 2)]),
    "ReverseTable": Example(nn.ReverseTable, _two_steps()),
    "ReverseSequence": Example(nn.ReverseSequence, real(3, 2)),
    "ReverseUnreverse": Example(lambda: nn.ReverseUnreverse(nn.SeqGRU(3, 2)), real(4, 2, 3)),
    "VariableLength": Example(
        lambda: nn.VariableLength(nn.SeqLSTM(3, 2).maskZero()), [real(2, 3), real(4, 3)]
    ),
    "MaskZero": Example(lambda: nn.MaskZero(nn.Linear(3, 2), 1), _masked()),
    "TrimZero": Example(lambda: nn.TrimZero(nn.Linear(3, 2), 1), _masked()),
    "LookupTableMaskZero": Example(
        lambda: nn.LookupTableMaskZero(4, 3), np.array([0, 2, 4]), no_derivative=INDEX
    ),
    "LinearNoBias": Example(lambda: nn.LinearNoBias(3, 2), real(2, 3)),
    "SAdd": Example(lambda: nn.SAdd(0.5, True), real(2, 3)),
    "CopyGrad": Example(nn.CopyGrad, real(2, 3)),
    "SequencerCriterion": Example(
        lambda: nn.SequencerCriterion(nn.MSECriterion()), real(3, 2, 2), real(3, 2, 2)
    ),
    "RepeaterCriterion": Example(
        lambda: nn.RepeaterCriterion(nn.MSECriterion(), True), real(3, 2, 2), real(2, 2)
    ),
    "MaskZeroCriterion": Example(
        lambda: nn.MaskZeroCriterion(nn.MSECriterion(), 1), real(3, 2), real(3, 2)
    ),
    # torch-rnn
    "TorchRnnLSTM": Example(lambda: nn.TorchRnnLSTM(3, 2), real(2, 4, 3)),
    "VanillaRNN": Example(lambda: nn.VanillaRNN(3, 2), real(2, 4, 3)),
    "LanguageModel": Example(
        lambda: nn.LanguageModel("abcd", "lstm", 3, 2, 2, 0.2, True),
        np.array([[1, 4, 2], [3, 3, 1]]),
        no_derivative=INDEX,
        resets=True,
    ),
    "NeuraltalkLanguageModel": Example(
        lambda: nn.NeuraltalkLanguageModel(5, 4, 3, 2, seq_length=3),
        [real(2, 4), np.array([[1, 2], [5, 0], [3, 0]])],
        no_derivative=INDEX,
    ),
    "LanguageModelCriterion": Example(
        nn.LanguageModelCriterion, real(4, 2, 6), np.array([[1, 2], [5, 0]])
    ),
    "TemporalAdapter": Example(lambda: nn.TemporalAdapter(nn.Linear(3, 2)), real(2, 4, 3)),
    # dpnn
    "ArgMax": Example(lambda: nn.ArgMax(1, 1), real(2, 3), no_derivative=INDEX),
    "Clip": Example(lambda: nn.Clip(-0.5, 0.5), real(2, 3), no_derivative=PASSES),
    "CategoricalEntropy": Example(
        nn.CategoricalEntropy,
        positive(2, 3),
        no_derivative="adds the gradient of an entropy that is not in the output",
    ),
    "Dictionary": Example(lambda: nn.Dictionary(4, 3), np.array([1, 4]), no_derivative=INDEX),
    "FireModule": Example(lambda: nn.FireModule(2, 2, 2, 2, "Tanh"), images(2, 3, 3)),
    "Inception": Example(
        lambda: nn.Inception(2, [2, 3], [2, 2, 1, 2], transfer=nn.Tanh()), images(2, 5, 5)
    ),
    "Serial": Example(lambda: nn.Serial(nn.Linear(3, 2)), real(2, 3)),
    "SpatialBinaryConvolution": Example(
        lambda: nn.SpatialBinaryConvolution(2, 3, 2, 2),
        images(2, 4, 4),
        no_derivative="the gradient takes other sizes of the weights",
    ),
    "SpatialFeatNormalization": Example(
        lambda: nn.SpatialFeatNormalization([1, 2], [2, 3]), images(2, 3, 3)
    ),
    "SpatialGlimpse": Example(
        lambda: nn.SpatialGlimpse(2, 2),
        [images(2, 6, 6), RNG.uniform(-0.5, 0.5, (2, 2))],
        differentiable=lambda value: [value[0], np.zeros(0)],
    ),
    "SpatialUniformCrop": Example(lambda: nn.SpatialUniformCrop(2, 3), images(2, 5, 5)),
    "SpatialRegionDropout": Example(lambda: nn.SpatialRegionDropout(0.3), images(2, 4, 4)),
    "SimpleColorTransform": Example(
        lambda: nn.SimpleColorTransform(2, [0.5, 0.2]), images(2, 3, 3)
    ),
    "PCAColorTransform": Example(
        lambda: nn.PCAColorTransform(2, [[1, 2], [3, 4]], [0.5, 0.1]), images(2, 3, 3)
    ),
    "TotalDropout": Example(nn.TotalDropout, real(2, 3)),
    "NCEModule": Example(
        lambda: nn.NCEModule(3, 5, 2, [1, 2, 3, 4, 5], 1), [real(2, 3), np.array([1, 5])]
    ),
    "Reinforce": Example(nn.Reinforce, real(2, 3), no_derivative=DRAWS),
    "ReinforceBernoulli": Example(nn.ReinforceBernoulli, positive(2, 3), no_derivative=DRAWS),
    "ReinforceCategorical": Example(nn.ReinforceCategorical, positive(2, 3), no_derivative=DRAWS),
    "ReinforceNormal": Example(
        nn.ReinforceNormal, [real(2, 3), positive(2, 3)], no_derivative=DRAWS
    ),
    "ReinforceGamma": Example(
        nn.ReinforceGamma, [positive(2, 3) + 0.3, positive(2, 3)], no_derivative=DRAWS
    ),
    "BinaryLogisticRegression": Example(
        nn.BinaryLogisticRegression, real(4, 1), np.array([1.0, -1, 1, -1])
    ),
    "SpatialBinaryLogisticRegression": Example(
        nn.SpatialBinaryLogisticRegression, images(1, 2, 2), np.sign(images(1, 2, 2))
    ),
    "NCECriterion": Example(
        nn.NCECriterion,
        [positive(2), positive(2, 3), positive(2), positive(2, 3)],
        np.ones(2),
        differentiable=lambda value: value[:2],
    ),
    "VRClassReward": Example(
        lambda: nn.VRClassReward(_reward()),
        [real(3, 2), real(3, 1)],
        np.array([1, 2, 1]),
        no_derivative=DRAWS,
    ),
    "BinaryClassReward": Example(
        lambda: nn.BinaryClassReward(_reward()),
        [positive(3, 1), real(3, 1)],
        np.array([1, 0, 1]),
        no_derivative=DRAWS,
    ),
    # nnx
    "Minus": Example(nn.Minus, real(2, 3)),
    "MultiSoftMax": Example(nn.MultiSoftMax, real(2, 3, 4)),
    "PushTable": Example(_pushed, [real(2, 3), real(2, 2), real(2, 3)]),
    "SpatialClassifier": Example(lambda: nn.SpatialClassifier(nn.Linear(2, 3)), images(2, 2, 3)),
    "SpatialDownSampling": Example(lambda: nn.SpatialDownSampling(0.4, 0.5), images(2, 4, 5)),
    "SpatialLinear": Example(lambda: nn.SpatialLinear(2, 3), images(2, 2, 3)),
    "SpatialNormalization": Example(
        lambda: nn.SpatialNormalization(2, np.ones((3, 3))), images(2, 4, 4)
    ),
    "SpatialPadding": Example(lambda: nn.SpatialPadding(1, -1, 0, 2), images(2, 3, 4)),
    "SpatialPyramid": Example(
        lambda: nn.SpatialPyramid(
            [1, 2], [nn.SpatialConvolution(2, 3, 3, 3), nn.SpatialConvolution(2, 3, 3, 3)], 3, 3
        ),
        images(2, 4, 5),
    ),
    "SpatialReSampling": Example(lambda: nn.SpatialReSampling(1.5, 0.7), images(2, 4, 5)),
    "SpatialReSamplingEx": Example(
        lambda: nn.SpatialReSamplingEx(None, None, 4, 2, "average"), images(2, 4, 5)
    ),
    "SpatialUpSampling": Example(lambda: nn.SpatialUpSampling(2, 3), images(2, 2, 3)),
    "Probe": Example(lambda: nn.Probe("layer"), real(2, 3)),
    "Tic": Example(nn.Tic, real(2, 3)),
    "Toc": Example(nn.Toc, real(2, 3)),
    "SuperCriterion": Example(
        lambda: nn.SuperCriterion().add(nn.MSECriterion(), 0.5).add(nn.AbsCriterion()),
        [real(2, 3), real(4)],
        [real(2, 3), real(4)],
    ),
    # inn
    "inn.ROIPooling": Example(
        lambda: nn.inn.ROIPooling(2, 2, 0.5),
        [images(2, 5, 5), np.array([[1.0, 1, 1, 9, 9], [2, 3, 1, 7, 5], [1, 9, 9, 9, 9]])],
        differentiable=lambda value: [value[0], np.zeros(0)],
    ),
    "inn.ConstAffine": Example(lambda: nn.inn.ConstAffine([1, 2], [3, 4]), images(2, 2, 2)),
    "inn.MeanSubtraction": Example(
        lambda: nn.inn.MeanSubtraction(np.ones((2, 2, 2))), images(2, 2, 2)
    ),
    "inn.SpatialStochasticPooling": Example(
        lambda: nn.inn.SpatialStochasticPooling(2, 2), positive(2, 2, 5, 4)
    ),
    "inn.SpatialSameResponseNormalization": Example(
        lambda: nn.inn.SpatialSameResponseNormalization(2, 0.5), images(2, 4, 4)
    ),
    "inn.SpatialCrossResponseNormalization": Example(
        lambda: nn.inn.SpatialCrossResponseNormalization(3), images(4, 2, 2)
    ),
    "inn.SpatialPyramidPooling": Example(
        lambda: nn.inn.SpatialPyramidPooling([1, 1], [2, 2]), images(2, 4, 4)
    ),
    # cudnn
    **{
        f"cudnn.{name}": Example(
            lambda made=made: made(3, 2, 2, True),
            real(2, 3, 3),  # batch x time x inputs
        )
        for name, made in vars(nn.cudnn).items()
        if name in ("BGRU", "BLSTM", "BatchBRNNReLU", "GRU", "LSTM", "RNN", "RNNReLU", "RNNTanh")
    },
    "cudnn.VolumetricSoftMax": Example(nn.cudnn.VolumetricSoftMax, real(2, 3, 2, 2, 2)),
    "cudnn.VolumetricLogSoftMax": Example(nn.cudnn.VolumetricLogSoftMax, real(3, 2, 2, 2)),
    "cudnn.SpatialCrossEntropyCriterion": Example(
        lambda: nn.cudnn.SpatialCrossEntropyCriterion([1, 2, 0.5]),
        images(3, 2, 2),
        RNG.integers(1, 4, (2, 2, 2)),
    ),
    "cudnn.VolumetricCrossEntropyCriterion": Example(
        nn.cudnn.VolumetricCrossEntropyCriterion,
        images(3, 2, 2, 2),
        RNG.integers(1, 4, (2, 2, 2, 2)),
    ),
    # nnx's trees, waifu2x, and projects around public models
    "SoftMaxTree": Example(
        lambda: nn.SoftMaxTree(3, {9: [1, 2, 8], 8: [3, 4], 2: [5, 6, 7]}, 9),
        [real(5, 3), np.array([1, 3, 7, 4, 5], np.int32)],
        differentiable=lambda value: [value[0], np.zeros(0)],
    ),
    "TreeNLLCriterion": Example(nn.TreeNLLCriterion, real(4), np.ones(4)),
    "w2nn.LeakyReLU": Example(nn.w2nn.LeakyReLU, real(2, 3)),
    "w2nn.InplaceClip01": Example(
        nn.w2nn.InplaceClip01, real(2, 3), no_derivative="it passes the gradient outside too"
    ),
    "w2nn.ScaleTable": Example(nn.w2nn.ScaleTable, [images(2, 2, 3), images(2, 1, 1)]),
    "BinActiveZ": Example(nn.BinActiveZ, real(2, 3), no_derivative="signs have none"),
    "FeatExpander": Example(lambda: nn.FeatExpander(3), real(2, 4)),
    "LinearNB": Example(lambda: nn.LinearNB(3, 2), real(2, 3)),
    "Sampler": Example(nn.Sampler, [real(2, 3), real(2, 3)]),
    "SpatialConvolutionUpsample": Example(
        lambda: nn.SpatialConvolutionUpsample(2, 3, 3, 3), images(2, 3, 4)
    ),
    "TripletEmbeddingCriterion": Example(
        lambda: nn.TripletEmbeddingCriterion(0.5),
        [real(3, 2), real(3, 2), real(3, 2)],
        np.zeros(0),
    ),
    # stnbhwd
    "AffineGridGeneratorBHWD": Example(lambda: nn.AffineGridGeneratorBHWD(3, 2), real(2, 2, 3)),
    "BilinearSamplerBHWD": Example(
        nn.BilinearSamplerBHWD, [real(2, 4, 5, 3), RNG.uniform(-1.3, 1.2, (2, 3, 2, 2))]
    ),
    "AffineTransformMatrixGenerator": Example(
        lambda: nn.AffineTransformMatrixGenerator(True, True, True), real(2, 4)
    ),
    # densecap
    "ApplyBoxTransform": Example(nn.ApplyBoxTransform, [real(2, 3, 4), real(2, 3, 4)]),
    "InvertBoxTransform": Example(
        nn.InvertBoxTransform, [positive(3, 4) + 0.1, positive(3, 4) + 0.1]
    ),
    "MakeAnchors": Example(
        lambda: nn.MakeAnchors(1, 2, 3, 4, [[5, 6, 7], [8, 9, 10]]),
        images(2, 3, 2),
    ),
    "ReshapeBoxFeatures": Example(lambda: nn.ReshapeBoxFeatures(3), images(6, 2, 4)),
    "BoxToAffine": Example(lambda: nn.BoxToAffine().setSize(7, 9), real(3, 4)),
    "BatchBilinearSamplerBHWD": Example(
        nn.BatchBilinearSamplerBHWD, [real(4, 5, 3), RNG.uniform(-1.3, 1.2, (2, 3, 2, 2))]
    ),
    "BilinearRoiPooling": Example(
        lambda: nn.BilinearRoiPooling(3, 2).setImageSize(16, 20),
        [real(2, 4, 5), np.array([[6.2, 7.1, 9.3, 8.4], [14.7, 3.3, 15.1, 6.2]])],
    ),
    "RegularizeLayer": Example(lambda: nn.RegularizeLayer(0.5), real(2, 3), no_derivative=INSIDE),
    "PosSlicer": Example(nn.PosSlicer, [real(4, 3), real(2, 5)]),
    "LogisticCriterion": Example(nn.LogisticCriterion, real(4), np.array([1.0, 0, 0, 1])),
    "OurCrossEntropyCriterion": Example(nn.OurCrossEntropyCriterion, real(1, 3), np.array([2])),
    # neural-style and fast-neural-style
    "GramMatrix": Example(lambda: nn.GramMatrix(True), images(3, 2, 2)),
    "ContentLoss": Example(lambda: nn.ContentLoss(2), images(3, 2, 2), no_derivative=INSIDE),
    "StyleLoss": Example(lambda: nn.StyleLoss(2), images(3, 2, 2), no_derivative=INSIDE),
    "TVLoss": Example(lambda: nn.TVLoss(2), images(3, 3, 2), no_derivative=INSIDE),
    "PerceptualCriterion": Example(
        _perceptual,
        images(2, 4, 4),
        {"content_target": images(2, 4, 4), "style_target": real(1, 2, 4, 4)},
    ),
}
