"""The events of a normaliser's bench: what each kind's data holds. Lanes are those of :mod:`~waitproof.harness.events`.

Values that came out of JSON are held as canonical text (:func:`~waitproof.harness.json_text.write_json`), so that no depth and no number is
too much for a history. ``op`` is ``n0``, ``n1``, … for a single envelope and ``l0`` for a list, with ``base/`` or ``changed/`` before it
where one history holds an envelope twice. All happens at time 0: a normaliser has no clock.

A *reading* is what a handed-out job says, as data: ``job_id``, ``status``, ``raw_status``, ``progress``, ``result``, ``error``, ``raw``,
``terminal``, ``malformed`` and ``markdown`` as JSON texts; ``created_at``, ``started_at`` and ``completed_at`` as objects with ``is``
(``none``, ``time`` or ``odd``), and of a time ``us`` (microseconds since 1970; for a naive one as if it were UTC), ``aware``, ``utc`` and
``text``, of an odd value ``text``. A part that can't be read because the reading raises is ``<raises …>``.
"""

from __future__ import annotations

from typing import Final

CALL: Final = "normalise.call"
"""An envelope is handed to the subject. data: ``text`` (JSON), ``resource``, ``zone`` (TZ of the process), ``object`` (is the body one)."""
RETURN: Final = "normalise.return"
"""It returned. data: ``reading``."""
RAISE: Final = "normalise.raise"
"""It raised. data: ``type``, ``message``, ``named`` (is it the error that the adapter names for a body that is no object), ``exception``
(is it an ``Exception``)."""
INPUT: Final = "normalise.input"
"""The envelope that was handed in, afterwards. data: ``text`` (canonical), ``after`` (``call``, or ``raw changed`` once the bench has changed
everything in the job's raw)."""
REREAD: Final = "normalise.reread"
"""The job is read a second time. data: ``reading``, ``after`` (``input changed`` or ``result changed``)."""
AGAIN: Final = "normalise.again"
"""The job's own raw is normalised. data: ``reading``, or ``type`` and ``message`` if that raised."""
LIST_CALL: Final = "list.call"
"""The body of a list is handed to the subject. data: ``text``, ``resource``, ``object``."""
LIST_RETURN: Final = "list.return"
"""It returned. data: ``items`` (readings), ``has_more``, ``org_id``, ``page``, ``page_size`` (JSON texts), ``list`` (is it a list)."""
LIST_RAISE: Final = "list.raise"
"""It raised. data: as of ``normalise.raise``."""
LIST_SLICE: Final = "list.slice"
"""The bench took a slice. data: ``start``, ``stop``, ``count``, ``same_type``, and the envelope's fields as in ``list.return``."""
