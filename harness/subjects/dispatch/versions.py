"""Guards that follow the queue's own writes: rebasing along an unbroken chain (SPEC 4, 'Ambiguity')."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

__all__ = ["OwnWrites", "version_in"]

_LONGEST = 64


def version_in(body: Any) -> int | None:
    """The resourceVersion that an answer shows, at its top or in its metadata; `None` if there is none that is a whole number."""
    if not isinstance(body, Mapping):
        return None
    found = body.get("resourceVersion", body.get("resource_version"))
    if found is None and isinstance(body.get("metadata"), Mapping):
        found = body["metadata"].get("resourceVersion")
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 20:
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


class OwnWrites:
    """By object, which version each own write replaced by which. A write enters only if it was guarded at the version that it replaced.

    Bounded: the objects written last, and each one's last links.
    """

    __slots__ = ("chains", "most")

    def __init__(self, most: int) -> None:
        self.chains: OrderedDict[str, dict[int, int]] = OrderedDict()
        self.most = most

    def wrote(self, uid: str, guarded_at: int | None, version: int | None) -> None:
        """An own write was applied; `guarded_at`: the version that its guard demanded, if it had one."""
        if guarded_at is None or version is None or version == guarded_at:
            return
        chain = self.chains.pop(uid, None)
        if chain is None:
            chain = {}
        chain[guarded_at] = version
        if len(chain) > _LONGEST:
            del chain[next(iter(chain))]
        self.chains[uid] = chain
        if len(self.chains) > self.most:
            self.chains.popitem(last=False)

    def rebased(self, uid: str, version: int | None) -> int | None:
        """The version that a guard at `version` means now."""
        chain = self.chains.get(uid)
        if chain is None or version is None:
            return version
        for _ in range(len(chain)):
            if version not in chain:
                break
            version = chain[version]
        return version

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self.chains.pop(uid, None)
