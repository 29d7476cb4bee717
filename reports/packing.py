"""Rows for what overlaps: bars and labelled marks of one lane, laid out so that none lies over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LETTER = 6.4
"""Width of a letter of a label, in a picture's units."""

CROWDED = 7
"""A lane with more rows than this goes without the labels that make it high."""


@dataclass(kw_only=True, eq=False)
class Item:
    """A bar (``right`` > ``left``) or a mark, with its label, which stands inside a bar if it fits, else beside it.

    ``begins``, ``ends``: its place in the order of events; what is over is not in the way of what begins after it. ``row``: what packing found.
    ``label_x``, ``anchor``: where the label stands; ``shown``: whether it does.
    """

    left: float
    right: float
    begins: int
    ends: float
    labels: tuple[str, ...] = ()
    row: int = 0
    label: str = ""
    label_x: float = 0.0
    anchor: str = "start"

    def beside(self, edge: float) -> tuple[float, float]:
        """From where to where it reaches with its fullest label beside it; to the left of it where the picture ends."""
        width = len(self.labels[0]) * LETTER if self.labels else 0.0
        if self.right + 11 + width <= edge:
            return self.left - 6, self.right + 11 + width
        return self.left - 11 - width, self.right + 6


def pack_marks(items: Sequence[Item], edge: float) -> int:
    """Give marks rows with their labels beside them; the answer is the number of rows."""
    ends: list[list[tuple[float, float]]] = []
    for item in items:
        left, right = item.beside(edge)
        row = next(
            (index for index, taken in enumerate(ends) if all(end <= left or start >= right for start, end in taken)),
            len(ends),
        )
        if row >= CROWDED:
            item.row = min(range(len(ends)), key=lambda index: len(ends[index]))
            ends[item.row].append((item.left - 6, item.right + 6))
            continue
        if row == len(ends):
            ends.append([])
        ends[row].append((left, right))
        item.row = row
        if item.labels:
            item.label = item.labels[0]
            item.anchor = "start" if right > item.right + 7 else "end"
            item.label_x = item.right + 11 if item.anchor == "start" else item.left - 11
    return max(1, len(ends))


def pack_bars(items: Sequence[Item], edge: float, *, nudge: float = 22.0) -> int:
    """Give bars rows: as many as were under way at once. Bars of one instant that followed each other lie side by side in one row.

    Labels stand inside, or beside where nothing is in the way. The answer is the number of rows.
    """
    rows: list[list[Item]] = []
    for item in sorted(items, key=lambda one: one.begins):
        for index, row in enumerate(rows):
            last = row[-1]
            start = max(item.left, last.right + 1)
            if last.ends < item.begins and start - item.left <= nudge:
                item.row, item.right = (
                    index,
                    max(
                        item.right,
                        start + (item.right - item.left if start > item.left and item.right - item.left <= 6 else 4),
                    ),
                )
                item.left = start
                row.append(item)
                break
        else:
            item.row = len(rows)
            rows.append([item])
    for row in rows:
        for item, after in zip(row, [*row[1:], None], strict=True):
            _label(item, edge if after is None else after.left - 4)
    return max(1, len(rows))


def _label(item: Item, free_to: float) -> None:
    """The fullest label that fits: inside, else beside."""
    inside = item.right - item.left - 8
    for label in item.labels:
        width = len(label) * LETTER
        if width <= inside:
            item.label, item.label_x = label, item.left + 4
            return
        if item.right + 14 + width <= free_to:
            item.label, item.label_x = label, item.right + 12
            return
