#!/usr/bin/env python3
"""Classify many images with the workers of Ray Data.

    python examples/digits.py                        # makes the model
    python examples/predict_ray.py demo-output/digits.t7

The images are scikit-learn's digits. On a cluster, ray.init(address="auto") comes first.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import ray
from sklearn.datasets import load_digits

from pythnn.distributed import Predictor


def classes_of(path: str, images: Any, workers: int, batch: int) -> Any:
    """The class of each image, from 0; every worker loads the model once."""
    data = ray.data.from_items([{"index": i, "image": image} for i, image in enumerate(images)])
    predict = Predictor(path, input="image", output="scores", columns=["index"], threads=1)
    rows = data.map_batches(predict, batch_size=batch, concurrency=workers).take_all()
    rows.sort(key=lambda row: row["index"])
    return np.array([row["scores"].argmax() for row in rows])


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
