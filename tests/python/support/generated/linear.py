"""Linear layers, dense and sparse, and lookup tables."""

from __future__ import annotations

import numpy as np

from support.definitions.cuda_only import bag_gradient

from . import INDICES, RESULT, Added, Draw, family

LARGE = [1, 1, 2, 3, 5, 16, 17, 48, 65, 130, 300]


@family(600)
def dense(draw: Draw) -> None:
    rows: int | None = draw.one_of("rows", [None, *LARGE[:-2]])
    inputs, outputs = draw.one_of("inputs", LARGE), draw.one_of("outputs", LARGE)
    lead = () if rows is None else (rows,)
    x, g = draw.integers(*lead, inputs), draw.integers(*lead, outputs)
    w = draw.integers(outputs, inputs)
    bias = draw.integers(outputs) if draw.one_of("bias", [True, False]) else None
    output = draw.result("Linear_updateOutput", x, RESULT, w, bias, None)
    draw.equal("output", output, x @ w.T + (0 if bias is None else bias))
    draw.equal("gradInput", draw.result("Linear_updateGradInput", x, g, RESULT, w), g @ w)
    gw, gb = draw.added(
        "Linear_accGradParameters",
        *(x, g, None, w, bias, Added(w.shape), Added([outputs]), None, draw.scale),
    )
    rows_of_x, rows_of_g = np.atleast_2d(x), np.atleast_2d(g)
    draw.equal("gradWeight", gw, draw.scale * (rows_of_g.T @ rows_of_x))
    draw.equal("gradBias", gb, draw.scale * rows_of_g.sum(0) * (bias is not None))


def check_updates(
    draw: Draw,
    names: tuple[str, str],
    given: np.ndarray,
    features: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray,
) -> None:
    """Updating and zeroing parameters touches the columns of the features of an input alone."""
    seen, rate = np.unique(features - 1), draw.real(0.5)
    slopes, bias_slopes = draw.integers(*w.shape), draw.integers(*bias.shape)
    wanted, left, left_bias = w.copy(), w.copy(), bias.copy()
    wanted[:, seen] -= rate * slopes[:, seen]
    draw.call(names[0], left, left_bias, slopes, bias_slopes, given, rate)
    draw.equal("weight", left, wanted)
    draw.equal("bias", left_bias, bias - rate * bias_slopes)
    wanted = slopes.copy()
    wanted[:, seen] = 0
    draw.call(names[1], slopes, bias_slopes, given)
    draw.equal("zeroed gradWeight", slopes, wanted)
    draw.equal("zeroed gradBias", bias_slopes, np.zeros(bias.shape))


@family(300)
def sparse(draw: Draw) -> None:
    """Entries in any order; several may be of one feature."""
    samples, inputs, outputs = (draw.size(name, 17) for name in ("samples", "inputs", "outputs"))
    entries = draw.size("entries")
    sample = draw.random.integers(1, samples + 1, entries)
    feature = draw.random.integers(1, inputs + 1, entries)
    value = draw.integers(entries)
    given = np.stack([sample, feature, value], 1).astype(draw.real)
    x = np.zeros((samples, inputs))
    np.add.at(x, (sample - 1, feature - 1), value)
    w, bias, g = (
        draw.integers(outputs, inputs),
        draw.integers(outputs),
        draw.integers(samples, outputs),
    )
    decay = draw.one_of("decay", [0, 0.25])
    output = np.empty((samples, outputs), draw.real)
    draw.call("SparseLinear_updateOutput", draw.laid_out(given), output, w, bias)
    draw.equal("output", output, x @ w.T + bias)
    gw, gb = draw.added(
        "SparseLinear_accGradParameters",
        *(given, g, Added(w.shape), Added([outputs]), w, bias, decay, draw.scale),
    )
    draw.equal("gradWeight", gw, draw.scale * (g.T @ x) + decay * w)
    draw.equal("gradBias", gb, draw.scale * g.sum(0))
    names = "SparseLinear_updateParameters", "SparseLinear_zeroGradParameters"
    check_updates(draw, names, given, feature[value != 0], w, bias)


