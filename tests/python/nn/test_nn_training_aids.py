"""What dpnn and rnn add to every module: limits, momentum, clones, masks and states of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import THNNArgumentError, nn

RNG = np.random.default_rng(6)


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def used() -> Any:
    """A network with gradients."""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    given = real(5, 3)
    output = net.forward(given)
    net.zeroGradParameters()
    net.backward(given, np.ones_like(output))
    return net


def gradients(net: Any) -> list[Any]:
    return [gradient.copy() for gradient in net.parameters()[1]]


def norm(arrays: list[Any]) -> float:
    return float(np.sqrt(sum((array**2).sum() for array in arrays)))


def test_gradients_are_clipped_together() -> None:
    net = used()
    before = gradients(net)
    assert net.gradParamClip(2 * norm(before)) == pytest.approx(norm(before))
    for one, other in zip(gradients(net), before, strict=True):
        np.testing.assert_array_equal(one, other)
    net.gradParamClip(0.5)
    for one, other in zip(gradients(net), before, strict=True):
        np.testing.assert_allclose(one, other * 0.5 / norm(before))
    assert net.gradParamClip(-1) == 0
    assert norm(gradients(net)) == pytest.approx(0.5)


def test_gradients_are_clipped_for_each_module() -> None:
    net = used()
    before = norm(gradients(net))
    assert net.gradParamClip(0.25, True) == pytest.approx(before)
    for place in (1, 3):
        assert norm(gradients(net.get(place))) == pytest.approx(0.25)


def test_weight_decay_spares_the_biases() -> None:
    net = used()
    before = gradients(net)
    net.weightDecay(0.1)
    parameters = net.parameters()[0]
    for one, other, parameter in zip(gradients(net), before, parameters, strict=True):
        decay = 0.1 * parameter if parameter.ndim > 1 else 0
        np.testing.assert_allclose(one, other + decay)
    net.weightDecay(0.1, 1)
    np.testing.assert_allclose(gradients(net)[1], before[1] + 0.1 * parameters[1])


def test_norms_of_rows_and_columns_are_limited() -> None:
    net = nn.Linear(3, 4)
    net.weight = before = real(4, 3)
    norms = np.linalg.norm(before, axis=1, keepdims=True)
    limit = float(np.median(norms))
    net.maxParamNorm(limit)
    np.testing.assert_allclose(net.weight, before * np.minimum(1, limit / norms), rtol=1e-6)
    net.maxParamNorm(-1, 0.5)
    assert np.linalg.norm(net.weight, axis=0).max() <= 0.5
    kept = net.weight.copy()
    net.maxParamNorm(None, -1)
    np.testing.assert_array_equal(net.weight, kept)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov: bool) -> None:
    net, wanted = used(), None
    for _ in range(3):
        fresh = [real(*gradient.shape) for gradient in net.parameters()[1]]
        for array, one in zip(net.parameters()[1], fresh, strict=True):
            array[...] = one
        net.updateGradParameters(0.9, 0.2, nesterov)
        start = fresh if wanted is None else wanted
        wanted = [0.9 * m + 0.8 * g for m, g in zip(start, fresh, strict=True)]
        for found, one, m in zip(net.parameters()[1], fresh, wanted, strict=True):
            np.testing.assert_allclose(found, one + 0.9 * m if nesterov else m)


def test_momentum_is_damped_as_much_as_it_is_kept() -> None:
    net = used()
    before = gradients(net)
    net.updateGradParameters(0.9)
    for one, other in zip(gradients(net), before, strict=True):
        np.testing.assert_allclose(one, other)  # 0.9 g + (1 - 0.9) g


def test_a_module_has_settings_of_its_own() -> None:
    net = used()
    first, last = net.get(1), net.get(3)
    first.wdFactor, first.maxOutNorm, first.momFactor, first.momDamp = 0.5, 0.1, 0.0, 0.0
    before, weights = [np.array(one.gradWeight) for one in (first, last)], [
        np.array(one.weight) for one in (first, last)
    ]  # fmt: skip
    net.weightDecay(0.1)
    for one, gradient, weight, factor in zip(
        (first, last), before, weights, (0.5, 0.1), strict=True
    ):
        np.testing.assert_allclose(one.gradWeight, gradient + factor * weight)
    net.maxParamNorm(100)
    assert np.linalg.norm(first.weight, axis=1).max() <= 0.1
    np.testing.assert_array_equal(last.weight, weights[1])
    before = [np.array(one.gradWeight) for one in (first, last)]
    for _ in range(2):
        net.updateGradParameters(0.9, 0.5)
    np.testing.assert_allclose(first.gradWeight, before[0])
    assert not np.allclose(last.gradWeight, before[1])


def test_frozen_containers_are_left_alone() -> None:
    net = used()
    net.parameters = lambda: None
    kept, gradient = np.array(net.get(1).weight), np.array(net.get(1).gradWeight)
    net.maxParamNorm(1e-3)
    net.weightDecay(0.5)
    np.testing.assert_array_equal(net.get(1).weight, kept)
    np.testing.assert_array_equal(net.get(1).gradWeight, gradient)


def test_parameters_that_are_not_finite_are_found() -> None:
    net = used()
    net.checkParameters()
    net.get(3).weight[0, 0] = np.nan
    with pytest.raises(THNNArgumentError, match="parameter 3"):
        net.checkParameters()


def test_shared_clones() -> None:
    net = used()
    other = net.sharedClone()
    for own, others in zip(net.parameters(), other.parameters(), strict=True):
        for mine, theirs in zip(own, others, strict=True):
            assert np.shares_memory(mine, theirs)
    assert not np.shares_memory(net.get(1).output, other.get(1).output)
    alone = net.sharedClone(True, False)
    assert np.shares_memory(net.get(1).weight, alone.get(1).weight)
    assert not np.shares_memory(net.get(1).gradWeight, alone.get(1).gradWeight)
    lstm = nn.FastLSTM(3, 2)
    stack = nn.Sequential(nn.Linear(3, 3), lstm)
    step = stack.stepClone()
    assert step.get(2) is lstm
    assert step.get(1) is not stack.get(1)
    assert lstm.stepClone() is lstm


def test_batches_of_one() -> None:
    net, sample = nn.Identity(), real(2, 3)
    batch = net.toBatch(sample, 2)
    assert batch.shape == (1, 2, 3)
    assert np.shares_memory(batch, sample)
    assert net.fromBatch(batch).shape == (2, 3)
    assert net.toBatch(batch, 2) is batch
    assert net.fromBatch(batch).shape == (1, 2, 3)
    assert net.contiguousInput(sample.T).flags.c_contiguous
    assert nn.Linear(3, 2).outside([4, 3]) == (4, 2)


# ---- Masks


CELLS = {
    "LSTM": lambda: nn.LSTM(3, 2),
    "FastLSTM": lambda: nn.FastLSTM(3, 2),
    "GRU": lambda: nn.GRU(3, 2),
    "RecLSTM": lambda: nn.RecLSTM(3, 2),
    "RecGRU": lambda: nn.RecGRU(3, 2),
    "Recurrent": lambda: nn.Recurrent(2, nn.Linear(3, 2), nn.Linear(2, 2)),
}


def padded() -> Any:
    """Two sequences of 5 steps; the first begins with two steps of padding."""
    given = real(5, 2, 3)
    given[:2, 0] = 0
    return given


BY_MASK = ("RecLSTM", "RecGRU")  # torch/rnn's steps


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in CELLS for how in ("maskZero", "trimZero")),
        *((name, "setZeroMask") for name in BY_MASK),
    ],
)
def test_padding_leaves_no_trace(name: str, how: str) -> None:
    cell, given = CELLS[name](), padded()
    plain = nn.Sequencer(cell.clone())
    weights = real(5, 2, 2)
    if name == "Recurrent":
        wanted = None  # it starts with another module, which padding uses up
    else:
        wanted = plain.forward(given[2:, :1].copy()).copy()
        plain.zeroGradParameters()
        of_input = plain.backward(given[2:, :1].copy(), weights[2:, :1].copy()).copy()
    if how == "setZeroMask":
        padding = np.zeros((5, 2))
        padding[:2, 0] = 1
        cell.setZeroMask(padding)
    else:
        getattr(cell, how)(1)
    net = nn.Sequencer(cell)
    net.zeroGradParameters()
    output = net.forward(given).copy()
    found = net.backward(given, weights)
    assert not output[:2, 0].any()
    assert not found[:2, 0].any()
    assert output[:, 1].all()
    if wanted is not None:
        assert_layers_agree(output[2:, :1], wanted)
        assert_layers_agree(found[2:, :1], of_input)


def test_a_mask_for_what_is_in_and_out() -> None:
    layer = nn.MaskZero(nn.Linear(3, 2), 1)
    given = real(3, 3)
    layer.setZeroMask(np.array([0, 1, 0]))
    output = layer.forward(given)
    assert not output[1].any()
    assert output[0].all()
    layer.maskinput, layer.maskoutput = True, False
    np.testing.assert_allclose(layer.forward(given)[1], layer.get(1).bias)
    assert not layer.backward(given, np.ones((3, 2)))[1].any()
    layer.setZeroMask(False)
    layer.maskinput, layer.maskoutput = False, True
    assert layer.forward(given).all()


def test_criterions_of_steps_pass_masks_on() -> None:
    criterion = nn.SequencerCriterion(nn.MaskZeroCriterion(nn.MSECriterion(), 1))
    given, target = real(2, 3, 2), real(2, 3, 2)
    mask = np.array([[0, 1, 0], [0, 0, 1]])
    wanted = sum(((given[t][mask[t] == 0] - target[t][mask[t] == 0]) ** 2).mean() for t in range(2))
    criterion.setZeroMask(mask)
    assert criterion.forward(given, target) == pytest.approx(wanted)
    assert not criterion.backward(given, target)[mask == 1].any()


def test_sequences_of_different_lengths() -> None:
    lstm = nn.SeqLSTM(3, 2)
    given = [real(4, 3), real(2, 3), real(1, 3)]
    wanted = [np.array(lstm.forward(one)) for one in given]
    found = nn.VariableLength(lstm.clone()).forward(given)
    for one, other in zip(found, wanted, strict=True):
        assert_layers_agree(one, other)
    last = nn.VariableLength(lstm.clone(), True)
    output = last.forward(given)
    assert_layers_agree(output, [one[-1] for one in wanted])
    assert [one.shape for one in last.backward(given, output)] == [(4, 3), (2, 3), (1, 3)]


# ---- States


@pytest.mark.parametrize("name", ["LSTM", "FastLSTM", "GRU", "RecLSTM", "RecGRU"])
def test_a_sequence_goes_on_from_a_state(name: str) -> None:
    cell = CELLS[name]()
    steps = [real(2, 3) for _ in range(4)]
    wanted = [np.array(cell.forward(step)) for step in steps]
    state = cell.getHiddenState(2)
    other = cell.clone()
    other.forget()
    assert other.getHiddenState() is None
    other.setHiddenState(0, state)
    for step, output in zip(steps[2:], wanted[2:], strict=True):
        assert_layers_agree(other.forward(step), output)
    other.backward(steps[3], np.ones((2, 2)))
    other.backward(steps[2], np.ones((2, 2)))
    start = state[0] if isinstance(state, list) else state

    def loss() -> float:
        other.forget()
        return sum(float(other.forward(step).sum()) for step in steps[2:])

    found, kept, size = other.userGradPrevOutput[0, 1], start[0, 1], 1e-6
    values = []
    for change in (size, -size):
        moved = np.array(start)
        moved[0, 1] = kept + change
        other.setHiddenState(0, [moved, state[1]] if isinstance(state, list) else moved)
        values.append(loss())
    assert found == pytest.approx((values[0] - values[1]) / (2 * size), rel=1e-6)


def test_states_of_what_is_inside() -> None:
    net = nn.Recursor(nn.Sequential(nn.FastLSTM(3, 2), nn.Tanh(), nn.GRU(2, 2)))
    steps = [real(1, 3) for _ in range(3)]
    wanted = [np.array(net.forward(step)) for step in steps]
    states = net.getHiddenState(2)
    net.forget()
    net.setHiddenState(0, states)
    assert_layers_agree(net.forward(steps[2]), wanted[2])
    with pytest.raises(THNNArgumentError, match="a table of 1"):
        net.setHiddenState(0, [None, None])


def test_gradients_of_states() -> None:
    """Backward in two parts, the gradient of the state between them handed over."""
    cell = nn.FastLSTM(3, 2)
    steps, weights = [real(2, 3) for _ in range(4)], [real(2, 2) for _ in range(4)]

    def back(cell: Any, places: list[int]) -> list[Any]:
        return [np.array(cell.backward(steps[t], weights[t])) for t in places]

    for step in steps:
        cell.forward(step)
    wanted = back(cell, [3, 2, 1, 0])
    cell.forget()
    for step in steps:
        cell.forward(step)
    late = back(cell, [3, 2])
    handed = cell.getGradHiddenState()
    cell.setGradHiddenState(2, handed)
    for one, other in zip(late + back(cell, [1, 0]), wanted, strict=True):
        assert_layers_agree(one, other)


def test_rewards_for_each_step() -> None:
    net = nn.Recursor(nn.Sequential(nn.Linear(3, 2), nn.ReinforceNormal(0.5)))
    pythnn.manual_seed(1)
    steps = [real(2, 3) for _ in range(2)]
    outputs = [np.array(net.forward(step)) for step in steps]
    for rewards in ([np.array([1.0, 2]), np.array([3.0, -1])], np.array([1.0, 2])):
        net.reinforce(rewards)
        for t in (1, 0):
            net.backward(steps[t], np.zeros((2, 2)))
            layer = net.getStepModule(t + 1).get(2)
            mean = steps[t] @ net.inside.get(1).weight.T + net.inside.get(1).bias
            reward = rewards[t] if isinstance(rewards, list) else rewards
            wanted = -(outputs[t] - mean) / 0.25 * reward[:, None]
            assert_layers_agree(layer.gradInput, wanted)
        for t in range(2):
            net.forward(steps[t])
        net.forget()
        pythnn.manual_seed(1)
        outputs = [np.array(net.forward(step)) for step in steps]


def test_lazy_dropout_keeps_its_noise_until_forget() -> None:
    pythnn.manual_seed(3)
    for mono in (False, True):
        cell = nn.GRU(6, 6, None, 0.5, mono)
        net = nn.Sequencer(cell)
        given = np.ones((3, 4, 6))
        net.forward(given)
        noises = [
            [one.noise.copy() for one in cell.getStepModule(step).listModules()
             if isinstance(one, nn.Dropout)]
            for step in (1, 2, 3)
        ]  # fmt: skip
        for later in noises[1:]:
            for one, other in zip(noises[0], later, strict=True):
                np.testing.assert_array_equal(one, other)
        assert all((noise == noise[0]).all() == mono for noise in noises[0])
        net.forward(given)
        again = [one.noise for one in cell.inside.listModules() if isinstance(one, nn.Dropout)]
        assert any((one != other).any() for one, other in zip(again, noises[0], strict=True))


def test_backward_calls_can_be_switched_off() -> None:
    net = nn.Sequential(nn.Linear(3, 4).dontBackward(), nn.Linear(4, 2))
    assert net.get(1).dontBackward() is net.get(1)
    given = real(5, 3)
    net.zeroGradParameters()
    assert net.backward(given, np.ones_like(net.forward(given))) is None
    assert not net.get(1).gradWeight.any()
    assert net.get(2).gradWeight.any()
    before = net.get(1).weight.copy()
    net.get(1).accUpdateGradParameters(given, real(5, 4), 1)
    np.testing.assert_array_equal(net.get(1).weight, before)
    assert net.clone().get(1).updateGradInput(given, real(5, 4)) is None


def test_the_type_of_most_parameters() -> None:
    assert nn.Tanh().extrapolateType() is None
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2, False).float())
    assert net.extrapolateType() == "torch.DoubleTensor"
    assert net.get(2).extrapolateType() == "torch.FloatTensor"


def test_modules_are_told_to_measure() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Tanh()))
    net.profile()
    assert all(module.dpnn_profile for module in net.listModules())
