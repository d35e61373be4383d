"""Random models: as many as wanted of those that the tests make.

python tests/fuzz/models.py networks --count 10000    exported, against onnxruntime
python tests/fuzz/models.py programs --count 5000     compiled, against the modules
python tests/fuzz/models.py gradients --count 5000    against differences
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "python"))


Check = Callable[[int], "list[str]"]
"""Checks the model of a seed; returns what was not checked, or not in the usual way."""


def networks() -> Check:
    """One in four on images, the others on vectors, frames and volumes."""
    from support.onnx_checks import check_network, check_network_of
    from support.onnx_rows import KINDS

    def check(seed: int) -> list[str]:
        kind = [None, *KINDS][seed % (1 + len(KINDS))]
        return check_network(seed) if kind is None else check_network_of(kind, seed)

    return check


def programs() -> Check:
    from support.programs import check_tree

    def check(seed: int) -> list[str]:
        check_tree(seed, fuse=seed % 2 == 1)
        return []

    return check


def gradients() -> Check:
    from support.differences import check_gradients

    return check_gradients


KINDS = {made.__name__: made for made in (networks, programs, gradients)}


def main() -> None:
    """Checks models one after the other; the first that is wrong ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    arguments = parser.parse_args()
    check, start = KINDS[arguments.kind](), time.monotonic()
    notes: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        notes.update(set(check(seed)))
    print(f"{arguments.count} {arguments.kind} in {time.monotonic() - start:.0f} s")
    for note, count in notes.most_common():
        print(f"{count:6}  {note}")


if __name__ == "__main__":
    main()
