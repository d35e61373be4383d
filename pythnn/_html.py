"""HTML as text. Whatever is not made by these functions is escaped: files may hold anything."""

from __future__ import annotations

import html

__all__ = ["Html", "element", "folded", "join", "lines", "quiet", "text", "whole"]

_VOID = ("img", "path")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as text: escaped, with a replacement for what has no sign, such as NUL."""
    if isinstance(value, Html):
        return value
    visible = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    return Html(html.escape(visible))


def join(*parts: object) -> Html:
    """Several pieces, one after the other."""
    return Html("".join(map(text, parts)))


def whole(phrase: str) -> Html:
    """A phrase that stays on one line where it fits; of a table, each entry does.

    The arrow of two signs, between which browsers break lines, becomes one.
    """
    parts = phrase.replace("->", "\N{RIGHTWARDS ARROW}").split(", ")
    commas = [","] * (len(parts) - 1) + [""]
    spans = (
        element("span", part + comma, class_="whole")
        for part, comma in zip(parts, commas, strict=True)
    )
    return Html(" ".join(spans))


def lines(value: str) -> Html:
    """Text of several lines, which stand below each other as they do in it."""
    return element("pre", Html("\n".join(map(text, value.split("\n")))))


def folded(summary: object, *inside: object, is_open: bool = False) -> Html:
    """What can be unfolded by a click on its summary; what is inside is moved to the right."""
    indented = element("div", *inside, style="margin-left: 1.5em")
    return element("details", element("summary", summary), indented, open=is_open)


def quiet(*facts: str) -> Html:
    """Facts about what stands before them, in a fainter colour; "" for none."""
    shown = [f" \N{MIDDLE DOT} {fact}" for fact in facts if fact]
    return element("span", *shown, style="opacity: 0.6") if shown else Html("")


def element(tag: str, *children: object, **attributes: object) -> Html:
    """An element. ``class_`` is the attribute class, ``aria_label`` aria-label.

    An attribute that is None or False is left out, one that is True has no value.
    """
    start = tag
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        start += f" {name.rstrip('_').replace('_', '-')}"
        if value is not True:
            start += f'="{text(str(value))}"'
    end = "" if tag in _VOID else f"</{tag}>"
    return Html(f"<{start}{'/' if tag in _VOID else ''}>{join(*children)}{end}")
