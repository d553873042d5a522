"""What notebooks show of arrays and groups."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarrive.array import Array
    from zarrive.group import Group

_WIDTH = 160  # of the longest side, in pixels
_MOST_LINES = 40  # along one side; with more chunks, lines stand for several


def table(items: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>" for name, value in items)
    return f"<table>{rows}</table>"


def array_html(array: Array) -> str:
    return f"<div style='display:flex;gap:2em;align-items:center'>{table(array.info.items)}{chunk_picture(array)}</div>"


def group_html(group: Group) -> str:
    return group.tree()._repr_html_()


def chunk_picture(array: Array) -> str:
    """The grid of chunks along the last two dimensions, drawn to scale."""
    if array.ndim == 0 or array.chunks is None or 0 in array.shape:
        return ""
    shape, chunks = (array.shape, array.chunks) if array.ndim > 1 else ((1, *array.shape), (1, *array.chunks))
    (rows, columns), (row, column) = shape[-2:], chunks[-2:]
    scale = _WIDTH / max(rows, columns)
    height, width = max(rows * scale, 12.0), max(columns * scale, 12.0)

    def lines(extent: int, edge: int, length: float) -> list[float]:
        count = -(-extent // edge)
        step = max(1, -(-count // _MOST_LINES))
        return [min(k * edge, extent) / extent * length for k in range(0, count, step)] + [length]

    parts = [f"<line x1='0' x2='{width:.1f}' y1='{y:.1f}' y2='{y:.1f}'/>" for y in lines(rows, row, height)]
    parts += [f"<line y1='0' y2='{height:.1f}' x1='{x:.1f}' x2='{x:.1f}'/>" for x in lines(columns, column, width)]
    label = f"{html.escape(str(array.shape))} in chunks of {html.escape(str(array.chunks))}"
    return (
        f"<svg width='{width + 2:.0f}' height='{height + 2:.0f}' viewBox='-1 -1 {width + 2:.1f} {height + 2:.1f}' role='img' aria-label='{label}'>"
        f"<rect width='{width:.1f}' height='{height:.1f}' fill='#ecb17255'/><g stroke='#8b5a1a' stroke-width='1'>{''.join(parts)}</g></svg>"
    )
