"""Text from files as it may be shown: on a terminal, in a message, in a line of its own."""

from __future__ import annotations

__all__ = ["LINE", "MESSAGE", "shown", "shown_name"]

LINE = 200
"""Characters of a name or a value at most."""
MESSAGE = 2000
"""Characters of an error at most."""


def shown(text: object, most: int | None = None, keep: str = "") -> str:
    r"""Text in which nothing acts on a terminal: what is not printable stands as ``\x1b``.

    Line ends, too, unless they are in `keep`: a name could forge lines with them. Of text longer
    than `most` the beginning and the end stand.
    """
    whole = str(text)
    if most is not None and len(whole) > most:
        whole = f"{whole[: 2 * most // 3]}…{whole[-(most // 3) :]}"
    if whole.isprintable():
        return whole
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in whole
    )


def shown_name(name: object) -> str:
    """A name within other text: cut, and in quotes where it is not plain to see where it ends."""
    text = shown(name, LINE)
    return text if str(name).isprintable() else f"'{text}'"
