"""Products with a matrix, and what moves rows and windows: tables, unfolding."""

from __future__ import annotations

from .cases import Case, Indices, Normal, Zeros, part, suffix


def linear(batch: int, n_in: int, n_out: int) -> Case:
    flops = 2 * batch * n_in * n_out
    gradients = ("gradWeight", "gradBias")
    return Case(
        f"Linear_{batch}x{n_in}x{n_out}",
        "products",
        {
            "input": Normal((batch, n_in)),
            "weight": Normal((n_out, n_in)),
            "bias": Normal((n_out,)),
            "gradOutput": Normal((batch, n_out)),
            "gradWeight": Zeros((n_out, n_in)),
            "gradBias": Zeros((n_out,)),
        },
        (
            part(
                "output",
                "Linear_updateOutput",
                ("input", "output", "weight", "bias", None),
                lambda torch, t: torch.ops.aten.addmm.default(t.bias, t.input, t.weight.t()),
                flops,
            ),
            part(
                "gradInput",
                "Linear_updateGradInput",
                ("input", "gradOutput", "gradInput", "weight"),
                lambda _, t: t.gradOutput @ t.weight,
                flops,
            ),
            part(
                "gradParameters",
                "Linear_accGradParameters",
                ("input", "gradOutput", None, "weight", "bias", *gradients, None, 1.0),
                lambda _, t: (t.gradOutput.t() @ t.input, t.gradOutput.sum(0)),
                flops,
            ),
        ),
    )


def lookup_table(words: int, width: int, batch: int) -> Case:
    """Ours adds to the gradient; PyTorch writes a new one."""
    return Case(
        f"LookupTable_{words}x{width}_{batch}",
        "tables",
        {
            "input": Indices((batch,), words),
            "gradOutput": Normal((batch, width)),
            "gradWeight": Zeros((words, width)),
        },
        (
            part(
                "gradWeight",
                "LookupTable_accGradParameters",
                ("input", "gradOutput", "gradWeight", None, None, None, False, 0, 1.0),
                lambda torch, t: torch.ops.aten.embedding_dense_backward.default(
                    t.gradOutput, t.zeroBased, words, -1, False
                ),
                elements=3 * batch * width,
            ),
        ),
        prepare=lambda _, t: {"zeroBased": t.input - 1},
    )


def unfolding(planes: int, size: int, k: int, p: int) -> Case:
    """One image into columns and back: the functions without a state."""
    out = size + 2 * p - k + 1
    columns = planes * k * k * out * out
    geometry = (k, k, 1, 1, p, p, planes, size, size, out, out)
    return Case(
        f"unfolded_{planes}_{size}_{suffix(k=k, p=p)}",
        "tables",
        {
            "input": Normal((1, planes, size, size)),
            "finput": Zeros((1, planes * k * k, out * out)),
            "gradColumns": Normal((1, planes * k * k, out * out)),
            "gradInput": Zeros((1, planes, size, size)),
        },
        (
            part(
                "columns",
                "unfolded_copy",
                ("finput", "input", *geometry),
                lambda torch, t: torch.nn.functional.unfold(t.input, k, padding=p),
                elements=columns + planes * size * size,
            ),
            part(
                "gradInput",
                "unfolded_acc",
                ("gradColumns", "gradInput", *geometry),
                lambda torch, t: torch.nn.functional.fold(
                    t.gradColumns, (size, size), k, padding=p
                ),
                elements=columns + 2 * planes * size * size,
            ),
        ),
    )


PRODUCTS = [
    linear(1, 512, 1000),
    linear(2, 1024, 1000),
    linear(8, 1024, 1000),
    linear(32, 1024, 1000),
    linear(128, 1024, 1000),
    linear(64, 84, 10),
    linear(16, 4096, 4096),
]
TABLES = [lookup_table(10000, 256, 4096), unfolding(64, 56, k=3, p=1)]
