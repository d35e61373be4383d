#!/usr/bin/env python3
"""Classify many images with the workers of Dask.

    python examples/digits.py                        # makes the model
    python examples/predict_dask.py demo-output/digits.t7

The images are scikit-learn's digits. With a cluster of machines, pass its Client's scheduler.
"""

from __future__ import annotations

import argparse
from typing import Any

import dask.bag
import numpy as np
from sklearn.datasets import load_digits

from pythnn.distributed import Predictor


def classes_of(path: str, images: Any, workers: int, batch: int) -> Any:
    """The class of each image, from 0; every worker loads the model once."""
    predict = Predictor(path, input="image", output="scores", columns=(), threads=1)
    starts = range(0, len(images), batch)
    batches = [{"image": images[start : start + batch]} for start in starts]
    scores = dask.bag.from_sequence(batches).map(predict).map(lambda result: result["scores"])
    found = scores.compute(scheduler="processes", num_workers=workers)
    return np.concatenate(found).argmax(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    found = classes_of(arguments.model, images, arguments.workers, batch=256)
    print(f"{100 * (found == digits.target).mean():.1f} % of {len(images)} digits are recognised")


if __name__ == "__main__":
    main()
