"""What a name may have been meant to be: a typo is answered with the nearest names there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 3


def near(name: str, known: Iterable[str]) -> str:
    """The words to put into a message behind an unknown name: ``; did you mean 'x'?``, or nothing if no known name is like it."""
    names = list(dict.fromkeys(known))
    folded = {item.lower().replace("_", "-"): item for item in names}
    wanted = name.lower().replace("_", "-")
    found = [folded[item] for item in difflib.get_close_matches(wanted, folded, n=MOST, cutoff=0.6)]
    # A family may be left out: `no_storm` is meant for `waiter.no_storm`.
    found += [item for item in names if item.rpartition(".")[2] == name and item not in found][: MOST - len(found)]
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""