@family(200)
def sparse_legacy(draw: Draw) -> None:
    samples, inputs, outputs = (draw.size(name, 17) for name in ("samples", "inputs", "outputs"))
    entries = draw.size("entries", 9)
    feature = draw.random.integers(1, inputs + 1, (samples, entries))
    value = draw.integers(samples, entries)
    given = np.stack([feature, value], 2).astype(draw.real)
    x = np.zeros((samples, inputs))
    np.add.at(x, (np.arange(samples)[:, None], feature - 1), value)
    w, bias, g = (
        draw.integers(outputs, inputs),
        draw.integers(outputs),
        draw.integers(samples, outputs),
    )
    output = draw.result("SparseLinear_legacyUpdateOutput", given, RESULT, w, bias)
    draw.equal("output", output, x @ w.T + bias)
    gw, gb = draw.added(
        "SparseLinear_legacyAccGradParameters",
        *(given, g, Added(w.shape), Added([outputs]), w, bias, 0, draw.scale),
    )
    draw.equal("gradWeight", gw, draw.scale * (g.T @ x))
    draw.equal("gradBias", gb, draw.scale * g.sum(0))


@family(100)
def sparse_legacy_updates(draw: Draw) -> None:
    samples, inputs, outputs = (draw.size(name, 17) for name in ("samples", "inputs", "outputs"))
    feature = draw.random.integers(1, inputs + 1, (samples, draw.size("entries", 9)))
    value = draw.integers(*feature.shape)
    given = np.stack([feature, value], 2).astype(draw.real)
    names = "SparseLinear_legacyUpdateParameters", "SparseLinear_legacyZeroGradParameters"
    w, bias = draw.integers(outputs, inputs), draw.integers(outputs)
    check_updates(draw, names, given, feature[value != 0], w, bias)


@family(200)
def by_keys(draw: Draw) -> None:
    """IndexLinear without scaling."""
    samples, rows, outputs = (draw.size(name, 17) for name in ("samples", "rows", "outputs"))
    sizes = draw.random.integers(0, 5, samples)
    sizes[0] += 1
    offset, count = draw.between("offset", -3, 3), int(sizes.sum())
    row = draw.random.integers(0, rows, count)
    keys, values = row - offset, draw.integers(count)
    x = np.zeros((samples, rows))
    sample = np.repeat(np.arange(samples), sizes)
    np.add.at(x, (sample, row), values)
    w, bias, g = (
        draw.integers(rows, outputs),
        draw.integers(outputs),
        draw.integers(samples, outputs),
    )
    given = (keys, offset, values, sizes, np.cumsum(sizes))
    output, _ = draw.results("IndexLinear_updateOutput", *given, RESULT, w, bias, RESULT, 0)
    draw.equal("output", output, x @ w + bias)
    gb = np.ones(outputs, draw.real)
    gw = np.empty((count, outputs), draw.real)
    draw.call("IndexLinear_accGradParameters", *given, g, gw, gb, w, bias, None, 0, draw.scale)
    draw.equal("gradWeight", gw, draw.scale * values[:, None] * g[sample])
    draw.equal("gradBias", gb, 1 + draw.scale * g.sum(0))
    left, left_bias = w.copy(), bias.copy()
    draw.call("IndexLinear_accUpdateGradParameters", *given, g, left, left_bias, 0, draw.scale)
    draw.equal("weight", left, w - draw.scale * (x.T @ g))
    draw.equal("bias", left_bias, bias - draw.scale * g.sum(0))
    running, decay = np.unique(keys), draw.one_of("decay", [0, 0.25])
    slopes, bias_slopes = draw.integers(len(running), outputs), draw.integers(outputs)
    wanted, left, left_bias = w.copy(), w.copy(), bias.copy()
    rows_seen = running + offset
    wanted[rows_seen] = (1 - decay) * wanted[rows_seen] - draw.scale * slopes
    draw.call(
        "IndexLinear_updateParameters",
        *(slopes, bias_slopes, left, left_bias, running, None, offset, decay, draw.scale),
    )
    draw.equal("updated weight", left, wanted)
    draw.equal("updated bias", left_bias, bias - draw.scale * bias_slopes)


