"""Small charts as SVG, in the colours of the page."""

from __future__ import annotations

import math

from .._html import Html, element
from ._statistics import Statistics

__all__ = ["histogram", "share_bar"]

HEIGHT = 40


def histogram(numbers: Statistics, what: str) -> Html:
    """The histogram of `what`, with a line where zero is."""
    most = max(numbers.histogram, default=0) or 1
    bars = "".join(
        f"M{i} {HEIGHT}v-{max(round(HEIGHT * count / most, 1), 0.6)}h.9V{HEIGHT}z"
        for i, count in enumerate(numbers.histogram)
        if count
    )
    children = [element("path", d=bars, class_="bars")]
    low, high = numbers.minimum, numbers.maximum
    if low < 0 < high:
        at = round(len(numbers.histogram) * (-low / high / (1 - low / high)), 2)
        children.append(element("path", d=f"M{at} 0V{HEIGHT}", class_="zero"))
    return element(
        "svg",
        *children,
        viewBox=f"0 0 {len(numbers.histogram)} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"Histogram of {what} from {low:.4g} to {high:.4g}",
    )


def share_bar(share: float) -> Html:
    """A bar as long as a share of the whole; none for what is no number."""
    if math.isnan(share):
        return Html("")
    return element("span", class_="share", style=f"width:{100 * min(max(share, 0), 1):.1f}%")