@family(300)
def lookup(draw: Draw) -> None:
    rows, columns, indices = draw.size("rows", 17), draw.size("columns"), draw.size("indices")
    lead = (indices,) if draw.flag() else (draw.size("lines", 4), indices)
    index = draw.random.integers(1, rows + 1, lead)
    g, padding = draw.integers(*lead, columns), draw.between("padding", 0, rows)
    by_frequency = draw.one_of("by frequency", [True, False])
    flat, slopes = index.ravel(), g.reshape(-1, columns)
    share = 1 / np.bincount(flat)[flat][:, None] if by_frequency else 1
    wanted, size = np.zeros((rows, columns)), np.zeros((rows, columns))
    used = (flat != padding)[:, None]
    np.add.at(wanted, flat - 1, draw.scale * share * slopes * used)
    np.add.at(size, flat - 1, draw.scale * share * np.abs(slopes) * used)
    (gw,) = draw.added(
        "LookupTable_accGradParameters",
        *(index, g, Added([rows, columns]), None, None, None, by_frequency, padding, draw.scale),
    )
    # Ones are added before they are taken away again.
    draw.close("gradWeight", gw, wanted, size + 1, (index.size + 4) * by_frequency)
    w, most = draw.normal(rows, columns), draw.one_of("most", [0.5, 1.0, 2.0])
    draw.equal("output", draw.result("LookupTable_updateOutput", index, w, RESULT), w[index - 1])
    power = draw.one_of("power", [1.0, 2.0])
    norm = (np.abs(w.astype(float)) ** power).sum(1, keepdims=True) ** (1 / power)
    looked = np.isin(np.arange(1, rows + 1), flat)[:, None]
    factor = np.where((norm > most) & looked, most / (norm + 1e-7), 1)
    left = w.copy()
    draw.call("LookupTable_renorm", flat, left, most, power)
    draw.close("weight", left, w * factor, w, columns + 8)


@family(200)
def bags(draw: Draw) -> None:
    rows, columns, count = draw.size("rows", 17), draw.size("columns"), draw.size("bags", 9)
    lengths = draw.random.integers(0, 5, count)
    lengths[-1] += 1
    mode = draw.between("mode", 0, 1)
    index = draw.random.integers(1, rows + 1, int(lengths.sum()))
    bag = np.repeat(np.arange(1, count + 1), lengths)
    offsets = np.concatenate([[1], 1 + np.cumsum(lengths)[:-1]])
    w, g = draw.integers(rows, columns), draw.integers(count, columns)
    sums, sizes = np.zeros((count, columns)), np.zeros((count, columns))
    share = 1 / np.maximum(lengths, 1)[:, None] if mode else np.ones((count, 1))
    np.add.at(sums, bag - 1, w[index - 1])
    np.add.at(sizes, bag - 1, np.abs(w[index - 1]))
    output, of_bag, found = draw.results(
        "LookupTableBag_updateOutput", index, offsets, w, RESULT, INDICES, mode, INDICES
    )
    draw.close("output", output, sums * share, sizes * share, 3 * mode)
    draw.equal("offset2bag", of_bag, bag)
    if mode:
        draw.equal("seq_length", found, lengths)
    by_frequency = draw.one_of("by frequency", [True, False])
    wanted = draw.scale * bag_gradient(index, bag, lengths.tolist(), g, rows, mode, by_frequency)
    size = draw.scale * bag_gradient(
        index, bag, lengths.tolist(), np.abs(g), rows, mode, by_frequency
    )
    (gw,) = draw.added(
        "LookupTableBag_accGradParameters",
        *(index, g, Added(w.shape), bag, None, None, None, by_frequency, mode, lengths, draw.scale),
    )
    inexact = mode or by_frequency
    draw.close("gradWeight", gw, wanted, size + 1, (len(index) + 4) * inexact)
